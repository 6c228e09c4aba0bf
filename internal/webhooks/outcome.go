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
	// recordTimeout is how long the store may take to record what came of attempts.
	recordTimeout = 10 * time.Second
	// recordAtOnce is about how many are recorded in one update.
	recordAtOnce = 1024
	// beat is how often what became of deliveries is written while there is much of it.
	beat = 10 * time.Millisecond
)

// A pace has those who are at work wait for each other before they write, so that a store
// writes for all at once what is in no hurry: for the next beat, if there was one just
// before. The zero value is at rest.
type pace struct {
	mu   sync.Mutex
	work int // how many are at work
	last time.Time
}

// begin begins somebody's work, which ends with the function that it returns.
func (p *pace) begin() (end func()) {
	add := func(n int) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.work += n
	}
	add(1)
	return func() { add(-1) }
}

// wait returns at once to who is alone at work.
func (p *pace) wait() {
	p.mu.Lock()
	now := time.Now()
	next := p.last.Add(beat)
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

// A recorder is where what came of attempts is recorded: in one update, of all endpoints,
// what comes while the update before it is under way.
type recorder struct {
	mu   sync.Mutex
	next *recording    // not yet begun
	last chan struct{} // closed when the recording that was begun last is written; nil before the first
}

// A recording is what is recorded in one update.
type recording struct {
	outcomes []ledger.Outcome
	before   chan struct{} // recorder.last when it was begun
	done     chan struct{}
	err      error
}

// record records what came of attempts, even if Run has been told to stop meanwhile.
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

// add puts outcomes on the next recording, and returns when that is written: by who was the
// first to put something on it.
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

// write writes a recording, when the one before it is written and there is more that can wait
// no longer.
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

// recordAll writes what came of attempts to deliver to some endpoints.
func (p *Poster) recordAll(ctx context.Context, made []ledger.Outcome) error {
	keys := make([]store.Key, len(made), 2*len(made))
	first := map[uuid.UUID]int{} // where an endpoint is among the keys
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
		subs := map[uuid.UUID]*records.Subscription{} // the endpoints that are there
		for id, at := range first {
			if v[at] == nil {
				continue
			}
			if sub, err := records.DecodeSubscription(v[at]); err == nil { // others' outcomes are recorded in any case
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

// pingsFirst is the order in which outcomes are recorded: a ping may verify a subscription,
// of which others in the same update have to know.
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
