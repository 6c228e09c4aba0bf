package fair

import "sync"

// A Cache keeps values so that they need not be made again: so much in all, and so much
// for each caller, by a size that goes with each value. If a caller has too much, its own
// values make room, the least recently used first, so that it cannot push out those of
// the others; if all together have too much, the least recently used of all do. It is
// safe for concurrent use.
type Cache[K comparable, V any] struct {
	each, all int64

	mu      sync.Mutex
	entries map[K]*entry[K, V]
	order   recency[K, V]
	callers map[Caller]*recency[K, V]
}

// An entry is one value. It is in two lists: that of all, and that of its caller.
type entry[K comparable, V any] struct {
	key          K
	value        V
	size         int64
	caller       Caller
	newer, older [2]*entry[K, V] // by list
}

const (
	ofAll = iota
	ofCaller
)

// NewCache returns a cache that keeps at most so much for each caller and in all.
func NewCache[K comparable, V any](each, all int64) *Cache[K, V] {
	return &Cache[K, V]{
		each: min(each, all), all: all,
		entries: map[K]*entry[K, V]{}, order: recency[K, V]{list: ofAll}, callers: map[Caller]*recency[K, V]{},
	}
}

// Get returns the value of a key, and false if there is none.
func (c *Cache[K, V]) Get(key K) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entries[key]
	if e == nil {
		var none V
		return none, false
	}
	own := c.callers[e.caller]
	c.order.remove(e)
	c.order.push(e)
	own.remove(e)
	own.push(e)
	return e.value, true
}

// Put keeps a value for a caller, in place of any that the key has. One that is larger
// than what a caller may have is not kept. The size is positive.
func (c *Cache[K, V]) Put(caller Caller, key K, value V, size int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.entries[key]; e != nil {
		c.drop(e)
	}
	if size > c.each {
		return
	}
	own := c.callers[caller]
	if own == nil {
		own = &recency[K, V]{list: ofCaller}
		c.callers[caller] = own
	}
	e := &entry[K, V]{key: key, value: value, size: size, caller: caller}
	c.entries[key] = e
	c.order.push(e)
	own.push(e)
	for own.size > c.each {
		c.drop(own.oldest)
	}
	for c.order.size > c.all {
		c.drop(c.order.oldest)
	}
}

// Drop forgets the value of a key.
func (c *Cache[K, V]) Drop(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.entries[key]; e != nil {
		c.drop(e)
	}
}

// Size is the size of all values that are kept.
func (c *Cache[K, V]) Size() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.order.size
}

func (c *Cache[K, V]) drop(e *entry[K, V]) {
	delete(c.entries, e.key)
	c.order.remove(e)
	own := c.callers[e.caller]
	if own.remove(e); own.newest == nil {
		delete(c.callers, e.caller)
	}
}

// A recency is a list of entries by when they were used last.
type recency[K comparable, V any] struct {
	list           int // ofAll or ofCaller
	newest, oldest *entry[K, V]
	size           int64
}

func (r *recency[K, V]) push(e *entry[K, V]) {
	e.newer[r.list], e.older[r.list] = nil, r.newest
	if r.newest != nil {
		r.newest.newer[r.list] = e
	} else {
		r.oldest = e
	}
	r.newest = e
	r.size += e.size
}

func (r *recency[K, V]) remove(e *entry[K, V]) {
	newer, older := e.newer[r.list], e.older[r.list]
	if newer != nil {
		newer.older[r.list] = older
	} else {
		r.newest = older
	}
	if older != nil {
		older.newer[r.list] = newer
	} else {
		r.oldest = newer
	}
	r.size -= e.size
}
