package traintravel

import (
	"context"
	"errors"
	"sync"
	"time"
)

const (
	// fanOuts is how many batches of events are given to subscribers at a time: one
	// while the one before is committed.
	fanOuts = 4
	// notifyTimeout is how long a Notifier may take.
	notifyTimeout = time.Minute
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
	s.books.floors.keep(sched.local == nil)
	var working sync.WaitGroup
	if s.clocked {
		working.Go(func() { keepClock(ctx, s.store, s.now, s.log) })
	}
	for _, k := range s.passes() {
		working.Go(func() { s.keepScheduled(ctx, k) })
	}
	sched.run(ctx)
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
		errs = append(errs, s.books.schedulePass(ctx, k))
	}
	if s.clocked {
		errs = append(errs, writeClock(ctx, s.store, s.now()))
	}
	errs = append(errs, s.scheduler().runDue(ctx)...)
	return errors.Join(append(errs, ctx.Err())...)
}

// scheduler returns what does one Run.
func (s *Service) scheduler() *scheduler {
	sched := &scheduler{
		host:    &host{store: s.store, now: s.now, log: s.log, begin: s.begin, failing: s.opts.Observer.Failing},
		workers: s.workers(), wakeup: s.wakeup,
	}
	if local, ok := s.given.(LocalStore); ok {
		sched.local = local.Claims()
	} else {
		sched.newID, sched.gained = s.newID, s.books.floors.forget
	}
	return sched
}

// workers are those for what the service can do.
func (s *Service) workers() []*worker {
	ws := []*worker{{kind: holdEnds, name: "endHold", work: one(s.books.endHold)}}
	if s.opts.Gateway != nil {
		ws = append(ws, &worker{kind: paymentDue, name: "followPayment", work: one(s.flow.followPayment)})
	}
	ws = append(ws,
		&worker{kind: keyForgotten, name: "forgetKey", work: one(s.books.forgetKey)},
		&worker{kind: countDue, name: "forgetCount", work: one(s.books.forgetCount)})
	if s.opts.KeepUnpaid > 0 {
		ws = append(ws, &worker{kind: unpaidPass, name: "removeUnpaid", work: one(s.books.removeUnpaid)})
	}
	if s.opts.Retain > 0 {
		ws = append(ws, &worker{kind: travellersDue, name: "forgetTravellers", work: one(s.desk.forgetTravellers)})
	}
	if s.opts.Notifier != nil {
		ws = append(ws, &worker{kind: eventDue, name: "deliver", work: one(s.deliver)})
	}
	if s.opts.Webhooks != nil {
		ws = append(ws,
			&worker{kind: fanOutDue, name: "fanOut", work: s.poster.fanOut, together: batch, concurrency: fanOuts},
			&worker{kind: owedDue, name: "fanOutOwed", work: one(s.poster.fanOutOwed)},
			&worker{kind: endpointDue, name: "serveEndpoint", work: one(s.poster.serveEndpoint), concurrency: endpoints, mayBegin: s.poster.slow.begin, ended: s.poster.slow.end},
			&worker{kind: surplusDue, name: "forgetSurplus", work: one(s.poster.forgetSurplus)},
			&worker{kind: sweepDue, name: "sweep", work: one(s.poster.sweep)})
	}
	return ws
}

// passes are the kinds of which a pass is always on the agenda.
func (s *Service) passes() (ks []kind) {
	if s.opts.Retain > 0 {
		ks = append(ks, travellersDue)
	}
	if s.opts.KeepUnpaid > 0 {
		ks = append(ks, unpaidPass)
	}
	return ks
}

// keepScheduled puts the next pass of a kind on the agenda, and tries until it is there.
func (s *Service) keepScheduled(ctx context.Context, k kind) {
	for ctx.Err() == nil {
		err := s.books.schedulePass(ctx, k)
		if err == nil {
			return
		}
		if !errors.Is(err, ctx.Err()) {
			s.log.Error("a pass over bookings could not be scheduled; will retry", "kind", string(k), "error", err)
		}
		sleep(ctx, lookAgain)
	}
}

// deliver tells the Notifier of an event, and puts it off if that fails.
func (s *Service) deliver(ctx context.Context, it item) error {
	q, err := decodeQueued(it.value)
	if err != nil {
		return err
	}
	v, err := s.store.Get(ctx, append([]Key{it.key}, q.records()...)...)
	if err != nil || v[0] == nil { // the agenda was read before somebody delivered it
		return err
	}
	e, err := s.books.eventOf(it.id, q, v[1:])
	if err != nil {
		return err
	}
	failed := s.notify(ctx, e)
	if ctx.Err() != nil {
		return nil // told to stop: the next Run delivers it
	}
	now := s.now()
	err = s.books.update(ctx, now, func(l *ledger) error {
		l.delete(it.key)
		told := Attempt{Notifier: true, Status: DeliveryDelivered, Lag: now.Sub(q.created)}
		if failed != nil {
			told.Status = DeliveryPending
			again := q
			again.failures++
			due := now.Add(retryAfter[min(q.failures, len(retryAfter)-1)])
			l.put(agendaKey(eventDue, due, it.id), again.encode())
		}
		l.attempts = append(l.attempts, told)
		return nil
	})
	if failed != nil {
		s.log.WarnContext(ctx, "an event was not delivered; it is tried again", "event", it.id, "type", string(q.kind), "failures", q.failures+1, "error", failed)
	}
	return err
}

func (s *Service) notify(ctx context.Context, e Event) (err error) {
	ctx, stop := context.WithTimeout(ctx, notifyTimeout)
	defer stop()
	defer recovered(&err)
	return s.opts.Notifier.Notify(ctx, e)
}

// LastInstant returns the latest instant of a service's clock that a store
// knows of, to the minute, or the zero time: a program that supplies
// Options.Now must not begin before it, lest what has happened be in the
// future.
func LastInstant(ctx context.Context, store Store) (last time.Time, err error) {
	return lastInstant(ctx, store)
}
