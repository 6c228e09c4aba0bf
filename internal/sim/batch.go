package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"
)

// A batch runs the histories of one command.
type batch struct {
	settings
	runner
	out io.Writer

	total  totals
	failed []*outcome
}

// mostExplained is how many failures of a batch are made shorter and told, one for each
// invariant.
const mostExplained = 3

// run runs all histories. It returns an error if one of them fails.
func (b *batch) run(ctx context.Context) error {
	stop := b.progress()
	err := b.runAll(ctx)
	stop()
	if err != nil {
		return err
	}
	slices.SortFunc(b.failed, func(x, y *outcome) int { return cmp.Compare(x.plan.Seed, y.plan.Seed) })
	explained := map[string]bool{}
	for _, o := range b.failed {
		f, _ := o.failed()
		if o.differs || explained[f.Invariant] || len(explained) == mostExplained {
			continue
		}
		explained[f.Invariant] = true
		t := teller{b.runner, b.out, b.story, b.shrink, b.parallel}
		if err := t.explain(ctx, o); err != nil {
			return err
		}
	}
	if len(b.plans) > 1 {
		b.total.print(b.out, len(b.failed))
	}
	if b.coverage {
		if err := b.total.missed(b.out); err != nil {
			return err
		}
	}
	if n := len(b.failed); n > 0 {
		return fmt.Errorf("%d of %s failed", n, count(len(b.plans), "seed"))
	}
	return nil
}

// runAll runs the histories, several at a time.
func (b *batch) runAll(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan plan)
	var workers sync.WaitGroup
	for range min(b.parallel, len(b.plans)) {
		workers.Go(func() {
			for p := range next {
				o, err := b.one(ctx, p)
				if err != nil {
					cancel(err)
					return
				}
				b.ended(o)
			}
		})
	}
	for _, p := range b.plans {
		select {
		case next <- p:
		case <-ctx.Done():
		}
	}
	close(next)
	workers.Wait()
	return context.Cause(ctx)
}

// one runs a history, with -replay-check twice.
func (b *batch) one(ctx context.Context, p plan) (*outcome, error) {
	if b.replay {
		return b.twice(ctx, p, b.story)
	}
	return b.start(ctx, job{Plan: p, Story: b.story})
}

// ended reports a history that has come to its end.
func (b *batch) ended(o *outcome) {
	b.total.mu.Lock()
	defer b.total.mu.Unlock()
	b.total.add(o)
	f, fails := o.failed()
	switch {
	case o.differs:
		b.failed = append(b.failed, o)
		fmt.Fprintf(b.out, "seed %d: FAILED: two runs of it differ\n%s", o.plan.Seed, o.output)
	case fails:
		b.failed = append(b.failed, o)
		fmt.Fprintf(b.out, "seed %d: FAILED %s, %s: %s\n", o.plan.Seed, f.Invariant, o.when(), scrub(f.Text))
	case b.story:
		for _, l := range o.Story {
			fmt.Fprintln(b.out, l)
		}
		fmt.Fprintln(b.out, o)
	case !b.quiet:
		fmt.Fprintln(b.out, o)
	}
}

// progress prints, with -quiet, now and then how far the batch is.
func (b *batch) progress() (stop func()) {
	if !b.quiet {
		return func() {}
	}
	done := make(chan struct{})
	var over sync.WaitGroup
	over.Go(func() {
		t := time.NewTicker(10 * time.Second)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				b.total.mu.Lock()
				fmt.Fprintf(b.out, "%d of %s, %d failed\n", b.total.seeds, count(len(b.plans), "seed"), len(b.failed))
				b.total.mu.Unlock()
			case <-done:
				return
			}
		}
	})
	return func() { close(done); over.Wait() }
}
