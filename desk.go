package traintravel

import (
	"context"
	"time"
)

// A desk does what an operator asks: about runs, bookings and travellers.
type desk struct {
	books     *books
	timetable *source
	// inventories returns what is sold of runs, as it was a moment ago.
	inventories func(context.Context, []RunID) ([]*inventory, error)
	retain      time.Duration // how long travellers are known after their journey; zero is for ever
}
