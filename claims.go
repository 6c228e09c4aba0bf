package traintravel

import "sync"

// Claims are what the services of one process have in hand of the work that is
// due in a [LocalStore]. The zero value is none. They are safe for concurrent
// use.
type Claims struct {
	mu    sync.Mutex
	taken map[Key]bool // whether somebody else has asked for it
}

func (c *Claims) take(k Key) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.taken[k]; ok {
		c.taken[k] = true
		return false
	}
	if c.taken == nil {
		c.taken = map[Key]bool{}
	}
	c.taken[k] = false
	return true
}

func (c *Claims) give(k Key) (asked bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	asked = c.taken[k]
	delete(c.taken, k)
	return asked
}
