package ledger

import (
	"errors"
	"slices"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
)

// The maximum number of references that are drawn, and the number that are looked up at a time
// after the first: of 191 million possible ones most are free, unless a store has nearly as
// many bookings.
const (
	mostDrawn     = 1000
	drawnTogether = 20
)

var errNoReference = errors.New("found no unused reference: the IDs of Options.NewID may not be random")

// newReference returns a reference that no booking has. It depends only on the random bits and
// the content of the store, so that an update that runs again finds the same.
func (l *Ledger) newReference(random uuid.UUID) (string, error) {
	for first, n := 0, 1; first < mostDrawn; first, n = first+n, drawnTogether {
		refs, keys := make([]string, n), make([]store.Key, n)
		for i := range refs {
			refs[i] = records.DrawReference(random, first+i)
			keys[i] = records.ReferenceKey(refs[i])
		}
		if !l.hasFetched(keys[0]) {
			if err := l.fetch(keys...); err != nil {
				return "", err
			}
		}
		for i, ref := range refs {
			switch v, err := l.get(keys[i]); {
			case err != nil:
				return "", err
			case v == nil && !l.givesAway(ref):
				return ref, nil
			}
		}
	}
	return "", errNoReference
}

// givesAway says whether a booking gets a reference in this update.
func (l *Ledger) givesAway(ref string) bool {
	return slices.ContainsFunc(l.bookings, func(e *entry[rail.Booking]) bool { return e.after.Reference == ref })
}

// dropIndexes deletes the index entries of a removed booking.
func (l *Ledger) dropIndexes(b *rail.Booking) {
	if b.Reference != "" {
		l.Delete(records.ReferenceKey(b.Reference))
	}
	if k := records.OwnedKey(b); k != (store.Key{}) {
		l.Delete(k)
	}
}
