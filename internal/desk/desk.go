// Package desk answers what an operator asks, such as who sits on a train, and does what an
// operator may do, such as to block a place or cancel a run. It must not know who may call it;
// the Service checks that.
package desk

import (
	"context"
	"time"

	"github.com/traintravel/traintravel/internal/ledger"
	"github.com/traintravel/traintravel/internal/seats"
	"github.com/traintravel/traintravel/internal/timetable"
	"github.com/traintravel/traintravel/rail"
)

// A Desk does what an operator asks: about runs, bookings and travellers.
type Desk struct {
	Books     *ledger.Books
	Timetable *timetable.Source
	// Inventories returns what is sold of runs, as it was a moment ago.
	Inventories func(context.Context, []rail.RunID) ([]*seats.Inventory, error)
	Retain      time.Duration // how long travellers are known after their journey; zero is for ever
}
