package main

import (
	"io"
	"log/slog"
	"sync"
	"time"
)

// What an outlet keeps while its reader does not keep up.
const (
	keptLines = 4096
	keptBytes = 1 << 20
)

// patience is how long a line waits to be written, while lines are.
const patience = time.Second

// An outlet is where the log is written. Whoever logs goes on when the line is written, so
// that none is lost if the process ends next; but if the reader takes nothing, as a pipe or
// a terminal may that somebody has stopped, nobody waits for it: so many lines are kept,
// more are dropped, and their number is logged when the reader goes on. No error of writing
// is the concern of who logs.
type outlet struct {
	to io.Writer

	mu      sync.Mutex
	waiting []*logLine
	bytes   int           // of the lines that wait
	writing bool          // a goroutine is at it
	stalled bool          // the line that is being written has waited for long
	dropped int           // lines, since the last that was written
	own     *slog.Logger  // of the outlet itself, without the queue
	last    chan struct{} // is closed when the last line is written
}

type logLine struct {
	text    []byte
	written chan struct{}
}

// logger makes a logger that writes to the outlet in the form that a function makes.
func (o *outlet) logger(form func(io.Writer) slog.Handler) *slog.Logger {
	o.mu.Lock()
	o.own = slog.New(form(o.to))
	o.mu.Unlock()
	return slog.New(form(o))
}

// Write implements [io.Writer]: it takes one line.
func (o *outlet) Write(b []byte) (int, error) {
	if line := o.take(b); line != nil {
		o.wait(line.written, patience)
	}
	return len(b), nil
}

// take queues a line. It returns nil if nobody is to wait for it.
func (o *outlet) take(b []byte) *logLine {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.waiting) >= keptLines || o.bytes+len(b) > keptBytes && len(o.waiting) > 0 {
		o.dropped++
		return nil
	}
	line := &logLine{append([]byte(nil), b...), make(chan struct{})}
	o.waiting, o.bytes, o.last = append(o.waiting, line), o.bytes+len(b), line.written
	if !o.writing {
		o.writing = true
		go o.write()
	}
	if o.stalled {
		return nil
	}
	return line
}

// wait waits until a line is written. If that takes too long, nobody waits for those after it.
func (o *outlet) wait(written <-chan struct{}, longest time.Duration) {
	late := time.NewTimer(longest)
	defer late.Stop()
	select {
	case <-written:
	case <-late.C:
		o.mu.Lock()
		defer o.mu.Unlock()
		o.stalled = o.writing
	}
}

// write writes what waits, until nothing does.
func (o *outlet) write() {
	for {
		line, dropped, own := o.next()
		if line == nil {
			return
		}
		_, _ = o.to.Write(line.text)
		close(line.written)
		if dropped > 0 {
			own.Warn("lines of the log were dropped: its reader did not keep up", "lines", dropped)
		}
	}
}

// next takes the next line, and how many were dropped after all that wait now; nil ends the
// goroutine.
func (o *outlet) next() (line *logLine, dropped int, own *slog.Logger) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.waiting) == 0 {
		o.writing, o.stalled, o.waiting = false, false, nil
		return nil, 0, nil
	}
	line, o.waiting = o.waiting[0], o.waiting[1:]
	o.bytes -= len(line.text)
	if len(o.waiting) == 0 {
		dropped, o.dropped = o.dropped, 0
	}
	return line, dropped, o.own
}

// flush waits until all is written, and no longer than is good for who ends the process.
func (o *outlet) flush() {
	o.mu.Lock()
	last := o.last
	o.mu.Unlock()
	if last != nil {
		o.wait(last, patience)
	}
}
