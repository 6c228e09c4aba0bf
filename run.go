package traintravel

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

const (
	// lookAgain is how often Run looks at the agenda when nothing wakes it:
	// other services write to it too, and the service's clock may jump.
	lookAgain = time.Second
	// workers is how many items of a kind are worked on at a time. Those that
	// wait for the store share its commits.
	workers = 64
	// pages is how many batches of the agenda are looked through at once for
	// an item that is in nobody else's hands.
	pages = 16
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
	desks := s.desks()
	claims, isLocal := s.claims()
	s.books.floors.keep(!isLocal)
	for _, d := range desks {
		d.wake, d.claims, d.shared = make(chan struct{}, 1), claims, !isLocal
		if isLocal {
			d.share.renew(ctx, allParts, time.Now().Add(longest))
		}
	}
	var working, keeping sync.WaitGroup
	present, leave := context.WithCancel(context.WithoutCancel(ctx))
	defer leave()
	if !isLocal {
		r := s.newRoster(desks)
		keeping.Go(func() { r.run(ctx, present) })
	}
	if s.clocked {
		keeping.Go(func() { s.keepClock(ctx) })
	}
	for _, k := range s.passes() {
		working.Go(func() { s.keepForgetting(ctx, k) })
	}
	for _, d := range desks {
		working.Go(func() { d.run(ctx) })
	}
	s.pokeAll(ctx, desks)
	working.Wait()
	leave() // not before: others would take over what is in hand
	keeping.Wait()
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
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var errs []error
	for _, k := range s.passes() {
		errs = append(errs, s.schedulePass(ctx, k))
	}
	if s.clocked {
		errs = append(errs, s.noteClock(ctx))
	}
	claims, _ := s.claims()
	for _, d := range s.desks() {
		d.claims = claims
		d.share.renew(ctx, allParts, time.Now().Add(longest))
		errs = append(errs, d.runDue(ctx)...)
	}
	return errors.Join(append(errs, ctx.Err())...)
}

// claims are those of the process if it has the store to itself.
func (s *Service) claims() (c *Claims, isLocal bool) {
	if local, ok := s.store.Store.(LocalStore); ok {
		return local.Claims(), true
	}
	return &Claims{}, false
}

// pokeAll pokes the desks that there is something new for, until ctx ends.
func (s *Service) pokeAll(ctx context.Context, desks []*desk) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.wake:
			due := kinds(s.due.Swap(0))
			for _, d := range desks {
				if due.has(d.kind) {
					d.poke()
				}
			}
		}
	}
}

// A desk works on one kind of the agenda, so that kinds do not wait for each other.
type desk struct {
	service  *Service
	kind     kind
	name     string
	work     func(context.Context, ...item) error
	together int       // how many items are worked on as one; zero is one
	workers  int       // zero is workers
	suspects *suspects // nil where nobody is under suspicion
	retries  retries
	lines    lines
	wake     chan struct{}
	claims   *Claims
	share    share
	from     string // where on the agenda to look next; empty before a pass
	again    bool   // a poke came during the pass: what is new may be before that place
	shared   bool   // by other servers, through the store
	floor    floor
	wg       sync.WaitGroup
}

// desks are those that the service can work at.
func (s *Service) desks() []*desk {
	desks := []*desk{{service: s, kind: holdEnds, name: "endHold", work: one(s.endHold)}}
	if s.opts.Gateway != nil {
		desks = append(desks, &desk{service: s, kind: paymentDue, name: "followPayment", work: one(s.flow.followPayment)})
	}
	desks = append(desks, &desk{service: s, kind: keyForgotten, name: "forgetKey", work: one(s.forgetKey)}, &desk{service: s, kind: countDue, name: "forgetCount", work: one(s.books.forgetCount)})
	if s.opts.KeepUnpaid > 0 {
		desks = append(desks, &desk{service: s, kind: unpaidPass, name: "removeUnpaid", work: one(s.books.removeUnpaid)})
	}
	if s.opts.Retain > 0 {
		desks = append(desks, &desk{service: s, kind: travellersDue, name: "forgetTravellers", work: one(s.desk.forgetTravellers)})
	}
	if s.opts.Notifier != nil {
		desks = append(desks, &desk{service: s, kind: eventDue, name: "deliver", work: one(s.deliver)})
	}
	if s.opts.Webhooks != nil {
		desks = append(desks,
			&desk{service: s, kind: fanOutDue, name: "fanOut", work: s.fanOut, together: batch, workers: fanOuts},
			&desk{service: s, kind: owedDue, name: "fanOutOwed", work: one(s.fanOutOwed)},
			&desk{service: s, kind: endpointDue, name: "serveEndpoint", work: one(s.serveEndpoint), workers: endpoints, suspects: &s.suspects},
			&desk{service: s, kind: sweepDue, name: "sweep", work: one(s.sweep)})
	}
	for _, d := range desks {
		d.retries.tell = d.failing
	}
	return desks
}

// one makes of what is done with an item what a desk does that has them one by one.
func one(work func(context.Context, item) error) func(context.Context, ...item) error {
	return func(ctx context.Context, items ...item) error { return work(ctx, items[0]) }
}

// poke makes the desk look at the agenda.
func (d *desk) poke() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// run looks at the agenda until ctx ends, then waits for what is under way.
func (d *desk) run(ctx context.Context) {
	d.failing(0)
	defer d.retries.forget()
	defer d.wg.Wait()
	slots := make(chan struct{}, cmp.Or(d.workers, workers))
	var looking sync.WaitGroup
	defer looking.Wait()
	if d.shared {
		looking.Go(func() { d.keepLooking(ctx, slots) })
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.wake:
			d.again = d.again || d.from != ""
		case <-timer.C:
		}
		wait, err := d.round(ctx, slots)
		if err != nil && ctx.Err() == nil {
			d.unread(err)
		}
		if d.again && d.from == "" && err == nil {
			d.again, wait = false, 0
		}
		timer.Reset(wait)
	}
}

// unread logs that the agenda could not be read.
func (d *desk) unread(err error) {
	if ok, unsaid := d.lines.take(time.Now()); ok {
		d.service.log.Error("the agenda could not be read", "kind", string(d.kind), "not_logged", unsaid, "error", err)
	}
}

// limit is how many records are looked at together: the first may be in our own hands.
func (d *desk) limit() int { return batch + cmp.Or(d.workers, workers)*cmp.Or(d.together, 1) }

// round starts work on what is due and in nobody's hands, the earliest first, and says
// how long to wait for more. It goes on where the round before ended, until it has come
// to the end of what is due: so whatever is at the head, all behind it have their turn.
func (d *desk) round(ctx context.Context, slots chan struct{}) (time.Duration, error) {
	limit, now := d.limit(), d.service.now()
	for range pages + d.retries.len()/limit { // those that wait for their retry are no reason to stop
		if d.from == "" {
			d.from = d.begin(now)
		}
		due, rest, next, err := d.service.agenda(ctx, d.kind, d.from, now, limit)
		if err != nil {
			d.from = ""
			return lookAgain, err
		}
		started := d.start(ctx, due, slots)
		if d.from = rest; rest == "" {
			d.end()
			if next.IsZero() {
				return lookAgain, nil
			}
			return min(lookAgain, next.Sub(now)), nil
		}
		if started {
			return 0, nil
		}
	}
	return lookAgain, nil
}

// start starts work on those items that nobody has in hand.
func (d *desk) start(ctx context.Context, due []item, slots chan struct{}) (started bool) {
	for len(due) > 0 {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return started
		}
		var work context.Context
		var items []item
		items, due, work = d.takeSome(due)
		if len(items) == 0 {
			<-slots
			continue
		}
		started = true
		d.wg.Go(func() {
			defer func() {
				for _, it := range items {
					d.give(it)
				}
				<-slots
			}()
			d.attempt(work, items)
		})
	}
	return started
}

// runDue works on what is due, until it finds nothing that it has not worked on yet.
func (d *desk) runDue(ctx context.Context) (errs []error) {
	var met map[Key]bool // in the pass before
	for more := true; more && ctx.Err() == nil; {
		more = false
		before := met
		met = map[Key]bool{}
		for from, rest := "", ""; ; from = rest {
			var due []item
			var err error
			due, rest, _, err = d.service.agenda(ctx, d.kind, from, d.service.now(), batch)
			if err != nil {
				return append(errs, err)
			}
			for _, it := range due {
				met[it.key] = true
			}
			due = slices.DeleteFunc(due, func(it item) bool { return before[it.key] })
			more = more || len(due) > 0
			errs = append(errs, d.workOn(due)...)
			if rest == "" || ctx.Err() != nil {
				break
			}
		}
	}
	return errs
}

// workOn works on items that nobody has in hand, one after another.
func (d *desk) workOn(due []item) (errs []error) {
	for len(due) > 0 {
		var items []item
		var work context.Context
		if items, due, work = d.takeSome(due); len(items) == 0 {
			continue
		}
		failed := d.failures(work, items)
		for _, it := range items {
			errs = append(errs, failed[it.key])
			d.give(it)
		}
	}
	return errs
}

func (d *desk) safely(ctx context.Context, items ...item) (err error) {
	ctx, end := d.service.begin(ctx, "Run."+d.name)
	defer end(&err)
	defer recovered(&err)
	return d.work(ctx, items...)
}

// takeSome takes the first items in hand that it may, as many as are worked on as one,
// and returns those that are left.
func (d *desk) takeSome(due []item) (items, left []item, work context.Context) {
	for i, it := range due {
		ctx, ok := d.take(it)
		if !ok {
			continue
		}
		if len(items) > 0 && ctx != work { // those before were stopped meanwhile
			d.give(it)
			return items, due[i:], work
		}
		if items, work = append(items, it), ctx; len(items) == max(1, d.together) {
			return items, due[i+1:], work
		}
	}
	return items, nil, work
}

// take takes an item in hand, unless somebody has it, it is for others, it has just
// failed or there is no place for a suspect.
func (d *desk) take(it item) (context.Context, bool) {
	part := partOf(it.id)
	work, ok := d.share.begin(part)
	if !ok {
		return nil, false
	}
	if d.retries.may(it.claim(), time.Now()) {
		if d.claims.take(it.claim()) {
			if d.suspects == nil || d.suspects.begin(it.id) {
				return work, true
			}
			d.claims.give(it.claim())
		}
		if it.claim() != it.key { // whoever has it pokes when it is to be met again
			d.floor.hold(it.key.ID)
		}
	}
	d.share.end(part)
	return nil, false
}

func (d *desk) give(it item) {
	more := d.suspects != nil && d.suspects.end(it.id)
	asked := d.claims.give(it.claim())
	d.share.end(partOf(it.id))
	if more || asked && it.claim() != it.key { // what came meanwhile has not been done with it
		d.poke()
	}
}

// endHold expires a booking whose hold is over.
func (s *Service) endHold(ctx context.Context, it item) error {
	err := s.books.update(ctx, s.now(), func(l *ledger) error {
		b, err := l.booking(it.id)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
		if err != nil || holdKey(b) != it.key { // it has moved on
			l.delete(it.key)
			return nil
		}
		if !b.lapsed(l.now) {
			return nil
		}
		return l.expire(b.ID)
	})
	return err
}

// forgetKey removes an idempotency record whose time is over.
func (s *Service) forgetKey(ctx context.Context, it item) error {
	key := Key{TableIdempotency, string(it.value)}
	err := s.books.update(ctx, s.now(), func(l *ledger) error {
		v, err := l.tx.Get(ctx, key)
		if err != nil {
			return err
		}
		if v[0] != nil {
			r, err := decodeRemembered(v[0])
			if err != nil {
				return err
			}
			if r.expired(l.now) { // else the key was used anew
				l.delete(key)
			}
		}
		l.delete(it.key)
		return nil
	})
	return err
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
