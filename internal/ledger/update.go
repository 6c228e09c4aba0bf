package ledger

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
)

// Update runs rules on a ledger in one transaction and writes their changes. It calls Committed
// when the update is durable.
func (b *Books) Update(ctx context.Context, now time.Time, rules func(*Ledger) error) error {
	var l *Ledger
	subscribed := b.subscribed.Load()
	err := b.Store.Update(ctx, func(tx store.Tx) error {
		l = &Ledger{Ctx: ctx, books: b, Tx: tx, Now: now, subscribed: subscribed}
		if err := rules(l); err != nil {
			return err
		}
		if err := l.queueEvents(); err != nil {
			return err
		}
		if err := l.fillQueues(); err != nil {
			return err
		}
		l.write()
		return nil
	})
	if err != nil {
		return err
	}
	if l.subscribed {
		b.subscribed.Store(true)
	}
	l.tell()
	b.Committed(l)
	return nil
}

// tell reports the changes of a durable update to the observer.
func (l *Ledger) tell() {
	o := l.books.Observer
	if o.Booking != nil {
		for _, e := range l.bookings {
			if e.before.Status != e.after.Status {
				o.Booking(l.Ctx, rail.BookingChange{From: e.before.Status, To: e.after.Status})
			}
		}
	}
	if o.Payment != nil {
		for _, e := range l.payments {
			if e.before.Status != e.after.Status {
				o.Payment(l.Ctx, rail.PaymentChange{Refund: e.after.RefundOf != uuid.Nil, From: e.before.Status, To: e.after.Status})
			}
		}
	}
	if o.Attempt != nil {
		for _, a := range l.Attempts {
			o.Attempt(l.Ctx, a)
		}
	}
	l.tellStopped()
	l.tellDead()
}
