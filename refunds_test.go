package traintravel_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/store/memstore"
)

// TestRefundAfterRestore: a booking is cancelled and refunded, the data are restored from
// a backup of before, and the booking is cancelled again, at another time. The gateway
// gets the same refund again and gives the money back once.
func TestRefundAfterRestore(t *testing.T) {
	t.Parallel()
	for name, cancel := range map[string]func(*office, traintravel.Booking) error{
		"by its owner": func(o *office, b traintravel.Booking) error {
			return o.CancelBooking(t.Context(), anna, b.ID)
		},
		"with its train": func(o *office, b traintravel.Booking) error {
			_, err := o.CancelRun(t.Context(), b.Legs[0].Run, traintravel.CancelRunOptions{})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t, memstore.New())
			b := o.book(anna, o.trip('A', 'D', "R 1"))
			charge := o.mustPay(b, traintravel.Succeeded)
			backup := memstore.New()
			if err := traintravel.Backup(t.Context(), backup, o.store, traintravel.CopyOptions{}); err != nil {
				t.Fatal(err)
			}
			restored := o.at(backup)
			for i, o := range []*office{o, restored} {
				o.clock.set(opens.Add(time.Duration(i+1) * time.Minute))
				o.expect("cancelling", cancel(o, b), nil)
				o.do()
				o.holds(0)
				refund := onlyRefund(o, b)
				if refund.Status != traintravel.Succeeded || refund.RefundOf != charge.ID {
					t.Errorf("%+v", refund)
				}
			}
			if first, again := onlyRefund(o, b), onlyRefund(restored, b); first.ID != again.ID {
				t.Errorf("the refund is %v, and after the restore %v", first.ID, again.ID)
			}
			if moved := o.bank.Movements(); len(moved) != 2 {
				t.Errorf("the bank moved %+v", moved)
			}
			restored.audit()
		})
	}
}

// TestRefundAsBefore: a refund that an earlier version recorded is made under the ID that
// it has.
func TestRefundAsBefore(t *testing.T) {
	t.Parallel()
	o := newOffice(t, memstore.New())
	b := o.book(anna, o.trip('A', 'D', "R 1"))
	o.mustPay(b, traintravel.Succeeded)
	o.clock.add(time.Second)
	o.expect("cancelling", o.CancelBooking(t.Context(), anna, b.ID), nil)
	id, err := traintravel.RefundAsBefore(t.Context(), o.store)
	if err != nil || id.Version() != 7 {
		t.Fatal(id, err)
	}
	var asked []uuid.UUID
	o.bank.before = func(op string, id uuid.UUID) error {
		if asked = append(asked, id); len(asked) == 1 {
			return errors.New("the bank is closed")
		}
		return nil
	}
	for range 3 {
		o.do()
		o.clock.add(time.Hour)
	}
	if len(asked) != 2 || asked[0] != id || asked[1] != id {
		t.Errorf("the bank was asked for %v, want %v twice", asked, id)
	}
	if refund := onlyRefund(o, b); refund.ID != id || refund.Status != traintravel.Succeeded {
		t.Errorf("%+v", refund)
	}
	o.holds(0)
}

// onlyRefund is the one refund of a booking.
func onlyRefund(o *office, b traintravel.Booking) traintravel.Payment {
	o.t.Helper()
	h, err := o.BookingHistory(o.t.Context(), b.ID)
	if err != nil {
		o.t.Fatal(err)
	}
	var refunds []traintravel.Payment
	for _, p := range h.Payments {
		if p.RefundOf != uuid.Nil {
			refunds = append(refunds, p)
		}
	}
	if len(refunds) != 1 {
		o.t.Fatalf("the refunds are %+v, want one", refunds)
	}
	return refunds[0]
}
