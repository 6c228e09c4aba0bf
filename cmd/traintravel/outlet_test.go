package main

import (
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A caller that logs waits until its line is written, but not for a reader that does not read.
// Lines beyond the buffer are dropped and counted.
func TestOutlet(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &output{}
		o := &outlet{to: r}
		log := o.logger(func(to io.Writer) slog.Handler { return slog.NewJSONHandler(to, nil) })
		for i := range 3 {
			log.Info("read", "line", i)
			if n := strings.Count(r.String(), "\n"); n != i+1 {
				t.Fatalf("%d lines are written of %d", n, i+1)
			}
		}

		goOn := make(chan struct{})
		o.to = &stoppable{to: r, goOn: goOn}
		log = o.logger(func(to io.Writer) slog.Handler { return slog.NewJSONHandler(to, nil) })
		began := time.Now()
		for i := range keptLines + 11 {
			log.Info("unread", "line", i)
		}
		if took := time.Since(began); took > patience {
			t.Errorf("it took %v", took)
		}
		o.flush()
		close(goOn)
		synctest.Wait()
		said := r.String()
		if n := strings.Count(said, `"unread"`); n != keptLines+1 { // one is being written
			t.Errorf("%d lines are kept", n)
		}
		if !strings.Contains(said, `"msg":"log lines dropped: the reader is too slow","lines":10}`) {
			t.Errorf("it does not say that lines were dropped: %s", said[len(said)-200:])
		}
		log.Info("read again")
		if !strings.Contains(r.String(), `"read again"`) {
			t.Error("a line is not written when it was logged")
		}
	})
}

// A stoppable writer takes nothing until it may.
type stoppable struct {
	to   io.Writer
	goOn <-chan struct{}
}

func (s *stoppable) Write(b []byte) (int, error) {
	<-s.goOn
	return s.to.Write(b)
}

// Large lines do not fill the memory.
func TestOutletKeepsBytes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		goOn := make(chan struct{})
		o := &outlet{to: &stoppable{to: io.Discard, goOn: goOn}}
		o.logger(func(to io.Writer) slog.Handler { return slog.NewTextHandler(to, nil) })
		for range 2 * keptBytes >> 10 {
			fmt.Fprint(o, strings.Repeat("x", 1023)+"\n")
		}
		if o.bytes > keptBytes || o.dropped == 0 {
			t.Errorf("it keeps %d bytes and drops %d lines", o.bytes, o.dropped)
		}
		close(goOn)
		synctest.Wait()
	})
}
