package traintravel

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
)

// A State is how things stand with the store of a service: what whoever watches over it
// looks at beside what its [Observer] is told.
type State struct {
	At        time.Time // by the clock of the service
	Timetable TimetableState
	Holds     int     // bookings that are held
	Payments  Waiting // whose outcome is not known
	Refunds   Waiting // to be made
	// StuckPayments and StuckRefunds count those of them that have been pending for a
	// day: see [Service.StuckPayments].
	StuckPayments, StuckRefunds int
	// Events are those to be told to the Notifier or given out to subscribers;
	// Deliveries those that are to be posted.
	Events, Deliveries Waiting
	// Unreadable is how many payments, refunds and events could not be read, and one for
	// the timetable in force. They are in none of the numbers above.
	Unreadable int
}

// A TimetableState tells of the timetable in force. It is zero if there is none.
type TimetableState struct {
	Stations, Trains int
	Loaded           time.Time
	// Last is the last date on which a train runs.
	Last Date
}

// Waiting is what waits to be done: how much, and since when the longest.
type Waiting struct {
	Count  int
	Oldest time.Time // zero if nothing waits
}

func (w *Waiting) add(since time.Time) {
	w.Count++
	if w.Oldest.IsZero() || since.Before(w.Oldest) {
		w.Oldest = since
	}
}

const (
	// countAtMost bounds what State looks through of a kind, and readAtMost the records
	// that it reads besides.
	countAtMost = 100_000
	readAtMost  = 1_000
)

// State reads how things stand. It looks through at most 100,000 of what waits, and
// 1,000 of payments and events: larger numbers are not told apart. It is meant to be
// asked every few seconds.
func (s *Service) State(ctx context.Context) (_ State, err error) {
	ctx, end := s.begin(ctx, "State")
	defer end(&err)
	st := State{At: s.now()}
	if st.Timetable, err = s.timetableState(ctx); unreadable(err) {
		st.Unreadable++
	} else if err != nil {
		return State{}, err
	}
	if st.Holds, err = countPages(ctx, s.store, agendaOf(holdEnds), countAtMost, nil); err != nil {
		return State{}, err
	}
	if _, err = countPages(ctx, s.store, agendaOf(paymentDue), readAtMost, func(found []Record) error { return s.waitingPayments(ctx, found, &st) }); err != nil {
		return State{}, err
	}
	for k, decode := range eventKinds {
		if _, err = countPages(ctx, s.store, agendaOf(k), readAtMost, func(found []Record) error { st.waitingEvents(found, decode); return nil }); err != nil {
			return State{}, err
		}
	}
	_, err = countPages(ctx, s.store, Range{Table: TableDeliveries, From: "q", To: "r"}, countAtMost, func(found []Record) error {
		for _, r := range found {
			if len(r.ID) == queueKeySize {
				st.Deliveries.add(timeOf(uuid.UUID([]byte(r.ID[25:]))))
			}
		}
		return nil
	})
	if err != nil {
		return State{}, err
	}
	return st, nil
}

func (s *Service) timetableState(ctx context.Context) (TimetableState, error) {
	sn, err := s.timetable.snapshot(ctx)
	if errors.Is(err, ErrNoTimetable) {
		return TimetableState{}, nil
	}
	if err != nil {
		return TimetableState{}, err
	}
	return TimetableState{Stations: len(sn.stations), Trains: len(sn.trains), Loaded: timeOf(sn.generation), Last: sn.last}, nil
}

// waitingPayments counts the payments and refunds of a page of the agenda.
func (s *Service) waitingPayments(ctx context.Context, found []Record, st *State) error {
	var keys []Key
	for _, r := range found {
		if len(r.ID) == agendaKeySize && len(r.Value) == 16 {
			keys = append(keys, paymentKey(uuid.UUID(bytes.Clone(r.Value)), uuid.UUID([]byte(r.ID[9:]))))
		} else {
			st.Unreadable++
		}
	}
	if len(keys) == 0 {
		return nil
	}
	values, err := s.store.Get(ctx, keys...)
	if err != nil {
		return err
	}
	for _, v := range values {
		if v == nil { // the agenda was read between two updates
			continue
		}
		p, err := decodePayment(v)
		switch {
		case err != nil:
			st.Unreadable++
		case p.next.IsZero(): // likewise
		case p.RefundOf != uuid.Nil:
			st.Refunds.add(p.Created)
			st.StuckRefunds += p.stuck(st.At)
		case p.Status == Pending: // or else it is only watched
			st.Payments.add(p.Created)
			st.StuckPayments += p.stuck(st.At)
		}
	}
	return nil
}

// stuckAfter is how long after it was begun a payment that is still pending counts as
// stuck.
const stuckAfter = 24 * time.Hour

// stuck is 1 if a payment that is pending is stuck, and else 0.
func (p *payment) stuck(now time.Time) int {
	if now.Sub(p.Created) >= stuckAfter {
		return 1
	}
	return 0
}

func (st *State) waitingEvents(found []Record, decode func([]byte) (queued, error)) {
	for _, r := range found {
		q, err := decode(r.Value)
		if err != nil {
			st.Unreadable++
			continue
		}
		st.Events.add(q.created)
	}
}

// countPages gives each page of a range to fn, if there is one, and counts the records.
func countPages(ctx context.Context, from Reader, r Range, most int, fn func([]Record) error) (n int, err error) {
	for r.Limit = readAtMost; n < most; {
		found, err := from.List(ctx, r)
		if err != nil || len(found) == 0 {
			return n, err
		}
		if fn != nil {
			if err := fn(found); err != nil {
				return n, err
			}
		}
		if n += len(found); len(found) < r.Limit {
			break
		}
		r.From = found[len(found)-1].ID + "\x00"
	}
	return n, nil
}
