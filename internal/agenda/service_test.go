package agenda_test

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/agenda"
	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/store"
	"github.com/traintravel/traintravel/store/memstore"
)

// A service has work of every kind on the agenda of a store, as a server has.
type service struct {
	store  *memstore.Store
	host   *agenda.Host
	wakeup *agenda.Wakeup
}

func newService(on *memstore.Store, c *chore) *service {
	s := &service{store: on, wakeup: agenda.NewWakeup()}
	s.host = &agenda.Host{
		Store: on, Now: func() time.Time { return time.Now().UTC() }, Log: slog.New(slog.DiscardHandler),
		Begin: func(ctx context.Context, _ string) (context.Context, func(*error)) { return ctx, func(*error) {} },
	}
	if c != nil {
		s.host.Log, s.host.Failing = slog.New(slog.NewTextHandler(c, nil)), c.failing
	}
	return s
}

// workers are one for each kind of work: most of them have things one by one, and one many
// together.
func (s *service) workers() []*agenda.Worker {
	return []*agenda.Worker{
		{Kind: records.HoldEnds, Name: "endHold"},
		{Kind: records.PaymentDue, Name: "followPayment"},
		{Kind: records.KeyForgotten, Name: "forgetKey"},
		{Kind: records.CountDue, Name: "forgetCount"},
		{Kind: records.UnpaidPass, Name: "removeUnpaid"},
		{Kind: records.TravellersDue, Name: "forgetTravellers"},
		{Kind: records.EventDue, Name: "deliver"},
		{Kind: records.FanOutDue, Name: "fanOut", Together: records.Batch, Concurrency: 4},
		{Kind: records.OwedDue, Name: "fanOutOwed"},
		{Kind: records.EndpointDue, Name: "serveEndpoint", Concurrency: 300},
		{Kind: records.SurplusDue, Name: "forgetSurplus"},
		{Kind: records.SweepDue, Name: "sweep"},
	}
}

// works are the kinds of work by name, with the key of something that is due of each.
func (s *service) works() map[string]func(due time.Time, id uuid.UUID) store.Key {
	works := map[string]func(time.Time, uuid.UUID) store.Key{}
	for _, w := range s.workers() {
		works[w.Name] = func(due time.Time, id uuid.UUID) store.Key { return records.AgendaKey(w.Kind, due, id) }
	}
	return works
}

// wake tells Run that there is something new of every kind.
func (s *service) wake() {
	s.wakeup.Due.Store(1<<32 - 1)
	s.wakeup.C <- struct{}{}
}

// run does what is due until ctx ends. Work is given what is due, and removes it.
func (s *service) run(ctx context.Context, work func(name string, due map[store.Key]uuid.UUID) error) {
	s.scheduler(work).Run(ctx)
}

// runDue does what is due now.
func (s *service) runDue(ctx context.Context, work func(name string, due map[store.Key]uuid.UUID) error) []error {
	return slices.DeleteFunc(s.scheduler(work).RunDue(ctx), func(err error) bool { return err == nil })
}

func (s *service) scheduler(work func(name string, due map[store.Key]uuid.UUID) error) *agenda.Scheduler {
	sched := &agenda.Scheduler{Host: s.host, Workers: s.workers(), Wakeup: s.wakeup, Local: s.store.Claims()}
	for _, w := range sched.Workers {
		w.Work = func(_ context.Context, items ...records.Item) error {
			due := map[store.Key]uuid.UUID{}
			for _, it := range items {
				due[it.Key] = it.ID
			}
			return work(w.Name, due)
		}
	}
	return sched
}
