package fair

import (
	"sync"
	"sync/atomic"
)

// A Budget limits how much of a resource callers use, such as bytes of memory: each caller, and
// all together. When all together have reached their limit, callers who use little may still
// take a little, up to the same limit again in total, so that the others cannot keep them out.
// It is safe for concurrent use.
type Budget struct {
	each, all int64
	used      atomic.Int64
	shards    [16]budgetShard
}

type budgetShard struct {
	mu   sync.Mutex
	used map[Caller]int64
	_    [40]byte // keeps neighbours' locks off this cache line
}

// little is the part of a caller's limit that counts as little.
const little = 16

// NewBudget returns a budget and the part of it that one caller may use.
func NewBudget(each, all int64) *Budget {
	b := &Budget{each: each, all: all}
	for i := range b.shards {
		b.shards[i].used = map[Caller]int64{}
	}
	return b
}

// Take takes an amount for the caller, which Give returns, or nothing if less is left for the
// caller.
func (b *Budget) Take(caller Caller, n int64) bool {
	s := b.shard(caller)
	s.mu.Lock()
	defer s.mu.Unlock()
	if !b.has(s.used[caller] + n) {
		return false
	}
	b.add(s, caller, n)
	return true
}

// Add takes an amount for the caller, however much is left.
func (b *Budget) Add(caller Caller, n int64) {
	s := b.shard(caller)
	s.mu.Lock()
	defer s.mu.Unlock()
	b.add(s, caller, n)
}

// Full says whether the caller has reached its limit.
func (b *Budget) Full(caller Caller) bool {
	if b.used.Load() == 0 {
		return false
	}
	s := b.shard(caller)
	s.mu.Lock()
	defer s.mu.Unlock()
	return !b.has(s.used[caller] + 1)
}

// Give returns an amount that the caller took.
func (b *Budget) Give(caller Caller, n int64) {
	s := b.shard(caller)
	s.mu.Lock()
	defer s.mu.Unlock()
	b.add(s, caller, -n)
}

// Used returns how much all callers use.
func (b *Budget) Used() int64 { return b.used.Load() }

// has says whether a caller may have an amount.
func (b *Budget) has(n int64) bool {
	all := b.used.Load()
	return n <= b.each && (all < b.all || all < 2*b.all && n <= max(1, b.each/little))
}

func (b *Budget) add(s *budgetShard, caller Caller, n int64) {
	b.used.Add(n)
	if s.used[caller] += n; s.used[caller] == 0 {
		delete(s.used, caller)
	}
}

func (b *Budget) shard(caller Caller) *budgetShard {
	return &b.shards[caller%Caller(len(b.shards))]
}
