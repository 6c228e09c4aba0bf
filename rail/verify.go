package rail

import (
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/ids"
)

// What is posted goes to machines that are perhaps not the subscriber's. So a subscription
// is unverified until its receiver answers a ping with a status of 2xx, and nothing but
// pings is posted to it. Events wait for that, as many as may wait and no longer than
// verifyWithin. See docs/decisions/0037-webhooks-of-strangers.md.

// verifyWithin is how long events wait for their subscription to be verified.
const verifyWithin = 24 * time.Hour

// ErrUnverified: the subscription gets nothing but pings, because its receiver has not
// responded to one yet.
var ErrUnverified = errors.New("the subscription is not verified: have a ping posted, and make its receiver respond with a 2xx status")

// VerifyBy returns the time until which events wait for the subscription to be verified, zero
// if it is verified. After that time, waiting events are discarded and new ones are not kept
// until the subscription is verified.
func (s *Subscription) VerifyBy() time.Time {
	if s.Unverified.IsZero() {
		return time.Time{}
	}
	return s.Unverified.Add(verifyWithin)
}

// Lapsed says whether a subscription gets no events because it was not verified in time.
func (s *Subscription) Lapsed(now time.Time) bool {
	return !s.Unverified.IsZero() && !now.Before(s.VerifyBy())
}

// Challenge returns the ID of the event of the automatic ping that verifies a subscription;
// zero if it is verified.
func (s *Subscription) Challenge() uuid.UUID {
	if s.Unverified.IsZero() {
		return uuid.Nil
	}
	return ids.HashID("verify", s.ID, s.URL, int(s.Unverified.UnixNano()))
}

// A HostLimitError refuses a subscription because the user has reached the limit of
// subscriptions to its host.
type HostLimitError struct {
	Host string // without its port
	Most int
}

// Error names the host and what to do.
func (e *HostLimitError) Error() string {
	return fmt.Sprintf("the user has %d subscriptions to %s, the maximum: delete one, or subscribe an existing one to more events", e.Most, e.Host)
}
