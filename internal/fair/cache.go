package fair

import "sync"

// A Cache keeps values so that they need not be made again, up to a total size and a size for
// each caller. If a caller exceeds its size, the cache evicts that caller's values, the least
// recently used first, so that it cannot evict those of other callers; if the total is
// exceeded, it evicts the least recently used of all. It is safe for concurrent use.
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

// NewCache returns a cache with a size for each caller and a total size.
func NewCache[K comparable, V any](each, all int64) *Cache[K, V] {
	return &Cache[K, V]{
		each: min(each, all), all: all,
		entries: map[K]*entry[K, V]{}, order: recency[K, V]{list: ofAll}, callers: map[Caller]*recency[K, V]{},
	}
}

// Get returns the value of a key, and false if the cache does not have it.
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

// Put keeps a value for a caller, and replaces the value of the key, if any. It does not keep a
// value that is larger than a caller's size. The size is positive.
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

// Drop removes the value of a key.
func (c *Cache[K, V]) Drop(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.entries[key]; e != nil {
		c.drop(e)
	}
}

// Size returns the size of all values in the cache.
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
