package world

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/traintravel/traintravel/internal/sim/chance"
)

// A Class is a kind of fault.
type Class string

// The classes of faults. Each names what goes wrong, as flags and reports show it.
const (
	StoreUnavailable Class = "store-unavailable" // a call fails and has no effect
	StoreLost        Class = "store-lost"        // an update is written or not, and the answer is lost
	StoreTwice       Class = "store-twice"       // a closure runs twice
	StoreSlow        Class = "store-slow"        // a call takes up to 30 seconds
	CallerGone       Class = "caller-gone"       // the context of an operation ends within it
	Death            Class = "death"             // a process dies at a call of the store
	DeathInCommit    Class = "death-in-commit"   // a process dies as an update is written
	DeathAtBank      Class = "death-at-bank"     // a process dies after the bank's answer
	NobodyRuns       Class = "nobody-runs"       // no process does scheduled work, for hours to days
	Skew             Class = "skew"              // the clocks of processes differ
	ClockJump        Class = "clock-jump"        // a clock jumps by minutes
	ChargeLost       Class = "charge-lost"       // a charge never arrives at the bank
	ChargeLate       Class = "charge-late"       // a charge arrives up to a day later
	ChargeDoubled    Class = "charge-doubled"    // a charge arrives a second time, later
	ChargeUnanswered Class = "charge-unanswered" // the answer to a charge is lost
	ChargePending    Class = "charge-pending"    // a charge is settled hours or days later
	ChargeDeclined   Class = "charge-declined"   // a charge is declined
	BankHangs        Class = "bank-hangs"        // a call ends with its context only
	BankPanics       Class = "bank-panics"       // a call panics
	BankAway         Class = "bank-away"         // the bank does not answer, for minutes to days
	LookupFails      Class = "lookup-fails"      // a question about a charge fails
	RefundFails      Class = "refund-fails"      // a refund fails, for minutes to days
	RefundPending    Class = "refund-pending"    // a refund is made hours later
	CancelFails      Class = "cancel-fails"      // the cancellation of a charge fails
	NoCanceller      Class = "no-canceller"      // the gateway cannot cancel charges
	ReceiverFails    Class = "receiver-fails"    // a receiver answers with an error, or not at all
	ReceiverAway     Class = "receiver-away"     // a receiver answers nothing, for hours to weeks
	ReceiverGone     Class = "receiver-gone"     // a receiver answers 410
	ReceiverLate     Class = "receiver-late"     // a receiver takes an event and does not say so
	Pause            Class = "pause"             // a process stands still while it runs
	Partition        Class = "partition"         // a process cannot reach the store for a while
)

// Classes are all of them.
func Classes() []Class {
	return []Class{
		StoreUnavailable, StoreLost, StoreTwice, StoreSlow, CallerGone, Death, DeathInCommit, DeathAtBank, NobodyRuns,
		Skew, ClockJump, ChargeLost, ChargeLate, ChargeDoubled, ChargeUnanswered, ChargePending, ChargeDeclined,
		BankHangs, BankPanics, BankAway, LookupFails, RefundFails, RefundPending, CancelFails, NoCanceller,
		ReceiverFails, ReceiverAway, ReceiverGone, ReceiverLate, Pause, Partition,
	}
}

// ParseFaults reads what -faults says: all, none, or a list of classes. A list in which the
// first has a minus sign before it leaves those out.
func ParseFaults(text string) (map[Class]bool, error) {
	on := map[Class]bool{}
	every := text == "all" || strings.HasPrefix(text, "-")
	for _, c := range Classes() {
		on[c] = every
	}
	if text == "all" || text == "none" {
		return on, nil
	}
	for name := range strings.SplitSeq(text, ",") {
		bare, off := strings.CutPrefix(strings.TrimSpace(name), "-")
		if _, ok := on[Class(bare)]; !ok {
			return nil, fmt.Errorf("unknown class of faults %q: want all, none, or some of %v", bare, Classes())
		}
		on[Class(bare)] = !off
	}
	return on, nil
}

// A Strike is one fault: its class, and the place and number of the draw that chose it.
type Strike struct {
	Class Class
	Place string
	K     uint64
}

// Faults says how often each class of faults strikes in a history. A class is absent from
// half of the histories, so that the others meet undisturbed. It is safe for concurrent use.
type Faults struct {
	rate map[Class]float64
	skip map[Strike]bool

	mu     sync.Mutex
	counts map[Class]int
	struck []Strike
	calm   bool
}

// atBank are classes that strike most charges or refunds of some histories: there, what hardly ever
// meets does.
var atBank = []Class{ChargeLost, ChargeLate, ChargeUnanswered, ChargePending, LookupFails, RefundFails, RefundPending, CancelFails}

// newFaults draws the rates of a history. Strikes in skip do not happen, and classes in often occur
// in any case.
func newFaults(seed chance.Seed, on map[Class]bool, skip map[Strike]bool, often []Class) *Faults {
	f := &Faults{rate: map[Class]float64{}, counts: map[Class]int{}, skip: skip}
	for _, c := range Classes() {
		r := seed.At("rate of "+string(c), 0)
		rate := chance.Rate(r, 0.001, 0.2)
		if r.IntN(2) == 0 && on[c] {
			f.rate[c] = rate
			if slices.Contains(atBank, c) && r.IntN(3) == 0 {
				f.rate[c] = chance.Rate(r, 0.1, 0.5)
			}
		}
		if slices.Contains(often, c) {
			f.rate[c] = chance.Rate(r, 0.05, 0.3)
		}
	}
	return f
}

// On reports whether the class occurs in the history. After Calm, none does.
func (f *Faults) On(c Class) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.calm && f.rate[c] > 0
}

// Calm ends all faults.
func (f *Faults) Calm() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calm = true
}

// IsCalm reports whether all faults have ended.
func (f *Faults) IsCalm() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calm
}

// Strikes draws whether a fault of the class occurs here, factor times as often as the
// history's rate says. It always takes one number from the dice.
func (f *Faults) Strikes(d chance.Dice, c Class, factor float64) bool {
	x := d.Float64()
	f.mu.Lock()
	defer f.mu.Unlock()
	at := Strike{c, d.Place, d.K}
	if f.calm || x >= f.rate[c]*factor || f.skip[at] {
		return false
	}
	f.counts[c]++
	f.struck = append(f.struck, at)
	return true
}

// Struck are the faults that occurred, in order.
func (f *Faults) Struck() []Strike {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.struck)
}

// Count counts a fault that was drawn otherwise.
func (f *Faults) Count(c Class) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.counts[c]++
}

// Counts is how many faults of each class occurred.
func (f *Faults) Counts() map[Class]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.counts)
}
