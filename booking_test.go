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

// A booking that was paid after it was read is not cancelled as it was read.
func TestCancelUnchanged(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := newOffice(t, store)
		b := o.book(anna, o.trip('A', 'D', "R 1"))
		o.mustPay(b, traintravel.Succeeded)
		o.expect("as it was", o.CancelUnchanged(t.Context(), anna, b), traintravel.ErrChanged)
		now, err := o.Booking(t.Context(), anna, b.ID)
		if err != nil || now.Status != traintravel.Confirmed {
			t.Fatalf("the booking is %v, %v", now.Status, err)
		}
		o.expect("somebody else's", o.CancelUnchanged(t.Context(), berta, now), traintravel.ErrNotFound)
		o.expect("as it is", o.CancelUnchanged(t.Context(), anna, now), nil)
		o.expect("again", o.CancelUnchanged(t.Context(), anna, now), traintravel.ErrChanged)
	})
}

// TestLifeOfABooking goes the whole way, from a search to the refund.
func TestLifeOfABooking(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		ctx, o := t.Context(), newOffice(t, store)
		found, err := o.SearchTrips(ctx, traintravel.TripQuery{Origin: station('A'), Destination: station('D'), Depart: opens, Direct: true})
		if err != nil || len(found.Items) != 1 {
			t.Fatalf("found %+v, %v", found, err)
		}
		trip := found.Items[0]
		if trip.Seats != 2 || !trip.Reserved || trip.Price != (traintravel.Money{Amount: 2500, Currency: "eur"}) {
			t.Fatalf("found %+v", trip)
		}

		b, err := o.CreateBooking(ctx, anna, traintravel.NewBooking{TripID: trip.ID, PassengerName: " Anna Żółć ", HasBicycle: true, HasDog: true})
		if err != nil {
			t.Fatal(err)
		}
		want := traintravel.Booking{
			ID: b.ID, TripID: trip.ID, Owner: anna.Subject, Client: "app", PassengerName: "Anna Żółć", HasBicycle: true, HasDog: true,
			Status: traintravel.Held, Created: opens, Changed: opens, Expires: opens.Add(time.Hour), Price: trip.Price, Legs: trip.Legs, Hooks: []bool{true},
		}
		want.Legs[0].Coach, want.Legs[0].Seat = "1", 1
		if d := cmp.Diff(want, b); d != "" {
			t.Fatalf("booked (-want +got):\n%s", d)
		}
		if b.ID.Version() != 7 {
			t.Errorf("the ID is of version %d", b.ID.Version())
		}
		same := func(what string, got traintravel.Booking, err error) {
			t.Helper()
			if d := cmp.Diff(want, got); err != nil || d != "" {
				t.Fatalf("%s: %v (-want +got):\n%s", what, err, d)
			}
		}
		got, err := o.Booking(ctx, anna, b.ID)
		same("read", got, err)
		list, err := o.Bookings(ctx, anna, traintravel.Page{})
		same("listed", list.Items[0], err)
		if len(list.Items) != 1 || list.Next != "" {
			t.Errorf("listed %+v", list)
		}
		if again, err := o.Trip(ctx, trip.ID); err != nil || again.Seats != 1 {
			t.Errorf("%d seats are left, %v", again.Seats, err)
		}

		o.clock.add(time.Minute)
		p := o.mustPay(b, traintravel.Succeeded)
		want.Status, want.LatestPayment, want.PaidBy, want.PaymentCount = traintravel.Confirmed, p.ID, p.ID, 1
		want.Changed, want.Confirmed = o.clock.now().UTC(), o.clock.now().UTC()
		got, err = o.Booking(ctx, anna, b.ID)
		same("paid", got, err)
		if p.Amount != b.Price || p.Booking != b.ID || !p.Created.Equal(opens.Add(time.Minute)) || p.Source.Card.Number != "************4242" || p.Source.Card.CVC != "" {
			t.Errorf("payment %+v", p)
		}
		o.do()
		o.told(b.ID, traintravel.BookingConfirmed, traintravel.BookingCreated)
		o.clock.add(90 * time.Minute) // the hold would be over
		o.do()
		o.stands(b.ID, traintravel.Confirmed)

		if err := o.CancelBooking(ctx, anna, b.ID); err != nil {
			t.Fatal(err)
		}
		_, err = o.Booking(ctx, anna, b.ID)
		o.expect("reading the cancelled booking", err, traintravel.ErrNotFound)
		o.expect("cancelling again", o.CancelBooking(ctx, anna, b.ID), traintravel.ErrNotFound)
		_, err = o.pay(b)
		o.expect("paying the cancelled booking", err, traintravel.ErrNotFound)
		if list, err := o.Bookings(ctx, anna, traintravel.Page{}); err != nil || len(list.Items) != 0 {
			t.Errorf("listed %+v, %v", list, err)
		}
		if again, err := o.Trip(ctx, trip.ID); err != nil || again.Seats != 2 {
			t.Errorf("%d seats are left, %v", again.Seats, err)
		}
		o.holds(2500)
		o.do()
		o.holds(0)
		o.told(b.ID, traintravel.BookingCancelled, traintravel.BookingConfirmed, traintravel.BookingCreated)
		payments, err := o.Payments(ctx, anna, b.ID, traintravel.Page{})
		if err != nil || len(payments.Items) != 2 {
			t.Fatalf("payments %+v, %v", payments, err)
		}
		refund := payments.Items[0]
		if refund.RefundOf != p.ID || refund.Amount.Amount != -2500 || refund.Status != traintravel.Succeeded {
			t.Errorf("refund %+v", refund)
		}
		if latest, err := o.Payment(ctx, anna, b.ID); err != nil || latest.ID != p.ID {
			t.Errorf("the latest attempt is %+v, %v", latest, err)
		}
	})
}

// TestEventsTellWhatHappened looks at what the events carry.
func TestEventsTellWhatHappened(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := newOffice(t, store)
		b := o.book(anna, o.trip('A', 'D', "R 1"))
		failed := o.mustPay(b, traintravel.Failed, declined)
		paid := o.mustPay(b, traintravel.Succeeded)
		o.expect("cancelling", o.CancelBooking(t.Context(), anna, b.ID), nil)
		lapsed := o.book(berta, o.trip('A', 'D', "R 1"))
		o.clock.set(lapsed.Expires)
		o.do() // all at once, after everything has happened
		status := map[traintravel.EventType]traintravel.BookingStatus{
			traintravel.BookingCreated: traintravel.Held, traintravel.BookingConfirmed: traintravel.Confirmed,
			traintravel.BookingCancelled: traintravel.Cancelled, traintravel.BookingExpired: traintravel.Expired,
		}
		payments := map[traintravel.EventType]uuid.UUID{traintravel.PaymentFailed: failed.ID, traintravel.BookingConfirmed: paid.ID}
		ids := map[uuid.UUID]bool{}
		for _, e := range o.post.events {
			ids[e.ID] = true
			if want, ok := status[e.Type]; ok && e.Booking.Status != want {
				t.Errorf("%s shows a booking that is %v", e.Type, e.Booking.Status)
			}
			if want, ok := payments[e.Type]; ok != (e.Payment != nil) || ok && e.Payment.ID != want {
				t.Errorf("%s shows the payment %+v", e.Type, e.Payment)
			}
			if e.Type == traintravel.BookingCreated && e.Booking.ID == b.ID && !cmp.Equal(e.Booking, b) {
				t.Errorf("created: %s", cmp.Diff(b, e.Booking))
			}
		}
		if len(ids) != 6 || len(o.post.events) != 6 {
			t.Errorf("%d events, of them %d different ones, want 6", len(o.post.events), len(ids))
		}
	})
}

func TestBookingRefusals(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := newOffice(t, store)
		ask := func(n traintravel.NewBooking) error {
			n.PassengerName = "Anna"
			_, err := o.CreateBooking(t.Context(), anna, n)
			return err
		}
		r1, r2, r4 := o.trip('A', 'D', "R 1"), o.trip('D', 'F', "R 2"), o.trip('G', 'H', "R 4")
		o.expect("a bicycle where it is unknown", ask(traintravel.NewBooking{TripID: r4, HasBicycle: true}), traintravel.ErrBicyclesNotAllowed)
		o.expect("a dog", ask(traintravel.NewBooking{TripID: r4, HasDog: true}), traintravel.ErrDogsNotAllowed)
		o.expect("no trip at all", ask(traintravel.NewBooking{}), traintravel.ErrNotFound)
		o.expect("somebody's UUID", ask(traintravel.NewBooking{TripID: uuid.New()}), traintravel.ErrNotFound)
		o.book(berta, r2)
		o.expect("the second place of one", ask(traintravel.NewBooking{TripID: r2}), traintravel.ErrSoldOut)
		o.expect("the first bicycle", ask(traintravel.NewBooking{TripID: o.trip('A', 'C', "R 1"), HasBicycle: true}), nil)
		o.expect("a bicycle beside it", ask(traintravel.NewBooking{TripID: o.trip('B', 'D', "R 1"), HasBicycle: true}), traintravel.ErrNoBicycleSpace)
		o.expect("a bicycle behind it", ask(traintravel.NewBooking{TripID: o.trip('C', 'D', "R 1"), HasBicycle: true}), nil)
		o.expect("bicycles that nobody counts", ask(traintravel.NewBooking{TripID: o.trip('F', 'G', "S 3"), HasBicycle: true}), nil)

		o.clock.set(opens.Add(2 * time.Hour)) // 08:00 in Berlin
		o.expect("a train that departs now", ask(traintravel.NewBooking{TripID: r1}), traintravel.ErrDeparted)
		o.clock.add(-1)
		o.expect("a train about to depart", ask(traintravel.NewBooking{TripID: r1}), nil)
		o.clock.set(opens.AddDate(-1, -1, 0))
		o.expect("a train in 13 months", ask(traintravel.NewBooking{TripID: r1}), traintravel.ErrNotFound)
		o.clock.set(opens)
	})
}

func TestPassengerName(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := newOffice(t, store)
		for name, ok := range map[string]bool{
			"A": true, strings.Repeat("ß", 200): true, " " + strings.Repeat("x", 200) + "\t\n": true, "Ann-Kathrin O’Neill 李": true,
			"": false, " \t ": false, strings.Repeat("ß", 201): false, "An\nna": false, "An\x00na": false, "An\u0085na": false, "An\xffna": false,
		} {
			_, err := o.CreateBooking(t.Context(), anna, traintravel.NewBooking{TripID: o.trip('F', 'G', "S 3"), PassengerName: name})
			var wrong *traintravel.InvalidError
			if invalid := errors.As(err, &wrong); ok && err != nil || !ok && (!invalid || wrong.Field != "passenger_name") {
				t.Errorf("%q: %v", name, err)
			}
		}
	})
}

// TestSomebodyElsesBooking: whoever is not the very subject that made a
// booking finds none. The client program does not matter.
func TestSomebodyElsesBooking(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		ctx, o := t.Context(), newOffice(t, store)
		b := o.book(anna, o.trip('A', 'D', "R 1"))
		o.mustPay(b, traintravel.Failed, declined)
		for who, by := range map[string]traintravel.Caller{
			"another subject":               berta,
			"the name at another issuer":    {Subject: traintravel.Subject{Issuer: "https://id.example/", ID: "anna"}, Client: "app"},
			"a name that differs in case":   {Subject: traintravel.Subject{Issuer: anna.Issuer, ID: "Anna"}, Client: "app"},
			"issuer and name cut elsewhere": {Subject: traintravel.Subject{Issuer: anna.Issuer + "a", ID: "nna"}, Client: "app"},
			"nobody":                        {},
		} {
			_, err := o.Booking(ctx, by, b.ID)
			o.expect("reading by "+who, err, traintravel.ErrNotFound)
			_, err = o.Payment(ctx, by, b.ID)
			o.expect("the payment by "+who, err, traintravel.ErrNotFound)
			_, err = o.Payments(ctx, by, b.ID, traintravel.Page{})
			o.expect("the payments by "+who, err, traintravel.ErrNotFound)
			_, err = o.PayBooking(ctx, by, b.ID, traintravel.NewPayment{Amount: b.Price, Source: visa(works)})
			o.expect("paying by "+who, err, traintravel.ErrNotFound)
			o.expect("cancelling by "+who, o.CancelBooking(ctx, by, b.ID), traintravel.ErrNotFound)
			if list, err := o.Bookings(ctx, by, traintravel.Page{}); err != nil || len(list.Items) != 0 {
				t.Errorf("the list of %s: %+v, %v", who, list, err)
			}
		}
		o.holds(0)
		other := anna
		other.Client = "another app"
		if _, err := o.Booking(ctx, other, b.ID); err != nil {
			t.Errorf("through another client: %v", err)
		}
		o.expect("cancelling through another client", o.CancelBooking(ctx, other, b.ID), nil)
	})
}

// TestCancellationTerms: the operator says what a confirmed booking is worth.
func TestCancellationTerms(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		ctx := t.Context()
		tooLate := errors.New("too late")
		half := func(b traintravel.Booking, now time.Time) (traintravel.Money, error) {
			if b.Legs[0].Origin.Time.Sub(now) < time.Hour {
				return traintravel.Money{}, tooLate
			}
			return traintravel.Money{Amount: b.Price.Amount / 2, Currency: b.Price.Currency}, nil
		}
		o := newOffice(t, store, func(opts *traintravel.Options) { opts.Cancel = half })
		b, late, held := o.book(anna, o.trip('A', 'D', "R 1")), o.book(anna, o.trip('A', 'D', "R 1")), o.book(anna, o.trip('D', 'E', "R 2"))
		o.mustPay(b, traintravel.Succeeded)
		o.mustPay(late, traintravel.Succeeded)
		o.expect("cancelling", o.CancelBooking(ctx, anna, b.ID), nil)
		o.expect("cancelling a hold", o.CancelBooking(ctx, anna, held.ID), nil)
		o.do()
		o.holds(2500 + 1250)
		if kept := o.audit().Kept["eur"]; kept != 2500+1250 {
			t.Errorf("the books say %d", kept)
		}
		o.clock.set(opens.Add(90 * time.Minute))
		o.expect("cancelling late", o.CancelBooking(ctx, anna, late.ID), tooLate)
		o.stands(late.ID, traintravel.Confirmed)
		o.expect("cancelling what is over", o.CancelBooking(ctx, anna, b.ID), traintravel.ErrNotFound)

		hold := o.book(berta, o.trip('A', 'D', "R 1"))
		o.expect("cancelling a hold late", o.CancelBooking(ctx, berta, hold.ID), nil)
		o.clock.set(opens.Add(2 * time.Hour))
		o.expect("cancelling after departure", o.CancelBooking(ctx, anna, late.ID), traintravel.ErrDeparted)
		o.clock.add(-1)
	})
}

// TestPriceIsFrozen: what was sold at a price is paid at that price.
func TestPriceIsFrozen(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		price := int64(900)
		o := newOffice(t, store, func(opts *traintravel.Options) {
			opts.Price = func(trip traintravel.Trip) (traintravel.Money, bool) {
				return traintravel.Money{Amount: price, Currency: "chf"}, trip.Legs[0].Number != "S 3"
			}
		})
		id := o.trip('A', 'D', "R 1")
		b := o.book(anna, id)
		price = 1900
		if trip, err := o.Trip(t.Context(), id); err != nil || trip.Price.Amount != 1900 {
			t.Errorf("the trip costs %v, %v", trip.Price, err)
		}
		_, err := o.PayBooking(t.Context(), anna, b.ID, traintravel.NewPayment{Amount: traintravel.Money{Amount: 1900, Currency: "chf"}, Source: visa(works)})
		var mismatch *traintravel.AmountError
		if !errors.As(err, &mismatch) || mismatch.Due != (traintravel.Money{Amount: 900, Currency: "chf"}) {
			t.Errorf("paying the new price: %v", err)
		}
		o.mustPay(b, traintravel.Succeeded)
		if got := o.bank.Balance("chf").Amount; got != 900 {
			t.Errorf("charged %d", got)
		}
		free := o.another() // sells at the fares
		o.tryBook(anna, free.trip('F', 'G', "S 3"), traintravel.ErrNotFound)
	})
}
