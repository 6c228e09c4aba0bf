package traintravel_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
)

func TestBookingAgainUnderTheSameKey(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		ctx, o := t.Context(), newOffice(t, store)
		r1, r2 := o.trip('A', 'D', "R 1"), o.trip('D', 'E', "R 2")
		n := traintravel.NewBooking{TripID: r2, PassengerName: "Anna", IdempotencyKey: "k"}
		b, err := o.CreateBooking(ctx, anna, n)
		if err != nil || b.Replayed {
			t.Fatalf("%+v, %v", b, err)
		}
		first := b
		first.Replayed = true
		again := func(when string) {
			t.Helper()
			got, err := o.another().CreateBooking(ctx, anna, n)
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
			_, err := o.CreateBooking(ctx, anna, other)
			o.expect(name, err, traintravel.ErrKeyReused)
		}
		n.PassengerName = " Anna\n" // the same once it is trimmed
		again("with blanks")
		o.mustPay(b, traintravel.Succeeded)
		again("after it was paid")
		o.expect("cancelling", o.CancelBooking(ctx, anna, b.ID), nil)
		o.do()
		again("after it was cancelled")
		o.load(timetable(train("R 1", 8, "ABCD", seats(1, 1))))
		again("after the train was withdrawn")
		o.clock.set(b.Legs[0].Origin.Time.Add(time.Hour))
		again("after departure")

		// Keys live for 24 hours, whether Run has forgotten them or not.
		o.load(network())
		o.clock.set(opens.Add(24*time.Hour - 1))
		o.do()
		again("before the key ends")
		o.clock.add(1)
		_, err = o.CreateBooking(ctx, anna, n)
		o.expect("for a train of yesterday", err, traintravel.ErrDeparted)
		n.TripID = o.tripOn(1, 'D', 'E', "R 2")
		fresh, err := o.CreateBooking(ctx, anna, n)
		if err != nil || fresh.Replayed || fresh.ID == b.ID {
			t.Fatalf("%+v, %v", fresh, err)
		}
		first = fresh
		first.Replayed = true
		o.do() // forgets the old use, not the new one
		again("under the key's second life")
		o.clock.add(24 * time.Hour)
		o.do()
	})
}

// tripOn is trip on a later day.
func (o *office) tripOn(days int, from, to rune, number string) uuid.UUID {
	o.t.Helper()
	id, err := o.direct(o.t.Context(), number, traintravel.DateOf(opens)+traintravel.Date(days), station(from), station(to))
	if err != nil {
		o.t.Fatal(err)
	}
	return id
}

// TestRefusalsAreNotRemembered: only what was done is.
func TestRefusalsAreNotRemembered(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		ctx, o := t.Context(), newOffice(t, store)
		n := traintravel.NewBooking{TripID: o.trip('D', 'E', "R 2"), PassengerName: "Anna", IdempotencyKey: "k"}
		there := o.book(berta, n.TripID)
		_, err := o.CreateBooking(ctx, anna, n)
		o.expect("sold out", err, traintravel.ErrSoldOut)
		o.expect("cancelling", o.CancelBooking(ctx, berta, there.ID), nil)
		b, err := o.CreateBooking(ctx, anna, n)
		if err != nil || b.Replayed {
			t.Fatalf("%+v, %v", b, err)
		}
		pay := traintravel.NewPayment{Amount: traintravel.Money{Amount: 1, Currency: "eur"}, Source: visa(works), IdempotencyKey: "k"}
		_, err = o.PayBooking(ctx, anna, b.ID, pay)
		var mismatch *traintravel.AmountError
		if !errors.As(err, &mismatch) {
			t.Fatal(err)
		}
		pay.Amount = b.Price
		if p, err := o.PayBooking(ctx, anna, b.ID, pay); err != nil || p.Replayed || p.Status != traintravel.Succeeded {
			t.Fatalf("%+v, %v", p, err)
		}
		n.IdempotencyKey = strings.Repeat("k", 256)
		var wrong *traintravel.InvalidError
		if _, err := o.CreateBooking(ctx, anna, n); !errors.As(err, &wrong) || wrong.Field != "Idempotency-Key" {
			t.Errorf("a key that is too long: %v", err)
		}
	})
}

// TestKeysAreBoundToWhoAsksForWhat: the same key by another caller, through
// another client or for another resource is another key.
func TestKeysAreBoundToWhoAsksForWhat(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		ctx, o := t.Context(), newOffice(t, store)
		n := traintravel.NewBooking{TripID: o.trip('F', 'G', "S 3"), PassengerName: "Anna", IdempotencyKey: "k"}
		callers := []traintravel.Caller{
			anna, berta,
			{Subject: anna.Subject, Client: "another app"}, {Subject: anna.Subject},
			{Subject: traintravel.Subject{Issuer: "https://other.example", ID: "anna"}, Client: "app"},
			{Subject: traintravel.Subject{Issuer: anna.Issuer + "a", ID: "nna"}, Client: "app"},
			{Subject: traintravel.Subject{Issuer: anna.Issuer, ID: "annaa"}, Client: "pp"},
		}
		ids := map[uuid.UUID]bool{}
		for _, by := range callers {
			b, err := o.CreateBooking(ctx, by, n)
			if err != nil || b.Replayed {
				t.Fatalf("%+v: %+v, %v", by, b, err)
			}
			ids[b.ID] = true
			p, err := o.PayBooking(ctx, by, b.ID, traintravel.NewPayment{Amount: b.Price, Source: visa(works), IdempotencyKey: "k"})
			if err != nil || p.Replayed || p.Booking != b.ID {
				t.Fatalf("%+v: %+v, %v", by, p, err)
			}
		}
		if len(ids) != len(callers) {
			t.Errorf("%d bookings for %d callers", len(ids), len(callers))
		}
		o.holds(int64(len(callers)) * 1500)

		// The same caller, key and body, but another booking.
		second := o.book(anna, n.TripID)
		p, err := o.PayBooking(ctx, anna, second.ID, traintravel.NewPayment{Amount: second.Price, Source: visa(works), IdempotencyKey: "k"})
		if err != nil || p.Replayed || p.Booking != second.ID {
			t.Errorf("%+v, %v", p, err)
		}
		// And somebody else with anna's key for anna's booking.
		_, err = o.PayBooking(ctx, berta, second.ID, traintravel.NewPayment{Amount: second.Price, Source: visa(works), IdempotencyKey: "k"})
		o.expect("another's booking", err, traintravel.ErrNotFound)
	})
}

func TestPayingAgainUnderTheSameKey(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		ctx, o := t.Context(), newOffice(t, store, func(opts *traintravel.Options) { opts.FingerprintKey = []byte("secret") })
		b := o.book(anna, o.trip('A', 'D', "R 1"))
		n := traintravel.NewPayment{Amount: b.Price, Source: visa(declined), IdempotencyKey: "k"}
		again := func() (traintravel.Payment, error) { return o.PayBooking(ctx, anna, b.ID, n) }
		pending := func(when string) func() error {
			return func() error {
				if p, err := again(); err != nil || !p.Replayed || p.Status != traintravel.Pending {
					t.Errorf("%s: %+v, %v", when, p, err)
				}
				return nil
			}
		}
		o.bank.during("charge", pending("while it is charged"), pending("when it is charged and not recorded"))
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
			"another amount":             func(n *traintravel.NewPayment) { n.Amount.Amount++ },
			"another card":               func(n *traintravel.NewPayment) { n.Source = visa(works) },
			"a card with the same end":   func(n *traintravel.NewPayment) { n.Source = visa("5555550000000002") },
			"another month":              func(n *traintravel.NewPayment) { n.Source = visa(declined); n.Source.Card.ExpMonth-- },
			"another street":             func(n *traintravel.NewPayment) { n.Source = visa(declined); n.Source.Card.Address1 = "Street 1" },
			"an account instead of card": func(n *traintravel.NewPayment) { n.Source = iban("AT611904300234573201") },
		} {
			other := n
			change(&other)
			if _, err := o.PayBooking(ctx, anna, b.ID, other); !errors.Is(err, traintravel.ErrKeyReused) {
				t.Errorf("%s: %v", name, err)
			}
		}
		n.Source.Card.CVC = "999"
		replay("with another code") // of which nothing is kept
		n.Source.Card.Number = "4000-0000 0000-0002"
		replay("with blanks in the number")
		o.mustPay(b, traintravel.Succeeded)
		replay("after another has succeeded")
		o.expect("cancelling", o.CancelBooking(ctx, anna, b.ID), nil)
		o.do()
		replay("after cancellation")
		if got := len(o.bank.Movements()); got != 3 {
			t.Errorf("%d movements", got)
		}
		o.clock.add(24 * time.Hour)
		_, err = again()
		o.expect("after the key's life", err, traintravel.ErrNotFound)
	})
}

// TestReplayOfAPaymentTellsWhereItStands: the key of an attempt whose outcome
// was unknown shows the outcome when it is known.
func TestReplayOfAPaymentTellsWhereItStands(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := newOffice(t, store)
		b := o.book(anna, o.trip('A', 'D', "R 1"))
		n := traintravel.NewPayment{Amount: b.Price, Source: visa(works), IdempotencyKey: "k"}
		o.bank.during("charge", nil, func() error { return errLine })
		for i, want := range []traintravel.PaymentStatus{traintravel.Pending, traintravel.Pending, traintravel.Succeeded} {
			p, err := o.PayBooking(t.Context(), anna, b.ID, n)
			if err != nil || p.Status != want || p.Replayed != (i > 0) {
				t.Fatalf("%d: %+v, %v", i, p, err)
			}
			if i == 1 {
				o.clock.add(time.Minute)
				o.do()
			}
		}
		if n := len(o.bank.Movements()); n != 1 {
			t.Errorf("%d movements", n)
		}
	})
}
