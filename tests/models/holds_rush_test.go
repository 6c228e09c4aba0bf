package models_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/audittest"
	"github.com/traintravel/traintravel/internal/officetest"
)

// A user books, cancels and pays at once, at two servers and through many programs, with and
// without keys, and some payments stay pending: in every state of the store there is no more
// than may be held.
func TestConcurrentBookingsKeepTheHoldLimit(t *testing.T) {
	officetest.OnSharedStores(t, 2, func(t *testing.T, stores []traintravel.Store) {
		limits := officetest.MayHold(5, 3)
		o := officetest.New(t, stores[0], limits)
		offices := []*officetest.Office{o, o.At(stores[1], limits)}
		o.Bank.After = func(_ string, id uuid.UUID, out *traintravel.Outcome) error {
			if id[15]%2 == 0 {
				*out = traintravel.Outcome{Status: traintravel.Pending}
			}
			return nil
		}
		local := o.TripID('F', 'G', "S 3")
		trips := []uuid.UUID{local, o.TripIn(1, 'F', 'G', "S 3"), officetest.JoinTrips(o.TripID('D', 'F', "R 2"), local)}
		got := officetest.AtOnce(24, func(i int) error {
			ctx, at := t.Context(), offices[i%2]
			by := traintravel.Caller{Subject: officetest.Anna.Subject, Client: fmt.Sprint("app", i%3)}
			for round := range 6 {
				n := traintravel.NewBooking{TripID: trips[(i+round)%len(trips)], PassengerName: "Anna"}
				if i%4 == 0 {
					n.IdempotencyKey = fmt.Sprint(i%8, round)
				}
				b, err := at.CreateBooking(ctx, by, n)
				if _, full := errors.AsType[*traintravel.HoldsError](err); full || errors.Is(err, traintravel.ErrSoldOut) || errors.Is(err, traintravel.ErrKeyReused) {
					err = nil
				} else if err == nil && i%3 == 0 {
					_, _ = at.PayBooking(ctx, by, b.ID, traintravel.NewPayment{Amount: b.Price, Source: officetest.Visa(officetest.Works)})
				} else if err == nil {
					_ = at.CancelBooking(ctx, by, b.ID)
				}
				if err == nil {
					err = heldWithin(ctx, at.Store, 5, 3)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
		if got["<nil>"] != 24 {
			t.Error(got)
		}
	})
}

// heldWithin returns an error if more bookings are held than may be, in all or of a train.
func heldWithin(ctx context.Context, store traintravel.Store, user, train int) error {
	return store.View(ctx, func(r traintravel.Reader) error {
		stored, err := audittest.StoredBookings(ctx, r)
		all, on := 0, map[traintravel.RunID]int{}
		for _, b := range stored {
			if b.Status != traintravel.Held {
				continue
			}
			all++
			for _, l := range b.Legs {
				on[l.Run]++
				if on[l.Run] > train {
					err = fmt.Errorf("%d are held of %v", on[l.Run], l.Run)
				}
			}
		}
		if all > user {
			err = fmt.Errorf("%d are held", all)
		}
		return err
	})
}
