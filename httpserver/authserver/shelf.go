package authserver

import (
	"container/list"
	"crypto/sha256"
	"encoding/base64"
	"time"
)

// A shelf keeps things for a fixed time, and at most so many. When it is full, whoever
// has most of it loses the oldest. Its user holds the lock that guards it.
type shelf[V any] struct {
	life   time.Duration
	most   int
	items  map[string]*kept[V]
	order  *list.List // of *kept[V], oldest first
	owners ranking    // by address
}

type kept[V any] struct {
	key     string
	value   V
	expires time.Time
	at      *list.Element // of shelf.order
	shares  [3]share      // of its address, and there of its browser and its user
}

// An origin says where something on a shelf comes from. Two that have one address share
// its part of a full shelf. There, all that comes from one browser counts together, and
// all of one user: so neither a browser that signs in under many names nor a user with
// many browsers takes what others have.
type origin struct {
	address string
	browser string // empty if it is not known
	user    string // empty if it is not known
}

func newShelf[V any](life time.Duration, most int) *shelf[V] {
	return &shelf[V]{life: life, most: most, items: map[string]*kept[V]{}, order: list.New()}
}

func (s *shelf[V]) put(key string, from origin, v V, now time.Time) {
	s.drop(key)
	for e := s.order.Front(); e != nil && !now.Before(e.Value.(*kept[V]).expires); e = s.order.Front() {
		s.drop(e.Value.(*kept[V]).key)
	}
	for len(s.items) >= s.most {
		s.drop(s.surplus())
	}
	k := &kept[V]{key: key, value: v, expires: now.Add(s.life)}
	k.at = s.order.PushBack(k)
	address := s.owners.owner(from.address)
	k.shares[0] = s.owners.add(address, key)
	if from.browser != "" {
		k.shares[1] = address.inside.add(address.inside.owner("browser "+from.browser), key)
	}
	if from.user != "" {
		k.shares[2] = address.inside.add(address.inside.owner("user "+from.user), key)
	}
	s.items[key] = k
}

// surplus is the key of what goes when the shelf is full.
func (s *shelf[V]) surplus() string {
	address := s.owners.first()
	if within := address.inside.first(); within != nil {
		return within.oldest()
	}
	return address.oldest()
}

func (s *shelf[V]) get(key string, now time.Time) (v V, ok bool) {
	k := s.items[key]
	if k == nil {
		return v, false
	}
	if !now.Before(k.expires) {
		s.drop(key)
		return v, false
	}
	return k.value, true
}

func (s *shelf[V]) drop(key string) {
	k := s.items[key]
	if k == nil {
		return
	}
	delete(s.items, key)
	s.order.Remove(k.at)
	for i := len(k.shares) - 1; i >= 0; i-- {
		k.shares[i].end()
	}
}

// hashed is the key of what a secret names: the secret itself is kept nowhere,
// and how long a look-up takes tells nothing of it.
func hashed(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return string(sum[:])
}

func encode64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }
