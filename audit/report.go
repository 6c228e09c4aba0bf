package audit

import (
	"fmt"

	"github.com/traintravel/traintravel/store"
)

// CheckOptions are what Check may be told. The zero value works.
type CheckOptions struct {
	// AnyAmount says that a booking may have been paid with another amount than its
	// price, as Options.AnyAmount has it.
	AnyAmount bool
	// Progress, if not nil, is told how many of the records are checked, and of how
	// many, on the goroutine that called Check; first of none.
	Progress func(done, total int64)
}

// A CheckReport is what Check found.
type CheckReport struct {
	// Records is how many there are, by table.
	Records map[store.Table]int64
	// Faults are what is wrong, in the order in which it was found; the first thousand.
	Faults []Fault
	// Found is how many faults there are, those not in Faults included.
	Found int64
}

// A Fault is one thing that is wrong with a store.
type Fault struct {
	Kind FaultKind
	// Key is that of the record that is wrong or, if one is missing, of the one that
	// needs it.
	Key store.Key
	// Text says in one sentence what is wrong with it. It holds IDs, and no names.
	Text string
}

// String is the fault in one line.
func (f Fault) String() string {
	return fmt.Sprintf("%s: %v: %s", f.Kind, f.Key, f.Text)
}

const maxFaults = 1000 // that are kept
