package traintravel_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/audit/audittest"
	"github.com/traintravel/traintravel/store/memstore"
	"github.com/traintravel/traintravel/store/storetest"
)

const day = 24 * time.Hour

// pass lets the clock go on, and does what is due then.
func (o *office) pass(d time.Duration) {
	o.t.Helper()
	o.clock.add(d)
	o.do()
	for range 2 { // what it has put on the agenda
		o.do()
	}
}

// left expects these bookings to be in the store, and no others.
func (o *office) left(when string, want ...traintravel.Booking) {
	o.t.Helper()
	books := o.audit()
	for _, b := range want {
		if _, ok := books.Bookings[b.ID]; !ok {
			o.t.Errorf("%s: booking %v is removed", when, b.ID)
		}
	}
	if len(books.Bookings) != len(want) {
		o.t.Errorf("%s: there are %d bookings, want %d", when, len(books.Bookings), len(want))
	}
	for _, p := range books.Payments {
		if _, ok := books.Bookings[p.Booking]; !ok {
			o.t.Errorf("%s: payment %v is left of a booking that is removed", when, p.ID)
		}
	}
}

// far is a trip on a day that is so far ahead.
func (o *office) far(days int) uuid.UUID {
	o.t.Helper()
	id, err := o.direct(o.t.Context(), "R 1", traintravel.DateOf(opens)+traintravel.Date(days), station('A'), station('B'))
	if err != nil {
		o.t.Fatal(err)
	}
	return id
}

// Bookings that ended unpaid go a week after their journey, with all that is of them, and
// no others.
func TestUnpaidBookingsAreRemoved(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := newOffice(t, store)
		expires := o.book(anna, o.trip('A', 'B', "R 5"))
		cancelled := o.book(anna, o.trip('A', 'B', "R 5"))
		o.expect("cancelling", o.CancelBooking(t.Context(), anna, cancelled.ID), nil)
		failed := o.book(anna, o.trip('A', 'B', "R 5"))
		o.mustPay(failed, traintravel.Failed, declined)
		paid := o.book(berta, o.trip('G', 'H', "R 4"))
		o.mustPay(paid, traintravel.Succeeded)
		refunded := o.book(berta, o.trip('G', 'H', "R 4"))
		o.mustPay(refunded, traintravel.Succeeded)
		o.expect("cancelling", o.CancelBooking(t.Context(), berta, refunded.ID), nil)
		o.pass(2 * time.Hour)
		o.left("after the holds", expires, cancelled, failed, paid, refunded)

		o.pass(7 * day) // the journeys ended at 20:00
		o.left("within the week", expires, cancelled, failed, paid, refunded)
		o.pass(14 * time.Hour)
		o.left("after a week", paid, refunded)
		if _, err := o.BookingHistory(t.Context(), failed.ID); !errors.Is(err, traintravel.ErrNotFound) {
			t.Error(err)
		}
		if l, err := o.Bookings(t.Context(), anna, traintravel.Page{}); err != nil || len(l.Items) != 0 {
			t.Errorf("%+v, %v", l, err)
		}
		o.pass(400 * day)
		o.left("in a year", paid, refunded)
		if n := count(t, store, traintravel.TableAgenda); n != 1 {
			t.Errorf("%d items are left on the agenda, want that of the next pass", n)
		}
	})
}

func count(t *testing.T, store traintravel.Store, table traintravel.Table) int {
	t.Helper()
	records, err := store.List(t.Context(), traintravel.Range{Table: table})
	if err != nil {
		t.Fatal(err)
	}
	return len(records)
}

// A hold for a journey that is far ahead counts as over 30 days after it ended.
func TestUnpaidBookingsFarAhead(t *testing.T) {
	t.Parallel()
	o := newOffice(t, storetest.Twice(memstore.New()))
	near, far := o.book(anna, o.far(20)), o.book(anna, o.far(300))
	for range 27 {
		o.pass(day)
	}
	o.left("a week after the nearer journey is not over", near, far)
	o.pass(day)
	o.left("a week after the nearer journey", far)
	o.pass(8 * day)
	o.left("36 days after the other hold", far)
	o.pass(2 * day)
	o.left("38 days after it")
}

// Another setting counts at once, for bookings of before too. A negative one is for ever.
func TestKeepUnpaid(t *testing.T) {
	t.Parallel()
	keep := func(d time.Duration) func(*traintravel.Options) {
		return func(opts *traintravel.Options) { opts.KeepUnpaid = d }
	}
	o := newOffice(t, memstore.New(), keep(-1))
	b := o.book(anna, o.trip('A', 'B', "R 5"))
	o.pass(50 * day)
	o.left("for ever", b)
	o = o.another(keep(100 * day))
	o.pass(time.Hour)
	o.left("for 100 days", b)
	o = o.another(keep(48 * time.Hour))
	o.pass(7 * time.Hour)
	o.left("two days after its end", b) // which was recorded only now
	o.pass(50 * time.Hour)
	o.left("for two days")
	for _, d := range []time.Duration{1, 47 * time.Hour} {
		if _, err := traintravel.New(o.store, traintravel.Options{KeepUnpaid: d}); !isInvalid(err, "Options.KeepUnpaid") {
			t.Errorf("%v: %v", d, err)
		}
	}
}

// A booking stays as long as an event of it waits: for the Notifier, to be given out, or to
// be posted. What is delivered, or dead, is in nobody's way.
func TestUnpaidBookingsWaitForEvents(t *testing.T) {
	t.Parallel()
	for name, wait := range map[string]func(*office, *mailroom, error){
		"notifier": func(o *office, _ *mailroom, err error) {
			o.post.before = func(traintravel.Event) error { return err }
		},
		"delivery": func(o *office, m *mailroom, err error) {
			m.answers[hook] = func(int) (traintravel.WebhookAnswer, error) {
				if err != nil {
					return traintravel.WebhookAnswer{Status: 503, RetryAfter: 300 * day}, nil
				}
				return traintravel.WebhookAnswer{Status: 200}, nil
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, m := withWebhooks(t, memstore.New())
			o.subscribe(anna, hook)
			wait(o, m, errors.New("not now"))
			b := o.book(anna, o.trip('A', 'B', "R 5"))
			o.do()
			o.clock.add(2 * time.Hour)
			o.do()                // ends the hold
			o.clock.add(20 * day) // the server was down
			if name == "delivery" {
				o.do()
				for _, d := range removePasses(t.Context(), o.store, o.now) { // before what is due is posted
					o.expect("the pass", d(t.Context()), nil)
				}
			} else {
				o.pass(0)
			}
			o.left("while an event waits", b)
			wait(o, m, nil)
			for range 3 {
				o.pass(30 * time.Hour)
			}
			o.left("after it was delivered")
		})
	}
}

// A delivery of a booking that is removed is not tried again, and no fault.
func TestDeliveriesOfRemovedBookings(t *testing.T) {
	t.Parallel()
	o, m := withWebhooks(t, memstore.New())
	sub := o.subscribe(anna, hook)
	m.answers[hook] = answers(500)
	o.book(anna, o.trip('A', 'B', "R 5"))
	for range 12 {
		o.pass(30 * time.Hour)
	}
	o.left("after 15 days")
	d := o.delivery(anna, sub)
	if d.Status != traintravel.DeliveryDead {
		t.Fatalf("%+v", d)
	}
	if _, err := o.RetryDelivery(t.Context(), anna, sub.ID, d.ID, ""); !errors.Is(err, traintravel.ErrNotFound) {
		t.Error(err)
	}
	if n, err := o.RetryDead(t.Context(), anna, sub.ID); n != 0 || err != nil {
		t.Error(n, err)
	}
}

// A request that is repeated within a day gets its first answer, whatever the setting is;
// after the booking is removed it makes another.
func TestUnpaidBookingsOutliveTheirKeys(t *testing.T) {
	t.Parallel()
	o := newOffice(t, memstore.New(), func(opts *traintravel.Options) { opts.KeepUnpaid = 48 * time.Hour })
	n := traintravel.NewBooking{TripID: o.trip('A', 'B', "R 1"), PassengerName: "Anna", IdempotencyKey: "key"}
	first, err := o.CreateBooking(t.Context(), anna, n)
	if err != nil {
		t.Fatal(err)
	}
	for range 23 {
		o.pass(time.Hour)
		if again, err := o.CreateBooking(t.Context(), anna, n); err != nil || again.ID != first.ID || !again.Replayed {
			t.Fatalf("%+v, %v", again, err)
		}
	}
	o.left("within a day", first)
	o.pass(60 * time.Hour)
	o.left("after two days")
	n.TripID = o.far(5)
	if again, err := o.CreateBooking(t.Context(), anna, n); err != nil || again.Replayed {
		t.Fatalf("%+v, %v", again, err)
	}
}

// A booking that may still be paid, or was after all, is not removed; and one of which an
// operator has settled a payment stays with it.
func TestUnpaidBookingsThatMayBePaid(t *testing.T) {
	t.Parallel()
	o := newOffice(t, memstore.New())
	b, c := o.book(anna, o.far(1)), o.book(anna, o.far(2))
	silent := errors.New("the line is dead")
	o.bank.before = func(string, uuid.UUID) error { return silent }
	o.mustPay(b, traintravel.Pending)
	p := o.mustPay(c, traintravel.Pending)
	for range 20 {
		o.pass(day)
	}
	o.left("while the bank does not answer", b, c)
	if _, err := o.SettlePayment(t.Context(), c.ID, p.ID, traintravel.Settlement{As: traintravel.AsFailed, By: "desk", Reason: "the bank says so"}); err != nil {
		t.Fatal(err)
	}
	o.bank.before = nil
	for range 20 {
		o.pass(day)
	}
	o.left("after the bank has answered", c)
}

// Several servers remove what is due once, and one that dies in the middle leaves nothing
// half removed.
func TestServersRemoveUnpaidBookings(t *testing.T) {
	onSharedStores(t, 2, func(t *testing.T, stores []traintravel.Store) {
		o := newOffice(t, stores[0])
		for range 100 {
			b := o.book(anna, o.far(3))
			o.expect("cancelling", o.CancelBooking(t.Context(), anna, b.ID), nil)
		}
		o.pass(2 * day) // lists them
		o.clock.add(10 * day)
		other := o.at(stores[1])
		broken, stop := context.WithCancel(t.Context())
		stop()
		for _, d := range removePasses(t.Context(), other.store, other.now) {
			if err := d(broken); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}
		done := make(chan error)
		for _, s := range []*office{o, other} {
			go func() { done <- s.RunDue(t.Context()) }()
		}
		for range 2 {
			o.expect("a pass", <-done, nil)
		}
		o.left("after both")
	})
}

// A delivery that somebody has asked for at the moment in which its booking was removed is
// given up, and holds up no other.
func TestPendingDeliveryOfRemovedBooking(t *testing.T) {
	t.Parallel()
	o, m := withWebhooks(t, memstore.New())
	sub := o.subscribe(anna, hook)
	m.answers[hook] = answers(500)
	b := o.book(anna, o.trip('A', 'B', "R 5"))
	o.clock.add(2 * time.Hour)
	o.do() // ends the hold, and the delivery fails
	if err := audittest.Vandalize(t.Context(), o.store, audittest.RemoveBooking(b.ID)); err != nil {
		t.Fatal(err)
	}
	m.answers[hook] = nil
	o.book(berta, o.trip('A', 'B', "R 5"))
	o.clock.add(time.Hour)
	o.do()
	if d := o.delivery(anna, sub); d.Status != traintravel.DeliveryDead || d.Dead != traintravel.DeadByRemoval {
		t.Errorf("%+v", d)
	}
}
