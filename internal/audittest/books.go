package audittest

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/audit"
	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/internal/tz"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
	"github.com/traintravel/traintravel/transfer"
)

// Books is what Audit found in a store.
type Books struct {
	Bookings map[uuid.UUID]rail.Booking
	Payments map[uuid.UUID]rail.Payment
	// Kept is what confirmed bookings have paid, and what cancelled ones did
	// not get back. Owed is what waits to be refunded, Open what attempts of
	// unknown outcome may have taken. All in minor units.
	Kept, Owed, Open map[string]int64
	// Events are those that wait to be delivered.
	Events int
	// Deliveries are those to subscribers that are pending.
	Deliveries int
	// Generations of the timetable, the one in force included.
	Generations int
}

// Audit reads everything in a store on which nobody works. The error tells every
// fault that Check finds. Bookings may have been paid with any amount.
func Audit(ctx context.Context, of store.Store) (Books, error) {
	b := Books{
		Bookings: map[uuid.UUID]rail.Booking{}, Payments: map[uuid.UUID]rail.Payment{},
		Kept: map[string]int64{}, Owed: map[string]int64{}, Open: map[string]int64{},
	}
	report, err := audit.Check(ctx, of, audit.CheckOptions{AnyAmount: true})
	if err != nil {
		return b, err
	}
	var faults []error
	for _, f := range report.Faults {
		faults = append(faults, errors.New(f.String()))
	}
	if err := b.read(ctx, of); err != nil {
		faults = append(faults, err)
	}
	for _, p := range b.Payments {
		b.count(p)
	}
	return b, errors.Join(faults...)
}

// StoredBookings are those in a store, whatever their status.
func StoredBookings(ctx context.Context, r store.Reader) (all []rail.Booking, err error) {
	var zones tz.Zones
	_, err = records.EachOf(ctx, r, store.Range{Table: store.TableBookings}, func(rec store.Record) (rail.Booking, error) { return records.DecodeBooking(rec.Value, &zones) },
		func(b rail.Booking) bool { all = append(all, b); return true })
	return all, err
}

func (b *Books) read(ctx context.Context, r store.Reader) error {
	generations := map[string]bool{}
	var zones tz.Zones
	err := transfer.EachRecord(ctx, r, func(table store.Table, page []store.Record) error {
		for _, rec := range page {
			switch table {
			case store.TableTimetable:
				generations[rec.ID[:16]] = true
			case store.TableBookings:
				if x, err := records.DecodeBooking(rec.Value, &zones); err == nil {
					b.Bookings[x.ID] = x
				}
			case store.TablePayments:
				if p, err := records.DecodePayment(rec.Value); err == nil {
					b.Payments[p.ID] = p.Payment
				}
			case store.TableAgenda:
				if k := records.Kind(rec.ID[0]); k == records.EventDue || k == records.FanOutDue {
					b.Events++
				}
			case store.TableDeliveries:
				if d, err := records.DecodeDelivery(rec.Value); rec.ID[0] == 'd' && err == nil && d.Status == rail.DeliveryPending {
					b.Deliveries++
				}
			}
		}
		return nil
	})
	b.Generations = len(generations)
	return err
}

// count adds a payment to the sums.
func (b *Books) count(p rail.Payment) {
	of := b.Bookings[p.Booking]
	switch {
	case p.RefundOf != uuid.Nil:
		if p.Status != rail.Succeeded {
			b.Owed[p.Amount.Currency] -= p.Amount.Amount
		}
		if of.PaidBy == p.RefundOf {
			b.Kept[p.Amount.Currency] += p.Amount.Amount
		}
	case p.Status == rail.Pending:
		b.Open[p.Amount.Currency] += p.Amount.Amount
	case of.PaidBy == p.ID:
		b.Kept[p.Amount.Currency] += p.Amount.Amount
	}
}
