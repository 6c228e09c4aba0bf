// Package webhooks keeps subscriptions and posts events to them: it verifies receivers, signs
// what it posts, and tries again what fails. It must not know why an event happened.
package webhooks

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/agenda"
	"github.com/traintravel/traintravel/internal/ledger"
	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
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

// A Poster gives events to those who have subscribed to them, and posts them.
type Poster struct {
	Books    *ledger.Books
	Opts     *WebhookOptions
	pace     pace // of what is written of deliveries
	recorder recorder
	Slow     slowEndpoints
	pings    pingRations
	senders  atomic.Int32  // how many deliveries are posted at a time, to all endpoints
	Changes  atomic.Uint64 // counts changes, by this service, of any subscription or of what is posted
}

// A job is a delivery with all that is needed to post it.
type job struct {
	delivery records.Delivery
	event    rail.Event
	err      error // why there is no event
	to       *target
}

// An target is an endpoint as it was at an instant.
type target struct {
	records.Subscription
	keys   []rail.Secret
	err    error // why there are no keys
	read   time.Time
	change uint64
}

// stale says whether it may have changed: others' changes are seen soon, those of this
// service at once.
func (p *Poster) stale(a *target) bool {
	return a.change != p.Changes.Load() || time.Since(a.read) > goodFor
}

// jobs reads deliveries to an endpoint, but for those that are no longer to be posted.
// It returns false if the endpoint is gone.
func (p *Poster) jobs(ctx context.Context, r store.Reader, sub uuid.UUID, ids ...uuid.UUID) (due []*job, found bool, err error) {
	to := &target{read: time.Now(), change: p.Changes.Load()}
	keys := []store.Key{records.SubscriptionKey(sub)}
	for _, id := range ids {
		keys = append(keys, records.DeliveryKey(sub, id))
	}
	v, err := r.Get(ctx, keys...)
	if err != nil || v[0] == nil {
		return nil, false, err
	}
	if to.Subscription, err = records.DecodeSubscription(v[0]); err != nil {
		return nil, false, err
	}
	to.keys, to.err = p.secretsOf(&to.Subscription)
	keys = keys[:0]
	for _, v := range v[1:] {
		if v == nil { // it was read between two updates
			continue
		}
		d, err := records.DecodeDelivery(v) // if it cannot be read, leaveEndpoint sees to it
		if err == nil && d.Status == rail.DeliveryPending {
			due = append(due, &job{delivery: d, to: to})
			keys = append(keys, d.Queued.Records()...)
		}
	}
	if len(keys) > 0 {
		if v, err = r.Get(ctx, keys...); err != nil {
			return nil, false, err
		}
	}
	at := 0
	for _, d := range due {
		n := len(d.delivery.Queued.Records())
		d.event, d.err = p.Books.EventOf(d.delivery.Event, d.delivery.Queued, v[at:at+n])
		at += n
	}
	return due, true, nil
}

// An endpointWorker is a worker's turn at an endpoint.
type endpointWorker struct {
	p             *Poster
	sub           uuid.UUID
	floor         string // of the queue
	first         string // in the queue when it was last read from the floor; empty if nothing was due
	arrived, lost atomic.Int32
	failed        atomic.Bool // what came of some could not be recorded
	slow          atomic.Bool // it is slow
	left          atomic.Bool // it is, as too many are

	underWay atomic.Int32
	patience *time.Timer

	todo    chan *job
	done    chan ledger.Outcome
	gone    chan struct{} // of a sender
	senders int
	most    int // how many senders there may be
	tick    *time.Ticker
	ticks   int          // since when it was last looked
	tried   atomic.Int32 // since then
}

// hopeless says that nothing arrives: an endpoint that hangs would take long.
func (t *endpointWorker) hopeless() bool {
	lost := t.lost.Load()
	return t.arrived.Load() == 0 && (lost >= atOnce || lost > 0 && t.slow.Load())
}

// over says that no more is to be posted.
func (t *endpointWorker) over(ctx context.Context) bool {
	return ctx.Err() != nil || t.failed.Load() || t.hopeless()
}

// enough says that others have to have their turn.
func (t *endpointWorker) enough(n int) bool {
	if t.slow.Load() {
		return n >= readAhead
	}
	return n >= turn
}

// markSlow puts the endpoint slow if it still keeps us waiting. Where there is
// no place for it then, what is under way is stopped, to be posted again when there is.
func (t *endpointWorker) markSlow(ctx context.Context, stop context.CancelFunc) {
	switch {
	case ctx.Err() != nil:
	case t.underWay.Load() == 0: // it is the store that takes its time
		t.patience.Reset(patience)
	case !t.p.Slow.add(t.sub):
		t.left.Store(true)
		stop()
	default:
		t.slow.Store(true)
	}
}

// answered takes note of how long an attempt took, whatever came of it.
func (t *endpointWorker) answered(took time.Duration) {
	t.tried.Add(1)
	if took >= patience {
		return
	}
	if t.patience.Reset(patience); t.slow.Swap(false) {
		t.p.Slow.clear(t.sub)
	}
}

// round posts what is due beside the n that were, until there is nothing left or enough
// was posted, and records what came of it while it posts on. It says how much there was,
// and whether the endpoint is there.
func (t *endpointWorker) round(ctx context.Context, n int) (posted int, found bool, err error) {
	t.todo, t.done, t.gone = make(chan *job, readAhead), make(chan ledger.Outcome, readAhead), make(chan struct{}, atOnce)
	t.tick = time.NewTicker(growAfter)
	defer t.tick.Stop()
	recorded := make(chan error, 1)
	go func() { recorded <- t.record(ctx) }()
	defer func() {
		close(t.todo)
		for t.senders > 0 {
			select {
			case <-t.gone:
				t.senders--
			case <-t.tick.C:
				if t.grow(ctx); len(t.todo) == 0 {
					t.tick.Stop()
				}
			}
		}
		close(t.done)
		err = errors.Join(err, <-recorded)
	}()
	for from := ""; !t.enough(n+posted) && !t.over(ctx); {
		var due []*job
		if due, from, found, err = t.read(ctx, from); err != nil && ctx.Err() != nil {
			return posted, true, nil
		} else if err != nil || !found {
			return posted, found, err
		}
		for _, d := range due {
			if t.most = 1; d.to.Operator {
				t.most = atOnce
			}
			t.give(ctx, d)
		}
		if posted += len(due); from == "" {
			break
		}
	}
	return posted, true, nil
}

// read reads what is due from a place in the queue on, and says where it goes on.
func (t *endpointWorker) read(ctx context.Context, from string) (due []*job, next string, found bool, err error) {
	q := records.QueueOf(t.sub, t.p.Books.Now(), readAhead)
	q.From = max(q.From, t.floor, from)
	err = t.p.Books.Store.View(ctx, func(r store.Reader) error {
		queue, err := r.List(ctx, q)
		if err != nil {
			return err
		}
		if from == "" {
			t.first = ""
		}
		ids := make([]uuid.UUID, len(queue))
		for i, rec := range queue {
			if from == "" && i == 0 {
				t.first = rec.ID
			}
			ids[i] = records.QueuedDelivery(rec.ID)
			if i == readAhead-1 {
				next = rec.ID + "\x00"
			}
		}
		due, found, err = t.p.jobs(ctx, r, t.sub, ids...)
		return err
	})
	return due, next, found, err
}

// give has a job posted by whoever comes to it, and sees to it that somebody does.
func (t *endpointWorker) give(ctx context.Context, d *job) {
	if t.senders == 0 {
		t.addSender(ctx)
	}
	for {
		select {
		case t.todo <- d:
			return
		case <-t.tick.C:
			t.grow(ctx)
		}
	}
}

// grow has one more posted at a time if there is something to post and those under way
// take their time.
func (t *endpointWorker) grow(ctx context.Context) {
	if t.ticks++; t.ticks < crowded && t.p.senders.Load() >= many {
		return
	}
	t.ticks = 0
	if slow := t.tried.Swap(0) < int32(t.senders); slow && len(t.todo) > 0 && t.senders < t.most {
		if t.addSender(ctx); t.senders == t.most {
			t.tick.Stop()
		}
	}
}

func (t *endpointWorker) addSender(ctx context.Context) {
	t.senders++
	t.p.senders.Add(1)
	go func() {
		defer func() {
			t.p.senders.Add(-1)
			t.gone <- struct{}{}
		}()
		for d := range t.todo {
			if t.over(ctx) {
				continue
			}
			o := t.attempt(ctx, d)
			switch {
			case ledger.Received(d.delivery.Type, o.Answer.Status):
				t.arrived.Add(1)
			case o.URL != "":
				t.lost.Add(1)
			}
			t.done <- o
		}
	}()
}

// record records what came of attempts, together what comes together, until there are
// no more.
func (t *endpointWorker) record(ctx context.Context) (err error) {
	for o := range t.done {
		some := []ledger.Outcome{o}
		for range len(t.done) {
			some = append(some, <-t.done)
		}
		if e := t.p.record(ctx, some); e != nil {
			t.failed.Store(true)
			err = e
		}
	}
	return err
}

// attempt posts a delivery once.
func (t *endpointWorker) attempt(ctx context.Context, d *job) (o ledger.Outcome) {
	defer agenda.Recovered(&o.Err)
	if t.p.stale(d.to) {
		var again []*job
		err := t.p.Books.Store.View(ctx, func(r store.Reader) (err error) {
			again, _, err = t.p.jobs(ctx, r, t.sub, d.delivery.ID)
			return err
		})
		if err != nil && ctx.Err() != nil {
			return o
		}
		if err != nil || len(again) == 0 || !again[0].delivery.Next.Equal(d.delivery.Next) {
			return ledger.Outcome{Err: err} // somebody has changed it
		}
		d = again[0]
	}
	to := d.to
	o.Delivery = &d.delivery
	switch {
	case to.Disabled && d.delivery.Type != rail.Ping:
		o.Dropped = rail.DeadByDisabling
		return o
	case errors.Is(d.err, ledger.ErrBookingGone):
		o.Dropped = rail.DeadByRemoval
		return o
	case !to.Unverified.IsZero() && d.delivery.Type != rail.Ping:
		o.Kept = true
		return o
	}
	if o.Err = cmp.Or(to.err, d.err); o.Err != nil {
		return o
	}
	err := errNotHere
	if len(to.keys) > 0 {
		if !to.Unverified.IsZero() {
			end, wait := t.p.pings.begin(pinged{to.Owner, to.Host()}, t.p.Opts.perHost(), t.p.Books.Now())
			if end == nil {
				o.Rationed, o.Wait = true, wait
				return o
			}
			defer end()
		}
		t.underWay.Add(1)
		begun := time.Now()
		o.Answer, err = t.p.post(ctx, rail.WebhookPost{Event: d.event, URL: to.URL, Secrets: to.keys, Operator: to.Operator})
		t.underWay.Add(-1)
		t.answered(time.Since(begun))
	}
	if err != nil && ctx.Err() != nil {
		return o
	}
	o.URL, o.Wait = to.URL, max(jittered(d.delivery.Attempts), min(o.Answer.RetryAfter, 24*time.Hour))
	if err != nil || !ledger.Received(d.delivery.Type, o.Answer.Status) {
		t.p.Books.Log.InfoContext(ctx, "an event was not delivered", "event", d.event.ID, "type", string(d.event.Type), "webhook", t.sub, "attempt", d.delivery.Attempts+1, "status", o.Answer.Status, "error", err)
	}
	return o
}

// errNotHere is a failure like others: another service on the store may do it the next
// time.
var errNotHere = errors.New("the options of this service do not name that operator's endpoint, or that client, any more")

// jittered is how long to wait after a failure, give or take a fifth.
func jittered(failures int) time.Duration {
	wait := ledger.RetryAfter(failures)
	return wait - wait/5 + rand.N(2*wait/5)
}

// post calls the sender with its time limit and survives its panics.
func (p *Poster) post(ctx context.Context, post rail.WebhookPost) (a rail.WebhookAnswer, err error) {
	ctx, stop := context.WithTimeout(ctx, sendTimeout)
	defer stop()
	defer agenda.Recovered(&err)
	return p.Opts.Sender.Send(ctx, post)
}

// secretsOf returns what signs for an endpoint now: nothing if this service is not to
// post there.
func (p *Poster) secretsOf(sub *records.Subscription) (keys []rail.Secret, err error) {
	w := p.Opts
	if sub.Operator {
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
	now := p.Books.Now()
	for _, secret := range sub.Secrets {
		if !secret.Until.IsZero() && !now.Before(secret.Until) {
			continue
		}
		key, err := p.Opts.unseal(secret.Sealed, sub.ID)
		if err != nil && len(keys) == 0 {
			return nil, err
		}
		if err == nil { // or else it was replaced because its key is lost
			keys = append(keys, key)
		}
	}
	return keys, nil
}
