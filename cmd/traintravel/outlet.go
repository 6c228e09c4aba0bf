package main

import (
	"io"
	"log/slog"
	"sync"
	"time"
)

// What an outlet keeps while its reader is too slow.
const (
	keptLines = 4096
	keptBytes = 1 << 20
)

// patience is how long a call that logs waits for its line to be written.
const patience = time.Second

// An outlet writes the log. A call that logs returns when its line is written, so that no line
// is lost if the process ends next. If the reader stalls, as that of a stopped terminal or a
// pipe may, calls do not wait: a bounded number of lines is kept, more are dropped, and their
// number is logged when the reader goes on. Errors of writing are ignored.
type outlet struct {
	to io.Writer

	mu      sync.Mutex
	waiting []*logLine
	bytes   int           // of the lines that wait
	writing bool          // a goroutine writes
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

// take queues a line. It returns nil if the caller is not to wait for it.
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

// wait waits until a line is written. If that takes too long, later calls do not wait.
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
			own.Warn("log lines dropped: the reader is too slow", "lines", dropped)
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

// flush waits until all lines are written, but not longer than patience.
func (o *outlet) flush() {
	o.mu.Lock()
	last := o.last
	o.mu.Unlock()
	if last != nil {
		o.wait(last, patience)
	}
}
