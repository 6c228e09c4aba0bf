package fair

import (
	"sync"
	"sync/atomic"
)

// A Budget bounds what callers have in use, such as bytes of memory: each of them, and
// all together. When all together have as much as they may, those who have little of it
// may still take a little, up to as much again in all, so that the others cannot keep
// them out. It is safe for concurrent use.
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

// little is the part of what each may have that counts as little.
const little = 16

// NewBudget returns a budget of which one caller may use a part.
func NewBudget(each, all int64) *Budget {
	b := &Budget{each: each, all: all}
	for i := range b.shards {
		b.shards[i].used = map[Caller]int64{}
	}
	return b
}

// Take takes so much for the caller, which Give gives back, or nothing if that is more
// than is left for the caller.
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

// Add takes so much for the caller, whatever is left.
func (b *Budget) Add(caller Caller, n int64) {
	s := b.shard(caller)
	s.mu.Lock()
	defer s.mu.Unlock()
	b.add(s, caller, n)
}

// Full says whether nothing is left for the caller.
func (b *Budget) Full(caller Caller) bool {
	if b.used.Load() == 0 {
		return false
	}
	s := b.shard(caller)
	s.mu.Lock()
	defer s.mu.Unlock()
	return !b.has(s.used[caller] + 1)
}

// Give gives back what the caller took.
func (b *Budget) Give(caller Caller, n int64) {
	s := b.shard(caller)
	s.mu.Lock()
	defer s.mu.Unlock()
	b.add(s, caller, -n)
}

// Used is how much all callers have in use.
func (b *Budget) Used() int64 { return b.used.Load() }

// has says whether a caller may have so much.
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
