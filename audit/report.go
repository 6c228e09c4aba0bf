package audit

import (
	"fmt"

	"github.com/traintravel/traintravel/store"
)

// CheckOptions configures Check. The zero value is valid.
type CheckOptions struct {
	// AnyAmount accepts bookings that were paid with an amount other than their price, as
	// Options.AnyAmount allows.
	AnyAmount bool
	// Progress, if not nil, is called with the number of records checked, and their total, on
	// the goroutine that called Check; the first call reports zero.
	Progress func(done, total int64)
}

// A CheckReport is what Check found.
type CheckReport struct {
	// Records is the number of records in each table.
	Records map[store.Table]int64
	// Faults are the first thousand faults, in the order in which they were found.
	Faults []Fault
	// Found is the number of all faults, including those not in Faults.
	Found int64
}

// A Fault is an inconsistency in a store.
type Fault struct {
	Kind FaultKind
	// Key is the key of the wrong record or, if a record is missing, of the record that
	// needs it.
	Key store.Key
	// Text describes the fault in a sentence. It contains IDs, but no names.
	Text string
}

// String returns the fault in one line.
func (f Fault) String() string {
	return fmt.Sprintf("%s: %v: %s", f.Kind, f.Key, f.Text)
}

const maxFaults = 1000 // kept in a report
