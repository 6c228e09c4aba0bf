package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/traintravel/traintravel"
)

// The import command reads feeds in its own process, even if a server has the data
// file open, and sends that server the timetable. A feed takes memory and time of the command
// alone.

// A handover is a timetable that was read, with the report of the reading and the flags of
// the command. It goes over the control socket as the length of its JSON (32 bits, the
// highest first), the JSON, and the timetable in its binary form.
type handover struct {
	Report  *report
	Options feedOptions

	timetable *traintravel.Timetable
}

// What a server takes of a handover, in bytes.
const (
	maxReport    = 16 << 20
	maxTimetable = 512 << 20
)

// handOver has the server of the data file put a timetable in force.
func (a asker) handOver(ctx context.Context, h *handover) (rep *report, err error) {
	text, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	if len(text) > maxReport {
		return nil, fmt.Errorf("the report has %d bytes, and a server accepts %d: leave out --verbose", len(text), maxReport)
	}
	timetable, err := h.timetable.MarshalBinary()
	if err != nil {
		return nil, err
	}
	if len(timetable) > maxTimetable {
		return nil, fmt.Errorf("the timetable has %d bytes, and a running server accepts %d: stop the server, import, and start it again", len(timetable), maxTimetable)
	}
	head := append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...)
	err = a.send(ctx, http.MethodPost, "/timetable", head, timetable, func(resp *http.Response) (err error) {
		rep, err = readJob[report](resp, teller{progress: func(int64, int64) {}, say: func(string) {}})
		return err
	})
	return rep, err
}

// timetable answers a handover. There is one at a time, so that their memory does not
// add up, and a second one is refused before its body is read.
func (d duties) timetable() http.HandlerFunc {
	one := make(chan struct{}, 1)
	return func(w http.ResponseWriter, r *http.Request) {
		next := sync.OnceFunc(func() { <-one })
		select {
		case one <- struct{}{}:
			defer next()
		default:
			http.Error(w, "another import is in progress: try again when it has finished", http.StatusConflict)
			return
		}
		defer frugal()()
		err := unlimited(w)
		var h *handover
		if err == nil {
			h, err = readHandover(http.MaxBytesReader(w, r.Body, 4+maxReport+maxTimetable), r.ContentLength)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		answer(w, r, func(ctx context.Context, _ teller) (*report, error) {
			defer next() // before the command is told, which may be followed by another at once
			return d.load(ctx, h)
		})
	}
}

// readHandover reads a handover of so many bytes. It asks for no more memory than these
// and what they become.
func readHandover(r io.Reader, size int64) (*handover, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	n := int64(binary.BigEndian.Uint32(head[:]))
	rest := size - int64(len(head)) - n
	if n > maxReport || rest < 0 || rest > maxTimetable {
		return nil, errors.New("the timetable is too large, or incomplete")
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(r, text); err != nil {
		return nil, err
	}
	h := &handover{}
	if err := json.Unmarshal(text, h); err != nil {
		return nil, err
	}
	if h.Report == nil {
		return nil, errors.New("the report is missing")
	}
	timetable := make([]byte, rest)
	if _, err := io.ReadFull(r, timetable); err != nil {
		return nil, err
	}
	if _, err := r.Read(make([]byte, 1)); !errors.Is(err, io.EOF) { // which ends the request
		return nil, errors.Join(errors.New("the request is too long"), err)
	}
	h.timetable = &traintravel.Timetable{}
	return h, h.timetable.UnmarshalBinary(timetable)
}
