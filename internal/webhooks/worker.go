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
	// turn is how many deliveries an endpoint gets before others have their turn.
	turn = 1024
	// readAhead is how many deliveries to an endpoint are read together, and wait until
	// they are posted, or posted ones until they are recorded.
	readAhead = 64
	// atOnce is how many deliveries are under way to an endpoint of the operator's at
	// most: as long as each takes less than growAfter, one after another. To others there
	// is one, so that nobody has the server press somebody else's machine. Where many are
	// under way to all endpoints it is perhaps this machine that takes its time, and more
	// would take it more: then one has to take crowded times as long.
	atOnce    = 16
	growAfter = 5 * time.Millisecond
	many      = 64
	crowded   = 10
)

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
