package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/store/boltstore"
)

// A jobLine is one line of an answer: progress, a result, or the end. An empty line is a
// heartbeat.
type jobLine[A any] struct {
	Done, Total int64  `json:",omitempty"`
	Text        string `json:",omitempty"`
	Report      *A     `json:",omitempty"`
	Error       string `json:",omitempty"`
	Usage       bool   `json:",omitempty"` // the error is a mistake in the command line
}

// Duties do the work of commands that need the data file of a server.
type duties struct {
	load    func(context.Context, *handover) (*report, error)
	check   func(context.Context, checkRequest, func(done, total int64)) (*checked, error)
	service *traintravel.Service // for errands
	store   *boltstore.Store
}

// duty answers a request with the progress and the results of the work, line by line, and
// with how it ended.
func duty[Q, A any](work func(context.Context, Q, teller) (*A, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		// The whole body is read, because only then does the request's context end with
		// its caller. The work has no time limit.
		var req Q
		text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err == nil {
			err = json.Unmarshal(text, &req)
		}
		if err = errors.Join(err, unlimited(w)); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		answer(w, r, func(ctx context.Context, tell teller) (*A, error) { return work(ctx, req, tell) })
	}
}

// answer does the work of a request that has been read, and reports it line by line.
func answer[A any](w http.ResponseWriter, r *http.Request, work func(context.Context, teller) (*A, error)) {
	_ = http.NewResponseController(w).Flush() // so that the caller knows that it was heard
	var mu sync.Mutex                         // of w
	out := json.NewEncoder(w)
	var last time.Time
	tell := func(l jobLine[A]) {
		mu.Lock()
		defer mu.Unlock()
		_ = out.Encode(l)
		_ = http.NewResponseController(w).Flush()
	}
	defer heartbeat(func() { tell(jobLine[A]{}) })()
	rep, err := work(r.Context(), teller{
		progress: func(done, total int64) {
			if done < total && time.Since(last) < 100*time.Millisecond {
				return
			}
			last = time.Now()
			tell(jobLine[A]{Done: done, Total: total})
		},
		say: func(text string) { tell(jobLine[A]{Text: text}) },
	})
	end := jobLine[A]{Report: rep}
	if err != nil {
		end.Error = err.Error()
		_, end.Usage = errors.AsType[usageError](err)
	}
	tell(end)
}

// heartbeatEvery is how often a server sends a heartbeat while work is in progress.
const heartbeatEvery = 2 * time.Second

// heartbeat calls fn now and then until it is ended.
func heartbeat(fn func()) (end func()) {
	over, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(heartbeatEvery)
		defer tick.Stop()
		for {
			select {
			case <-over:
				return
			case <-tick.C:
				fn()
			}
		}
	}()
	return func() { close(over); <-ended }
}

// unlimited removes the time limits of a connection.
func unlimited(w http.ResponseWriter) error {
	conn := http.NewResponseController(w)
	return errors.Join(conn.SetReadDeadline(time.Time{}), conn.SetWriteDeadline(time.Time{}))
}

// backup answers with the file as it is at one instant. It is short of its length if
// it cannot be read to its end.
func (d duties) backup(w http.ResponseWriter, r *http.Request) {
	begun := false
	err := d.store.Snapshot(r.Context(), func(file io.WriterTo, size int64) error {
		if err := unlimited(w); err != nil {
			return err
		}
		begun = true
		w.Header().Set("Content-Length", strconv.FormatInt(size, 10))
		_, err := file.WriteTo(w)
		return err
	})
	switch {
	case err == nil:
	case begun:
		panic(http.ErrAbortHandler)
	default:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}
