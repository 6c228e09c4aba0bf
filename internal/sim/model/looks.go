package model

import (
	"slices"
	"time"
)

// A Look is a list that a user reads, page by page, while bookings change.
type Look struct {
	owner string
	known int // how many bookings were known when it began
	// could is what those bookings could be that changed meanwhile.
	could map[*Booking]State
}

// Looking says that a user begins to read the list of bookings, and Looked that this has
// ended, before Listed.
func (m *Model) Looking(owner string) *Look {
	l := &Look{owner: owner, known: len(m.order), could: map[*Booking]State{}}
	m.looks = append(m.looks, l)
	for _, b := range m.order {
		if b.flying > 0 {
			m.touch(b)
		}
	}
	return l
}

// Looked ends what Looking began.
func (m *Model) Looked(l *Look) {
	m.looks = slices.DeleteFunc(m.looks, func(o *Look) bool { return o == l })
}

// touch notes for those who read lists what a booking can be that changes now.
func (m *Model) touch(b *Booking) {
	for _, l := range m.looks {
		if l.owner == b.Owner {
			l.could[b] |= b.can
		}
	}
}

// changed notes what a booking has become at an instant.
func (m *Model) changed(b *Booking, at time.Time) {
	m.touch(b)
	b.changed = at
}

// mayHaveLived reports whether the booking may have its places, or may have had them since an
// instant.
func (m *Model) mayHaveLived(b *Booking, since time.Time) bool {
	return b.changed.After(since) || m.mayLive(b, since)
}
