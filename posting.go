package traintravel

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
)

const (
	// sendTimeout is how long a receiver may take.
	sendTimeout = 15 * time.Second
	// readAhead is how many deliveries to an endpoint are read together, and wait until
	// they are posted, or posted ones until they are recorded.
	readAhead = 64
	// goodFor is how long what was read holds, unless this service changes it before.
	goodFor = time.Second
	// atOnce is how many deliveries are under way to an endpoint of the operator's at
	// most: as long as each takes less than growAfter, one after another. To others there
	// is one, so that nobody has the server press somebody else's machine. Where many are under way to all
	// endpoints it is perhaps this machine that takes its time, and more would take it
	// more: then one has to take crowded times as long.
	atOnce    = 16
	growAfter = 5 * time.Millisecond
	many      = 64
	crowded   = 10
)

// A parcel is a delivery with all that is needed to post it.
type parcel struct {
	delivery delivery
	event    Event
	err      error // why there is no event
	to       *addressee
}

// An addressee is an endpoint as it was at an instant.
type addressee struct {
	subscription
	keys   []Secret
	err    error // why there are no keys
	read   time.Time
	change uint64
}

// stale says whether it may have changed: others' changes are seen soon, those of this
// service at once.
func (s *Service) stale(a *addressee) bool {
	return a.change != s.subscriptions.Load() || time.Since(a.read) > goodFor
}

// parcels reads deliveries to an endpoint, but for those that are no longer to be posted.
// It returns false if the endpoint is gone.
func (s *Service) parcels(ctx context.Context, r Reader, sub uuid.UUID, ids ...uuid.UUID) (due []*parcel, found bool, err error) {
	to := &addressee{read: time.Now(), change: s.subscriptions.Load()}
	keys := []Key{subscriptionKey(sub)}
	for _, id := range ids {
		keys = append(keys, deliveryKey(sub, id))
	}
	v, err := r.Get(ctx, keys...)
	if err != nil || v[0] == nil {
		return nil, false, err
	}
	if to.subscription, err = decodeSubscription(v[0]); err != nil {
		return nil, false, err
	}
	to.keys, to.err = s.secretsOf(&to.subscription)
	keys = keys[:0]
	for _, v := range v[1:] {
		if v == nil { // it was read between two updates
			continue
		}
		d, err := decodeDelivery(v) // if it cannot be read, leaveEndpoint sees to it
		if err == nil && d.Status == DeliveryPending {
			due = append(due, &parcel{delivery: d, to: to})
			keys = append(keys, d.queued.records()...)
		}
	}
	if len(keys) > 0 {
		if v, err = r.Get(ctx, keys...); err != nil {
			return nil, false, err
		}
	}
	at := 0
	for _, p := range due {
		n := len(p.delivery.queued.records())
		p.event, p.err = s.books.eventOf(p.delivery.Event, p.delivery.queued, v[at:at+n])
		at += n
	}
	return due, true, nil
}

// A posting is a worker's turn at an endpoint.
type posting struct {
	s             *Service
	sub           uuid.UUID
	floor         string // of the queue
	first         string // in the queue when it was last read from the floor; empty if nothing was due
	arrived, lost atomic.Int32
	failed        atomic.Bool // what came of some could not be recorded
	slow          atomic.Bool // it is under suspicion
	left          atomic.Bool // it is, as too many are

	underWay atomic.Int32
	patience *time.Timer

	todo    chan *parcel
	done    chan outcome
	gone    chan struct{} // of a poster
	posters int
	most    int // how many posters there may be
	tick    *time.Ticker
	ticks   int          // since when it was last looked
	tried   atomic.Int32 // since then
}

// hopeless says that nothing arrives: an endpoint that hangs would take long.
func (p *posting) hopeless() bool {
	lost := p.lost.Load()
	return p.arrived.Load() == 0 && (lost >= atOnce || lost > 0 && p.slow.Load())
}

// over says that no more is to be posted.
func (p *posting) over(ctx context.Context) bool {
	return ctx.Err() != nil || p.failed.Load() || p.hopeless()
}

// enough says that others have to have their turn.
func (p *posting) enough(n int) bool {
	if p.slow.Load() {
		return n >= readAhead
	}
	return n >= turn
}

// suspect puts the endpoint under suspicion if it still keeps us waiting. Where there is
// no place for it then, what is under way is stopped, to be posted again when there is.
func (p *posting) suspect(ctx context.Context, stop context.CancelFunc) {
	switch {
	case ctx.Err() != nil:
	case p.underWay.Load() == 0: // it is the store that takes its time
		p.patience.Reset(patience)
	case !p.s.suspects.add(p.sub):
		p.left.Store(true)
		stop()
	default:
		p.slow.Store(true)
	}
}

// answered takes note of how long an attempt took, whatever came of it.
func (p *posting) answered(took time.Duration) {
	p.tried.Add(1)
	if took >= patience {
		return
	}
	if p.patience.Reset(patience); p.slow.Swap(false) {
		p.s.suspects.clear(p.sub)
	}
}

// round posts what is due beside the n that were, until there is nothing left or enough
// was posted, and records what came of it while it posts on. It says how much there was,
// and whether the endpoint is there.
func (p *posting) round(ctx context.Context, n int) (posted int, found bool, err error) {
	p.todo, p.done, p.gone = make(chan *parcel, readAhead), make(chan outcome, readAhead), make(chan struct{}, atOnce)
	p.tick = time.NewTicker(growAfter)
	defer p.tick.Stop()
	recorded := make(chan error, 1)
	go func() { recorded <- p.record(ctx) }()
	defer func() {
		close(p.todo)
		for p.posters > 0 {
			select {
			case <-p.gone:
				p.posters--
			case <-p.tick.C:
				if p.grow(ctx); len(p.todo) == 0 {
					p.tick.Stop()
				}
			}
		}
		close(p.done)
		err = errors.Join(err, <-recorded)
	}()
	for from := ""; !p.enough(n+posted) && !p.over(ctx); {
		var due []*parcel
		if due, from, found, err = p.read(ctx, from); err != nil && ctx.Err() != nil {
			return posted, true, nil
		} else if err != nil || !found {
			return posted, found, err
		}
		for _, d := range due {
			if p.most = 1; d.to.operator {
				p.most = atOnce
			}
			p.give(ctx, d)
		}
		if posted += len(due); from == "" {
			break
		}
	}
	return posted, true, nil
}

// read reads what is due from a place in the queue on, and says where it goes on.
func (p *posting) read(ctx context.Context, from string) (due []*parcel, next string, found bool, err error) {
	q := queueOf(p.sub, p.s.now(), readAhead)
	q.From = max(q.From, p.floor, from)
	err = p.s.store.View(ctx, func(r Reader) error {
		queue, err := r.List(ctx, q)
		if err != nil {
			return err
		}
		if from == "" {
			p.first = ""
		}
		ids := make([]uuid.UUID, len(queue))
		for i, rec := range queue {
			if from == "" && i == 0 {
				p.first = rec.ID
			}
			ids[i] = queuedDelivery(rec.ID)
			if i == readAhead-1 {
				next = rec.ID + "\x00"
			}
		}
		due, found, err = p.s.parcels(ctx, r, p.sub, ids...)
		return err
	})
	return due, next, found, err
}

// give has a parcel posted by whoever comes to it, and sees to it that somebody does.
func (p *posting) give(ctx context.Context, d *parcel) {
	if p.posters == 0 {
		p.hire(ctx)
	}
	for {
		select {
		case p.todo <- d:
			return
		case <-p.tick.C:
			p.grow(ctx)
		}
	}
}

// grow has one more posted at a time if there is something to post and those under way
// take their time.
func (p *posting) grow(ctx context.Context) {
	if p.ticks++; p.ticks < crowded && p.s.posters.Load() >= many {
		return
	}
	p.ticks = 0
	if slow := p.tried.Swap(0) < int32(p.posters); slow && len(p.todo) > 0 && p.posters < p.most {
		if p.hire(ctx); p.posters == p.most {
			p.tick.Stop()
		}
	}
}

func (p *posting) hire(ctx context.Context) {
	p.posters++
	p.s.posters.Add(1)
	go func() {
		defer func() {
			p.s.posters.Add(-1)
			p.gone <- struct{}{}
		}()
		for d := range p.todo {
			if p.over(ctx) {
				continue
			}
			o := p.attempt(ctx, d)
			switch {
			case received(d.delivery.Type, o.answer.Status):
				p.arrived.Add(1)
			case o.url != "":
				p.lost.Add(1)
			}
			p.done <- o
		}
	}()
}

// record records what came of attempts, together what comes together, until there are
// no more.
func (p *posting) record(ctx context.Context) (err error) {
	for o := range p.done {
		some := []outcome{o}
		for range len(p.done) {
			some = append(some, <-p.done)
		}
		if e := p.s.record(ctx, some); e != nil {
			p.failed.Store(true)
			err = e
		}
	}
	return err
}

// attempt posts a delivery once.
func (p *posting) attempt(ctx context.Context, d *parcel) (o outcome) {
	defer recovered(&o.err)
	if p.s.stale(d.to) {
		var again []*parcel
		err := p.s.store.View(ctx, func(r Reader) (err error) {
			again, _, err = p.s.parcels(ctx, r, p.sub, d.delivery.ID)
			return err
		})
		if err != nil && ctx.Err() != nil {
			return o
		}
		if err != nil || len(again) == 0 || !again[0].delivery.Next.Equal(d.delivery.Next) {
			return outcome{err: err} // somebody has changed it
		}
		d = again[0]
	}
	to := d.to
	o.delivery = &d.delivery
	switch {
	case to.Disabled && d.delivery.Type != Ping:
		o.dropped = DeadByDisabling
		return o
	case errors.Is(d.err, errBookingGone):
		o.dropped = DeadByRemoval
		return o
	case !to.Unverified.IsZero() && d.delivery.Type != Ping:
		o.kept = true
		return o
	}
	if o.err = cmp.Or(to.err, d.err); o.err != nil {
		return o
	}
	err := errNotHere
	if len(to.keys) > 0 {
		if !to.Unverified.IsZero() {
			end, wait := p.s.pings.begin(pinged{to.Owner, to.host()}, p.s.opts.Webhooks.perHost(), p.s.now())
			if end == nil {
				o.rationed, o.wait = true, wait
				return o
			}
			defer end()
		}
		p.underWay.Add(1)
		begun := time.Now()
		o.answer, err = p.s.post(ctx, WebhookPost{Event: d.event, URL: to.URL, Secrets: to.keys, Operator: to.operator})
		p.underWay.Add(-1)
		p.answered(time.Since(begun))
	}
	if err != nil && ctx.Err() != nil {
		return o
	}
	o.url, o.wait = to.URL, max(jittered(d.delivery.Attempts), min(o.answer.RetryAfter, 24*time.Hour))
	if err != nil || !received(d.delivery.Type, o.answer.Status) {
		p.s.log.InfoContext(ctx, "an event was not delivered", "event", d.event.ID, "type", string(d.event.Type), "webhook", p.sub, "attempt", d.delivery.Attempts+1, "status", o.answer.Status, "error", err)
	}
	return o
}

// errNotHere is a failure like others: another service on the store may do it the next
// time.
var errNotHere = errors.New("the options of this service do not name that operator's endpoint, or that client, any more")

// jittered is how long to wait after a failure, give or take a fifth.
func jittered(failures int) time.Duration {
	wait := retryAfter[min(failures, len(retryAfter)-1)]
	return wait - wait/5 + rand.N(2*wait/5)
}

// post calls the sender with its time limit and survives its panics.
func (s *Service) post(ctx context.Context, p WebhookPost) (a WebhookAnswer, err error) {
	ctx, stop := context.WithTimeout(ctx, sendTimeout)
	defer stop()
	defer recovered(&err)
	return s.opts.Webhooks.Sender.Send(ctx, p)
}

// secretsOf returns what signs for an endpoint now: nothing if this service is not to
// post there.
func (s *Service) secretsOf(sub *subscription) (keys []Secret, err error) {
	w := s.opts.Webhooks
	if sub.operator {
		for _, op := range w.Operator {
			if op.URL == sub.URL {
				keys = op.Secrets
			}
		}
		return keys, nil
	}
	if sub.ByClient && !slices.Contains(w.Clients, sub.Client) {
		return nil, nil
	}
	now := s.now()
	for _, secret := range sub.secrets {
		if !secret.until.IsZero() && !now.Before(secret.until) {
			continue
		}
		key, err := s.unseal(secret.sealed, sub.ID)
		if err != nil && len(keys) == 0 {
			return nil, err
		}
		if err == nil { // or else it was replaced because its key is lost
			keys = append(keys, key)
		}
	}
	return keys, nil
}
