// Package desk has the operations of an operator, such as to list the passengers of a train, to
// block a place or to cancel a run. It must not decide who may call it.
package desk

import (
	"context"
	"time"

	"github.com/traintravel/traintravel/internal/ledger"
	"github.com/traintravel/traintravel/internal/seats"
	"github.com/traintravel/traintravel/internal/timetable"
	"github.com/traintravel/traintravel/rail"
)

// A Desk does an operator's operations on runs, bookings and travellers.
type Desk struct {
	Books     *ledger.Books
	Timetable *timetable.Source
	// Inventories returns recent inventories of runs.
	Inventories func(context.Context, []rail.RunID) ([]*seats.Inventory, error)
	Retain      time.Duration // how long personal data is kept after the journey; zero means forever
}
