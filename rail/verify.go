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

// ErrUnverified: nothing but pings is posted to a subscription whose receiver has not
// answered one yet.
var ErrUnverified = errors.New("the subscription is not verified: have a ping posted that its receiver answers with 2xx")

// VerifyBy is until when events wait for the subscription to be verified. The time is zero
// if it is verified. From that instant on, what waits is given up and nothing more is kept
// for it, until it is verified.
func (s *Subscription) VerifyBy() time.Time {
	if s.Unverified.IsZero() {
		return time.Time{}
	}
	return s.Unverified.Add(verifyWithin)
}

// Lapsed says that a subscription gets no events for want of verification.
func (s *Subscription) Lapsed(now time.Time) bool {
	return !s.Unverified.IsZero() && !now.Before(s.VerifyBy())
}

// Challenge is the event of the ping that verifies a subscription by itself.
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
	return fmt.Sprintf("there are %d subscriptions to %s already: delete one, or have one get more events", e.Most, e.Host)
}
