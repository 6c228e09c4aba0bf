package traintravel

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
)

const (
	// countAtMost bounds what state looks through of a kind, and readAtMost the records
	// that it reads besides, and how many are read at once.
	countAtMost = 100_000
	readAtMost  = 1_000
)

// state reads how things stand.
func (d *desk) state(ctx context.Context) (State, error) {
	st := State{At: d.books.now()}
	for _, read := range []func(context.Context, *State) error{d.timetableState, d.holds, d.waitingPayments, d.waitingEvents, d.waitingDeliveries} {
		if err := read(ctx, &st); err != nil {
			return State{}, err
		}
	}
	return st, nil
}

func (d *desk) timetableState(ctx context.Context, st *State) error {
	sn, err := d.timetable.snapshot(ctx)
	switch {
	case errors.Is(err, ErrNoTimetable):
		return nil
	case unreadable(err):
		st.Unreadable++
		return nil
	case err != nil:
		return err
	}
	st.Timetable = TimetableState{Stations: len(sn.stations), Trains: len(sn.trains), Loaded: timeOf(sn.generation), Last: sn.last}
	return nil
}

func (d *desk) holds(ctx context.Context, st *State) error {
	whatever := func(Record) (struct{}, error) { return struct{}{}, nil }
	_, err := eachOf(ctx, d.books.store, waitingOf(holdEnds), whatever, func(struct{}) bool {
		st.Holds++
		return st.Holds < countAtMost
	})
	return err
}

// waitingOf is all that is on the agenda of a kind.
func waitingOf(k kind) Range {
	r := agendaOf(k)
	r.Limit = readAtMost
	return r
}

// waitingPayments counts the payments and refunds that are to be looked after.
func (d *desk) waitingPayments(ctx context.Context, st *State) error {
	var keys []Key
	left, err := eachOf(ctx, d.books.store, waitingOf(paymentDue), paymentDueKey, func(k Key) bool {
		keys = append(keys, k)
		return len(keys) < readAtMost
	})
	if err != nil {
		return err
	}
	if st.Unreadable += len(left); len(keys) == 0 {
		return nil
	}
	values, err := d.books.store.Get(ctx, keys...)
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
			st.StuckRefunds += stuck(&p, st.At)
		case p.Status == Pending: // or else it is only watched
			st.Payments.add(p.Created)
			st.StuckPayments += stuck(&p, st.At)
		}
	}
	return nil
}

// paymentDueKey is the key of the payment that an item of the agenda is about.
func paymentDueKey(rec Record) (Key, error) {
	if len(rec.ID) != agendaKeySize || len(rec.Value) != 16 {
		return Key{}, errDamaged
	}
	return paymentKey(uuid.UUID([]byte(rec.Value)), uuid.UUID([]byte(rec.ID[9:]))), nil
}

// stuckAfter is how long after it was begun a payment that is still pending counts as
// stuck.
const stuckAfter = 24 * time.Hour

// stuck is 1 if a payment that is pending is stuck, and else 0.
func stuck(p *payment, now time.Time) int {
	if now.Sub(p.Created) >= stuckAfter {
		return 1
	}
	return 0
}

// waitingEvents counts the events that are to be told.
func (d *desk) waitingEvents(ctx context.Context, st *State) error {
	for k, decode := range eventKinds {
		n := 0
		left, err := eachOf(ctx, d.books.store, waitingOf(k), func(rec Record) (queued, error) { return decode(rec.Value) }, func(q queued) bool {
			st.Events.add(q.created)
			n++
			return n < readAtMost
		})
		if err != nil {
			return err
		}
		st.Unreadable += len(left)
	}
	return nil
}

// waitingDeliveries counts the deliveries that are to be posted. An entry of a queue whose
// key is damaged is none.
func (d *desk) waitingDeliveries(ctx context.Context, st *State) error {
	queues := Range{Table: TableDeliveries, From: "q", To: "r", Limit: readAtMost}
	created := func(rec Record) (time.Time, error) {
		if len(rec.ID) != queueKeySize {
			return time.Time{}, errDamaged
		}
		return timeOf(uuid.UUID([]byte(rec.ID[25:]))), nil
	}
	_, err := eachOf(ctx, d.books.store, queues, created, func(at time.Time) bool {
		st.Deliveries.add(at)
		return st.Deliveries.Count < countAtMost
	})
	return err
}
