package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// A progress shows how far something that takes its time is: a bar on a terminal, elsewhere a line
// now and then.
type progress struct {
	w        io.Writer
	what     string // is done
	then     string // what is done after all of that, which does not tell how far it is
	terminal bool

	mu    sync.Mutex
	last  time.Time // when it was shown, or began
	shown bool
	stop  func() // ends what is then done
}

const (
	redraw = 100 * time.Millisecond // on a terminal
	retell = 5 * time.Second        // elsewhere, where what is quick says nothing
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

// goOn tells now and then for how long there has been nothing to measure.
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
