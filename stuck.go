package traintravel

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
)

// What an operator does about payments and refunds that the gateway does not settle.

// settleByHand records an operator's verdict on a payment, and returns it as it stands then.
func (f *flow) settleByHand(ctx context.Context, booking, id uuid.UUID, d Settlement) (settled Payment, err error) {
	if _, err := f.books.payment(ctx, f.books.store, booking, id); err != nil {
		return Payment{}, err
	}
	err = f.onPayment(ctx, booking, id, func(l *ledger, sn *snapshot, p *payment, b *Booking) error {
		d.At = l.now
		if err := l.settleByHand(sn, p, b, d); err != nil {
			return err
		}
		settled = p.Payment
		return nil
	})
	if err != nil {
		return Payment{}, err
	}
	return settled, nil
}

// stuck are the payments that wait for an operator, the oldest first: see
// [Payment.needsPerson]. It says how many could not be read.
func (f *flow) stuck(ctx context.Context, before time.Time) (stuck []Payment, unreadable int, err error) {
	left, err := eachOf(ctx, f.books.store, Range{Table: TablePayments}, paymentOf, func(p payment) bool {
		if p.needsPerson(before) {
			stuck = append(stuck, p.Payment)
		}
		return true
	})
	slices.SortStableFunc(stuck, func(a, b Payment) int { return a.Created.Compare(b.Created) })
	return stuck, f.books.omit(ctx, left), err
}

// find finds a payment by its ID alone.
func (f *flow) find(ctx context.Context, id uuid.UUID) (found Payment, err error) {
	left, err := eachOf(ctx, f.books.store, Range{Table: TablePayments}, paymentOf, func(p payment) bool {
		if p.ID == id {
			found = p.Payment
		}
		return p.ID != id
	})
	f.books.omit(ctx, left)
	if err == nil && found.ID != id {
		err = ErrNotFound
	}
	return found, err
}
