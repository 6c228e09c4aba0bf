package agenda

import (
	"context"
	"math/bits"
	"sync"
	"time"

	"github.com/google/uuid"
)

// parts is a set of parts of one kind of the agenda.
type parts uint64

const (
	partCount       = 64
	AllParts  parts = 1<<partCount - 1
)

// partOf returns the part that an item is in.
func partOf(id uuid.UUID) int {
	var x byte
	for _, b := range id {
		x ^= b
	}
	return int(x % partCount)
}

func (p parts) len() int { return bits.OnesCount64(uint64(p)) }

// lowest is the set of one part of a set that is not empty.
func (p parts) lowest() parts { return p & -p }

// partsInHand has the parts of which a worker may begin items, and those of which it has items
// in progress.
type partsInHand struct{ open, busy parts }

// divide decides which parts of one kind a server has: nobody else may take those in held, and
// it may begin work on those in next. By its record it had parts, of which some are open now,
// and it has items of busy ones in progress; others have taken parts, and its quota is its
// share of all.
func divide(had parts, now partsInHand, taken parts, quota int) (held, next parts) {
	had &= now.open | now.busy // it has done with the others
	next = had & now.open
	for next.len() > quota {
		if idle := next &^ now.busy; idle != 0 {
			next &^= idle.lowest()
		} else {
			next &^= next.lowest()
		}
	}
	for free := ^(next | taken); next.len() < quota && free != 0; free &= free - 1 {
		next |= free.lowest()
	}
	return had | next, next
}

// A share has the parts of one kind that this server may work on.
type share struct {
	mu    sync.Mutex
	open  parts
	busy  [partCount]int  // items in progress
	until time.Time       // when open parts close unless they are renewed
	work  context.Context // ends when other servers may take over the work in progress
	stop  context.CancelFunc
}

// begin begins an item of a part, if the part is open. Work on the item must end with the
// returned context.
func (h *share) begin(part int) (context.Context, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.open>>part&1 == 0 || !time.Now().Before(h.until) {
		return nil, false
	}
	h.busy[part]++
	return h.work, true
}

func (h *share) end(part int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.busy[part]--
}

// inHand returns the parts that are open, and those with items in progress.
func (h *share) inHand() (p partsInHand) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, n := range h.busy {
		if n > 0 {
			p.busy |= 1 << i
		}
	}
	p.open = h.open
	return p
}

// openAll opens all parts permanently.
func (h *share) openAll(ctx context.Context) {
	h.renew(ctx, AllParts, time.Now().Add(100*365*24*time.Hour))
}

// renew opens parts until an instant and closes all others. It reports whether
// any is new.
func (h *share) renew(ctx context.Context, open parts, until time.Time) (more bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.work == nil {
		h.work, h.stop = context.WithCancel(ctx)
	}
	more = open&^h.open != 0
	h.open, h.until = open, until
	return more
}

// lapse closes all parts and stops the work in progress, if they were not renewed until an
// instant. It reports whether any part was open or busy.
func (h *share) lapse(now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.work == nil || now.Before(h.until) {
		return false
	}
	h.stop()
	h.open, h.work = 0, nil
	return true
}
