package webhooks

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/agenda"
	"github.com/traintravel/traintravel/internal/ledger"
	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
)

const (
	// recordTimeout is how long the store may take to record the outcomes of attempts.
	recordTimeout = 10 * time.Second
	// recordAtOnce is roughly the number of outcomes that are recorded in one update.
	recordAtOnce = 1024
	// batchEvery is how often outcomes are written while many arrive.
	batchEvery = 10 * time.Millisecond
)

// A pace makes workers wait for each other before they write, so that the store writes their
// results in one batch: a worker waits for the next batch if one was written shortly before.
// The zero value is ready to use.
type pace struct {
	mu   sync.Mutex
	work int // the number of active workers
	last time.Time
}

// begin registers an active worker, until the function that it returns is called.
func (p *pace) begin() (end func()) {
	add := func(n int) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.work += n
	}
	add(1)
	return func() { add(-1) }
}

// wait returns immediately if only one worker is active.
func (p *pace) wait() {
	p.mu.Lock()
	now := time.Now()
	next := p.last.Add(batchEvery)
	rested := p.work < 2 || !next.After(now)
	if rested {
		p.last = now
	}
	p.mu.Unlock()
	if rested {
		return
	}
	time.Sleep(next.Sub(now))
	p.mu.Lock()
	if p.last.Before(next) {
		p.last = next
	}
	p.mu.Unlock()
}

// A recorder records the outcomes of attempts: those of all endpoints that arrive while an
// update is in progress are recorded in the next one.
type recorder struct {
	mu   sync.Mutex
	next *recording    // not yet begun
	last chan struct{} // closed when the recording that was begun last is written; nil before the first
}

// A recording has the outcomes that are recorded in one update.
type recording struct {
	outcomes []ledger.Outcome
	before   chan struct{} // recorder.last when it was begun
	done     chan struct{}
	err      error
}

// record records the outcomes of attempts, even if Run was told to stop meanwhile.
func (p *Poster) record(ctx context.Context, outcomes []ledger.Outcome) error {
	var made []ledger.Outcome
	var errs []error
	for _, o := range outcomes {
		if errs = append(errs, o.Err); o.Dropped != "" || o.Kept || o.Rationed || o.URL != "" {
			made = append(made, o)
		}
	}
	if len(made) > 0 {
		errs = append(errs, p.recorder.add(made, p.pace.wait, func(all []ledger.Outcome) error {
			ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
			defer stop()
			return p.recordAll(ctx, all)
		}))
	}
	return errors.Join(errs...)
}

// add adds outcomes to the next recording, and returns when that is written. The first call
// that adds to a recording writes it.
func (b *recorder) add(outcomes []ledger.Outcome, wait func(), write func([]ledger.Outcome) error) error {
	b.mu.Lock()
	first := b.next == nil || len(b.next.outcomes) >= recordAtOnce
	if first {
		b.next = &recording{before: b.last, done: make(chan struct{})}
		b.last = b.next.done
	}
	own := b.next
	own.outcomes = append(own.outcomes, outcomes...)
	b.mu.Unlock()
	if first {
		b.write(own, wait, write)
	}
	<-own.done
	return own.err
}

// write writes a recording, once the one before it is written and its outcomes must not wait
// any longer.
func (b *recorder) write(own *recording, wait func(), write func([]ledger.Outcome) error) {
	if own.before != nil {
		<-own.before
	}
	wait()
	defer close(own.done)
	defer agenda.Recovered(&own.err)
	b.mu.Lock()
	if b.next == own {
		b.next = nil
	}
	b.mu.Unlock()
	own.err = write(own.outcomes)
}

// recordAll writes the outcomes of attempts to deliver to some endpoints.
func (p *Poster) recordAll(ctx context.Context, made []ledger.Outcome) error {
	keys := make([]store.Key, len(made), 2*len(made))
	first := map[uuid.UUID]int{} // the index of an endpoint's key
	for i := range made {
		d := made[i].Delivery
		keys[i] = records.DeliveryKey(d.Subscription, d.ID)
		if _, ok := first[d.Subscription]; !ok {
			first[d.Subscription] = len(keys)
			keys = append(keys, records.SubscriptionKey(d.Subscription))
		}
	}
	return p.Books.Update(ctx, p.Books.Now(), func(l *ledger.Ledger) error {
		v, err := l.Tx.Get(l.Ctx, keys...)
		if err != nil {
			return err
		}
		subs := map[uuid.UUID]*records.Subscription{} // the endpoints that exist
		for id, at := range first {
			if v[at] == nil {
				continue
			}
			if sub, err := records.DecodeSubscription(v[at]); err == nil { // the outcomes of the others are recorded in any case
				subs[id] = &sub
			}
		}
		for _, i := range pingsFirst(made) {
			o := made[i]
			sub := subs[o.Delivery.Subscription]
			if sub == nil || v[i] == nil {
				continue
			}
			is, err := records.DecodeDelivery(v[i])
			if err != nil || is.Status != rail.DeliveryPending && !(is.Dead == rail.DeadByBacklog && o.Answer.Status == 200) {
				continue
			}
			if err := l.Attempted(sub, &is, o); err != nil {
				return err
			}
		}
		return nil
	})
}

// pingsFirst is the order in which outcomes are recorded: a ping may verify a subscription, and
// other outcomes in the same update depend on that.
func pingsFirst(made []ledger.Outcome) []int {
	order := make([]int, 0, len(made))
	for _, ping := range [...]bool{true, false} {
		for i := range made {
			if (made[i].Delivery.Type == rail.Ping) == ping {
				order = append(order, i)
			}
		}
	}
	return order
}
