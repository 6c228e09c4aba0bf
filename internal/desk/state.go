package desk

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/codec"
	"github.com/traintravel/traintravel/internal/ids"
	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
)

const (
	// countAtMost is the maximum number of items that State counts of a kind, and readAtMost
	// the maximum number of records that it reads in addition, and in one batch.
	countAtMost = 100_000
	readAtMost  = 1_000
)

// State returns the state of the store.
func (d *Desk) State(ctx context.Context) (rail.State, error) {
	st := rail.State{At: d.Books.Now()}
	for _, read := range []func(context.Context, *rail.State) error{d.timetableState, d.holds, d.waitingPayments, d.waitingEvents, d.waitingDeliveries} {
		if err := read(ctx, &st); err != nil {
			return rail.State{}, err
		}
	}
	return st, nil
}

func (d *Desk) timetableState(ctx context.Context, st *rail.State) error {
	sn, err := d.Timetable.Snapshot(ctx)
	switch {
	case errors.Is(err, rail.ErrNoTimetable):
		return nil
	case records.Unreadable(err):
		st.Unreadable++
		return nil
	case err != nil:
		return err
	}
	st.Timetable = rail.TimetableState{Stations: len(sn.Stations), Trains: len(sn.Trains), Loaded: ids.TimeOf(sn.Generation), Last: sn.Last}
	return nil
}

func (d *Desk) holds(ctx context.Context, st *rail.State) error {
	whatever := func(store.Record) (struct{}, error) { return struct{}{}, nil }
	_, err := records.EachOf(ctx, d.Books.Store, waitingOf(records.HoldEnds), whatever, func(struct{}) bool {
		st.Holds++
		return st.Holds < countAtMost
	})
	return err
}

// waitingOf counts the items of a kind on the agenda.
func waitingOf(k records.Kind) store.Range {
	r := records.AgendaOf(k)
	r.Limit = readAtMost
	return r
}

// waitingPayments counts the payments and refunds that are due for work.
func (d *Desk) waitingPayments(ctx context.Context, st *rail.State) error {
	var keys []store.Key
	left, err := records.EachOf(ctx, d.Books.Store, waitingOf(records.PaymentDue), paymentDueKey, func(k store.Key) bool {
		keys = append(keys, k)
		return len(keys) < readAtMost
	})
	if err != nil {
		return err
	}
	if st.Unreadable += len(left); len(keys) == 0 {
		return nil
	}
	values, err := d.Books.Store.Get(ctx, keys...)
	if err != nil {
		return err
	}
	for _, v := range values {
		if v == nil { // the agenda was read between two updates
			continue
		}
		p, err := records.DecodePayment(v)
		switch {
		case err != nil:
			st.Unreadable++
		case p.Next.IsZero(): // likewise
		case p.RefundOf != uuid.Nil:
			st.Refunds.Add(p.Created)
			st.StuckRefunds += stuck(&p, st.At)
		case p.Status == rail.Pending: // otherwise it is only looked up
			st.Payments.Add(p.Created)
			st.StuckPayments += stuck(&p, st.At)
		}
	}
	return nil
}

// paymentDueKey returns the key of the payment of an agenda item.
func paymentDueKey(rec store.Record) (store.Key, error) {
	if len(rec.ID) != records.AgendaKeySize || len(rec.Value) != 16 {
		return store.Key{}, codec.ErrDamaged
	}
	return records.PaymentKey(uuid.UUID([]byte(rec.Value)), uuid.UUID([]byte(rec.ID[9:]))), nil
}

// stuckAfter is the age at which a pending payment counts as stuck.
const stuckAfter = 24 * time.Hour

// stuck returns 1 if a pending payment is stuck, otherwise 0.
func stuck(p *records.Payment, now time.Time) int {
	if now.Sub(p.Created) >= stuckAfter {
		return 1
	}
	return 0
}

// waitingEvents counts the events that wait for the Notifier or for distribution.
func (d *Desk) waitingEvents(ctx context.Context, st *rail.State) error {
	for _, k := range records.EventKinds() {
		n := 0
		left, err := records.EachOf(ctx, d.Books.Store, waitingOf(k.Kind), func(rec store.Record) (records.Queued, error) { return k.Decode(rec.Value) }, func(q records.Queued) bool {
			st.Events.Add(q.Created)
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

// waitingDeliveries counts the deliveries that wait to be posted. It skips entries of queues
// with damaged keys.
func (d *Desk) waitingDeliveries(ctx context.Context, st *rail.State) error {
	queues := store.Range{Table: store.TableDeliveries, From: "q", To: "r", Limit: readAtMost}
	created := func(rec store.Record) (time.Time, error) {
		if len(rec.ID) != records.QueueKeySize {
			return time.Time{}, codec.ErrDamaged
		}
		return ids.TimeOf(uuid.UUID([]byte(rec.ID[25:]))), nil
	}
	_, err := records.EachOf(ctx, d.Books.Store, queues, created, func(at time.Time) bool {
		st.Deliveries.Add(at)
		return st.Deliveries.Count < countAtMost
	})
	return err
}
