// Package fair shares a server among its callers, so that none of them can keep others out. A
// [Pool] limits the concurrent work and lets callers take turns; a [Budget] limits how much of
// a resource each of them, and all together, use.
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

// A Caller identifies who requests work: a hash of an address or of a user, with a secret seed,
// so that it reveals neither.
type Caller uint64

// Customer returns the address that a client's address counts as: for IPv6, its /64 network,
// which usually belongs to one customer.
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

// Limits are the limits of a pool. All are positive, except for Queue, which may be zero.
type Limits struct {
	Slots    int           // pieces of work in progress at a time
	Each     int           // pieces of one caller in progress
	Queue    int           // pieces that wait
	InHand   int           // pieces of one caller in progress or waiting
	Patience time.Duration // how long a piece may wait
}

// A Pool limits the concurrent work. Excess work waits, and callers take turns: weighted by the
// cost of the work, a caller with a thousand pieces is served no more often than a caller with
// one (start-time fair queueing; Goyal, Vin and Cheng, SIGCOMM 1996). If too many pieces wait,
// the newest piece of the caller with the most is refused. A Pool is safe for concurrent use.
type Pool struct {
	limits Limits

	mu      sync.Mutex
	busy    int              // slots that are taken
	waiting int              // pieces that wait
	clock   int64            // the tag of the piece that began last: a newcomer begins with it
	order   uint64           // of arrivals
	flows   map[Caller]*flow // of callers with work in progress or waiting
	ready   flowHeap         // flows whose next piece may begin when a slot is free
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
	tag     int64    // the cost of other work that is served before its next piece
	arrived uint64   // when it began to wait, among flows with one tag
	at      int      // in Pool.ready; -1 is not there
}

// A piece is work that waits.
type piece struct {
	cost  int64
	ended chan error // has nil when it may begin, or why it may not
}

// Counts has the amounts of work that a pool has, and has refused since it was made.
type Counts struct {
	Busy, Waiting int    // now
	Refused       uint64 // with ErrBusy
	OverShare     uint64 // with ErrShare
}

// A Refusal is the last time that a pool refused work with ErrBusy.
type Refusal struct {
	At     time.Time // zero if it never did
	Most   Caller    // the caller with the most work then
	InHand int       // how much that was
	Of     int       // how much all had
}

// NewPool returns a pool.
func NewPool(l Limits) *Pool { return &Pool{limits: l, flows: map[Caller]*flow{}} }

// Enter waits for the caller's turn and takes a slot, which Leave returns. Cost is the cost of
// the work relative to other work of the pool; it is positive. The errors are ErrBusy, ErrShare
// and that of the context: then no slot was taken.
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

// begin takes a slot, returns an error, or returns a piece that waits for a slot.
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

// Leave returns a slot of the caller, and gives it to the next one in turn.
func (p *Pool) Leave(caller Caller) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := p.flows[caller]
	f.busy--
	p.busy--
	p.place(f) // the caller may have been at its limit
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

// place adds a flow to those whose turn may come, moves it to its new position, or removes it.
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

// giveUp removes a waiting piece, and says whether it was still waiting.
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

// drop removes a piece of a flow from the waiting ones.
func (p *Pool) drop(f *flow, at int) {
	f.queue = slices.Delete(f.queue, at, at+1)
	p.waiting--
	p.place(f)
}

// makeRoom refuses the newest piece of the flow with the most waiting pieces, unless the flow
// that needs room would then have as many.
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

// refuse notes a refusal, and the caller with the most work.
func (p *Pool) refuse() {
	p.refused++
	p.last = Refusal{At: time.Now(), Of: p.busy + p.waiting}
	for _, f := range p.flows {
		if n := f.busy + len(f.queue); n > p.last.InHand {
			p.last.Most, p.last.InHand = f.caller, n
		}
	}
}

// flow returns the flow of a caller, which may be empty.
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

// mostSpare is the number of flows that are kept for reuse.
const mostSpare = 64

// tidy removes a flow without work.
func (p *Pool) tidy(f *flow) {
	if f.busy > 0 || len(f.queue) > 0 || p.flows[f.caller] != f {
		return
	}
	delete(p.flows, f.caller)
	if len(p.spare) < mostSpare && cap(f.queue) <= mostSpare {
		p.spare = append(p.spare, f)
	}
}

// Slots returns the number of pieces of work that may be in progress at a time.
func (p *Pool) Slots() int { return p.limits.Slots }

// Counts returns the amounts of work.
func (p *Pool) Counts() Counts {
	p.mu.Lock()
	defer p.mu.Unlock()
	return Counts{Busy: p.busy, Waiting: p.waiting, Refused: p.refused, OverShare: p.over}
}

// Last returns the last refusal with ErrBusy.
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

// Push is only for package heap.
func (h *flowHeap) Push(x any) {
	f := x.(*flow)
	f.at = len(*h)
	*h = append(*h, f)
}

// Pop is only for package heap.
func (h *flowHeap) Pop() any {
	old := *h
	f := old[len(old)-1]
	f.at = -1
	*h = old[:len(old)-1]
	return f
}
