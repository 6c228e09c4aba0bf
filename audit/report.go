package audit

import (
	"fmt"

	"github.com/traintravel/traintravel/store"
)

// CheckOptions configures Check. The zero value is valid.
type CheckOptions struct {
	// AnyAmount says that a booking may have been paid with another amount than its
	// price, as Options.AnyAmount has it.
	AnyAmount bool
	// Progress, if not nil, is called with the number of records checked, and their total, on
	// the goroutine that called Check; the first call reports zero.
	Progress func(done, total int64)
}

// A CheckReport is what Check found.
type CheckReport struct {
	// Records is how many there are, by table.
	Records map[store.Table]int64
	// Faults are the first thousand faults, in the order in which they were found.
	Faults []Fault
	// Found is how many faults there are, those not in Faults included.
	Found int64
}

// A Fault is an inconsistency in a store.
type Fault struct {
	Kind FaultKind
	// Key is that of the record that is wrong or, if one is missing, of the one that
	// needs it.
	Key store.Key
	// Text describes the fault in a sentence. It contains IDs, but no names.
	Text string
}

// String is the fault in one line.
func (f Fault) String() string {
	return fmt.Sprintf("%s: %v: %s", f.Kind, f.Key, f.Text)
}

const maxFaults = 1000 // that are kept
