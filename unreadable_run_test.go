package traintravel_test

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/sandbox"
	"github.com/traintravel/traintravel/store/memstore"
)

// spoil makes a record one that a newer version has written, or a damaged one. The
// function that it returns puts it back.
func spoil(t tester, store traintravel.Store, key traintravel.Key, newer bool) (restore func()) {
	t.Helper()
	v, err := store.Get(t.Context(), key)
	if err != nil || v[0] == nil {
		t.Fatalf("%v: %v", key, err)
	}
	put := func(b []byte) {
		t.Helper()
		if err := store.Update(t.Context(), func(tx traintravel.Tx) error { tx.Put(key, b); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if newer {
		put(append([]byte{v[0][0] + 100}, v[0][1:]...))
	} else {
		put(bytes.Repeat([]byte{1}, 3))
	}
	return func() { put(v[0]) }
}

func bookingRecord(id uuid.UUID) traintravel.Key {
	return traintravel.Key{Table: traintravel.TableBookings, ID: string(id[:])}
}

// Holds whose bookings cannot be read are in no other's way, on one server and on two, and
// after a restart. Nobody touches them: when they can be read they end like all others.
func TestHoldsBehindUnreadableOnes(t *testing.T) {
	t.Parallel()
	for name, store := range map[string]func() traintravel.Store{
		"one server":  func() traintravel.Store { return memstore.New() },
		"two servers": func() traintravel.Store { return struct{ traintravel.Store }{memstore.New()} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				short := func(opts *traintravel.Options) { opts.Now, opts.HoldFor = nil, time.Minute }
				o := &office{t: t, store: store(), bank: &bank{Gateway: sandbox.New()}, post: &post{}}
				o = o.another(short)
				tt := inBubbles()
				tt.Trains = append(tt.Trains, inBubble2000(train("R 9", 20, "AB", seats(600))))
				o.load(tt)
				servers := []*office{o}
				if _, local := o.store.(traintravel.LocalStore); !local {
					servers = append(servers, o.another(short))
				}
				var restore []func()
				trip := o.tomorrow('A', 'B', "R 9")
				for n := range 400 {
					b := o.book(anna, trip)
					restore = append(restore, spoil(t, o.store, bookingRecord(b.ID), n%2 == 0))
					time.Sleep(time.Millisecond)
				}
				run := func() (stop func()) {
					var stops []func()
					for _, s := range servers {
						stops = append(stops, s.runs())
					}
					return func() {
						for _, stop := range stops {
							stop()
						}
					}
				}
				stop := run()
				time.Sleep(2 * time.Minute)
				for range 2 {
					good := o.book(berta, trip)
					time.Sleep(time.Minute + 4*time.Second)
					synctest.Wait()
					if h, err := o.BookingHistory(t.Context(), good.ID); err != nil || h.Booking.Status != traintravel.Expired {
						t.Errorf("the hold behind %d that cannot be read is %v, %v", len(restore), h.Booking.Status, err)
					}
					stop()
					stop = run()
				}
				if st, err := o.State(t.Context()); err != nil || st.Holds != len(restore) {
					t.Errorf("%d of %d holds that cannot be read are on the agenda, %v", st.Holds, len(restore), err)
				}
				for _, f := range restore {
					f()
				}
				time.Sleep(2 * time.Minute)
				synctest.Wait()
				stop()
				for id, b := range o.audit().Bookings {
					if b.Status != traintravel.Expired {
						t.Fatalf("booking %v is %v, long after its hold", id, b.Status)
					}
				}
			})
		})
	}
}

// inBubble2000 makes a train run in the bubble's first year.
func inBubble2000(tr traintravel.Train) traintravel.Train {
	tr.Days = traintravel.Daily(traintravel.NewDate(2000, 1, 1), traintravel.NewDate(2000, 12, 31))
	return tr
}

func subscriptionRecord(id uuid.UUID) traintravel.Key {
	return traintravel.Key{Table: traintravel.TableWebhooks, ID: "s" + string(id[:])}
}

// A subscription that cannot be read keeps no event from the others, who get each once. What
// is owed to it comes when it can be read.
func TestEventsOfAnUnreadableSubscription(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		w := &watcher{}
		o, m := withWebhooks(t, store, w.observe)
		const broken, whole, gone = hook + "broken", hook + "whole", hook + "gone"
		sub, going := o.subscribe(anna, broken), o.subscribe(anna, gone)
		o.subscribe(anna, whole)
		restore := spoil(t, store, subscriptionRecord(sub.ID), true)
		again := spoil(t, store, subscriptionRecord(going.ID), false)
		o.book(anna, o.trip('A', 'D', "R 1"))
		o.book(berta, o.trip('A', 'D', "R 1"))
		for range 3 {
			if err := o.RunDue(t.Context()); err == nil {
				t.Error("nobody says that an event is owed")
			}
			o.clock.add(30 * 24 * time.Hour)
		}
		created := traintravel.BookingCreated
		expectEvents(t, m, whole, created)
		expectEvents(t, m, broken)
		if l, err := o.Subscriptions(t.Context(), anna, traintravel.Page{}); err != nil || len(l.Items) != 1 {
			t.Errorf("%+v, %v", l.Items, err)
		}
		if _, err := o.Subscription(t.Context(), anna, sub.ID); err == nil {
			t.Error("what cannot be read is shown")
		}
		again()
		if err := o.Unsubscribe(t.Context(), anna, going.ID); err != nil {
			t.Fatal(err)
		}
		restore()
		o.do()
		expectEvents(t, m, whole, created)
		expectEvents(t, m, broken, created)
		expectEvents(t, m, gone)
	})
}

// A hold that has lapsed and cannot be read keeps its place, and only that: others are sold,
// to travellers with bicycles too.
func TestPlacesBesideAnUnreadableHold(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := newOffice(t, store)
		trip := o.trip('A', 'D', "R 1") // of two places and one hook
		ask := traintravel.NewBooking{TripID: trip, PassengerName: "Anna", HasBicycle: true}
		held, err := o.CreateBooking(t.Context(), anna, ask)
		if err != nil {
			t.Fatal(err)
		}
		restore := spoil(t, store, bookingRecord(held.ID), true)
		o.clock.add(61 * time.Minute)
		b := o.book(berta, trip)
		if b.Legs[0].Coach == held.Legs[0].Coach {
			t.Errorf("coach %s, seat %d is sold twice", b.Legs[0].Coach, b.Legs[0].Seat)
		}
		o.mustPay(b, traintravel.Succeeded)
		o.tryBook(berta, trip, traintravel.ErrSoldOut)
		if err := o.CancelBooking(t.Context(), berta, b.ID); err != nil {
			t.Fatal(err)
		}
		_, err = o.CreateBooking(t.Context(), berta, ask)
		o.expect("a second bicycle", err, traintravel.ErrNoBicycleSpace)
		restore()
		for range 2 {
			o.book(berta, trip)
		}
		o.stands(held.ID, traintravel.Expired)
	})
}

// A delivery that cannot be read keeps none of its endpoint's from being posted, retried,
// listed and forgotten. Nobody loses it: it is posted when it can be read.
func TestDeliveriesBesideAnUnreadableOne(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o, m := withWebhooks(t, store)
		sub := o.subscribe(anna, hook)
		m.answers[hook] = answers(500)
		var restore []func()
		for n := range 3 {
			o.clock.add(time.Second)
			o.book(anna, o.trip('A', 'B', "R 5"))
			if n == 2 {
				break
			}
			o.do()
			l, err := o.Deliveries(t.Context(), anna, sub.ID, traintravel.Page{Limit: 1})
			if err != nil {
				t.Fatal(err)
			}
			key := traintravel.Key{Table: traintravel.TableDeliveries, ID: "d" + string(sub.ID[:]) + string(l.Items[0].ID[:])}
			restore = append(restore, spoil(t, store, key, n == 0))
		}
		m.answers[hook] = answers(200)
		o.clock.add(time.Minute)
		before := len(m.posts)
		o.do()
		if n := len(m.posts) - before; n != 1 {
			t.Errorf("%d posts of the one delivery that can be read", n)
		}
		for _, limit := range []int{1, 10} {
			if l, err := o.Deliveries(t.Context(), anna, sub.ID, traintravel.Page{Limit: limit}); err != nil || len(l.Items) != 1 || l.Items[0].Status != traintravel.DeliveryDelivered {
				t.Errorf("%+v, %v", l.Items, err)
			}
		}
		o.clock.add(8 * 24 * time.Hour) // it is forgotten
		o.do()
		if l, err := o.Deliveries(t.Context(), anna, sub.ID, traintravel.Page{}); err != nil || len(l.Items) != 0 {
			t.Errorf("%+v, %v", l.Items, err)
		}
		for _, f := range restore {
			f()
		}
		o.clock.add(time.Minute)
		o.do()
		if n := len(m.posts) - before; n != 3 {
			t.Errorf("%d posts, when all can be read", n)
		}
	})
}
