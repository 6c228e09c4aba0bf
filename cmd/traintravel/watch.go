package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/traintravel/traintravel/store/boltstore"
)

// watchEvery is how often a server checks that its files are where it left them.
const watchEvery = time.Second

// A watch tells the operator when the files of a server were moved or removed. The store itself
// refuses to write then; the watch notices it also when nobody books. Keys are in memory until
// the server stops.
type watch struct {
	keys string
	gone bool // the keys file, and said so

	store   *boltstore.Store
	control *control
	data    string
	log     *slog.Logger
	told    func(updates int, took time.Duration, err error) // of what commits come to, or nil
	lost    bool                                             // and said so
}

// until looks every second until ctx ends.
func (w *watch) until(ctx context.Context) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if w.store != nil { // else the data is in a database
				w.look()
			}
			w.lookForKeys()
		}
	}
}

// look logs what has changed. While the file is not in its place, it counts as a commit that
// fails, so that operators hear of it before a user wants to book.
func (w *watch) look() {
	err := w.store.InPlace()
	if err != nil && w.told != nil {
		w.told(0, 0, err)
	}
	switch {
	case err != nil && !w.lost:
		w.log.Error("data file was moved, removed or replaced; sales stopped", "error", err,
			"do", "move the file back, and sales resume. If it is lost, save what this server still has: "+
				ourName()+" backup FILE --data "+shellWord(w.data)+"; stop the server, restore FILE, start it. "+
				"If another program has written to the file: stop the server, keep the file, restore a backup")
	case err == nil && w.lost:
		w.log.Info("data file is back; sales resumed", "file", w.data)
	}
	if err == nil { // or else the socket is perhaps another server's
		w.control.mend()
	}
	w.lost = err != nil
}

// lookForKeys logs whether the keys file is there, when that has changed.
func (w *watch) lookForKeys() {
	there := exists(w.keys)
	switch {
	case !there && !w.gone:
		w.log.Error("keys file is missing; this server keeps its keys in memory until it stops, and cannot start again without the file",
			"keys", w.keys, "do", "put a copy of it there before you stop the server")
	case there && w.gone:
		w.log.Info("keys file is back", "keys", w.keys)
	}
	w.gone = !there
}
