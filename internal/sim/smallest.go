package main

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/traintravel/traintravel/internal/sim/shrink"
	"github.com/traintravel/traintravel/internal/sim/world"
)

// A smaller history breaks the same invariant as another one.
type smaller struct {
	outcome *outcome
	tried   int
	ended   bool
}

// smallest looks for the smallest history that breaks the same invariant, for as long as
// -shrink says.
func (t teller) smallest(ctx context.Context, o *outcome) smaller {
	ctx, stop := context.WithTimeout(ctx, t.shrink)
	defer stop()
	want, _ := o.failed()
	quick := t.runner
	quick.limit = min(t.limitOf(o.plan), 10*time.Second+10*o.wall)
	try := func(ctx context.Context, c shrink.Case) shrink.Trial {
		tried, err := quick.start(ctx, job{Plan: planOf(o.plan, c), Involved: true})
		if err != nil {
			return shrink.Trial{}
		}
		return trialOf(tried, want.Invariant)
	}
	on, _ := world.ParseFaults(o.plan.Faults) // they were read before
	c := shrink.Case{Services: o.plan.Services, Users: o.plan.Users, Operations: o.Performed, Without: o.plan.Mask.Strikes}
	for _, class := range world.Classes() {
		if on[class] {
			c.Faults = append(c.Faults, class)
		}
	}
	if o.died {
		c.Operations = upTo(o.plan)
	}
	first := try(ctx, c) // which knows too what the failure is about
	if !first.Same {
		first = trialOf(o, want.Invariant)
	}
	r := shrink.Smallest(ctx, c, first, try, t.parallel)
	small := &outcome{report: o.report, plan: planOf(o.plan, r.Case), died: o.died}
	small.Performed = r.Case.Operations
	return smaller{small, r.Tried, r.Ended}
}

// upTo are the operations that a plan can have.
func upTo(p plan) (all []int) {
	skip := p.Mask.of(p.Until)
	for n := 1; n <= p.Days*220+200; n++ {
		if !skip.Skip[n] && (skip.Until == 0 || n <= skip.Until) {
			all = append(all, n)
		}
	}
	return all
}

// planOf is the plan of a case.
func planOf(p plan, c shrink.Case) plan {
	p.Faults = faultsText(c.Faults)
	p.Services, p.Users, p.Until = c.Services, c.Users, 0
	p.Mask = mask{Only: append([]int{}, c.Operations...), Strikes: c.Without}
	return p
}

// faultsText is how -faults says the classes.
func faultsText(on []world.Class) string {
	switch len(on) {
	case 0:
		return "none"
	case len(world.Classes()):
		return "all"
	}
	var names []string
	for _, c := range on {
		names = append(names, string(c))
	}
	return strings.Join(names, ",")
}

// trialOf is what the search wants to know of a history.
func trialOf(o *outcome, invariant string) shrink.Trial {
	f, fails := o.failed()
	t := shrink.Trial{Same: fails && f.Invariant == invariant, FailedAt: o.FailedAt, Involved: o.Involved, Around: o.Around}
	if t.Same && o.FailedAt > 0 {
		t.Involved = append(slices.Clone(o.Involved), o.FailedAt)
	}
	if !o.died {
		t.Operations, t.Struck = append([]int{}, o.Performed...), o.Struck
		t.Faults = slices.Sorted(maps.Keys(o.Faults))
	}
	return t
}
