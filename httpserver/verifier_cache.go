package httpserver

import (
	"crypto/sha256"
	"sync"
	"sync/atomic"
)

// A verified token is what is remembered of one: who it stands for, never the
// token.
type verified struct {
	identity Identity
	key      keyMark
	mark     string                 // by which it may be revoked; empty if it cannot be
	set      atomic.Pointer[KeySet] // one that has the key
}

// signedBy says whether the key of the token is one of the set.
func (t *verified) signedBy(set *KeySet) bool {
	if t.set.Load() == set {
		return true
	}
	if !set.has(t.key) {
		return false
	}
	t.set.Store(set)
	return true
}

// A tokenCache remembers verified tokens by their hash. Each shard has two
// generations: what is found in the old one moves to the young one, and when the
// young one is full the old one is dropped with all that nobody asked for.
type tokenCache struct {
	shards [16]cacheShard
	size   int // of one generation of one shard
}

type cacheShard struct {
	mu         sync.Mutex
	young, old map[tokenHash]*verified
	_          [40]byte // a cache line of its own
}

type tokenHash = [sha256.Size]byte

// hashToken makes no garbage of a token of the usual size.
func hashToken(token string) tokenHash {
	var usual [1 << 10]byte
	if len(token) > len(usual) {
		return sha256.Sum256([]byte(token))
	}
	return sha256.Sum256(usual[:copy(usual[:], token)])
}

func newTokenCache(size int) *tokenCache {
	c := &tokenCache{}
	c.size = max(1, size/(2*len(c.shards)))
	for i := range c.shards {
		c.shards[i].young = map[tokenHash]*verified{}
	}
	return c
}

func (c *tokenCache) shard(h *tokenHash) *cacheShard { return &c.shards[int(h[0])%len(c.shards)] }

func (c *tokenCache) find(h *tokenHash) *verified {
	s := c.shard(h)
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.young[*h]; t != nil {
		return t
	}
	t := s.old[*h]
	if t != nil {
		delete(s.old, *h)
		s.add(h, t, c.size)
	}
	return t
}

func (c *tokenCache) remember(h *tokenHash, t *verified) {
	s := c.shard(h)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.old, *h)
	s.add(h, t, c.size)
}

func (c *tokenCache) forget(h *tokenHash) {
	s := c.shard(h)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.young, *h)
	delete(s.old, *h)
}

func (s *cacheShard) add(h *tokenHash, t *verified, size int) {
	if len(s.young) >= size {
		s.old, s.young = s.young, map[tokenHash]*verified{}
	}
	s.young[*h] = t
}
