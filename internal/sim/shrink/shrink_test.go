package shrink_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/traintravel/traintravel/internal/sim/shrink"
	"github.com/traintravel/traintravel/internal/sim/world"
)

// A made-up fault needs the operations 17, 400 and 401, deaths, and one strike of two.
func made(runs *atomic.Int64) shrink.Try {
	needed := world.Strike{Class: world.Death, Place: "here", K: 2}
	return func(_ context.Context, c shrink.Case) shrink.Trial {
		runs.Add(1)
		t := shrink.Trial{FailedAt: 401, Operations: slices.Clone(c.Operations), Faults: c.Faults}
		if slices.Contains(c.Faults, world.Death) {
			for k := range uint64(5) {
				if s := (world.Strike{Class: world.Death, Place: "here", K: k}); !slices.Contains(c.Without, s) {
					t.Struck = append(t.Struck, s)
				}
			}
		}
		t.Same = slices.Contains(t.Struck, needed)
		for _, n := range []int{17, 400, 401} {
			t.Same = t.Same && slices.Contains(c.Operations, n)
		}
		return t
	}
}

func upTo(n int) (all []int) {
	for i := 1; i <= n; i++ {
		all = append(all, i)
	}
	return all
}

func TestSmallest(t *testing.T) {
	for _, workers := range []int{1, 2, 5} {
		var runs atomic.Int64
		c := shrink.Case{Faults: world.Classes(), Users: 3, Services: 0, Operations: upTo(1000)}
		try := made(&runs)
		r := shrink.Smallest(t.Context(), c, try(t.Context(), c), try, workers)
		if !slices.Equal(r.Case.Operations, []int{17, 400, 401}) || !slices.Equal(r.Case.Faults, []world.Class{world.Death}) {
			t.Errorf("with %d workers, the smallest case has operations %v and faults %v", workers, r.Case.Operations, r.Case.Faults)
		}
		if r.Case.Services != 1 || r.Case.Users != 1 {
			t.Errorf("the smallest case has %d services and %d users", r.Case.Services, r.Case.Users)
		}
		if len(r.Case.Without) != 4 || len(r.Trial.Struck) != 1 || !r.Trial.Same || !r.Ended {
			t.Errorf("the smallest case is without %v: %+v", r.Case.Without, r.Trial)
		}
		if int(runs.Load()) != r.Tried+1 || r.Tried > 400 {
			t.Errorf("%d of %d trials were counted", r.Tried, runs.Load())
		}
	}
}

// What is found in the end is cut too, and what the failure is about is tried first.
func TestInvolved(t *testing.T) {
	var runs atomic.Int64
	inner := made(&runs)
	try := func(ctx context.Context, c shrink.Case) shrink.Trial {
		r := inner(ctx, c)
		r.FailedAt, r.Involved = 0, []int{17, 400, 401}
		return r
	}
	c := shrink.Case{Faults: []world.Class{world.Death}, Users: 1, Services: 1, Operations: upTo(5000)}
	r := shrink.Smallest(t.Context(), c, try(t.Context(), c), try, 1)
	if !slices.Equal(r.Case.Operations, []int{17, 400, 401}) || r.Tried > 60 {
		t.Errorf("after %d trials, the smallest case has operations %v", r.Tried, r.Case.Operations)
	}
}

// When the time is up, the smallest case so far is what there is.
func TestTimeIsUp(t *testing.T) {
	var runs atomic.Int64
	inner := made(&runs)
	ctx, stop := context.WithCancel(t.Context())
	try := func(ctx context.Context, c shrink.Case) shrink.Trial {
		if runs.Load() == 10 {
			stop()
		}
		return inner(ctx, c)
	}
	c := shrink.Case{Faults: world.Classes(), Users: 3, Operations: upTo(1000)}
	r := shrink.Smallest(ctx, c, inner(ctx, c), try, 1)
	if r.Ended || !r.Trial.Same || len(r.Case.Operations) >= 1000 {
		t.Errorf("after %d trials: %d operations, ended: %v", r.Tried, len(r.Case.Operations), r.Ended)
	}
}
