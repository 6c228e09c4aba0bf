package webhooks

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/ledger"
	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/store"
)

const (
	// turn is the number of deliveries to an endpoint before others have their turn.
	turn = 1024
	// readAhead is the number of deliveries to an endpoint that are read together and then
	// wait to be posted, or that are posted and wait to be recorded.
	readAhead = 64
	// atOnce is the maximum number of deliveries in progress to an endpoint of the operator;
	// as long as each takes less than growAfter, they are posted one after another. Other
	// endpoints get one at a time, so that nobody can make the server overload somebody
	// else's machine. If many deliveries are in progress to all endpoints, this machine may be
	// the slow one, and more would make it slower: then growth needs crowded times as long.
	atOnce    = 16
	growAfter = 5 * time.Millisecond
	many      = 64
	crowded   = 10
)

// An endpointWorker is one turn of a worker at an endpoint.
type endpointWorker struct {
	p             *Poster
	sub           uuid.UUID
	floor         string // of the queue
	first         string // in the queue when it was last read from the floor; empty if nothing was due
	arrived, lost atomic.Int32
	failed        atomic.Bool // some outcomes could not be recorded
	slow          atomic.Bool // it is slow
	left          atomic.Bool // it is, as too many are

	underWay atomic.Int32
	patience *time.Timer

	todo    chan *job
	done    chan ledger.Outcome
	gone    chan struct{} // of a sender
	senders int
	most    int // the maximum number of senders
	tick    *time.Ticker
	ticks   int          // since the last look
	tried   atomic.Int32 // since then
}

// hopeless says that the endpoint does not respond, so that further attempts would take long.
func (t *endpointWorker) hopeless() bool {
	lost := t.lost.Load()
	return t.arrived.Load() == 0 && (lost >= atOnce || lost > 0 && t.slow.Load())
}

// over says that no more deliveries must be posted.
func (t *endpointWorker) over(ctx context.Context) bool {
	return ctx.Err() != nil || t.failed.Load() || t.hopeless()
}

// enough says that the turn is over.
func (t *endpointWorker) enough(n int) bool {
	if t.slow.Load() {
		return n >= readAhead
	}
	return n >= turn
}

// markSlow marks the endpoint as slow if it still keeps the worker waiting. If no slot for slow
// endpoints is free, it stops the deliveries in progress; they are posted again later.
func (t *endpointWorker) markSlow(ctx context.Context, stop context.CancelFunc) {
	switch {
	case ctx.Err() != nil:
	case t.underWay.Load() == 0: // the store is slow, not the endpoint
		t.patience.Reset(patience)
	case !t.p.Slow.add(t.sub):
		t.left.Store(true)
		stop()
	default:
		t.slow.Store(true)
	}
}

// answered notes how long an attempt took, whatever its outcome.
func (t *endpointWorker) answered(took time.Duration) {
	t.tried.Add(1)
	if took >= patience {
		return
	}
	if t.patience.Reset(patience); t.slow.Swap(false) {
		t.p.Slow.clear(t.sub)
	}
}

// round posts due deliveries in addition to the n posted before, until none is left or the turn
// is over, and records outcomes while it continues to post. It returns how many deliveries were
// due, and whether the endpoint exists.
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

// read reads due deliveries from a key of the queue on, and returns the key to continue from.
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

// give passes a job to the next free sender, and starts a sender if none is running.
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

// grow allows one more delivery at a time if deliveries wait and those in progress are slow.
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

// record records the outcomes of attempts, in batches, until there are no more.
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
