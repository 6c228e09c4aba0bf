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

// A booking that was paid after it was read is not cancelled as it was read.
func TestCancelUnchanged(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store)
		b := o.Book(officetest.Anna, o.TripID('A', 'D', "R 1"))
		o.MustPay(b, traintravel.Succeeded)
		o.Expect("as it was", o.CancelUnchanged(t.Context(), officetest.Anna, b), traintravel.ErrChanged)
		now, err := o.Booking(t.Context(), officetest.Anna, b.ID)
		if err != nil || now.Status != traintravel.Confirmed {
			t.Fatalf("the booking is %v, %v", now.Status, err)
		}
		o.Expect("somebody else's", o.CancelUnchanged(t.Context(), officetest.Berta, now), traintravel.ErrNotFound)
		o.Expect("as it is", o.CancelUnchanged(t.Context(), officetest.Anna, now), nil)
		o.Expect("again", o.CancelUnchanged(t.Context(), officetest.Anna, now), traintravel.ErrChanged)
	})
}

// TestLifeOfABooking goes the whole way, from a search to the refund.
func TestLifeOfABooking(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		ctx, o := t.Context(), officetest.New(t, store)
		found, err := o.SearchTrips(ctx, traintravel.TripQuery{Origin: officetest.Station('A'), Destination: officetest.Station('D'), Depart: officetest.Opens, Direct: true})
		if err != nil || len(found.Items) != 1 {
			t.Fatalf("found %+v, %v", found, err)
		}
		trip := found.Items[0]
		if trip.Seats != 2 || !trip.Reserved || trip.Price != (traintravel.Money{Amount: 2500, Currency: "eur"}) {
			t.Fatalf("found %+v", trip)
		}

		b, err := o.CreateBooking(ctx, officetest.Anna, traintravel.NewBooking{TripID: trip.ID, PassengerName: " Anna Żółć ", HasBicycle: true, HasDog: true})
		if err != nil {
			t.Fatal(err)
		}
		want := traintravel.Booking{
			ID: b.ID, Reference: b.Reference, TripID: trip.ID, Owner: officetest.Anna.Subject, Client: "app", PassengerName: "Anna Żółć", HasBicycle: true, HasDog: true,
			Status: traintravel.Held, Created: officetest.Opens, Changed: officetest.Opens, Expires: officetest.Opens.Add(time.Hour), Price: trip.Price, Legs: trip.Legs, Hooks: []bool{true},
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
		got, err := o.Booking(ctx, officetest.Anna, b.ID)
		same("read", got, err)
		list, err := o.Bookings(ctx, officetest.Anna, traintravel.Page{})
		same("listed", list.Items[0], err)
		if len(list.Items) != 1 || list.Next != "" {
			t.Errorf("listed %+v", list)
		}
		if again, err := o.Trip(ctx, trip.ID); err != nil || again.Seats != 1 {
			t.Errorf("%d seats are left, %v", again.Seats, err)
		}

		o.Clock.Add(time.Minute)
		p := o.MustPay(b, traintravel.Succeeded)
		want.Status, want.LatestPayment, want.PaidBy, want.PaymentCount = traintravel.Confirmed, p.ID, p.ID, 1
		want.Changed, want.Confirmed = o.Clock.Now().UTC(), o.Clock.Now().UTC()
		got, err = o.Booking(ctx, officetest.Anna, b.ID)
		same("paid", got, err)
		if p.Amount != b.Price || p.Booking != b.ID || !p.Created.Equal(officetest.Opens.Add(time.Minute)) || p.Source.Card.Number != "************4242" || p.Source.Card.CVC != "" {
			t.Errorf("payment %+v", p)
		}
		o.Do()
		o.Told(b.ID, traintravel.BookingConfirmed, traintravel.BookingCreated)
		o.Clock.Add(90 * time.Minute) // the hold would be over
		o.Do()
		o.Stands(b.ID, traintravel.Confirmed)

		if err := o.CancelBooking(ctx, officetest.Anna, b.ID); err != nil {
			t.Fatal(err)
		}
		_, err = o.Booking(ctx, officetest.Anna, b.ID)
		o.Expect("reading the cancelled booking", err, traintravel.ErrNotFound)
		o.Expect("cancelling again", o.CancelBooking(ctx, officetest.Anna, b.ID), traintravel.ErrNotFound)
		_, err = o.Pay(b)
		o.Expect("paying the cancelled booking", err, traintravel.ErrNotFound)
		if list, err := o.Bookings(ctx, officetest.Anna, traintravel.Page{}); err != nil || len(list.Items) != 0 {
			t.Errorf("listed %+v, %v", list, err)
		}
		if again, err := o.Trip(ctx, trip.ID); err != nil || again.Seats != 2 {
			t.Errorf("%d seats are left, %v", again.Seats, err)
		}
		o.BankHolds(2500)
		o.Do()
		o.BankHolds(0)
		o.Told(b.ID, traintravel.BookingCancelled, traintravel.BookingConfirmed, traintravel.BookingCreated)
		payments, err := o.Payments(ctx, officetest.Anna, b.ID, traintravel.Page{})
		if err != nil || len(payments.Items) != 2 {
			t.Fatalf("payments %+v, %v", payments, err)
		}
		refund := payments.Items[0]
		if refund.RefundOf != p.ID || refund.Amount.Amount != -2500 || refund.Status != traintravel.Succeeded {
			t.Errorf("refund %+v", refund)
		}
		if latest, err := o.Payment(ctx, officetest.Anna, b.ID); err != nil || latest.ID != p.ID {
			t.Errorf("the latest attempt is %+v, %v", latest, err)
		}
	})
}

// TestEventsTellWhatHappened looks at what the events carry.
func TestEventsTellWhatHappened(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store)
		b := o.Book(officetest.Anna, o.TripID('A', 'D', "R 1"))
		failed := o.MustPay(b, traintravel.Failed, officetest.Declined)
		paid := o.MustPay(b, traintravel.Succeeded)
		o.Expect("cancelling", o.CancelBooking(t.Context(), officetest.Anna, b.ID), nil)
		lapsed := o.Book(officetest.Berta, o.TripID('A', 'D', "R 1"))
		o.Clock.Set(lapsed.Expires)
		o.Do() // all at once, after everything has happened
		status := map[traintravel.EventType]traintravel.BookingStatus{
			traintravel.BookingCreated: traintravel.Held, traintravel.BookingConfirmed: traintravel.Confirmed,
			traintravel.BookingCancelled: traintravel.Cancelled, traintravel.BookingExpired: traintravel.Expired,
		}
		payments := map[traintravel.EventType]uuid.UUID{traintravel.PaymentFailed: failed.ID, traintravel.BookingConfirmed: paid.ID}
		ids := map[uuid.UUID]bool{}
		for _, e := range o.Post.Events {
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
		if len(ids) != 6 || len(o.Post.Events) != 6 {
			t.Errorf("%d events, of them %d different ones, want 6", len(o.Post.Events), len(ids))
		}
	})
}

func TestBookingRefusals(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store)
		ask := func(n traintravel.NewBooking) error {
			n.PassengerName = "Anna"
			_, err := o.CreateBooking(t.Context(), officetest.Anna, n)
			return err
		}
		r1, r2, r4 := o.TripID('A', 'D', "R 1"), o.TripID('D', 'F', "R 2"), o.TripID('G', 'H', "R 4")
		o.Expect("a bicycle where it is unknown", ask(traintravel.NewBooking{TripID: r4, HasBicycle: true}), traintravel.ErrBicyclesNotAllowed)
		o.Expect("a dog", ask(traintravel.NewBooking{TripID: r4, HasDog: true}), traintravel.ErrDogsNotAllowed)
		o.Expect("no trip at all", ask(traintravel.NewBooking{}), traintravel.ErrNotFound)
		o.Expect("somebody's UUID", ask(traintravel.NewBooking{TripID: uuid.New()}), traintravel.ErrNotFound)
		o.Book(officetest.Berta, r2)
		o.Expect("the second place of one", ask(traintravel.NewBooking{TripID: r2}), traintravel.ErrSoldOut)
		o.Expect("the first bicycle", ask(traintravel.NewBooking{TripID: o.TripID('A', 'C', "R 1"), HasBicycle: true}), nil)
		o.Expect("a bicycle beside it", ask(traintravel.NewBooking{TripID: o.TripID('B', 'D', "R 1"), HasBicycle: true}), traintravel.ErrNoBicycleSpace)
		o.Expect("a bicycle behind it", ask(traintravel.NewBooking{TripID: o.TripID('C', 'D', "R 1"), HasBicycle: true}), nil)
		o.Expect("bicycles that nobody counts", ask(traintravel.NewBooking{TripID: o.TripID('F', 'G', "S 3"), HasBicycle: true}), nil)

		o.Clock.Set(officetest.Opens.Add(2 * time.Hour)) // 08:00 in Berlin
		o.Expect("a train that departs now", ask(traintravel.NewBooking{TripID: r1}), traintravel.ErrDeparted)
		o.Clock.Add(-1)
		o.Expect("a train about to depart", ask(traintravel.NewBooking{TripID: r1}), nil)
		o.Clock.Set(officetest.Opens.AddDate(-1, -1, 0))
		o.Expect("a train in 13 months", ask(traintravel.NewBooking{TripID: r1}), traintravel.ErrNotFound)
		o.Clock.Set(officetest.Opens)
	})
}

func TestPassengerName(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store)
		for name, ok := range map[string]bool{
			"A": true, strings.Repeat("ß", 200): true, " " + strings.Repeat("x", 200) + "\t\n": true, "Ann-Kathrin O’Neill 李": true,
			"": false, " \t ": false, strings.Repeat("ß", 201): false, "An\nna": false, "An\x00na": false, "An\u0085na": false, "An\xffna": false,
		} {
			_, err := o.CreateBooking(t.Context(), officetest.Anna, traintravel.NewBooking{TripID: o.TripID('F', 'G', "S 3"), PassengerName: name})
			var wrong *traintravel.InvalidError
			if invalid := errors.As(err, &wrong); ok && err != nil || !ok && (!invalid || wrong.Field != "passenger_name") {
				t.Errorf("%q: %v", name, err)
			}
		}
	})
}

// TestBookingOfAnotherUser: whoever is not the very subject that made a
// booking finds none. The client program does not matter.
func TestBookingOfAnotherUser(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		ctx, o := t.Context(), officetest.New(t, store)
		b := o.Book(officetest.Anna, o.TripID('A', 'D', "R 1"))
		o.MustPay(b, traintravel.Failed, officetest.Declined)
		for who, by := range map[string]traintravel.Caller{
			"another subject":               officetest.Berta,
			"the name at another issuer":    {Subject: traintravel.Subject{Issuer: "https://id.example/", ID: "anna"}, Client: "app"},
			"a name that differs in case":   {Subject: traintravel.Subject{Issuer: officetest.Anna.Issuer, ID: "Anna"}, Client: "app"},
			"issuer and name cut elsewhere": {Subject: traintravel.Subject{Issuer: officetest.Anna.Issuer + "a", ID: "nna"}, Client: "app"},
			"nobody":                        {},
		} {
			_, err := o.Booking(ctx, by, b.ID)
			o.Expect("reading by "+who, err, traintravel.ErrNotFound)
			_, err = o.Payment(ctx, by, b.ID)
			o.Expect("the payment by "+who, err, traintravel.ErrNotFound)
			_, err = o.Payments(ctx, by, b.ID, traintravel.Page{})
			o.Expect("the payments by "+who, err, traintravel.ErrNotFound)
			_, err = o.PayBooking(ctx, by, b.ID, traintravel.NewPayment{Amount: b.Price, Source: officetest.Visa(officetest.Works)})
			o.Expect("paying by "+who, err, traintravel.ErrNotFound)
			o.Expect("cancelling by "+who, o.CancelBooking(ctx, by, b.ID), traintravel.ErrNotFound)
			if list, err := o.Bookings(ctx, by, traintravel.Page{}); err != nil || len(list.Items) != 0 {
				t.Errorf("the list of %s: %+v, %v", who, list, err)
			}
		}
		o.BankHolds(0)
		other := officetest.Anna
		other.Client = "another app"
		if _, err := o.Booking(ctx, other, b.ID); err != nil {
			t.Errorf("through another client: %v", err)
		}
		o.Expect("cancelling through another client", o.CancelBooking(ctx, other, b.ID), nil)
	})
}

// TestCancellationTerms: the operator says what a confirmed booking is worth.
func TestCancellationTerms(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		ctx := t.Context()
		tooLate := errors.New("too late")
		half := func(b traintravel.Booking, now time.Time) (traintravel.Money, error) {
			if b.Legs[0].Origin.Time.Sub(now) < time.Hour {
				return traintravel.Money{}, tooLate
			}
			return traintravel.Money{Amount: b.Price.Amount / 2, Currency: b.Price.Currency}, nil
		}
		o := officetest.New(t, store, func(opts *traintravel.Options) { opts.Cancel = half })
		b, late, held := o.Book(officetest.Anna, o.TripID('A', 'D', "R 1")), o.Book(officetest.Anna, o.TripID('A', 'D', "R 1")), o.Book(officetest.Anna, o.TripID('D', 'E', "R 2"))
		o.MustPay(b, traintravel.Succeeded)
		o.MustPay(late, traintravel.Succeeded)
		o.Expect("cancelling", o.CancelBooking(ctx, officetest.Anna, b.ID), nil)
		o.Expect("cancelling a hold", o.CancelBooking(ctx, officetest.Anna, held.ID), nil)
		o.Do()
		o.BankHolds(2500 + 1250)
		if kept := o.Audit().Kept["eur"]; kept != 2500+1250 {
			t.Errorf("the books say %d", kept)
		}
		o.Clock.Set(officetest.Opens.Add(90 * time.Minute))
		o.Expect("cancelling late", o.CancelBooking(ctx, officetest.Anna, late.ID), tooLate)
		o.Stands(late.ID, traintravel.Confirmed)
		o.Expect("cancelling what is over", o.CancelBooking(ctx, officetest.Anna, b.ID), traintravel.ErrNotFound)

		hold := o.Book(officetest.Berta, o.TripID('A', 'D', "R 1"))
		o.Expect("cancelling a hold late", o.CancelBooking(ctx, officetest.Berta, hold.ID), nil)
		o.Clock.Set(officetest.Opens.Add(2 * time.Hour))
		o.Expect("cancelling after departure", o.CancelBooking(ctx, officetest.Anna, late.ID), traintravel.ErrDeparted)
		o.Clock.Add(-1)
	})
}

// TestPriceIsFrozen: what was sold at a price is paid at that price.
func TestPriceIsFrozen(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		price := int64(900)
		o := officetest.New(t, store, func(opts *traintravel.Options) {
			opts.Price = func(trip traintravel.Trip) (traintravel.Money, bool) {
				return traintravel.Money{Amount: price, Currency: "chf"}, trip.Legs[0].Number != "S 3"
			}
		})
		id := o.TripID('A', 'D', "R 1")
		b := o.Book(officetest.Anna, id)
		price = 1900
		if trip, err := o.Trip(t.Context(), id); err != nil || trip.Price.Amount != 1900 {
			t.Errorf("the trip costs %v, %v", trip.Price, err)
		}
		_, err := o.PayBooking(t.Context(), officetest.Anna, b.ID, traintravel.NewPayment{Amount: traintravel.Money{Amount: 1900, Currency: "chf"}, Source: officetest.Visa(officetest.Works)})
		var mismatch *traintravel.AmountError
		if !errors.As(err, &mismatch) || mismatch.Due != (traintravel.Money{Amount: 900, Currency: "chf"}) {
			t.Errorf("paying the new price: %v", err)
		}
		o.MustPay(b, traintravel.Succeeded)
		if got := o.Bank.Balance("chf").Amount; got != 900 {
			t.Errorf("charged %d", got)
		}
		free := o.Another() // sells at the fares
		o.TryBook(officetest.Anna, free.TripID('F', 'G', "S 3"), traintravel.ErrNotFound)
	})
}
