package traintravel

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/traintravel/traintravel/internal/raptor"
)

// What the tests of the package's users need of its insides.

// DrawUntil checks a property with what is drawn, again and again until enough came up of
// what the property is about. The flag -short draws a fifth at a time, so it takes more times
// then. It fails the test if there is never enough.
func DrawUntil(t *testing.T, enough func() bool, property func(*rapid.T)) {
	t.Helper()
	for range 20 {
		if rapid.Check(t, property); t.Failed() || enough() {
			return
		}
	}
	t.Error("too little came up of what the property is about")
}

// JoinTrips is the ID of the trip that rides the trains of direct trips one
// after another.
func JoinTrips(direct ...uuid.UUID) uuid.UUID {
	var joined tripCode
	for i, id := range direct {
		c, ok := parseTripID(id)
		if !ok || c.legs != 1 {
			panic(fmt.Sprintf("%v is no direct trip", id))
		}
		if i == 0 {
			joined = c
		}
		joined.numbers[i], joined.alight, joined.legs = c.numbers[0], c.alight, i+1
	}
	return joined.id()
}

// DirectTrip is the ID of a ride on a train with a number, be it sold out or
// departed; ErrNotFound if the timetable has none.
func (s *Service) DirectTrip(ctx context.Context, number string, d Date, from, to uuid.UUID) (uuid.UUID, error) {
	sn, err := s.timetable.snapshot(ctx)
	if err != nil {
		return uuid.Nil, err
	}
	at := func(t *train, station uuid.UUID) int {
		return slices.IndexFunc(t.stops, func(s raptor.Stop) bool { return sn.is(station, s.Station) })
	}
	for i := range sn.trains {
		t := &sn.trains[i]
		if r := (ride{t, d, at(t, from), at(t, to)}); t.name == number && t.days.runs(d) && t.rideable(r.board, r.alight) {
			return tripID([]ride{r}), nil
		}
	}
	return uuid.Nil, ErrNotFound
}

// Forget makes the service look for a newer timetable and newer inventories
// the next time, as it does by itself after two seconds.
func (s *Service) Forget() {
	s.timetable.expire()
	s.stock.mu.Lock()
	defer s.stock.mu.Unlock()
	clear(s.stock.runs)
}

// HoldsCardNumber is holdsCardNumber.
func HoldsCardNumber(s string) bool { return holdsCardNumber(s) }

// KeepForgetting puts on the agenda what Run does for Options.Retain and KeepUnpaid.
func (s *Service) KeepForgetting(ctx context.Context) {
	for _, k := range s.passes() {
		s.keepScheduled(ctx, k)
	}
}

// OperatorID is the ID that an operator's endpoint has.
func OperatorID(url string) uuid.UUID { return operatorID(url) }

// Works are the kinds of work that Run does, by the names that observers are told, with
// the key of something that is due of each.
func (s *Service) Works() map[string]func(due time.Time, id uuid.UUID) Key {
	works := map[string]func(time.Time, uuid.UUID) Key{}
	for _, w := range s.workers() {
		works[w.name] = func(due time.Time, id uuid.UUID) Key { return agendaKey(w.kind, due, id) }
	}
	return works
}

// Wake tells Run that there is something new of every kind.
func (s *Service) Wake() {
	s.wakeup.due.Store(1<<32 - 1)
	s.wakeup.c <- struct{}{}
}

// RunWith is Run with other work: it is given what is due, and removes it.
func (s *Service) RunWith(ctx context.Context, work func(name string, due map[Key]uuid.UUID) error) {
	sched := s.schedulerWith(work)
	sched.local = &Claims{}
	sched.run(ctx)
}

// RunDueWith is RunDue with other work, on a store that the process has to itself.
func (s *Service) RunDueWith(ctx context.Context, work func(name string, due map[Key]uuid.UUID) error) []error {
	return slices.DeleteFunc(s.schedulerWith(work).runDue(ctx), func(err error) bool { return err == nil })
}

func (s *Service) schedulerWith(work func(name string, due map[Key]uuid.UUID) error) *scheduler {
	sched := s.scheduler()
	for _, w := range sched.workers {
		w.work = func(_ context.Context, items ...item) error {
			due := map[Key]uuid.UUID{}
			for _, it := range items {
				due[it.key] = it.id
			}
			return work(w.name, due)
		}
	}
	return sched
}

// RemovePass is the next pass over unpaid bookings.
func RemovePass(s *Service) (passes []func(context.Context) error) {
	due, _, _, err := listDue(context.Background(), s.store, unpaidPass, "", s.now(), batch)
	if err != nil {
		panic(err)
	}
	for _, it := range due {
		passes = append(passes, func(ctx context.Context) error { return s.books.removeUnpaid(ctx, it) })
	}
	return passes
}

// Sortable is a time as keys of the agenda and of queues have it.
func Sortable(t time.Time) string { return sortable(t) }

// QueueFloors is of how many subscriptions it is known where their queues begin.
func (s *Service) QueueFloors() int {
	s.books.floors.mu.Lock()
	defer s.books.floors.mu.Unlock()
	return len(s.books.floors.at)
}

// RemoveBooking removes the record of a booking, as a pass over unpaid ones does.
func RemoveBooking(id uuid.UUID) func(*Vandal) {
	return func(v *Vandal) { v.delete(bookingKey(id)) }
}

// Identity is that of a train without twins.
func Identity(t *Train) uuid.UUID { return baseOf(t) }

// Verify verifies a subscription as a receiver does that answers its ping, and leaves
// nothing of the ping.
func Verify(ctx context.Context, s *Service, id uuid.UUID) error {
	return s.books.update(ctx, s.now(), func(l *ledger) error {
		v, err := l.tx.Get(ctx, subscriptionKey(id))
		if err != nil {
			return err
		}
		sub, err := decodeSubscription(v[0])
		if err != nil {
			return err
		}
		ping := newDelivery(id, sub.challenge(), queued{kind: Ping, created: sub.Unverified})
		d, err := l.delivery(id, ping.ID)
		if err != nil {
			return err
		}
		l.delete(d.queueKey())
		l.delete(deliveryKey(id, d.ID))
		l.delete(endpointKey(sub.Unverified, id))
		return l.verified(&sub)
	})
}
