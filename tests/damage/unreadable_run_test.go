package damage_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/sandbox"
	"github.com/traintravel/traintravel/store/memstore"
)

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
				o := &officetest.Office{T: t, Store: store(), Bank: &officetest.Bank{Gateway: sandbox.New()}, Post: &officetest.Post{}}
				o = o.Another(short)
				tt := officetest.InBubbles()
				tt.Trains = append(tt.Trains, inBubble2000(officetest.Train("R 9", 20, "AB", officetest.Seats(600))))
				o.Load(tt)
				servers := []*officetest.Office{o}
				if _, local := o.Store.(traintravel.LocalStore); !local {
					servers = append(servers, o.Another(short))
				}
				var restore []func()
				trip := o.Tomorrow('A', 'B', "R 9")
				for n := range 400 {
					b := o.Book(officetest.Anna, trip)
					restore = append(restore, officetest.Spoil(t, o.Store, bookingRecord(b.ID), n%2 == 0))
					time.Sleep(time.Millisecond)
				}
				run := func() (stop func()) {
					var stops []func()
					for _, s := range servers {
						stops = append(stops, s.Start())
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
					good := o.Book(officetest.Berta, trip)
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
				for id, b := range o.Audit().Bookings {
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
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		w := &officetest.Watcher{}
		o, m := officetest.WithWebhooks(t, store, w.Observe)
		const broken, whole, gone = officetest.Hook + "broken", officetest.Hook + "whole", officetest.Hook + "gone"
		sub, going := o.MustSubscribe(officetest.Anna, broken), o.MustSubscribe(officetest.Anna, gone)
		o.MustSubscribe(officetest.Anna, whole)
		restore := officetest.Spoil(t, store, subscriptionRecord(sub.ID), true)
		again := officetest.Spoil(t, store, subscriptionRecord(going.ID), false)
		o.Book(officetest.Anna, o.TripID('A', 'D', "R 1"))
		o.Book(officetest.Berta, o.TripID('A', 'D', "R 1"))
		for range 3 {
			if err := o.RunDue(t.Context()); err == nil {
				t.Error("nobody says that an event is owed")
			}
			o.Clock.Add(30 * 24 * time.Hour)
		}
		created := traintravel.BookingCreated
		officetest.ExpectEvents(t, m, whole, created)
		officetest.ExpectEvents(t, m, broken)
		if l, err := o.Subscriptions(t.Context(), officetest.Anna, traintravel.Page{}); err != nil || len(l.Items) != 1 {
			t.Errorf("%+v, %v", l.Items, err)
		}
		if _, err := o.Subscription(t.Context(), officetest.Anna, sub.ID); err == nil {
			t.Error("what cannot be read is shown")
		}
		again()
		if err := o.Unsubscribe(t.Context(), officetest.Anna, going.ID); err != nil {
			t.Fatal(err)
		}
		restore()
		o.Do()
		officetest.ExpectEvents(t, m, whole, created)
		officetest.ExpectEvents(t, m, broken, created)
		officetest.ExpectEvents(t, m, gone)
	})
}

// A hold that has lapsed and cannot be read keeps its place, and only that: others are sold,
// to travellers with bicycles too.
func TestPlacesBesideAnUnreadableHold(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store)
		trip := o.TripID('A', 'D', "R 1") // of two places and one hook
		ask := traintravel.NewBooking{TripID: trip, PassengerName: "Anna", HasBicycle: true}
		held, err := o.CreateBooking(t.Context(), officetest.Anna, ask)
		if err != nil {
			t.Fatal(err)
		}
		restore := officetest.Spoil(t, store, bookingRecord(held.ID), true)
		o.Clock.Add(61 * time.Minute)
		b := o.Book(officetest.Berta, trip)
		if b.Legs[0].Coach == held.Legs[0].Coach {
			t.Errorf("coach %s, seat %d is sold twice", b.Legs[0].Coach, b.Legs[0].Seat)
		}
		o.MustPay(b, traintravel.Succeeded)
		o.TryBook(officetest.Berta, trip, traintravel.ErrSoldOut)
		if err := o.CancelBooking(t.Context(), officetest.Berta, b.ID); err != nil {
			t.Fatal(err)
		}
		_, err = o.CreateBooking(t.Context(), officetest.Berta, ask)
		o.Expect("a second bicycle", err, traintravel.ErrNoBicycleSpace)
		restore()
		for range 2 {
			o.Book(officetest.Berta, trip)
		}
		o.Stands(held.ID, traintravel.Expired)
	})
}

// A delivery that cannot be read keeps none of its endpoint's from being posted, retried,
// listed and forgotten. Nobody loses it: it is posted when it can be read.
func TestDeliveriesBesideAnUnreadableOne(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o, m := officetest.WithWebhooks(t, store)
		sub := o.MustSubscribe(officetest.Anna, officetest.Hook)
		m.Answers[officetest.Hook] = officetest.Answers(500)
		var restore []func()
		for n := range 3 {
			o.Clock.Add(time.Second)
			o.Book(officetest.Anna, o.TripID('A', 'B', "R 5"))
			if n == 2 {
				break
			}
			o.Do()
			l, err := o.Deliveries(t.Context(), officetest.Anna, sub.ID, traintravel.Page{Limit: 1})
			if err != nil {
				t.Fatal(err)
			}
			key := traintravel.Key{Table: traintravel.TableDeliveries, ID: "d" + string(sub.ID[:]) + string(l.Items[0].ID[:])}
			restore = append(restore, officetest.Spoil(t, store, key, n == 0))
		}
		m.Answers[officetest.Hook] = officetest.Answers(200)
		o.Clock.Add(time.Minute)
		before := len(m.Posts)
		o.Do()
		if n := len(m.Posts) - before; n != 1 {
			t.Errorf("%d posts of the one delivery that can be read", n)
		}
		for _, limit := range []int{1, 10} {
			if l, err := o.Deliveries(t.Context(), officetest.Anna, sub.ID, traintravel.Page{Limit: limit}); err != nil || len(l.Items) != 1 || l.Items[0].Status != traintravel.DeliveryDelivered {
				t.Errorf("%+v, %v", l.Items, err)
			}
		}
		o.Clock.Add(8 * 24 * time.Hour) // it is forgotten
		o.Do()
		if l, err := o.Deliveries(t.Context(), officetest.Anna, sub.ID, traintravel.Page{}); err != nil || len(l.Items) != 0 {
			t.Errorf("%+v, %v", l.Items, err)
		}
		for _, f := range restore {
			f()
		}
		o.Clock.Add(time.Minute)
		o.Do()
		if n := len(m.Posts) - before; n != 3 {
			t.Errorf("%d posts, when all can be read", n)
		}
	})
}
