package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// A progress shows how far something that takes its time is: a bar on a terminal, elsewhere a line
// now and then.
type progress struct {
	w        io.Writer
	what     string // is done
	terminal bool
	last     time.Time // when it was shown, or began
	shown    bool
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

// show says that done of total is read.
func (p *progress) show(done, total int64) {
	every := retell
	if p.terminal {
		every = redraw
	}
	if total <= 0 || time.Since(p.last) < every {
		return
	}
	p.last, p.shown = time.Now(), true
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

// end leaves the terminal as it was.
func (p *progress) end() {
	if p.shown && p.terminal {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
