package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// A progress shows the progress of long work: a bar on a terminal, elsewhere a line now and then.
type progress struct {
	w        io.Writer
	what     string // the name of the work
	then     string // the name of work after it whose progress is not known
	terminal bool

	mu    sync.Mutex
	last  time.Time // when it was shown, or began
	shown bool
	stop  func() // ends the messages of that work
}

const (
	redraw = 100 * time.Millisecond // on a terminal
	retell = 5 * time.Second        // elsewhere, where quick work shows nothing
)

func newProgress(w io.Writer, what string) *progress {
	p := &progress{w: w, what: what, last: time.Now()}
	if f, ok := w.(*os.File); ok {
		info, err := f.Stat()
		p.terminal = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	return p
}

// show says that done of total is done; a total of zero is not known.
func (p *progress) show(done, total int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if total < 0 || done < 0 || p.stop != nil {
		return
	}
	if p.then != "" && total > 0 && done >= total {
		p.goOn()
		return
	}
	every := retell
	if p.terminal {
		every = redraw
	}
	if time.Since(p.last) < every {
		return
	}
	p.last, p.shown = time.Now(), true
	if total == 0 {
		if p.terminal {
			fmt.Fprintf(p.w, "\r\x1b[K%s: %d", p.what, done)
		} else {
			fmt.Fprintf(p.w, "%s: %d\n", p.what, done)
		}
		return
	}
	done = max(0, min(done, total))
	percent := int(float64(done) / float64(total) * 100)
	if !p.terminal {
		fmt.Fprintf(p.w, "%s: %d %%\n", p.what, percent)
		return
	}
	const width = 40
	n := percent * width / 100
	fmt.Fprintf(p.w, "\r%s [%s%s] %3d %%", p.what, strings.Repeat("#", n), strings.Repeat(" ", width-n), percent)
}

// goOn shows now and then how long the work without known progress has taken.
func (p *progress) goOn() {
	began, every := time.Now(), retell
	if p.terminal {
		every = time.Second
	}
	over, ended := make(chan struct{}), make(chan struct{})
	p.stop = sync.OnceFunc(func() { close(over); <-ended })
	go func() {
		defer close(ended)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-over:
				return
			case <-tick.C:
			}
			seconds := int(time.Since(began).Seconds())
			if p.terminal {
				fmt.Fprintf(p.w, "\r\x1b[K%s, %d s", p.then, seconds)
			} else {
				fmt.Fprintf(p.w, "%s: %d s\n", p.then, seconds)
			}
		}
	}()
	p.shown = true
}

// end leaves the terminal as it was.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stop != nil {
		p.stop()
	}
	if p.shown && p.terminal {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
