package httpserver

import (
	"hash/maphash"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/fair"
)

// A limiter gives each key a bucket of tokens that fills up once a minute,
// steadily, in real time. A bucket is one number, the instant at which it will
// be full (the generic cell rate algorithm), and a full one is forgotten.
type limiter struct {
	limit int64
	every int64 // nanoseconds in which one token comes
	began time.Time
	full  fair.Instants // when buckets will be
}

const (
	defaultRateLimit = 600
	maxRateLimit     = 1_000_000_000 // beyond it a token comes in no time
)

// pagesLimit is how many public documents an address may have a minute, where so many
// requests of the API are allowed: those that a page needs come at once.
func pagesLimit(limit int) int {
	if limit > 0 {
		return max(limit, defaultRateLimit)
	}
	return limit
}

func newLimiter(limit int) *limiter {
	if limit < 0 {
		return nil
	}
	if limit == 0 {
		limit = defaultRateLimit
	}
	limit = min(limit, maxRateLimit)
	return &limiter{
		limit: int64(limit), every: int64(time.Minute) / int64(limit), began: time.Now(),
	}
}

// A quota is the rest of a key's tokens.
type quota struct {
	limit     int64
	remaining int64
	reset     int64 // seconds until all are back
	wait      int64 // seconds until one is back, if there was none
}

// String returns the quota in the form of the RateLimit header.
func (q quota) String() string {
	var a [64]byte
	b := append(a[:0], "limit="...)
	b = strconv.AppendInt(b, q.limit, 10)
	b = append(b, ", remaining="...)
	b = strconv.AppendInt(b, q.remaining, 10)
	b = append(b, ", reset="...)
	b = strconv.AppendInt(b, q.reset, 10)
	return string(b)
}

// take takes n tokens of a key, or none if there are fewer: then wait is set.
func (l *limiter) take(key fair.Caller, n int64) quota {
	now, window := int64(time.Since(l.began)), l.every*l.limit
	s := l.full.Of(key)
	s.Lock()
	defer s.Unlock()
	full := max(s.Get(key), now)
	q := quota{limit: l.limit}
	if next := full + n*l.every; next <= now+window {
		full = next
	} else {
		q.wait = seconds(next - now - window)
	}
	if n > 0 {
		s.Set(key, full) // a refused one too: it is in use
	}
	q.remaining, q.reset = (now+window-full)/l.every, seconds(full-now)
	return q
}

// peek returns the quota of a key and takes nothing.
func (l *limiter) peek(key fair.Caller) quota {
	if l == nil {
		return quota{}
	}
	return l.take(key, 0)
}

// Limit counts a request to another handler, such as an authorization server next to this
// one, against a quota of the same size as the server's: that of a client or, if client is
// empty, of the address that the request is from. These quotas are separate from the
// server's. It returns the RateLimit header of the response, empty without a limit, and, if
// the quota is exhausted and the request must be refused with 429, the number of seconds for
// Retry-After.
func (s *Server) Limit(r *http.Request, client string) (header string, wait int64) {
	if s.limits == nil {
		return "", 0
	}
	key := s.house.user(traintravel.Caller{Client: client}) // no caller of ours has no name
	if client == "" {
		key = fair.Caller(maphash.Comparable(s.house.seed, elsewhereFrom{fair.Customer(s.client(r)), true}))
	}
	q := s.limits.take(key, 1)
	return q.String(), q.wait
}

// elsewhereFrom is an address whose requests another handler answers. The mark
// makes its hash another than that of the address alone.
type elsewhereFrom struct {
	netip.Addr
	mark bool
}
