package payments

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/ledger"
	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/internal/timetable"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
)

// The operations of an operator on payments and refunds that the gateway does not settle.

// SettleByHand records an operator's verdict on a payment, and returns it in its new state.
func (f *Flow) SettleByHand(ctx context.Context, booking, id uuid.UUID, d rail.Settlement) (settled rail.Payment, err error) {
	if _, err := f.Books.Payment(ctx, f.Books.Store, booking, id); err != nil {
		return rail.Payment{}, err
	}
	err = f.onPayment(ctx, booking, id, func(l *ledger.Ledger, sn *timetable.Snapshot, p *records.Payment, b *rail.Booking) error {
		d.At = l.Now
		if err := l.SettleByHand(sn, p, b, d); err != nil {
			return err
		}
		settled = p.Payment
		return nil
	})
	if err != nil {
		return rail.Payment{}, err
	}
	return settled, nil
}

// Stuck returns the payments that wait for an operator, oldest first (see
// records.Payment.NeedsPerson), and how many could not be read.
func (f *Flow) Stuck(ctx context.Context, before time.Time) (stuck []rail.Payment, unreadable int, err error) {
	left, err := records.EachOf(ctx, f.Books.Store, store.Range{Table: store.TablePayments}, records.PaymentOf, func(p records.Payment) bool {
		if p.NeedsPerson(before) {
			stuck = append(stuck, p.Payment)
		}
		return true
	})
	slices.SortStableFunc(stuck, func(a, b rail.Payment) int { return a.Created.Compare(b.Created) })
	return stuck, f.Books.Omit(ctx, left), err
}

// Find finds a payment by its ID alone.
func (f *Flow) Find(ctx context.Context, id uuid.UUID) (found rail.Payment, err error) {
	left, err := records.EachOf(ctx, f.Books.Store, store.Range{Table: store.TablePayments}, records.PaymentOf, func(p records.Payment) bool {
		if p.ID == id {
			found = p.Payment
		}
		return p.ID != id
	})
	f.Books.Omit(ctx, left)
	if err == nil && found.ID != id {
		err = rail.ErrNotFound
	}
	return found, err
}
