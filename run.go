package traintravel

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/traintravel/traintravel/internal/agenda"
	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/internal/webhooks"
)

// Run does scheduled work: it ends holds, looks up pending payments, makes refunds,
// delivers events to the Notifier, and deletes old idempotency keys. It returns when ctx
// ends and all of its work has stopped, with ctx's error; the next Run repeats interrupted
// work. It logs failures of the store, the gateway and the Notifier, and retries the work.
//
// Without Run, a service still sells correctly, but frees no indexes, delivers nothing and
// leaves payments pending. Call it once for each Service. Services that share a store share
// the work: one at a time does each item, and if it fails, the others take over after ten
// seconds. A service that cannot reach the store for six seconds cancels its work, including
// the contexts passed to gateway and Notifier. Only services with a Gateway process payments,
// those with a Notifier its events, and those with Webhooks the events for subscribers.
func (s *Service) Run(ctx context.Context) error {
	sched := s.scheduler()
	s.books.Floors.Keep(sched.Local == nil)
	var working sync.WaitGroup
	if s.clocked {
		working.Go(func() { agenda.KeepClock(ctx, s.store, s.now, s.log) })
	}
	for _, k := range s.passes() {
		working.Go(func() { agenda.Insist(ctx, s.log, k, s.books.SchedulePass) })
	}
	sched.Run(ctx)
	working.Wait()
	return ctx.Err()
}

// RunDue does the work that is due now, one item after another, and returns the joined
// errors of the items that failed; the next call retries them, and Options.Logger gets no
// message. It returns when no work is due, or when ctx ends, with ctx's error joined.
//
// It is for short-lived programs, such as cron jobs and functions that run on request. Such
// a program calls it every few minutes, and also after operations with urgent follow-up
// work, such as a booking whose event is to be delivered. Between calls, no work is done.
//
// On a [LocalStore], it leaves work that another service of the process has in progress to
// that service. Servers that share a store divide the work of Run, but not that of RunDue:
// while another server works, RunDue may do some items twice. That affects no booking or
// payment, but an event may be delivered twice, as after a crash.
func (s *Service) RunDue(ctx context.Context) error {
	var errs []error
	for _, k := range s.passes() {
		errs = append(errs, s.books.SchedulePass(ctx, k))
	}
	if s.clocked {
		errs = append(errs, agenda.WriteClock(ctx, s.store, s.now()))
	}
	errs = append(errs, s.scheduler().RunDue(ctx)...)
	return errors.Join(append(errs, ctx.Err())...)
}

// scheduler returns what does one Run.
func (s *Service) scheduler() *agenda.Scheduler {
	sched := &agenda.Scheduler{
		Host:    &agenda.Host{Store: s.store, Now: s.now, Log: s.log, Begin: s.begin, Failing: s.opts.Observer.Failing},
		Workers: s.workers(), Wakeup: s.wakeup,
	}
	if local, ok := s.given.(LocalStore); ok {
		sched.Local = local.Claims()
	} else {
		sched.NewID, sched.Gained = s.newID, s.books.Floors.Forget
	}
	return sched
}

// workers are those for what the service can do.
func (s *Service) workers() []*agenda.Worker {
	ws := []*agenda.Worker{{Kind: records.HoldEnds, Name: "endHold", Work: agenda.One(s.books.EndHold)}}
	if s.opts.Gateway != nil {
		ws = append(ws, &agenda.Worker{Kind: records.PaymentDue, Name: "followPayment", Work: agenda.One(s.flow.FollowPayment)})
	}
	ws = append(ws,
		&agenda.Worker{Kind: records.KeyForgotten, Name: "forgetKey", Work: agenda.One(s.books.ForgetKey)},
		&agenda.Worker{Kind: records.CountDue, Name: "forgetCount", Work: agenda.One(s.books.ForgetCount)},
		&agenda.Worker{Kind: records.EarlierPass, Name: "completeEarlier", Work: agenda.One(s.books.CompleteEarlier)})
	if s.opts.KeepUnpaid > 0 {
		ws = append(ws, &agenda.Worker{Kind: records.UnpaidPass, Name: "removeUnpaid", Work: agenda.One(s.books.RemoveUnpaid)})
	}
	if s.opts.Retain > 0 {
		ws = append(ws, &agenda.Worker{Kind: records.TravellersDue, Name: "forgetTravellers", Work: agenda.One(s.desk.ForgetTravellers)})
	}
	if s.opts.Notifier != nil {
		ws = append(ws, &agenda.Worker{Kind: records.EventDue, Name: "deliver", Work: agenda.One((&webhooks.Notices{Books: s.books, Notifier: s.opts.Notifier}).Deliver)})
	}
	if s.opts.Webhooks != nil {
		ws = append(ws,
			&agenda.Worker{Kind: records.FanOutDue, Name: "fanOut", Work: s.poster.FanOut, Together: records.Batch, Concurrency: webhooks.FanOuts},
			&agenda.Worker{Kind: records.OwedDue, Name: "fanOutOwed", Work: agenda.One(s.poster.FanOutOwed)},
			&agenda.Worker{Kind: records.EndpointDue, Name: "serveEndpoint", Work: agenda.One(s.poster.ServeEndpoint), Concurrency: webhooks.Endpoints, MayBegin: s.poster.Slow.Begin, Ended: s.poster.Slow.End},
			&agenda.Worker{Kind: records.SurplusDue, Name: "forgetSurplus", Work: agenda.One(s.poster.ForgetSurplus)},
			&agenda.Worker{Kind: records.SweepDue, Name: "sweep", Work: agenda.One(s.poster.Sweep)})
	}
	return ws
}

// passes are the kinds of which a pass is always on the agenda.
func (s *Service) passes() []records.Kind {
	ks := []records.Kind{records.EarlierPass}
	if s.opts.Retain > 0 {
		ks = append(ks, records.TravellersDue)
	}
	if s.opts.KeepUnpaid > 0 {
		ks = append(ks, records.UnpaidPass)
	}
	return ks
}

// LastInstant returns the latest instant of a service's clock that the store has
// recorded, to the minute, or the zero time. A program that supplies Options.Now must
// not start before it; otherwise recorded events would be in the future.
func LastInstant(ctx context.Context, store Store) (last time.Time, err error) {
	return agenda.LastInstant(ctx, store)
}
