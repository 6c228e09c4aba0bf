package webhooks

import (
	"sync"
	"time"

	"github.com/traintravel/traintravel/rail"
)

// Anybody who may subscribe can make the server post pings to a machine whose owner has not
// agreed to it. So pings to the host of an unverified subscription are limited: each user gets
// a few of them, and then one a minute, over all subscriptions.

const (
	// pingsPerSubscription is the number of pings without delay for each subscription that
	// a user may have to a host.
	pingsPerSubscription = 4
	// pingEvery is the time after which one more ping is allowed.
	pingEvery = time.Minute
	// maxPinged is the maximum number of remembered hosts of users.
	maxPinged = 1 << 14
)

// pingRations remembers the pings of this process to the hosts of unverified subscriptions.
// The zero value is empty. It is safe for concurrent use.
type pingRations struct {
	mu    sync.Mutex
	hosts map[pinged]*pingRation
}

// pinged is the host that pings are posted to, and the user they are posted for.
type pinged struct {
	owner rail.Subject
	host  string
}

type pingRation struct {
	full     time.Time // when the full ration is available again
	underWay int
}

// begin takes a ping from the ration. It returns the function that ends the ping, or nil and
// how long to wait. perHost is the number of subscriptions that a user may have to a host, and
// so the number of pings in progress.
func (r *pingRations) begin(to pinged, perHost int, now time.Time) (end func(), wait time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	atOnce := time.Duration(perHost) * pingsPerSubscription * pingEvery
	ration := r.hosts[to]
	if ration == nil {
		ration = r.add(to, now)
	}
	if most := now.Add(atOnce); ration.full.After(most) { // the clock has stepped back
		ration.full = most
	}
	full := now
	if ration.full.After(now) {
		full = ration.full
	}
	full = full.Add(pingEvery)
	if wait := full.Sub(now) - atOnce; wait > 0 {
		return nil, wait
	}
	if ration.underWay >= perHost {
		return nil, sendTimeout
	}
	ration.full = full
	ration.underWay++
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		ration.underWay--
	}, 0
}

// add remembers one more host. If there are too many, it forgets those with a full ration, or
// otherwise any.
func (r *pingRations) add(to pinged, now time.Time) *pingRation {
	if r.hosts == nil {
		r.hosts = map[pinged]*pingRation{}
	}
	if len(r.hosts) >= maxPinged {
		for k, ration := range r.hosts {
			if ration.underWay == 0 && !ration.full.After(now) {
				delete(r.hosts, k)
			}
		}
	}
	if len(r.hosts) >= maxPinged {
		for k := range r.hosts {
			delete(r.hosts, k)
			break
		}
	}
	ration := &pingRation{}
	r.hosts[to] = ration
	return ration
}
