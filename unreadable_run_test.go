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
			if err := o.DoDue(t.Context()); err == nil {
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
