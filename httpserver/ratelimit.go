package httpserver

import (
	"hash/maphash"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"github.com/traintravel/traintravel"
)

// A limiter gives each key a bucket of tokens that fills up once a minute,
// steadily, in real time. A bucket is one number, the instant at which it will
// be full (the generic cell rate algorithm), and a full one is forgotten.
//
// Memory is bounded: keys are kept in two generations, and when the younger is
// full the older is dropped, and with it what was not used for as long as
// thousands of others were.
type limiter struct {
	limit  int64
	every  int64 // nanoseconds in which one token comes
	began  time.Time
	seed   maphash.Seed
	shards [64]shard
}

// keysPerShard is how many keys a generation of a shard holds.
const keysPerShard = 1024

type shard struct {
	mu         sync.Mutex
	young, old map[uint64]int64
	_          [40]byte // keeps neighbours' locks off this cache line
}

const (
	defaultRateLimit = 600
	maxRateLimit     = 1_000_000_000 // beyond it a token comes in no time
)

func newLimiter(limit int) *limiter {
	if limit < 0 {
		return nil
	}
	if limit == 0 {
		limit = defaultRateLimit
	}
	limit = min(limit, maxRateLimit)
	return &limiter{
		limit: int64(limit), every: int64(time.Minute) / int64(limit), began: time.Now(), seed: maphash.MakeSeed(),
	}
}

// A quota is what is left of a key's tokens.
type quota struct {
	limit     int64
	remaining int64
	reset     int64 // seconds until all are back
	wait      int64 // seconds until one is back, if there was none
}

// String writes the quota as the RateLimit header has it.
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
func (l *limiter) take(key uint64, n int64) quota {
	now, window := int64(time.Since(l.began)), l.every*l.limit
	s := &l.shards[key%uint64(len(l.shards))]
	s.mu.Lock()
	defer s.mu.Unlock()
	full, ok := s.young[key]
	if !ok {
		full = s.old[key]
	}
	full = max(full, now)
	q := quota{limit: l.limit}
	if next := full + n*l.every; next <= now+window {
		full = next
	} else {
		q.wait = seconds(next - now - window)
	}
	if n > 0 {
		s.keep(key, full) // a refused one too: it is in use
	}
	q.remaining, q.reset = (now+window-full)/l.every, seconds(full-now)
	return q
}

// keep remembers when a bucket will be full.
func (s *shard) keep(key uint64, full int64) {
	if len(s.young) >= keysPerShard {
		if _, ok := s.young[key]; !ok {
			s.old, s.young = s.young, nil
		}
	}
	if s.young == nil {
		s.young = make(map[uint64]int64)
	}
	s.young[key] = full
}

func seconds(ns int64) int64 { return (ns + int64(time.Second) - 1) / int64(time.Second) }

// peek returns the quota of a key and takes nothing.
func (l *limiter) peek(key uint64) quota {
	if l == nil {
		return quota{}
	}
	return l.take(key, 0)
}

// take counts the request, and refuses it if the quota is used up.
func (x *exchange) take(key uint64) error {
	if x.s.limits == nil {
		return nil
	}
	x.quota = x.s.limits.take(key, 1)
	if x.quota.wait == 0 {
		return nil
	}
	return &problem{status: http.StatusTooManyRequests, slug: "rate-limited", title: "Too many requests",
		detail: "The quota is used up. The header Retry-After says in how many seconds there is some again.", retry: x.quota.wait}
}

// Limit counts a request that another handler answers, such as an authorization
// server beside this one, against a quota as large as those here: that of a
// client or, if client is empty, of the address that the request is from. They
// are quotas of their own. It returns the RateLimit header of the answer, empty if
// there is no limit, and, if the quota is used up and the request is to be refused
// with 429, the seconds that its Retry-After has.
func (s *Server) Limit(r *http.Request, client string) (header string, wait int64) {
	if s.limits == nil {
		return "", 0
	}
	var key uint64
	if client == "" {
		key = maphash.Comparable(s.limits.seed, elsewhereFrom{customer(s.client(r)), true})
	} else {
		key = callerKey(s.limits, traintravel.Caller{Client: client}) // no caller of ours has no name
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

// callerKey is the key of a user who acts through a client.
func callerKey(l *limiter, by traintravel.Caller) uint64 {
	if l == nil {
		return 0
	}
	var h maphash.Hash
	h.SetSeed(l.seed)
	for _, part := range [...]string{by.Client, by.Issuer, by.ID} {
		h.WriteString(part)
		h.WriteByte(0xff) // in no UTF-8
	}
	return h.Sum64()
}

// address is the key of the address that a request comes from.
func (x *exchange) address() uint64 {
	if x.s.limits == nil {
		return 0
	}
	return maphash.Comparable[netip.Addr](x.s.limits.seed, customer(x.s.client(x.r)))
}

// customer is what an address counts as. Addresses of IPv6 count by the network
// that one customer has, 64 bits.
func customer(addr netip.Addr) netip.Addr {
	if addr.Is6() {
		if p, err := addr.WithZone("").Prefix(64); err == nil {
			addr = p.Addr()
		}
	}
	return addr
}
