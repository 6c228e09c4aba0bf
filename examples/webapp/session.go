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
