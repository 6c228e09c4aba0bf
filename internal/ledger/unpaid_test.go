package ledger_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/audittest"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/store/memstore"
	"github.com/traintravel/traintravel/store/storetest"
)

const day = 24 * time.Hour

// pass lets the clock go on, and does what is due then.
func pass(o *officetest.Office, d time.Duration) {
	o.T.Helper()
	o.Clock.Add(d)
	o.Do()
	for range 2 { // what it has put on the agenda
		o.Do()
	}
}

// left expects these bookings to be in the store, and no others.
func left(o *officetest.Office, when string, want ...traintravel.Booking) {
	o.T.Helper()
	books := o.Audit()
	for _, b := range want {
		if _, ok := books.Bookings[b.ID]; !ok {
			o.T.Errorf("%s: booking %v is removed", when, b.ID)
		}
	}
	if len(books.Bookings) != len(want) {
		o.T.Errorf("%s: there are %d bookings, want %d", when, len(books.Bookings), len(want))
	}
	for _, p := range books.Payments {
		if _, ok := books.Bookings[p.Booking]; !ok {
			o.T.Errorf("%s: payment %v is left of a booking that is removed", when, p.ID)
		}
	}
}

// far is a trip on a day that is so far ahead.
func far(o *officetest.Office, days int) uuid.UUID {
	o.T.Helper()
	id, err := o.Direct(o.T.Context(), "R 1", traintravel.DateOf(officetest.Opens)+traintravel.Date(days), officetest.Station('A'), officetest.Station('B'))
	if err != nil {
		o.T.Fatal(err)
	}
	return id
}

// Bookings that ended unpaid go a week after their journey, with all that is of them, and
// no others.
func TestUnpaidBookingsAreRemoved(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store)
		expires := o.Book(officetest.Anna, o.TripID('A', 'B', "R 5"))
		cancelled := o.Book(officetest.Anna, o.TripID('A', 'B', "R 5"))
		o.Expect("cancelling", o.CancelBooking(t.Context(), officetest.Anna, cancelled.ID), nil)
		failed := o.Book(officetest.Anna, o.TripID('A', 'B', "R 5"))
		o.MustPay(failed, traintravel.Failed, officetest.Declined)
		paid := o.Book(officetest.Berta, o.TripID('G', 'H', "R 4"))
		o.MustPay(paid, traintravel.Succeeded)
		refunded := o.Book(officetest.Berta, o.TripID('G', 'H', "R 4"))
		o.MustPay(refunded, traintravel.Succeeded)
		o.Expect("cancelling", o.CancelBooking(t.Context(), officetest.Berta, refunded.ID), nil)
		pass(o, 2*time.Hour)
		left(o, "after the holds", expires, cancelled, failed, paid, refunded)

		pass(o, 7*day) // the journeys ended at 20:00
		left(o, "within the week", expires, cancelled, failed, paid, refunded)
		pass(o, 14*time.Hour)
		left(o, "after a week", paid, refunded)
		if _, err := o.BookingHistory(t.Context(), failed.ID); !errors.Is(err, traintravel.ErrNotFound) {
			t.Error(err)
		}
		if l, err := o.Bookings(t.Context(), officetest.Anna, traintravel.Page{}); err != nil || len(l.Items) != 0 {
			t.Errorf("%+v, %v", l, err)
		}
		pass(o, 400*day)
		left(o, "in a year", paid, refunded)
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
	o := officetest.New(t, storetest.Twice(memstore.New()))
	near, far := o.Book(officetest.Anna, far(o, 20)), o.Book(officetest.Anna, far(o, 300))
	for range 27 {
		pass(o, day)
	}
	left(o, "a week after the nearer journey is not over", near, far)
	pass(o, day)
	left(o, "a week after the nearer journey", far)
	pass(o, 8*day)
	left(o, "36 days after the other hold", far)
	pass(o, 2*day)
	left(o, "38 days after it")
}

// Another setting counts at once, for bookings of before too. A negative one is for ever.
func TestKeepUnpaid(t *testing.T) {
	t.Parallel()
	keep := func(d time.Duration) func(*traintravel.Options) {
		return func(opts *traintravel.Options) { opts.KeepUnpaid = d }
	}
	o := officetest.New(t, memstore.New(), keep(-1))
	b := o.Book(officetest.Anna, o.TripID('A', 'B', "R 5"))
	pass(o, 50*day)
	left(o, "for ever", b)
	o = o.Another(keep(100 * day))
	pass(o, time.Hour)
	left(o, "for 100 days", b)
	o = o.Another(keep(48 * time.Hour))
	pass(o, 7*time.Hour)
	left(o, "two days after its end", b) // which was recorded only now
	pass(o, 50*time.Hour)
	left(o, "for two days")
	for _, d := range []time.Duration{1, 47 * time.Hour} {
		if _, err := traintravel.New(o.Store, traintravel.Options{KeepUnpaid: d}); !officetest.IsInvalid(err, "Options.KeepUnpaid") {
			t.Errorf("%v: %v", d, err)
		}
	}
}

// A booking stays as long as an event of it waits: for the Notifier, to be given out, or to
// be posted. What is delivered, or dead, is in nobody's way.
func TestUnpaidBookingsWaitForEvents(t *testing.T) {
	t.Parallel()
	for name, wait := range map[string]func(*officetest.Office, *officetest.Mailroom, error){
		"notifier": func(o *officetest.Office, _ *officetest.Mailroom, err error) {
			o.Post.Before = func(traintravel.Event) error { return err }
		},
		"delivery": func(o *officetest.Office, m *officetest.Mailroom, err error) {
			m.Answers[officetest.Hook] = func(int) (traintravel.WebhookAnswer, error) {
				if err != nil {
					return traintravel.WebhookAnswer{Status: 503, RetryAfter: 300 * day}, nil
				}
				return traintravel.WebhookAnswer{Status: 200}, nil
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, m := officetest.WithWebhooks(t, memstore.New())
			o.MustSubscribe(officetest.Anna, officetest.Hook)
			wait(o, m, errors.New("not now"))
			b := o.Book(officetest.Anna, o.TripID('A', 'B', "R 5"))
			o.Do()
			o.Clock.Add(2 * time.Hour)
			o.Do()                // ends the hold
			o.Clock.Add(20 * day) // the server was down
			if name == "delivery" {
				o.Do()
				for _, d := range officetest.RemovePasses(t.Context(), o.Store, o.Now) { // before what is due is posted
					o.Expect("the pass", d(t.Context()), nil)
				}
			} else {
				pass(o, 0)
			}
			left(o, "while an event waits", b)
			wait(o, m, nil)
			for range 3 {
				pass(o, 30*time.Hour)
			}
			left(o, "after it was delivered")
		})
	}
}

// A delivery of a booking that is removed is not tried again, and no fault.
func TestDeliveriesOfRemovedBookings(t *testing.T) {
	t.Parallel()
	o, m := officetest.WithWebhooks(t, memstore.New())
	sub := o.MustSubscribe(officetest.Anna, officetest.Hook)
	m.Answers[officetest.Hook] = officetest.Answers(500)
	o.Book(officetest.Anna, o.TripID('A', 'B', "R 5"))
	for range 12 {
		pass(o, 30*time.Hour)
	}
	left(o, "after 15 days")
	d := o.OnlyDelivery(officetest.Anna, sub)
	if d.Status != traintravel.DeliveryDead {
		t.Fatalf("%+v", d)
	}
	if _, err := o.RetryDelivery(t.Context(), officetest.Anna, sub.ID, d.ID, ""); !errors.Is(err, traintravel.ErrNotFound) {
		t.Error(err)
	}
	if n, err := o.RetryDead(t.Context(), officetest.Anna, sub.ID); n != 0 || err != nil {
		t.Error(n, err)
	}
}

// A request that is repeated within a day gets its first answer, whatever the setting is;
// after the booking is removed it makes another.
func TestUnpaidBookingsOutliveTheirKeys(t *testing.T) {
	t.Parallel()
	o := officetest.New(t, memstore.New(), func(opts *traintravel.Options) { opts.KeepUnpaid = 48 * time.Hour })
	n := traintravel.NewBooking{TripID: o.TripID('A', 'B', "R 1"), PassengerName: "Anna", IdempotencyKey: "key"}
	first, err := o.CreateBooking(t.Context(), officetest.Anna, n)
	if err != nil {
		t.Fatal(err)
	}
	for range 23 {
		pass(o, time.Hour)
		if again, err := o.CreateBooking(t.Context(), officetest.Anna, n); err != nil || again.ID != first.ID || !again.Replayed {
			t.Fatalf("%+v, %v", again, err)
		}
	}
	left(o, "within a day", first)
	pass(o, 60*time.Hour)
	left(o, "after two days")
	n.TripID = far(o, 5)
	if again, err := o.CreateBooking(t.Context(), officetest.Anna, n); err != nil || again.Replayed {
		t.Fatalf("%+v, %v", again, err)
	}
}

// A booking that may still be paid, or was after all, is not removed; and one of which an
// operator has settled a payment stays with it.
func TestUnpaidBookingsThatMayBePaid(t *testing.T) {
	t.Parallel()
	o := officetest.New(t, memstore.New())
	b, c := o.Book(officetest.Anna, far(o, 1)), o.Book(officetest.Anna, far(o, 2))
	silent := errors.New("the line is dead")
	o.Bank.Before = func(string, uuid.UUID) error { return silent }
	o.MustPay(b, traintravel.Pending)
	p := o.MustPay(c, traintravel.Pending)
	for range 20 {
		pass(o, day)
	}
	left(o, "while the bank does not answer", b, c)
	if _, err := o.SettlePayment(t.Context(), c.ID, p.ID, traintravel.Settlement{As: traintravel.AsFailed, By: "desk", Reason: "the bank says so"}); err != nil {
		t.Fatal(err)
	}
	o.Bank.Before = nil
	for range 20 {
		pass(o, day)
	}
	left(o, "after the bank has answered", c)
}

// Several servers remove what is due once, and one that dies in the middle leaves nothing
// half removed.
func TestServersRemoveUnpaidBookings(t *testing.T) {
	officetest.OnSharedStores(t, 2, func(t *testing.T, stores []traintravel.Store) {
		o := officetest.New(t, stores[0])
		for range 100 {
			b := o.Book(officetest.Anna, far(o, 3))
			o.Expect("cancelling", o.CancelBooking(t.Context(), officetest.Anna, b.ID), nil)
		}
		pass(o, 2*day) // lists them
		o.Clock.Add(10 * day)
		other := o.At(stores[1])
		broken, stop := context.WithCancel(t.Context())
		stop()
		for _, d := range officetest.RemovePasses(t.Context(), other.Store, other.Now) {
			if err := d(broken); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}
		done := make(chan error)
		for _, s := range []*officetest.Office{o, other} {
			go func() { done <- s.RunDue(t.Context()) }()
		}
		for range 2 {
			o.Expect("a pass", <-done, nil)
		}
		left(o, "after both")
	})
}

// A delivery that somebody has asked for at the moment in which its booking was removed is
// given up, and holds up no other.
func TestPendingDeliveryOfRemovedBooking(t *testing.T) {
	t.Parallel()
	o, m := officetest.WithWebhooks(t, memstore.New())
	sub := o.MustSubscribe(officetest.Anna, officetest.Hook)
	m.Answers[officetest.Hook] = officetest.Answers(500)
	b := o.Book(officetest.Anna, o.TripID('A', 'B', "R 5"))
	o.Clock.Add(2 * time.Hour)
	o.Do() // ends the hold, and the delivery fails
	if err := audittest.Vandalize(t.Context(), o.Store, audittest.RemoveBooking(b.ID)); err != nil {
		t.Fatal(err)
	}
	m.Answers[officetest.Hook] = nil
	o.Book(officetest.Berta, o.TripID('A', 'B', "R 5"))
	o.Clock.Add(time.Hour)
	o.Do()
	if d := o.OnlyDelivery(officetest.Anna, sub); d.Status != traintravel.DeliveryDead || d.Dead != traintravel.DeadByRemoval {
		t.Errorf("%+v", d)
	}
}

// A pass puts every unpaid booking on the agenda, however many pages of them there are, and
// the next one begins after all of them.
func TestUnpaidBookingsAreReadOnce(t *testing.T) {
	t.Parallel()
	o := officetest.New(t, storetest.Twice(memstore.New()))
	var last string
	const bookings = 30 // several pages
	for range bookings {
		b := o.Book(officetest.Anna, o.TripID('A', 'B', "R 5"))
		o.Expect("cancelling", o.CancelBooking(t.Context(), officetest.Anna, b.ID), nil)
		last = max(last, records.BookingKey(b.ID).ID)
	}
	pass(o, 2*day)
	if n := len(agendaOf(t, o.Store, records.UnpaidOver)); n != bookings {
		t.Errorf("%d bookings are on the agenda, want %d", n, bookings)
	}
	passes := agendaOf(t, o.Store, records.UnpaidPass)
	if len(passes) != 1 || string(passes[0].Value) <= last {
		t.Errorf("%q are the passes to come, want one that begins after %q", passes, last)
	}
}

func agendaOf(t *testing.T, store traintravel.Store, kind records.Kind) []traintravel.Record {
	t.Helper()
	found, err := store.List(t.Context(), records.AgendaOf(kind))
	if err != nil {
		t.Fatal(err)
	}
	return found
}
