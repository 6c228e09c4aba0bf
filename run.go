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

// Run does what becomes due: it ends holds, finds out what became of payments,
// makes refunds, delivers events to the Notifier, and forgets old idempotency
// keys. It returns when ctx ends and all of its work has stopped, with ctx's
// error. What it was doing then is done again by the next Run. A failure of
// the store, the gateway or the Notifier is logged and what it hit tried again.
//
// A service that nobody runs still sells correctly; it just frees no index,
// delivers nothing and leaves payments pending. Run it once for each Service.
// Services that share a store share the work too: each thing is done by one at
// a time, and when one dies the others take over after ten seconds. One that
// cannot reach the store for six stops what it is doing: the contexts it gave
// to gateway and Notifier end. Payments are left to services with a Gateway,
// events to those with a Notifier,
// and those for subscribers to those with Webhooks.
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

// RunDue does, one thing after another, what [Service.Run] would find to do now, and returns
// the errors of what failed, joined: the next call tries that again, and Options.Logger is
// not told of it. It returns when nothing is left that is due, or when ctx ends, with ctx's
// error among them.
//
// It is for programs that do not stay: that are started by cron, or that run as a function
// in answer to a request. Such a program calls it every few minutes, and after what must be
// followed at once, such as a booking whose event is to be delivered. Until then things
// stand as they do when nobody calls Run.
//
// On a [LocalStore], what another service of the process is doing is left to it. Servers
// that share a store share out what Run does, but not what RunDue does: if it is called
// while another works there, some things are done twice. No booking or payment suffers from
// that, but an event may be delivered twice, as it may after a crash.
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

// LastInstant returns the latest instant of a service's clock that a store
// knows of, to the minute, or the zero time: a program that supplies
// Options.Now must not begin before it, lest what has happened be in the
// future.
func LastInstant(ctx context.Context, store Store) (last time.Time, err error) {
	return agenda.LastInstant(ctx, store)
}
