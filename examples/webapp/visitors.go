package main

import (
	"fmt"
	"io"
	"math"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"
)

// visitorRate is how many requests a minute the site sends to the API for one visitor who is
// not signed in: all of them share the quota of the site's own token, 600 by default.
const visitorRate = 200

// A visitors limits what the API is asked for each address of who is not signed in. Every
// address has a bucket of tokens, which holds those of a minute.
type visitors struct {
	rate    float64 // tokens a minute
	proxies []netip.Prefix
	now     func() time.Time

	mu      sync.Mutex
	buckets *shelf[bucket]
}

type bucket struct {
	left float64
	at   time.Time
}

// newVisitors takes the networks of proxies, separated by commas.
func newVisitors(rate int, proxies string, now func() time.Time) (*visitors, error) {
	if rate < 1 {
		return nil, fmt.Errorf("the visitor rate is %d: it must be 1 or more", rate)
	}
	v := &visitors{rate: float64(rate), now: now, buckets: newShelf[bucket](time.Minute)} // by then it is full again
	for network := range strings.SplitSeq(proxies, ",") {
		if network = strings.TrimSpace(network); network == "" {
			continue
		}
		prefix, err := netip.ParsePrefix(network)
		if err != nil {
			return nil, fmt.Errorf("%q is not a network of proxies, such as 10.0.0.0/8", network)
		}
		v.proxies = append(v.proxies, prefix)
	}
	return v, nil
}

// take takes a token of a visitor, or says after how long there will be one.
func (v *visitors) take(visitor string) (wait time.Duration) {
	v.mu.Lock()
	defer v.mu.Unlock()
	now := v.now()
	b, ok := v.buckets.get(visitor, now)
	if !ok {
		b = bucket{v.rate, now}
	}
	b.left = min(v.rate, b.left+max(0, now.Sub(b.at).Minutes())*v.rate)
	b.at = now
	if b.left < 1 {
		wait = time.Duration((1 - b.left) / v.rate * float64(time.Minute))
	} else {
		b.left--
	}
	v.buckets.put(visitor, b, now)
	return wait
}

// of names who sent a request by the address: that of the connection, or the last in
// X-Forwarded-For that is not a trusted proxy's, if the connection is from one. Of IPv6 it
// is the network, since each visitor has all addresses of one.
func (v *visitors) of(r *http.Request) string {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	from := at.Addr().Unmap().WithZone("")
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && v.trusts(from); i-- {
		hop, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
		if err != nil {
			break
		}
		from = hop.Unmap().WithZone("")
	}
	if from.Is6() {
		network, _ := from.Prefix(64) // which every IPv6 address has
		return network.String()
	}
	return from.String()
}

func (v *visitors) trusts(addr netip.Addr) bool {
	for _, p := range v.proxies {
		if p.Contains(addr) {
			return true
		}
	}
	return false
}

// visitorKey is where a request's context has its visitor.
type visitorKey struct{}

// A visitorTransport sends requests as long as the visitor that they are for has tokens, and
// else answers as the API does to who asks too much.
type visitorTransport struct {
	visitors *visitors
	base     http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t *visitorTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	visitor, _ := r.Context().Value(visitorKey{}).(string)
	wait := t.visitors.take(visitor)
	if wait == 0 {
		return t.base.RoundTrip(r)
	}
	if r.Body != nil {
		r.Body.Close()
	}
	header := http.Header{}
	header.Set("Content-Type", "application/problem+json")
	header.Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	return &http.Response{
		Status: "429 Too Many Requests", StatusCode: http.StatusTooManyRequests, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Body: io.NopCloser(strings.NewReader(`{"type":"/problems/rate-limited"}`)), Request: r,
	}, nil
}
