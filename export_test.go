package traintravel

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/agenda"
	"github.com/traintravel/traintravel/internal/ledger"
	"github.com/traintravel/traintravel/internal/raptor"
	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/internal/redact"
	"github.com/traintravel/traintravel/internal/timetable"
	"github.com/traintravel/traintravel/internal/trains"
)

// JoinTrips is the ID of the trip that rides the trains of direct trips one
// after another.
func JoinTrips(direct ...uuid.UUID) uuid.UUID {
	var joined timetable.TripCode
	for i, id := range direct {
		c, ok := timetable.ParseTripID(id)
		if !ok || c.Legs != 1 {
			panic(fmt.Sprintf("%v is no direct trip", id))
		}
		if i == 0 {
			joined = c
		}
		joined.Numbers[i], joined.Alight, joined.Legs = c.Numbers[0], c.Alight, i+1
	}
	return joined.ID()
}

// DirectTrip is the ID of a ride on a train with a number, be it sold out or
// departed; ErrNotFound if the timetable has none.
func (s *Service) DirectTrip(ctx context.Context, number string, d Date, from, to uuid.UUID) (uuid.UUID, error) {
	sn, err := s.timetable.Snapshot(ctx)
	if err != nil {
		return uuid.Nil, err
	}
	at := func(t *timetable.Train, station uuid.UUID) int {
		return slices.IndexFunc(t.Stops, func(s raptor.Stop) bool { return sn.Is(station, s.Station) })
	}
	for i := range sn.Trains {
		t := &sn.Trains[i]
		if r := (timetable.Ride{Train: t, Date: d, Board: at(t, from), Alight: at(t, to)}); t.Name == number && t.Days.Runs(d) && t.Rideable(r.Board, r.Alight) {
			return timetable.TripID([]timetable.Ride{r}), nil
		}
	}
	return uuid.Nil, ErrNotFound
}

// Forget makes the service look for a newer timetable and newer inventories
// the next time, as it does by itself after two seconds.
func (s *Service) Forget() {
	s.timetable.Expire()
	s.stock.Mu.Lock()
	defer s.stock.Mu.Unlock()
	clear(s.stock.Runs)
}

// HoldsCardNumber is redact.HoldsCardNumber.
func HoldsCardNumber(s string) bool { return redact.HoldsCardNumber(s) }

// KeepForgetting puts on the agenda what Run does for Options.Retain and KeepUnpaid.
func (s *Service) KeepForgetting(ctx context.Context) {
	for _, k := range s.passes() {
		s.keepScheduled(ctx, k)
	}
}

// OperatorID is the ID that an operator's endpoint has.
func OperatorID(url string) uuid.UUID { return records.OperatorID(url) }

// Works are the kinds of work that Run does, by the names that observers are told, with
// the key of something that is due of each.
func (s *Service) Works() map[string]func(due time.Time, id uuid.UUID) Key {
	works := map[string]func(time.Time, uuid.UUID) Key{}
	for _, w := range s.workers() {
		works[w.Name] = func(due time.Time, id uuid.UUID) Key { return records.AgendaKey(w.Kind, due, id) }
	}
	return works
}

// Wake tells Run that there is something new of every kind.
func (s *Service) Wake() {
	s.wakeup.Due.Store(1<<32 - 1)
	s.wakeup.C <- struct{}{}
}

// RunWith is Run with other work: it is given what is due, and removes it.
func (s *Service) RunWith(ctx context.Context, work func(name string, due map[Key]uuid.UUID) error) {
	sched := s.schedulerWith(work)
	sched.Local = &Claims{}
	sched.Run(ctx)
}

// RunDueWith is RunDue with other work, on a store that the process has to itself.
func (s *Service) RunDueWith(ctx context.Context, work func(name string, due map[Key]uuid.UUID) error) []error {
	return slices.DeleteFunc(s.schedulerWith(work).RunDue(ctx), func(err error) bool { return err == nil })
}

func (s *Service) schedulerWith(work func(name string, due map[Key]uuid.UUID) error) *agenda.Scheduler {
	sched := s.scheduler()
	for _, w := range sched.Workers {
		w.Work = func(_ context.Context, items ...records.Item) error {
			due := map[Key]uuid.UUID{}
			for _, it := range items {
				due[it.Key] = it.ID
			}
			return work(w.Name, due)
		}
	}
	return sched
}

// RemovePass is the next pass over unpaid bookings.
func RemovePass(s *Service) (passes []func(context.Context) error) {
	due, _, _, err := agenda.ListDue(context.Background(), s.store, records.UnpaidPass, "", s.now(), records.Batch)
	if err != nil {
		panic(err)
	}
	for _, it := range due {
		passes = append(passes, func(ctx context.Context) error { return s.books.RemoveUnpaid(ctx, it) })
	}
	return passes
}

// Sortable is a time as keys of the agenda and of queues have it.
func Sortable(t time.Time) string { return records.Sortable(t) }

// QueueFloors is of how many subscriptions it is known where their queues begin.
func (s *Service) QueueFloors() int {
	s.books.Floors.Mu.Lock()
	defer s.books.Floors.Mu.Unlock()
	return len(s.books.Floors.At)
}

// RemoveBooking removes the record of a booking, as a pass over unpaid ones does.
func RemoveBooking(id uuid.UUID) func(*Vandal) {
	return func(v *Vandal) { v.delete(records.BookingKey(id)) }
}

// Identity is that of a train without twins.
func Identity(t *Train) uuid.UUID { return trains.BaseOf(t) }

// Verify verifies a subscription as a receiver does that answers its ping, and leaves
// nothing of the ping.
func Verify(ctx context.Context, s *Service, id uuid.UUID) error {
	return s.books.Update(ctx, s.now(), func(l *ledger.Ledger) error {
		v, err := l.Tx.Get(ctx, records.SubscriptionKey(id))
		if err != nil {
			return err
		}
		sub, err := records.DecodeSubscription(v[0])
		if err != nil {
			return err
		}
		ping := records.NewDelivery(id, sub.Challenge(), records.Queued{Kind: Ping, Created: sub.Unverified})
		d, err := l.Delivery(id, ping.ID)
		if err != nil {
			return err
		}
		l.Delete(d.QueueKey())
		l.Delete(records.DeliveryKey(id, d.ID))
		l.Delete(records.EndpointKey(sub.Unverified, id))
		return l.Verified(&sub)
	})
}
