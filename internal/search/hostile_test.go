package search_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/store/memstore"
)

// hostileService sells the demo network with hooks that misbehave.
func hostileService(t *testing.T, opts traintravel.Options) (*traintravel.Service, traintravel.Trip) {
	t.Helper()
	now := time.Date(2024, 2, 1, 0, 0, 0, 0, time.UTC)
	opts.Now = func() time.Time { return now }
	s, err := traintravel.New(memstore.New(), opts)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.LoadTimetable(t.Context(), officetest.DemoNetwork(t)); err != nil {
		t.Fatal(err)
	}
	found, err := s.SearchTrips(t.Context(), traintravel.TripQuery{
		Origin:      uuid.MustParse("efdbb9d1-02c2-4bc3-afb7-6788d8782b1e"),
		Destination: uuid.MustParse("b2e783e1-c824-4d63-b37a-d8d698862f1d"), Depart: now,
	})
	if err != nil || len(found.Items) == 0 {
		t.Fatal(found, err)
	}
	return s, found.Items[0]
}

var nobodySpecial = traintravel.Caller{Subject: traintravel.Subject{Issuer: "test", ID: "anna"}}

// A hook that modifies the legs that it gets changes no booking.
func TestHooksChangeNothing(t *testing.T) {
	t.Parallel()
	s, trip := hostileService(t, traintravel.Options{
		Price: func(trip traintravel.Trip) (traintravel.Money, bool) {
			trip.Legs[0].Run.Date++
			trip.Legs[0].Operator = "changed"
			return traintravel.Money{Amount: 500, Currency: "eur"}, true
		},
		Cancel: func(b traintravel.Booking, _ time.Time) (traintravel.Money, error) {
			b.Legs[0].Run.Date++
			return b.Price, nil
		},
	})
	b, err := s.CreateBooking(t.Context(), nobodySpecial, traintravel.NewBooking{TripID: trip.ID, PassengerName: "Anna"})
	if err != nil || b.Legs[0].Operator == "changed" || b.Legs[0].Run.Date != traintravel.NewDate(2024, 2, 1) {
		t.Fatalf("booked %+v, %v", b.Legs, err)
	}
	if err := s.CancelBooking(t.Context(), nobodySpecial, b.ID); err != nil {
		t.Fatal(err)
	}
	if again, err := s.Trip(t.Context(), trip.ID); err != nil || again.Seats != trip.Seats {
		t.Errorf("after a cancellation %d places are left of %d, %v", again.Seats, trip.Seats, err)
	}
}

// wordy declines with more words than a record has room for.
type wordy struct{ traintravel.PaymentGateway }

func (wordy) Charge(context.Context, traintravel.Charge) (traintravel.Outcome, error) {
	return traintravel.Outcome{Status: traintravel.Failed, Failure: traintravel.Failure{
		Code: strings.Repeat("x", 3<<20), Message: "\x00\xff",
	}}, nil
}

func TestLongMessagesOfGateways(t *testing.T) {
	t.Parallel()
	s, trip := hostileService(t, traintravel.Options{Gateway: wordy{}})
	b, err := s.CreateBooking(t.Context(), nobodySpecial, traintravel.NewBooking{TripID: trip.ID, PassengerName: "Anna"})
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.PayBooking(t.Context(), nobodySpecial, b.ID, traintravel.NewPayment{Amount: b.Price, Source: traintravel.Source{Card: &traintravel.Card{
		Name: "Anna", Number: "4242424242424242", CVC: "123", ExpMonth: 12, ExpYear: 2030, Country: "DE",
	}}})
	if err != nil || p.Status != traintravel.Failed || len(p.Failure.Code) > 500 {
		t.Errorf("%v, %d bytes of code, %v", p.Status, len(p.Failure.Code), err)
	}
	if err := s.CancelBooking(t.Context(), nobodySpecial, b.ID); err != nil {
		t.Errorf("the hold cannot be cancelled: %v", err)
	}
}

func TestHostileInput(t *testing.T) {
	t.Parallel()
	s, trip := hostileService(t, traintravel.Options{AnyAmount: true, Gateway: wordy{}, Horizon: math.MaxInt64})
	var bad *traintravel.InvalidError
	huge := strings.Repeat("x", 2<<20)
	for _, by := range []traintravel.Caller{
		{}, {Subject: traintravel.Subject{Issuer: "test"}}, {Subject: traintravel.Subject{ID: huge}},
		{Subject: traintravel.Subject{Issuer: huge, ID: "anna"}}, {Subject: traintravel.Subject{ID: "anna"}, Client: huge},
	} {
		if _, err := s.CreateBooking(t.Context(), by, traintravel.NewBooking{TripID: trip.ID, PassengerName: "Anna"}); !errors.As(err, &bad) || bad.Field != "caller" {
			t.Errorf("a caller of %d, %d and %d bytes: %v", len(by.Issuer), len(by.ID), len(by.Client), err)
		}
	}
	b, err := s.CreateBooking(t.Context(), nobodySpecial, traintravel.NewBooking{TripID: trip.ID, PassengerName: "Anna"})
	if err != nil {
		t.Fatal(err)
	}
	card := traintravel.Source{Card: &traintravel.Card{Name: "A", Number: "4242424242424242", CVC: "123", ExpMonth: 12, ExpYear: 2030, Country: "DE"}}
	for _, m := range []traintravel.Money{{Amount: 1, Currency: "EUR"}, {Amount: 1, Currency: huge}, {Amount: math.MaxInt64, Currency: "jpy"}, {Currency: "eur"}} {
		if _, err := s.PayBooking(t.Context(), nobodySpecial, b.ID, traintravel.NewPayment{Amount: m, Source: card}); !errors.As(err, &bad) {
			t.Errorf("%d of %.10q: %v", m.Amount, m.Currency, err)
		}
	}
	if _, err := s.LoadTimetable(t.Context(), nil); !errors.As(err, &bad) {
		t.Errorf("no timetable at all: %v", err)
	}
	if (*traintravel.Calendar)(nil).Runs(0) {
		t.Error("a nil calendar runs")
	}
}
