package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/traintravel/traintravel/internal/sim/model"
)

// mostLines is how much of a story, or of what a crash wrote, a report has.
const mostLines = 200

// mostTold is how many operations a short story tells all of.
const mostTold = 30

// A teller reports failures.
type teller struct {
	runner
	out      io.Writer
	story    bool
	shrink   time.Duration
	parallel int
}

// explain prints a failed history: the invariant, how to repeat it, and its story, after a
// search for a shorter one.
func (t teller) explain(ctx context.Context, o *outcome) error {
	found, _ := o.failed()
	begun, before := time.Now(), o
	shrunk := ""
	if t.shrink > 0 {
		if o.hung {
			shrunk = "not made shorter: it hangs"
		} else {
			s := t.smallest(ctx, o)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			o = s.outcome
			shrunk = fmt.Sprintf("made shorter from %s to %s, in %d trials and %.1f s", count(len(before.Performed), "operation"), count(len(o.Performed), "operation"), s.tried, time.Since(begun).Seconds())
			if !s.ended {
				shrunk += ", until the time was up (-shrink)"
			}
		}
	}
	told := o
	if !o.hung { // which would take as long again
		var err error
		if told, err = t.tell(ctx, o); err != nil {
			return err
		}
	}
	fmt.Fprintf(t.out, "\nFAILED %s: %s\n", found.Invariant, model.Invariants()[found.Invariant])
	for _, f := range told.Failures {
		fmt.Fprintf(t.out, "  %s: %s\n", f.Invariant, scrub(f.Text))
	}
	fmt.Fprintf(t.out, "seed %d, %s; commit %s, %s\n", o.plan.Seed, told.when(), commit(), runtime.Version())
	repeat, err := t.repeat(o.plan)
	if err != nil {
		return err
	}
	fmt.Fprintf(t.out, "repeat it: %s\n", repeat)
	if o != before {
		fmt.Fprintf(t.out, "in full:   go run ./internal/sim %s -shrink 0\n", strings.Join(before.plan.flags(), " "))
	}
	if shrunk != "" {
		fmt.Fprintln(t.out, shrunk)
	}
	t.printStory(told, o != before)
	return nil
}

// tell runs the history again, with its story.
func (t teller) tell(ctx context.Context, o *outcome) (*outcome, error) {
	trace := filepath.Join(t.scratch, fmt.Sprint("story of ", o.plan.Seed))
	told, err := t.start(ctx, job{Plan: o.plan, Story: true, Trace: trace})
	if err != nil {
		return nil, err
	}
	if _, fails := told.failed(); !fails {
		told.report, told.died = o.report, false
		told.Failures = append(told.Failures, model.Failure{Invariant: o.Failures[0].Invariant, Text: "when it was run again, it passed: see -replay-check"})
	}
	if told.died {
		f, err := os.Open(trace)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		if told.Story, err = storyOf(f); err != nil {
			return nil, err
		}
	}
	return told, nil
}

// printStory prints the lines that matter, or all with -story.
func (t teller) printStory(o *outcome, shrunk bool) {
	lines := o.Story
	switch f, _ := o.failed(); {
	case t.story, o.died:
	case shrunk && len(o.Performed) <= mostTold:
		lines = short(lines, f.Text)
	default:
		lines = matters(lines, f.Text)
	}
	if o.hung {
		lines = nil
	} else if left := len(lines) - mostLines; left > 0 && !t.story {
		fmt.Fprintf(t.out, "the story, its last %d lines:\n", mostLines)
		lines = lines[left:]
	} else {
		fmt.Fprintln(t.out, "the story:")
	}
	for _, l := range lines {
		fmt.Fprintln(t.out, " ", l)
	}
	if o.died {
		fmt.Fprintln(t.out, "what the process wrote:")
		n := 0
		for l := range strings.Lines(o.output) {
			if n++; n > mostLines {
				break
			}
			fmt.Fprint(t.out, "  ", l)
		}
	}
}

// longestMask is how long a mask may be on a command line that somebody copies.
const longestMask = 1500

// repeat is the command that runs a plan.
func (t teller) repeat(p plan) (string, error) {
	text := "go run ./internal/sim " + strings.Join(p.flags(), " ") + " -shrink 0"
	if p.Mask.empty() {
		return text, nil
	}
	mask := p.Mask.json()
	if len(mask) <= longestMask {
		return text + " -mask '" + mask + "'", nil
	}
	f, err := os.CreateTemp("", fmt.Sprintf("sim-mask-of-seed-%d-*.json", p.Seed))
	if err != nil {
		return "", err
	}
	if _, err := f.WriteString(mask + "\n"); err != nil {
		return "", err
	}
	return text + " -mask " + f.Name(), f.Close()
}

// commit is the commit of the source.
func commit() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				return s.Value
			}
		}
	}
	head, err := exec.Command("git", "-c", "safe.directory=*", "rev-parse", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(head))
}
