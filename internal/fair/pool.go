// Package fair shares a server among its callers, so that none of them can take it from
// the others. A [Pool] bounds the work that is done at a time and lets callers take turns
// at it; a [Budget] bounds what each of them, and all together, have in use.
package fair

import (
	"container/heap"
	"context"
	"errors"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// A Caller is who asks for work: a hash of an address, or of a user. It tells nobody who
// that is, as long as the hash has a secret seed.
type Caller uint64

// Customer is what an address counts as: of IPv6, the network of 64 bits that one
// customer has.
func Customer(addr netip.Addr) netip.Addr {
	if addr.Is6() {
		if p, err := addr.WithZone("").Prefix(64); err == nil {
			return p.Addr()
		}
	}
	return addr
}

// The reasons for refusing work. A caller whose context ends gets the context's error.
var (
	// ErrBusy means that too many callers wait, or that the caller has waited for too long.
	ErrBusy = errors.New("too much work is waiting")
	// ErrShare means that the caller has as much work in progress as one caller may have.
	ErrShare = errors.New("the caller has too much work in progress")
)

// Limits are the bounds of a pool. All are positive, but for Queue, which may be zero.
type Limits struct {
	Slots    int           // pieces of work that are done at a time
	Each     int           // those of one caller among them
	Queue    int           // pieces that wait
	InHand   int           // pieces of one caller that are done or wait
	Patience time.Duration // how long a piece waits
}

// A Pool bounds the work that is done at a time. When there is more, it waits, and
// callers take turns: by what the work costs, a caller with a thousand pieces is served
// no more often than a caller with one (start-time fair queueing; Goyal, Vin and Cheng,
// SIGCOMM 1996). If too many pieces wait, the newest of the caller with the most is
// refused. A Pool is safe for concurrent use.
type Pool struct {
	limits Limits

	mu      sync.Mutex
	busy    int              // slots that are taken
	waiting int              // pieces that wait
	clock   int64            // the tag of the piece that began last: a newcomer begins with it
	order   uint64           // of arrivals
	flows   map[Caller]*flow // of callers with work in hand
	ready   flowHeap         // those whose next piece may begin when there is a slot
	spare   []*flow          // to be used again
	refused uint64
	over    uint64
	last    Refusal
}

// A flow is the work of one caller.
type flow struct {
	caller  Caller
	busy    int      // slots that it has
	queue   []*piece // that wait, the oldest first
	tag     int64    // the cost that others are served before its next piece begins
	arrived uint64   // when it began to wait, among flows with one tag
	at      int      // in Pool.ready; -1 is not there
}

// A piece is work that waits.
type piece struct {
	cost  int64
	ended chan error // has nil when it may begin, or why it may not
}

// Counts are how much work a pool has, and has refused since it was made.
type Counts struct {
	Busy, Waiting int    // now
	Refused       uint64 // with ErrBusy
	OverShare     uint64 // with ErrShare
}

// A Refusal is the last time that a pool refused work with ErrBusy.
type Refusal struct {
	At     time.Time // zero if there was none
	Most   Caller    // who had most work in hand then
	InHand int       // how much that was
	Of     int       // how much all had
}

// NewPool returns a pool.
func NewPool(l Limits) *Pool { return &Pool{limits: l, flows: map[Caller]*flow{}} }

// Enter waits for the caller's turn and takes a slot, which Leave gives back. Cost is
// what the work costs compared with other work of the pool; it is positive. The errors
// are ErrBusy, ErrShare and that of the context: then there is no slot to give back.
func (p *Pool) Enter(ctx context.Context, caller Caller, cost int64) error {
	w, err := p.begin(caller, cost)
	if w == nil {
		return err
	}
	patience := time.NewTimer(p.limits.Patience)
	defer patience.Stop()
	select {
	case err := <-w.ended:
		return err
	case <-ctx.Done():
		err = ctx.Err()
	case <-patience.C:
		err = ErrBusy
	}
	if p.giveUp(caller, w, err) {
		return err
	}
	return <-w.ended // its turn came meanwhile
}

// begin takes a slot, or says why not, or returns what waits for one.
func (p *Pool) begin(caller Caller, cost int64) (*piece, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := p.flow(caller)
	defer p.tidy(f)
	switch {
	case f.busy+len(f.queue) >= p.limits.InHand:
		p.over++
		return nil, ErrShare
	case p.busy < p.limits.Slots && f.busy < p.limits.Each && len(f.queue) == 0:
		p.start(f, cost)
		return nil, nil
	case p.waiting >= p.limits.Queue && !p.makeRoom(f):
		p.refuse()
		return nil, ErrBusy
	}
	w := &piece{cost: cost, ended: make(chan error, 1)}
	p.order++
	if f.queue = append(f.queue, w); len(f.queue) == 1 {
		f.arrived = p.order
		f.tag = max(f.tag, p.clock)
	}
	p.waiting++
	p.place(f)
	return w, nil
}

// Leave gives back a slot that the caller has, to whoever's turn it is.
func (p *Pool) Leave(caller Caller) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := p.flows[caller]
	f.busy--
	p.busy--
	p.place(f) // it may have been at its limit
	for p.busy < p.limits.Slots && len(p.ready) > 0 {
		next := p.ready[0]
		w := next.queue[0]
		next.queue = slices.Delete(next.queue, 0, 1)
		p.waiting--
		p.start(next, w.cost)
		p.place(next)
		w.ended <- nil
	}
	p.tidy(f)
}

// start takes a slot for a flow.
func (p *Pool) start(f *flow, cost int64) {
	p.clock = max(p.clock, f.tag)
	f.tag = p.clock + cost
	f.busy++
	p.busy++
}

// place puts a flow among those whose turn may come, or at its new place there, or takes
// it out.
func (p *Pool) place(f *flow) {
	may := len(f.queue) > 0 && f.busy < p.limits.Each
	switch {
	case may && f.at < 0:
		heap.Push(&p.ready, f)
	case may:
		heap.Fix(&p.ready, f.at)
	case f.at >= 0:
		heap.Remove(&p.ready, f.at)
	}
}

// giveUp takes a piece out that waits, and says whether it still did.
func (p *Pool) giveUp(caller Caller, w *piece, why error) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := p.flows[caller]
	if f == nil {
		return false
	}
	at := slices.Index(f.queue, w)
	if at < 0 {
		return false
	}
	if why == ErrBusy {
		p.refuse()
	}
	p.drop(f, at)
	p.tidy(f)
	return true
}

// drop takes a piece of a flow out of those that wait.
func (p *Pool) drop(f *flow, at int) {
	f.queue = slices.Delete(f.queue, at, at+1)
	p.waiting--
	p.place(f)
}

// makeRoom refuses the newest piece of the flow with the most that wait, unless the one
// that wants room would then have as many.
func (p *Pool) makeRoom(newcomer *flow) bool {
	longest := newcomer
	for _, f := range p.flows {
		if len(f.queue) > len(longest.queue) {
			longest = f
		}
	}
	last := len(longest.queue) - 1
	if last <= len(newcomer.queue) {
		return false
	}
	p.refuse()
	longest.queue[last].ended <- ErrBusy
	p.drop(longest, last)
	p.tidy(longest)
	return true
}

// refuse notes a refusal, and who has most work in hand.
func (p *Pool) refuse() {
	p.refused++
	p.last = Refusal{At: time.Now(), Of: p.busy + p.waiting}
	for _, f := range p.flows {
		if n := f.busy + len(f.queue); n > p.last.InHand {
			p.last.Most, p.last.InHand = f.caller, n
		}
	}
}

// flow is that of a caller, which may have nothing in hand yet.
func (p *Pool) flow(caller Caller) *flow {
	f := p.flows[caller]
	if f != nil {
		return f
	}
	if n := len(p.spare); n > 0 {
		f, p.spare = p.spare[n-1], p.spare[:n-1]
	} else {
		f = &flow{at: -1}
	}
	f.caller, f.tag = caller, p.clock
	p.flows[caller] = f
	return f
}

// mostSpare is how many flows are kept to be used again.
const mostSpare = 64

// tidy forgets a flow that has nothing in hand.
func (p *Pool) tidy(f *flow) {
	if f.busy > 0 || len(f.queue) > 0 || p.flows[f.caller] != f {
		return
	}
	delete(p.flows, f.caller)
	if len(p.spare) < mostSpare && cap(f.queue) <= mostSpare {
		p.spare = append(p.spare, f)
	}
}

// Slots is how many pieces of work may be done at a time.
func (p *Pool) Slots() int { return p.limits.Slots }

// Counts says how much work there is.
func (p *Pool) Counts() Counts {
	p.mu.Lock()
	defer p.mu.Unlock()
	return Counts{Busy: p.busy, Waiting: p.waiting, Refused: p.refused, OverShare: p.over}
}

// Last is the last refusal with ErrBusy.
func (p *Pool) Last() Refusal {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last
}

// A flowHeap has the flow at its top whose turn is next.
type flowHeap []*flow

func (h flowHeap) Len() int { return len(h) }

func (h flowHeap) Less(i, j int) bool {
	if h[i].tag != h[j].tag {
		return h[i].tag < h[j].tag
	}
	return h[i].arrived < h[j].arrived
}

func (h flowHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].at, h[j].at = i, j
}

// Push is for package heap alone.
func (h *flowHeap) Push(x any) {
	f := x.(*flow)
	f.at = len(*h)
	*h = append(*h, f)
}

// Pop is for package heap alone.
func (h *flowHeap) Pop() any {
	old := *h
	f := old[len(old)-1]
	f.at = -1
	*h = old[:len(old)-1]
	return f
}
