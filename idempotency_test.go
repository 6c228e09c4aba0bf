package traintravel_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
)

func TestBookingAgainUnderTheSameKey(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		ctx, o := t.Context(), officetest.New(t, store)
		r1, r2 := o.TripID('A', 'D', "R 1"), o.TripID('D', 'E', "R 2")
		n := traintravel.NewBooking{TripID: r2, PassengerName: "Anna", IdempotencyKey: "k"}
		b, err := o.CreateBooking(ctx, officetest.Anna, n)
		if err != nil || b.Replayed {
			t.Fatalf("%+v, %v", b, err)
		}
		first := b
		first.Replayed = true
		again := func(when string) {
			t.Helper()
			got, err := o.Another().CreateBooking(ctx, officetest.Anna, n)
			if err != nil || !cmp.Equal(got, first) {
				t.Fatalf("%s: %v %s", when, err, cmp.Diff(first, got))
			}
		}
		again("at once") // though the trip is sold out
		for name, change := range map[string]func(*traintravel.NewBooking){
			"another trip":      func(n *traintravel.NewBooking) { n.TripID = r1 },
			"a trip of nowhere": func(n *traintravel.NewBooking) { n.TripID = uuid.New() },
			"another passenger": func(n *traintravel.NewBooking) { n.PassengerName = "Berta" },
			"a bicycle":         func(n *traintravel.NewBooking) { n.HasBicycle = true },
			"a dog":             func(n *traintravel.NewBooking) { n.HasDog = true },
		} {
			other := n
			change(&other)
			_, err := o.CreateBooking(ctx, officetest.Anna, other)
			o.Expect(name, err, traintravel.ErrKeyReused)
		}
		n.PassengerName = " Anna\n" // the same once it is trimmed
		again("with blanks")
		o.MustPay(b, traintravel.Succeeded)
		again("after it was paid")
		o.Expect("cancelling", o.CancelBooking(ctx, officetest.Anna, b.ID), nil)
		o.Do()
		again("after it was cancelled")
		o.Load(officetest.Timetable(officetest.Train("R 1", 8, "ABCD", officetest.Seats(1, 1))))
		again("after the train was withdrawn")
		o.Clock.Set(b.Legs[0].Origin.Time.Add(time.Hour))
		again("after departure")

		// Keys live for 24 hours, whether Run has forgotten them or not.
		o.Load(officetest.Network())
		o.Clock.Set(officetest.Opens.Add(24*time.Hour - 1))
		o.Do()
		again("before the key ends")
		o.Clock.Add(1)
		_, err = o.CreateBooking(ctx, officetest.Anna, n)
		o.Expect("for a train of yesterday", err, traintravel.ErrDeparted)
		n.TripID = o.TripOn(1, 'D', 'E', "R 2")
		fresh, err := o.CreateBooking(ctx, officetest.Anna, n)
		if err != nil || fresh.Replayed || fresh.ID == b.ID {
			t.Fatalf("%+v, %v", fresh, err)
		}
		first = fresh
		first.Replayed = true
		o.Do() // forgets the old use, not the new one
		again("under the key's second life")
		o.Clock.Add(24 * time.Hour)
		o.Do()
	})
}

// TestRefusalsAreNotRemembered: only what was done is.
func TestRefusalsAreNotRemembered(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		ctx, o := t.Context(), officetest.New(t, store)
		n := traintravel.NewBooking{TripID: o.TripID('D', 'E', "R 2"), PassengerName: "Anna", IdempotencyKey: "k"}
		there := o.Book(officetest.Berta, n.TripID)
		_, err := o.CreateBooking(ctx, officetest.Anna, n)
		o.Expect("sold out", err, traintravel.ErrSoldOut)
		o.Expect("cancelling", o.CancelBooking(ctx, officetest.Berta, there.ID), nil)
		b, err := o.CreateBooking(ctx, officetest.Anna, n)
		if err != nil || b.Replayed {
			t.Fatalf("%+v, %v", b, err)
		}
		pay := traintravel.NewPayment{Amount: traintravel.Money{Amount: 1, Currency: "eur"}, Source: officetest.Visa(officetest.Works), IdempotencyKey: "k"}
		_, err = o.PayBooking(ctx, officetest.Anna, b.ID, pay)
		var mismatch *traintravel.AmountError
		if !errors.As(err, &mismatch) {
			t.Fatal(err)
		}
		pay.Amount = b.Price
		if p, err := o.PayBooking(ctx, officetest.Anna, b.ID, pay); err != nil || p.Replayed || p.Status != traintravel.Succeeded {
			t.Fatalf("%+v, %v", p, err)
		}
		n.IdempotencyKey = strings.Repeat("k", 256)
		var wrong *traintravel.InvalidError
		if _, err := o.CreateBooking(ctx, officetest.Anna, n); !errors.As(err, &wrong) || wrong.Field != "Idempotency-Key" {
			t.Errorf("a key that is too long: %v", err)
		}
	})
}

// TestKeysAreBoundToCallerAndRequest: the same key by another caller, through
// another client or for another resource is another key.
func TestKeysAreBoundToCallerAndRequest(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		ctx, o := t.Context(), officetest.New(t, store)
		n := traintravel.NewBooking{TripID: o.TripID('F', 'G', "S 3"), PassengerName: "Anna", IdempotencyKey: "k"}
		callers := []traintravel.Caller{
			officetest.Anna, officetest.Berta,
			{Subject: officetest.Anna.Subject, Client: "another app"}, {Subject: officetest.Anna.Subject},
			{Subject: traintravel.Subject{Issuer: "https://other.example", ID: "anna"}, Client: "app"},
			{Subject: traintravel.Subject{Issuer: officetest.Anna.Issuer + "a", ID: "nna"}, Client: "app"},
			{Subject: traintravel.Subject{Issuer: officetest.Anna.Issuer, ID: "annaa"}, Client: "pp"},
		}
		ids := map[uuid.UUID]bool{}
		for _, by := range callers {
			b, err := o.CreateBooking(ctx, by, n)
			if err != nil || b.Replayed {
				t.Fatalf("%+v: %+v, %v", by, b, err)
			}
			ids[b.ID] = true
			p, err := o.PayBooking(ctx, by, b.ID, traintravel.NewPayment{Amount: b.Price, Source: officetest.Visa(officetest.Works), IdempotencyKey: "k"})
			if err != nil || p.Replayed || p.Booking != b.ID {
				t.Fatalf("%+v: %+v, %v", by, p, err)
			}
		}
		if len(ids) != len(callers) {
			t.Errorf("%d bookings for %d callers", len(ids), len(callers))
		}
		o.BankHolds(int64(len(callers)) * 1500)

		// The same caller, key and body, but another booking.
		second := o.Book(officetest.Anna, n.TripID)
		p, err := o.PayBooking(ctx, officetest.Anna, second.ID, traintravel.NewPayment{Amount: second.Price, Source: officetest.Visa(officetest.Works), IdempotencyKey: "k"})
		if err != nil || p.Replayed || p.Booking != second.ID {
			t.Errorf("%+v, %v", p, err)
		}
		// And somebody else with anna's key for anna's booking.
		_, err = o.PayBooking(ctx, officetest.Berta, second.ID, traintravel.NewPayment{Amount: second.Price, Source: officetest.Visa(officetest.Works), IdempotencyKey: "k"})
		o.Expect("another's booking", err, traintravel.ErrNotFound)
	})
}

func TestPayingAgainUnderTheSameKey(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		ctx, o := t.Context(), officetest.New(t, store, func(opts *traintravel.Options) { opts.FingerprintKey = []byte("secret") })
		b := o.Book(officetest.Anna, o.TripID('A', 'D', "R 1"))
		n := traintravel.NewPayment{Amount: b.Price, Source: officetest.Visa(officetest.Declined), IdempotencyKey: "k"}
		again := func() (traintravel.Payment, error) { return o.PayBooking(ctx, officetest.Anna, b.ID, n) }
		pending := func(when string) func() error {
			return func() error {
				if p, err := again(); err != nil || !p.Replayed || p.Status != traintravel.Pending {
					t.Errorf("%s: %+v, %v", when, p, err)
				}
				return nil
			}
		}
		o.Bank.During("charge", pending("while it is charged"), pending("when it is charged and not recorded"))
		p, err := again()
		if err != nil || p.Status != traintravel.Failed || p.Replayed {
			t.Fatalf("%+v, %v", p, err)
		}
		p.Replayed = true
		replay := func(when string) {
			t.Helper()
			if got, err := again(); err != nil || !cmp.Equal(got, p) {
				t.Fatalf("%s: %v %s", when, err, cmp.Diff(p, got))
			}
		}
		replay("at once")
		for name, change := range map[string]func(*traintravel.NewPayment){
			"another amount":           func(n *traintravel.NewPayment) { n.Amount.Amount++ },
			"another card":             func(n *traintravel.NewPayment) { n.Source = officetest.Visa(officetest.Works) },
			"a card with the same end": func(n *traintravel.NewPayment) { n.Source = officetest.Visa("5555550000000002") },
			"another month": func(n *traintravel.NewPayment) {
				n.Source = officetest.Visa(officetest.Declined)
				n.Source.Card.ExpMonth--
			},
			"another street": func(n *traintravel.NewPayment) {
				n.Source = officetest.Visa(officetest.Declined)
				n.Source.Card.Address1 = "Street 1"
			},
			"an account instead of card": func(n *traintravel.NewPayment) { n.Source = officetest.Iban("AT611904300234573201") },
		} {
			other := n
			change(&other)
			if _, err := o.PayBooking(ctx, officetest.Anna, b.ID, other); !errors.Is(err, traintravel.ErrKeyReused) {
				t.Errorf("%s: %v", name, err)
			}
		}
		n.Source.Card.CVC = "999"
		replay("with another code") // of which nothing is kept
		n.Source.Card.Number = "4000-0000 0000-0002"
		replay("with blanks in the number")
		o.MustPay(b, traintravel.Succeeded)
		replay("after another has succeeded")
		o.Expect("cancelling", o.CancelBooking(ctx, officetest.Anna, b.ID), nil)
		o.Do()
		replay("after cancellation")
		if got := len(o.Bank.Movements()); got != 3 {
			t.Errorf("%d movements", got)
		}
		o.Clock.Add(24 * time.Hour)
		_, err = again()
		o.Expect("after the key's life", err, traintravel.ErrNotFound)
	})
}

// TestReplayOfAPaymentReturnsItsCurrentState: the key of an attempt whose outcome
// was unknown shows the outcome when it is known.
func TestReplayOfAPaymentReturnsItsCurrentState(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store)
		b := o.Book(officetest.Anna, o.TripID('A', 'D', "R 1"))
		n := traintravel.NewPayment{Amount: b.Price, Source: officetest.Visa(officetest.Works), IdempotencyKey: "k"}
		o.Bank.During("charge", nil, func() error { return officetest.ErrLine })
		for i, want := range []traintravel.PaymentStatus{traintravel.Pending, traintravel.Pending, traintravel.Succeeded} {
			p, err := o.PayBooking(t.Context(), officetest.Anna, b.ID, n)
			if err != nil || p.Status != want || p.Replayed != (i > 0) {
				t.Fatalf("%d: %+v, %v", i, p, err)
			}
			if i == 1 {
				o.Clock.Add(time.Minute)
				o.Do()
			}
		}
		if n := len(o.Bank.Movements()); n != 1 {
			t.Errorf("%d movements", n)
		}
	})
}
