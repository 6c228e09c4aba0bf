package httpserver

import (
	"crypto/sha256"
	"hash/maphash"
	"sync/atomic"

	"github.com/traintravel/traintravel/internal/fair"
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

// A tokenCache remembers verified tokens by their hash, so many of each user, so that no
// user can have the tokens of the others forgotten. It is in shards, so that requests
// seldom wait for each other.
type tokenCache struct {
	seed   maphash.Seed
	shards [16]*fair.Cache[tokenHash, *verified]
}

// usersInFull is how many users with as many tokens as are remembered of each fill the
// cache.
const usersInFull = 64

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
	c := &tokenCache{seed: maphash.MakeSeed()}
	each := max(1, size/len(c.shards))
	for i := range c.shards {
		c.shards[i] = fair.NewCache[tokenHash, *verified](int64(max(1, each/usersInFull)), int64(each))
	}
	return c
}

func (c *tokenCache) shard(h *tokenHash) *fair.Cache[tokenHash, *verified] {
	return c.shards[int(h[0])%len(c.shards)]
}

func (c *tokenCache) find(h *tokenHash) *verified {
	t, _ := c.shard(h).Get(*h)
	return t
}

func (c *tokenCache) remember(h *tokenHash, t *verified) {
	by := &t.identity.Caller
	user := maphash.Comparable(c.seed, [3]string{by.Client, by.Issuer, by.ID})
	c.shard(h).Put(fair.Caller(user), *h, t, 1)
}

func (c *tokenCache) forget(h *tokenHash) { c.shard(h).Drop(*h) }
