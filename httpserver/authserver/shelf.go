package authserver

import (
	"container/list"
	"crypto/sha256"
	"encoding/base64"
	"time"
)

// A shelf keeps things for a fixed time, and at most so many: the oldest go
// first. Whoever uses it holds the lock that guards it.
type shelf[V any] struct {
	life  time.Duration
	most  int
	items map[string]*list.Element
	order *list.List // of *kept[V], oldest first
}

type kept[V any] struct {
	key     string
	value   V
	expires time.Time
}

func newShelf[V any](life time.Duration, most int) *shelf[V] {
	return &shelf[V]{life: life, most: most, items: map[string]*list.Element{}, order: list.New()}
}

func (s *shelf[V]) put(key string, v V, now time.Time) {
	s.drop(key)
	for e := s.order.Front(); e != nil; e = s.order.Front() {
		k := e.Value.(*kept[V])
		if now.Before(k.expires) && s.order.Len() < s.most {
			break
		}
		s.drop(k.key)
	}
	s.items[key] = s.order.PushBack(&kept[V]{key, v, now.Add(s.life)})
}

func (s *shelf[V]) get(key string, now time.Time) (v V, ok bool) {
	e := s.items[key]
	if e == nil {
		return v, false
	}
	k := e.Value.(*kept[V])
	if !now.Before(k.expires) {
		s.drop(key)
		return v, false
	}
	return k.value, true
}

func (s *shelf[V]) drop(key string) {
	if e := s.items[key]; e != nil {
		s.order.Remove(e)
		delete(s.items, key)
	}
}

// hashed is the key of what a secret names: the secret itself is kept nowhere,
// and how long a look-up takes tells nothing of it.
func hashed(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return string(sum[:])
}

func encode64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }
