package authserver

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// sessions are who is signed in, in which browser. A browser has two cookies: a
// random one from the first page on, which binds forms to it, and one that names
// its session. Both are for this server alone and out of reach of scripts.
type sessions struct {
	browser, session string // names of cookies
	path             string
	secure           bool
	key              []byte // of the marks of forms
	address          func(*http.Request) string

	mu    sync.Mutex
	users *shelf[string]
}

// newSessions names cookies after the issuer: browsers do not tell servers on
// several ports of one host apart.
func newSessions(issuer *url.URL, address func(*http.Request) string) *sessions {
	sum := sha256.Sum256([]byte(issuer.String()))
	name := "traintravel_" + encode64(sum[:6])
	secure := issuer.Scheme == "https"
	if secure {
		name = "__Secure-" + name
	}
	return &sessions{
		browser: name + "_browser", session: name + "_session", path: issuer.EscapedPath() + "/oauth/",
		secure: secure, key: random(32), address: address, users: newShelf[string](sessionLife, mostKept),
	}
}

func (s *sessions) cookie(name, value string, life time.Duration) *http.Cookie {
	return &http.Cookie{
		Name: name, Value: value, Path: s.path, MaxAge: int(life / time.Second),
		Secure: s.secure, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	}
}

// A visitor is a browser, and the user who is signed in there, if any.
type visitor struct {
	address          string // see Options.Address
	browser, session string
	user             string // "" is nobody
}

// origin is what a visitor's sign-ins and consents count as.
func (v visitor) origin(user string) origin { return origin{v.address, v.browser, user} }

// visitor finds out whose browser sent a request, and gives it the cookie that
// binds forms if it has none.
func (s *sessions) visitor(w http.ResponseWriter, r *http.Request, now time.Time) visitor {
	v := visitor{address: s.address(r), browser: value(r, s.browser), session: value(r, s.session)}
	if len(v.browser) != 43 {
		v.browser = secret()
		http.SetCookie(w, s.cookie(s.browser, v.browser, sessionLife))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	v.user, _ = s.users.get(hashed(v.session), now)
	if v.user == "" {
		v.session = ""
	}
	return v
}

func value(r *http.Request, name string) string {
	c, err := r.Cookie(name)
	if err != nil {
		return ""
	}
	return c.Value
}

// begin signs a user in, under a fresh name of the session.
func (s *sessions) begin(w http.ResponseWriter, v visitor, user string, now time.Time) {
	name := secret()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users.drop(hashed(v.session))
	s.users.put(hashed(name), v.origin(user), user, now)
	http.SetCookie(w, s.cookie(s.session, name, sessionLife))
}

// end signs a user out.
func (s *sessions) end(w http.ResponseWriter, v visitor) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users.drop(hashed(v.session))
	http.SetCookie(w, s.cookie(s.session, "", -time.Second))
}

// mark is what a form carries: it is good for one step of one authorization
// request, in the browser and the session that the form was made for.
func (s *sessions) mark(v visitor, step, query string) string {
	h := hmac.New(sha256.New, s.key)
	for _, part := range []string{v.browser, v.session, step, query} {
		_, _ = h.Write(binary.AppendUvarint(nil, uint64(len(part))))
		_, _ = h.Write([]byte(part))
	}
	return encode64(h.Sum(nil))
}

// marked says whether a form's mark is the one it should be.
func (s *sessions) marked(v visitor, step, query, mark string) bool {
	return hmac.Equal([]byte(s.mark(v, step, query)), []byte(mark))
}
