package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/traintravel/traintravel/internal/sim/history"
	"github.com/traintravel/traintravel/internal/sim/world"
)

// totals are what a batch of histories has in all. What it counts is guarded by mu.
type totals struct {
	mu                               sync.Mutex
	seeds, days, operations, commits int
	cpu                              time.Duration
	traffic                          time.Duration
	kinds, faults, errors, marks     map[string]int
}

func newTotals() totals {
	return totals{kinds: map[string]int{}, faults: map[string]int{}, errors: map[string]int{}, marks: map[string]int{}}
}

// add counts a history, with t.mu held.
func (t *totals) add(o *outcome) {
	t.seeds++
	t.commits += o.Commits
	if len(o.Failures) == 0 { // others end before their time
		t.days += o.plan.Days
		t.operations += len(o.Performed)
		t.cpu += o.cpu
	}
	for k, n := range o.Done {
		t.kinds[k] += n
	}
	for c, n := range o.Faults {
		t.faults[string(c)] += n
	}
	for e, n := range o.Errors {
		t.errors[e] += n
	}
	for m, n := range o.Marks {
		t.marks[m] += n
	}
	t.traffic += o.Traffic
}

// print prints the summary.
func (t *totals) print(out io.Writer, failed int) {
	fmt.Fprintf(out, "\n%s: %d passed, %d failed; %s, %s, %s\n", count(t.seeds, "seed"), t.seeds-failed, failed, count(t.operations, "operation"), count(t.commits, "commit"), count(sum(t.faults), "fault"))
	if s := t.cpu.Seconds(); s > 0 {
		fmt.Fprintf(out, "%.1f s of CPU, and in each %.0f operations and %.0f days\n", s, float64(t.operations)/s, float64(t.days)/s)
	}
	printCounts(out, "operations", t.kinds, history.Kinds())
	printCounts(out, "faults", t.faults, classes())
	printCounts(out, "errors", t.errors, history.Errors())
	printCounts(out, "messages", t.marks, slices.Sorted(maps.Keys(t.marks)))
	if t.traffic > 0 {
		fmt.Fprintf(out, "traffic: %.1f hours\n", t.traffic.Hours())
	}
}

func classes() (names []string) {
	for _, c := range world.Classes() {
		names = append(names, string(c))
	}
	return names
}

// printCounts prints how often each of the names occurred, and those that did not.
func printCounts(out io.Writer, what string, counts map[string]int, names []string) {
	var some, none []string
	for _, name := range names {
		if n := counts[name]; n > 0 {
			some = append(some, fmt.Sprintf("%s %d", name, n))
		} else {
			none = append(none, name)
		}
	}
	fmt.Fprintf(out, "%s: %s\n", what, strings.Join(some, ", "))
	if len(none) > 0 {
		fmt.Fprintf(out, "%s that did not occur: %s\n", what, strings.Join(none, ", "))
	}
}

// In floorSeeds histories of floorDays days, each class of faults strikes at least leastFaults
// times, each kind of operation happens at least leastOperations times, and each error is
// answered, but for those below. Of fewer or shorter ones less is wanted, in proportion.
const (
	floorSeeds      = 40
	floorDays       = 30
	leastFaults     = 3
	leastOperations = 200
)

// Of what happens in traffic only, one is wanted in at least leastTraffic of it.
const leastTraffic = 12 * time.Hour

var inTraffic = map[string]bool{string(world.Pause): true, string(world.Partition): true}

// rare are classes of faults without a floor, although they strike, with the reason.
var rare = map[string]string{
	string(world.CancelFails): "the bank is asked to cancel charges in few histories",
}

// exempt are the faults, operations and errors that do not occur, with the reason.
var exempt = map[string]string{
	"ErrNoTimetable":          "a timetable is loaded before the first operation",
	"ErrHasTimetable":         "nobody asks that a load be the first",
	"ErrBicyclesNotAllowed":   "all trains take bicycles",
	"ErrDogsNotAllowed":       "all trains take dogs",
	"ErrTooManyDeclines":      "the services do not limit declines",
	"DeclinesError":           "the services do not limit declines",
	"HoldsError":              "the services do not limit holds",
	"ErrNoGateway":            "the services have a gateway",
	"ErrPaymentSettled":       "no charge is still to be settled by hand when somebody does",
	"ErrPaidTooLate":          "a charge in a request is answered before its hold can end",
	"ErrChanged":              "no conditional request is made",
	"ErrMoved":                "no store is copied",
	"ErrCopying":              "no store is copied",
	"ErrHoldsData":            "no store is copied",
	"ErrNewerData":            "all servers are of one release",
	"ErrNoWebhooks":           "nobody subscribes without a sender",
	"ErrTooManySubscriptions": "nobody has many subscriptions",
	"HostLimitError":          "no host is limited",
	"InvalidError":            "no input is malformed",
	"EditionError":            "editions fit the timetable in force",
}

var errMissed = errors.New("coverage: too little of it happened")

// missed reports what happened less often than it should.
func (t *totals) missed(out io.Writer) error {
	missed := 0
	part := float64(t.days) / (floorSeeds * floorDays)
	for _, of := range []struct {
		what   string
		counts map[string]int
		names  []string
		least  int
	}{
		{"operation", t.kinds, history.Kinds(), leastOperations},
		{"class of faults", t.faults, classes(), leastFaults},
		{"error", t.errors, history.Errors(), 1},
	} {
		for _, name := range of.names {
			least := int(float64(of.least) * part)
			if inTraffic[name] {
				least = int(min(1, t.traffic/leastTraffic))
			}
			if n := of.counts[name]; n < least && exempt[name]+rare[name] == "" {
				missed++
				fmt.Fprintf(out, "coverage: the %s %q occurred %s, and should at least %d\n", of.what, name, times(n), least)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(exempt)) {
		if t.kinds[name]+t.faults[name]+t.errors[name] > 0 {
			fmt.Fprintf(out, "coverage: %q occurs now: take it off the list of those that need not\n", name)
		}
	}
	if missed > 0 {
		return errMissed
	}
	return nil
}
