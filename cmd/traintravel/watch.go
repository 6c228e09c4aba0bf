package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/traintravel/traintravel/store/boltstore"
)

// watchEvery is how often a server looks whether its files are where it left them.
const watchEvery = time.Second

// A watch tells the operator when the files of a server are not in their places any more.
// The store itself refuses to write then: the watch is for who is not selling just now. Keys
// are in memory until the server stops, and gone then.
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
// fails, so that operators hear of it before somebody wants to book.
func (w *watch) look() {
	err := w.store.InPlace()
	if err != nil && w.told != nil {
		w.told(0, 0, err)
	}
	switch {
	case err != nil && !w.lost:
		w.log.Error("the data file is not in its place: nothing is sold", "error", err,
			"do", "move the file back and it goes on. If it is gone, save what this server still has: "+
				ourName()+" backup FILE --data "+shellWord(w.data)+"; stop the server, restore FILE, start. "+
				"If another program has written to it: stop the server, keep the file, restore a backup")
	case err == nil && w.lost:
		w.log.Info("the data file is back in its place: selling goes on", "file", w.data)
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
		w.log.Error("the keys file is gone: this server goes on with its keys until it stops, and does not start without them",
			"keys", w.keys, "do", "put a copy of it there before the server is stopped")
	case there && w.gone:
		w.log.Info("the keys file is there again", "keys", w.keys)
	}
	w.gone = !there
}
