package rail

import (
	"time"

	"github.com/google/uuid"
)

// What an operator is told of runs, bookings and travellers.

// A BookingHistory is a booking with its payments.
type BookingHistory struct {
	Booking Booking
	// Payments are attempts and refunds, the oldest first.
	Payments []Payment
	// Unreadable is the number of its payments that could not be read. Check names them.
	Unreadable int
}

// FoundBookings is the result of Service.LookUpBookings.
type FoundBookings struct {
	Bookings []Booking // the newest first
	More     bool      // more bookings match
	// Unreadable is the number of bookings that could not be read, and so may match. Check
	// lists them.
	Unreadable int
}

// A Run is a train on one service date, as its operator sees it.
type Run struct {
	ID       RunID
	Operator string
	Number   string
	Calls    []RunCall
	Coaches  []Coach // none if the train is unreserved
	// Cancelled reports that Service.CancelRun has cancelled the run.
	Cancelled bool
	// Unreadable reports that the sales of the run could not be read: none of its places are for
	// sale here, and whether it is cancelled is not known.
	Unreadable bool
	// Arrived reports that the run has arrived at its last call, by the timetable.
	Arrived bool
}

// A RunCall is a call of a run, in the order of travel. Times are in the time zone of the
// station; the first Arrive and the last Depart have no meaning.
type RunCall struct {
	Station uuid.UUID
	Name    string
	Arrive  time.Time
	Depart  time.Time
}

// A Manifest lists the passengers of a run and its free places.
type Manifest struct {
	Run Run
	// Riders are ordered by coach and seat, and on one seat by boarding. Riders
	// without a seat come last.
	Riders []Rider
	Blocks []Block
	// Sections are the stretches between adjacent calls.
	Sections []Section
	// Unreadable is the number of bookings that could not be read. Those with a numbered
	// place have a rider; on an unreserved train any of them may travel. Check names them.
	Unreadable int
}

// A Rider is a booking on a run. Expired holds are not included.
type Rider struct {
	Booking       uuid.UUID
	PassengerName string        // empty if it was erased
	Status        BookingStatus // Held or Confirmed
	Coach         string        // empty on an unreserved train
	Seat          int
	// Board and Alight are indexes of Run.Calls. For a stranded rider (see [LoadReport]),
	// whose leg was sold on an earlier list of calls, both are -1; From and To name the
	// stations.
	Board, Alight int
	From, To      string // names of the stations, as sold
	HasBicycle    bool
	HasDog        bool
	Stranded      bool
	// Unreadable reports that the booking could not be read: it has the place, but its
	// passenger is not known.
	Unreadable bool
}

// A Block is a place that is not for sale between two calls, see
// Service.Block.
type Block struct {
	Coach         string
	Seat          int
	Board, Alight int // indexes of Run.Calls
}

// A Section counts the places of a run between two adjacent calls. On an unreserved train
// Free is zero and has no meaning.
type Section struct {
	From, To                       string // names of the stations
	Confirmed, Held, Blocked, Free int
	Bicycles                       int // taken hooks
}

// A RunCancellation says what CancelRun has done.
type RunCancellation struct {
	// Bookings is the number of bookings that this call cancelled, without those that were
	// cancelled before.
	Bookings int
	// Refunds are the recorded refunds of confirmed bookings, which Service.Run makes, in
	// minor units by currency.
	Refunds map[string]int64
	// Paying lists those of the bookings whose payment is in progress. Run asks the
	// gateway to cancel it, or refunds it if it succeeds.
	Paying int
	// Unreadable lists bookings that may be on the run and were not cancelled, because they,
	// or a record that has to change with them, could not be read. Check lists the records.
	// Cancel the run again when they can be read.
	Unreadable []uuid.UUID
}

// CancelRunOptions configures CancelRun. The zero value is valid.
type CancelRunOptions struct {
	// Past allows a run that has arrived by the timetable: it did not run, or its
	// passengers should not have to pay for it.
	Past bool
	// Progress, if not nil, is called with the number of bookings scanned. All bookings are
	// scanned, because those on trains without numbered places have no index.
	Progress func(looked int)
}

// SubjectData is all data about a subject in a store.
type SubjectData struct {
	Subject       Subject
	Bookings      []BookingHistory // the oldest first, whatever their status
	Subscriptions []Subscription   // the newest first, without their secrets
	// Unreadable is the number of records that could not be read: bookings that may be the
	// subject's, and payments and subscriptions that are. Check lists them.
	Unreadable int
}

// An Erasure says what EraseSubject did.
type Erasure struct {
	Bookings      int // the erased bookings
	Subscriptions int // the ended subscriptions
	// Kept are the bookings that are still needed: the journey is not over, or a
	// payment may still succeed. Cancel them, or erase the subject again later.
	Kept []uuid.UUID
	// Unreadable is the number of records that could not be read, and so were not erased:
	// bookings that may be the subject's, bookings of the subject with an unreadable payment or
	// train, and subscriptions. Check lists them. Erase the subject again when they can be read.
	Unreadable int
}

// A State describes the store of a service, for monitoring; [Observer] reports the
// operations of the service.
type State struct {
	At        time.Time // by the clock of the service
	Timetable TimetableState
	Holds     int     // bookings that are held
	Payments  Waiting // whose outcome is not known
	Refunds   Waiting // to be made
	// StuckPayments and StuckRefunds count those that have been pending for a day: see
	// Service.StuckPayments.
	StuckPayments, StuckRefunds int
	// Events wait for the Notifier or for distribution to subscribers; Deliveries wait to
	// be posted.
	Events, Deliveries Waiting
	// Unreadable is the number of payments, refunds and events that could not be read, plus one
	// for an unreadable timetable. They are not in the numbers above.
	Unreadable int
}

// A TimetableState describes the current timetable. It is zero without a timetable.
type TimetableState struct {
	Stations, Trains int
	Loaded           time.Time
	// Last is the last date on which a train runs.
	Last Date
}

// Waiting is the amount of waiting work of a kind, and since when the oldest item waits.
type Waiting struct {
	Count  int
	Oldest time.Time // zero if no item waits
}

// Add counts one more item, which has waited since then.
func (w *Waiting) Add(since time.Time) {
	w.Count++
	if w.Oldest.IsZero() || since.Before(w.Oldest) {
		w.Oldest = since
	}
}
