// Package shrink looks for the shortest history that breaks the same invariant as a long one.
//
// It leaves out one part after another, and keeps each step after which the invariant still
// breaks: what happens after the failure, classes of faults, servers, users, operations, and
// at last single faults.
package shrink

import (
	"context"
	"slices"
	"sync"

	"github.com/traintravel/traintravel/internal/sim/world"
)

// A Case is what of a history happens.
type Case struct {
	// Faults are the classes that may occur.
	Faults []world.Class
	// Services and Users are how many there are; zero services are as many as are drawn.
	Services, Users int
	// Operations are those that happen, in order.
	Operations []int
	// Without are single faults that do not happen.
	Without []world.Strike
}

// A Trial is what came of a case.
type Trial struct {
	// Same says that it broke the invariant that is looked for.
	Same bool
	// FailedAt is the operation that did; zero if it was found in the end.
	FailedAt int
	// Operations are those that did happen; nil if that is not known.
	Operations []int
	// Involved are operations that are about the bookings of the failure, and Around some
	// that can matter to any failure, such as imports, if that is known.
	Involved, Around []int
	// Faults are the classes that occurred, and Struck the single faults; nil if they are
	// not known.
	Faults []world.Class
	Struck []world.Strike
}

// Try runs the history of a case. It may be called by several goroutines at once.
type Try func(context.Context, Case) Trial

// A Result is the smallest case that was found.
type Result struct {
	Case  Case
	Trial Trial
	Tried int
	// Ended says that nothing more can be left out; otherwise the time was up.
	Ended bool
}

// Smallest looks for the smallest case until nothing more can be left out or the context
// ends. The trial is what came of the case c, and workers how many are tried at once.
func Smallest(ctx context.Context, c Case, t Trial, try Try, workers int) Result {
	s := &shrinker{ctx: ctx, try: try, workers: max(workers, 1), best: c, trial: t}
	s.happened()
	s.cut()
	s.focus()
	s.calm()
	s.fewer()
	for {
		before := len(s.best.Operations) + len(s.best.Without)
		s.focus()
		s.operations()
		s.calm()
		s.strikes()
		if ctx.Err() != nil || len(s.best.Operations)+len(s.best.Without) == before {
			break
		}
	}
	return Result{s.best, s.trial, s.tried, ctx.Err() == nil}
}

type shrinker struct {
	ctx     context.Context
	try     Try
	workers int
	best    Case
	trial   Trial
	tried   int
}

// happened leaves out what did not happen in the best case anyway.
func (s *shrinker) happened() {
	if s.trial.Operations != nil {
		s.best = of(s.best, s.trial.Operations)
	}
}

// of leaves out the operations of a case that are not among some.
func of(c Case, some []int) Case {
	is := make(map[int]bool, len(some))
	for _, n := range some {
		is[n] = true
	}
	c.Operations = slices.DeleteFunc(slices.Clone(c.Operations), func(n int) bool { return !is[n] })
	return c
}

// first tries the cases, several at a time, and takes the first of them, in their order, that
// breaks the invariant. It returns its index, or -1.
func (s *shrinker) first(cases ...Case) int {
	for len(cases) > 0 && s.ctx.Err() == nil {
		n := min(s.workers, len(cases))
		trials := make([]Trial, n)
		var wg sync.WaitGroup
		for i, c := range cases[:n] {
			wg.Go(func() { trials[i] = s.try(s.ctx, c) })
		}
		wg.Wait()
		s.tried += n
		if i := slices.IndexFunc(trials, func(t Trial) bool { return t.Same }); i >= 0 {
			s.best, s.trial = cases[i], trials[i]
			s.happened()
			return i
		}
		cases = cases[n:]
	}
	return -1
}

// cut leaves out what comes after the operation that failed.
func (s *shrinker) cut() {
	if at := s.trial.FailedAt; at > 0 {
		c := s.best
		c.Operations = slices.DeleteFunc(slices.Clone(c.Operations), func(n int) bool { return n > at })
		s.first(c)
	}
}

// focus leaves out the operations that are not about the bookings of the failure, or that are
// not near those that are.
func (s *shrinker) focus() {
	known := s.trial.Involved
	if len(known) == 0 {
		return
	}
	more := slices.Concat(known, s.trial.Around)
	near := func(before, after int, more []int) Case {
		for n := slices.Min(known) - before; n <= slices.Max(known)+after; n++ {
			more = append(more, n)
		}
		return of(s.best, more)
	}
	cases := []Case{of(s.best, known), of(s.best, more), near(0, 0, nil), near(0, 0, more), near(100, 100, nil), near(200, 400, more)}
	s.first(slices.DeleteFunc(cases, func(c Case) bool { return len(c.Operations) == len(s.best.Operations) })...)
}

// calm leaves out classes of faults: all, or else as many as it can.
func (s *shrinker) calm() {
	if s.trial.Faults != nil { // what did not occur is not needed, but that it may can matter
		s.first(with(s.best, s.trial.Faults))
	}
	reduce(s, func() []world.Class { return s.best.Faults }, with)
}

func with(c Case, on []world.Class) Case {
	c.Faults = on
	return c
}

// fewer tries with fewer servers and users.
func (s *shrinker) fewer() {
	for n := 1; n <= 2; n++ {
		c := s.best
		c.Services = n
		if (s.best.Services == 0 || n < s.best.Services) && s.first(c) == 0 {
			break
		}
	}
	if c := s.best; c.Users > 1 {
		c.Users = 1
		s.first(c)
	}
}

// operations leaves out operations.
func (s *shrinker) operations() {
	reduce(s, func() []int { return s.best.Operations }, func(c Case, keep []int) Case {
		c.Operations = keep
		return c
	})
}

// strikes leaves out single faults.
func (s *shrinker) strikes() {
	reduce(s, func() []world.Strike { return s.trial.Struck }, func(c Case, keep []world.Strike) Case {
		c.Without = slices.Clone(c.Without)
		for _, x := range s.trial.Struck {
			if !slices.Contains(keep, x) {
				c.Without = append(c.Without, x)
			}
		}
		return c
	})
}

// reduce leaves out as many of the items as it can: in chunks, each half as long as those
// before. The items are those of the best case, which changes with each step that is kept.
func reduce[T comparable](s *shrinker, items func() []T, keeping func(Case, []T) Case) {
	if len(items()) == 0 || s.first(keeping(s.best, []T{})) == 0 {
		return
	}
	for size := (len(items()) + 1) / 2; size > 0 && s.ctx.Err() == nil; {
		left := false
		for end := len(items()); end > 0 && s.ctx.Err() == nil; {
			var cases []Case
			now := items()
			end = min(end, len(now))
			for e := end; e > 0; e -= size {
				rest := slices.Concat(now[:max(e-size, 0)], now[e:])
				cases = append(cases, keeping(s.best, rest))
			}
			i := s.first(cases...)
			if i < 0 {
				break
			}
			left = true
			end -= (i + 1) * size
		}
		if size == 1 && !left {
			return
		}
		if size > 1 || !left {
			size = min(size/2, max(len(items())/2, 1))
		}
	}
}
