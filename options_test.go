package traintravel_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/store/memstore"
)

// TestNoLimit: the greatest durations mean what one would think.
func TestNoLimit(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store, func(opts *traintravel.Options) {
			opts.HoldFor, opts.PendingFor, opts.Horizon = math.MaxInt64, math.MaxInt64, math.MaxInt64
			opts.ChargeTimeout = 24 * time.Hour
		})
		departs := officetest.Opens.Add(6 * time.Hour)
		trip := o.TripID('D', 'E', "R 2")
		b := o.Book(officetest.Anna, trip)
		if !b.Expires.Equal(departs) {
			t.Errorf("it is held until %v, want the departure, %v", b.Expires, departs)
		}
		o.Bank.After = func(_ string, _ uuid.UUID, out *traintravel.Outcome) error {
			*out = traintravel.Outcome{Status: traintravel.Pending}
			return nil
		}
		o.MustPay(b, traintravel.Pending)
		o.Clock.Set(departs.Add(-1))
		o.Do()
		o.Stands(b.ID, traintravel.Held)
		o.TryBook(officetest.Berta, trip, traintravel.ErrSoldOut)
	})
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for field, opts := range map[string]traintravel.Options{
		"Options.HoldFor":       {HoldFor: -1},
		"Options.PendingFor":    {PendingFor: -1},
		"Options.ChargeTimeout": {ChargeTimeout: 24*time.Hour + 1},
		"Options.Horizon":       {Horizon: math.MinInt64},
	} {
		_, err := traintravel.New(memstore.New(), opts)
		var bad *traintravel.InvalidError
		if !errors.As(err, &bad) || bad.Field != field {
			t.Errorf("%+v: %v, want %s to be at fault", opts, err, field)
		}
	}
	for _, timeout := range []time.Duration{-1, 24*time.Hour + 1, math.MaxInt64} {
		var bad *traintravel.InvalidError
		if _, err := traintravel.New(memstore.New(), traintravel.Options{ChargeTimeout: timeout}); !errors.As(err, &bad) || bad.Field != "Options.ChargeTimeout" {
			t.Errorf("a charge may take %v: %v", timeout, err)
		}
	}
}

// TestPriceCanBePaid: what is sold can be paid.
func TestPriceCanBePaid(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		price := traintravel.Money{Amount: 1e16, Currency: "eur"}
		o := officetest.New(t, store, func(opts *traintravel.Options) {
			opts.Price = func(traintravel.Trip) (traintravel.Money, bool) { return price, true }
		})
		trip := o.TripID('D', 'E', "R 2")
		o.MustPay(o.Book(officetest.Anna, trip), traintravel.Succeeded)

		price.Amount++
		_, bookErr := o.CreateBooking(t.Context(), officetest.Anna, traintravel.NewBooking{TripID: o.TripID('F', 'G', "S 3"), PassengerName: "Anna"})
		_, tripErr := o.Trip(t.Context(), trip)
		found, err := o.SearchTrips(t.Context(), traintravel.TripQuery{Origin: officetest.Station('F'), Destination: officetest.Station('G'), Depart: officetest.Opens})
		if err != nil || len(found.Items) > 0 {
			t.Errorf("searching: %d trips, %v", len(found.Items), err)
		}
		for what, err := range map[string]error{"booking": bookErr, "asking for the trip": tripErr} {
			if err == nil || !strings.Contains(err.Error(), "more than the maximum") {
				t.Errorf("%s: %v", what, err)
			}
		}
	})
}

// A wrong price of one trip takes that trip out of the list, and is logged once.
func TestOneWrongPriceHidesNoOtherTrip(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	wrong := map[string]traintravel.Money{"R 2": {}, "R 3": {Amount: 100, Currency: "€"}, "R 4": {Amount: -1, Currency: "eur"}}
	o := officetest.New(t, memstore.New(), func(opts *traintravel.Options) {
		opts.Logger = slog.New(slog.NewTextHandler(&log, nil))
		opts.Price = func(trip traintravel.Trip) (traintravel.Money, bool) {
			if m, ok := wrong[trip.Legs[0].Number]; ok {
				return m, true
			}
			return traintravel.Money{Amount: 100, Currency: "eur"}, true
		}
	})
	o.Load(officetest.Timetable(officetest.Train("R 1", 8, "AB", officetest.Seats(3)), officetest.Train("R 2", 9, "AB", officetest.Seats(3)), officetest.Train("R 3", 10, "AB", officetest.Seats(3)), officetest.Train("R 4", 11, "AB", officetest.Seats(3)),
		officetest.Train("R 5", 12, "AB", officetest.Seats(3)), officetest.Train("S 1", 10, "BC", officetest.Seats(3)), officetest.Train("S 2", 14, "BC", officetest.Seats(3))))
	for to, want := range map[rune]string{'B': "[R 1 R 5]", 'C': "[R 1 R 5]"} {
		for range 3 {
			found, err := o.SearchTrips(t.Context(), traintravel.TripQuery{Origin: officetest.Station('A'), Destination: officetest.Station(to), Depart: officetest.Opens})
			var trains []string
			for _, trip := range found.Items {
				trains = append(trains, trip.Legs[0].Number)
			}
			if got := fmt.Sprint(trains); err != nil || got != want {
				t.Errorf("to %c: %s, %v, want %s", to, got, err, want)
			}
		}
	}
	if n := strings.Count(log.String(), "price is invalid"); n != len(wrong) {
		t.Errorf("it was logged %d times:\n%s", n, log.String())
	}
	trip := o.TripID('A', 'B', "R 2")
	if _, err := o.Trip(t.Context(), trip); err == nil || !strings.Contains(err.Error(), "Options.Price") {
		t.Errorf("the trip by its ID: %v", err)
	}
	if has, err := o.HasTrip(t.Context(), trip); has || err != nil {
		t.Errorf("HasTrip: %v, %v", has, err)
	}
}
