package main

import (
	"crypto/rand"
	"net/http"
	"sync"
	"time"

	"golang.org/x/oauth2"
)

// A session is one user, signed in with one browser. The browser knows its name alone;
// tokens stay here.
type session struct {
	name   string
	csrf   string // every form carries it: no other site can know it
	began  time.Time
	tokens oauth2.TokenSource
	reader

	mu     sync.Mutex
	notice string // to be shown once, on the next page
}

func newSession(as reader, tokens oauth2.TokenSource, now time.Time) *session {
	return &session{name: rand.Text(), csrf: rand.Text(), began: now, tokens: tokens, reader: as}
}

// tell has the next page say something.
func (s *session) tell(notice string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notice = notice
}

// told returns what is to be said now.
func (s *session) told() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	notice := s.notice
	s.notice = ""
	return notice
}

// How long a user stays signed in, how long signing in may take, and how many of each
// are kept.
const (
	sessionLife = 12 * time.Hour
	signInLife  = 15 * time.Minute
	paidLife    = 15 * time.Minute // of what was paid
	mostKept    = 10_000
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

// setCookie gives a browser a cookie that no script sees and no other site can have
// sent with its forms. Lax, not Strict: people come back from signing in by a link.
func (s *site) setCookie(w http.ResponseWriter, name, value string, life time.Duration) {
	http.SetCookie(w, &http.Cookie{
		Name: s.cookie + name, Value: value, Path: "/", MaxAge: int(life / time.Second),
		Secure: s.secure, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
}

// cookieOf returns the value of a cookie, empty if there is none.
func (s *site) cookieOf(r *http.Request, name string) string {
	c, err := r.Cookie(s.cookie + name)
	if err != nil {
		return ""
	}
	return c.Value
}

// sessionOf returns who is signed in, nil for nobody.
func (s *site) sessionOf(r *http.Request) *session {
	user, _ := s.sessions.get(s.cookieOf(r, "session"), s.now())
	return user
}
