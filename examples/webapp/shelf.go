package main

import (
	"sync"
	"time"
)

// A shelf keeps things for a time. When it is full, what would go first goes.
type shelf[T any] struct {
	life time.Duration

	mu    sync.Mutex
	items map[string]kept[T]
}

type kept[T any] struct {
	value T
	until time.Time
}

func newShelf[T any](life time.Duration) *shelf[T] {
	return &shelf[T]{life: life, items: map[string]kept[T]{}}
}

func (s *shelf[T]) put(name string, value T, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keep(name, value, now)
}

// add puts a thing there unless there is one of its name, and says whether it did.
func (s *shelf[T]) add(name string, value T, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, there := s.fresh(name, now); there {
		return false
	}
	s.keep(name, value, now)
	return true
}

func (s *shelf[T]) keep(name string, value T, now time.Time) {
	if len(s.items) >= mostKept {
		s.makeRoom(now)
	}
	s.items[name] = kept[T]{value, now.Add(s.life)}
}

func (s *shelf[T]) makeRoom(now time.Time) {
	var first string
	for name, item := range s.items {
		if item.until.Before(now) {
			delete(s.items, name)
		} else if first == "" || item.until.Before(s.items[first].until) {
			first = name
		}
	}
	if len(s.items) >= mostKept {
		delete(s.items, first)
	}
}

func (s *shelf[T]) get(name string, now time.Time) (T, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fresh(name, now)
}

// take returns a thing, once.
func (s *shelf[T]) take(name string, now time.Time) (T, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer delete(s.items, name)
	return s.fresh(name, now)
}

func (s *shelf[T]) fresh(name string, now time.Time) (value T, ok bool) {
	if item, ok := s.items[name]; ok && now.Before(item.until) {
		return item.value, true
	}
	return value, false
}
