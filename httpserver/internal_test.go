package httpserver

import (
	"net/http"
	"regexp"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/fair"
)

// Routes are the table of routes, with parameters as the description writes them.
func (s *Server) Routes() map[string]bool {
	parameter := regexp.MustCompile(`[:*](\w+)`)
	all := map[string]bool{}
	for _, rt := range s.table() {
		all[rt.method+" "+parameter.ReplaceAllString(rt.path, "{$1}")] = true
	}
	return all
}

// LimitPages has so few public documents be had a minute.
func (s *Server) LimitPages(n int) { s.pages = newLimiter(n) }

// HoldParsing takes all slots for parsing bodies, until what is returned is called.
func (s *Server) HoldParsing(t *testing.T) (release func()) {
	pool := s.house.pools[parsing]
	for who := range fair.Caller(pool.Slots()) {
		if err := pool.Enter(t.Context(), who, 1); err != nil {
			t.Fatal(err)
		}
	}
	return func() {
		for who := range fair.Caller(pool.Slots()) {
			pool.Leave(who)
		}
	}
}

// However many keys come, memory is bounded, and keys in use are not lost: not
// even those that are refused again and again.
func TestLimiterForgets(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // time stands still
		l := newLimiter(5)
		for key := range fair.Caller(300_000) {
			l.take(key+1, 1)
			if key%20_000 == 0 {
				l.take(0, 1)
			}
		}
		if kept, most := l.full.Len(); kept > most {
			t.Errorf("%d keys are kept, more than %d", kept, most)
		}
		if q := l.take(0, 1); q.wait == 0 {
			t.Errorf("a key in use has %d left: it was forgotten", q.remaining)
		}
	})
}

func TestLimits(t *testing.T) {
	t.Parallel()
	if newLimiter(-1) != nil {
		t.Error("a negative limit is one")
	}
	for _, limit := range []int{1, 7, 600, 1 << 40, 1<<63 - 1} {
		l := newLimiter(limit)
		if q := l.take(1, 1); q.wait != 0 || q.remaining < 0 || q.remaining > int64(limit) || q.reset < 0 {
			t.Errorf("limit %d: %+v", limit, q)
		}
	}
}

// httpDate is http.TimeFormat, on every day of the week and of the year.
func TestHTTPDate(t *testing.T) {
	t.Parallel()
	at := time.Date(1999, 12, 28, 23, 59, 58, 999, time.FixedZone("", 3600))
	for range 1000 {
		if got, want := httpDate(at), at.UTC().Format(http.TimeFormat); got != want {
			t.Fatalf("%s, want %s", got, want)
		}
		at = at.Add(26*time.Hour + 61*time.Second)
	}
}

// A user with ever so many tokens has only so many remembered, and nobody else's are
// forgotten for them.
func TestTokensOfOneUserAreBounded(t *testing.T) {
	t.Parallel()
	const size = 1 << 15
	c := newTokenCache(size)
	token := func(user string, n int) (*tokenHash, *verified) {
		h := hashToken(user + strconv.Itoa(n))
		return &h, &verified{identity: Identity{Caller: traintravel.Caller{Subject: traintravel.Subject{Issuer: "test", ID: user}, Client: "app"}}}
	}
	h, anna := token("anna", 0)
	c.remember(h, anna)
	for n := range 2 * size {
		c.remember(token("mallory", n))
	}
	if c.find(h) != anna {
		t.Error("one user's tokens pushed out another's")
	}
	kept := int64(0)
	for _, s := range c.shards {
		kept += s.Size()
	}
	if most := int64(size/usersInFull + 1); kept > most {
		t.Errorf("%d tokens are kept of two users, more than %d", kept, most)
	}
	last, mallory := token("mallory", 2*size)
	c.remember(last, mallory)
	if c.find(last) != mallory {
		t.Error("the newest token is not remembered")
	}
	if c.forget(last); c.find(last) != nil {
		t.Error("a token that is to be forgotten is remembered")
	}
}
