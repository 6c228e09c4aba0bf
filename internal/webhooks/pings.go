package webhooks

import (
	"sync"
	"time"

	"github.com/traintravel/traintravel/rail"
)

// Whoever may subscribe has pings posted to a machine that has not agreed to get anything.
// So pings to the host of an unverified subscription are rationed: each user may have a
// few of them, and then one a minute, through however many subscriptions one after another.

const (
	// pingsPerSubscription is how many pings come at once for each subscription that a
	// user may have to a host.
	pingsPerSubscription = 4
	// pingEvery is how often there may be one more.
	pingEvery = time.Minute
	// maxPinged bounds how many hosts of users are remembered.
	maxPinged = 1 << 14
)

// pingRations remember the pings to the hosts of unverified subscriptions. They are of one
// process. The zero value remembers none. It is safe for concurrent use.
type pingRations struct {
	mu    sync.Mutex
	hosts map[pinged]*pingRation
}

// pinged is to whom pings are posted, and for whom.
type pinged struct {
	owner rail.Subject
	host  string
}

type pingRation struct {
	full     time.Time // when there may be as many at once as at the beginning
	underWay int
}

// begin takes a ping from the ration. It returns the function that ends the ping, or nil
// and how long to wait. perHost is how many subscriptions a user may have to a host: as
// many pings may be under way.
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

// add remembers one more host. Where there are too many, it forgets those that have their
// whole ration again, or else any.
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
