package traintravel

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/traintravel/traintravel/internal/whsec"
)

// WebhookOptions are how a service posts events to those who have subscribed.
type WebhookOptions struct {
	// Sender posts. It is required.
	Sender WebhookSender
	// SealKey encrypts the secrets of subscriptions in the store: 32 bytes, the same
	// for all services on the store. It is required.
	SealKey []byte
	// Operator are endpoints that nobody has to subscribe: they get the events of all
	// bookings. All services on a store have the same. What waits for one that is no
	// longer among them is tried as if it did not answer.
	Operator []OperatorWebhook
	// Clients are the programs that may subscribe to all bookings made through them.
	// They do so when they act for themselves: see [Caller].
	// Nothing is posted any more for one that is taken from the list.
	Clients []string
	// PerHost is how many subscriptions to one host a user may have, through all clients.
	// Zero is 3.
	PerHost int
	// Backlog is how many deliveries may wait for one subscription: when there are more,
	// the oldest become dead letters. Zero is 1,000. Ten times as many are listed that are
	// over: then the oldest are forgotten. The operator's own endpoints have no bound.
	Backlog int
}

// Bounds of subscriptions.
const (
	maxSubscriptions = 100 // of a user through one client
	maxSubject       = 400 // of a user
	maxWebhookURL    = 2048
	defaultPerHost   = 3
	defaultBacklog   = 1000
	maxBacklog       = 100_000
	// overlap is for how long a replaced secret signs along.
	overlap = 24 * time.Hour
)

// checkEvents returns the event types asked for, in order and each once.
func checkEvents(events []EventType) ([]EventType, error) {
	if len(events) == 0 {
		return []EventType{BookingCreated}, nil
	}
	var known []EventType
	for i, e := range events {
		if !slices.Contains(eventTypes[:], e) {
			return nil, invalid(fmt.Sprintf("events[%d]", i), "%.40q is none of %s", string(e), listed(eventTypes[:]))
		}
	}
	for _, e := range eventTypes {
		if slices.Contains(events, e) {
			known = append(known, e)
		}
	}
	return known, nil
}

func listed(events []EventType) string {
	var names []string
	for _, e := range events {
		names = append(names, string(e))
	}
	return strings.Join(names, ", ")
}

func (o *WebhookOptions) perHost() int { return cmp.Or(o.PerHost, defaultPerHost) }
func (o *WebhookOptions) backlog() int { return cmp.Or(o.Backlog, defaultBacklog) }

func (o *WebhookOptions) check() error {
	switch {
	case o.Sender == nil:
		return invalid("Options.Webhooks.Sender", "is nil")
	case len(o.SealKey) != 32:
		return invalid("Options.Webhooks.SealKey", "has %d bytes, not 32", len(o.SealKey))
	case o.PerHost < 0:
		return invalid("Options.Webhooks.PerHost", "is below zero")
	case o.Backlog < 0 || o.Backlog > maxBacklog:
		return invalid("Options.Webhooks.Backlog", "is not 0 to %d", maxBacklog)
	}
	for i := range o.Operator {
		op := &o.Operator[i]
		events, err := checkEvents(op.Events)
		if err != nil {
			return invalid(fmt.Sprintf("Options.Webhooks.Operator[%d]", i), "%v", err)
		}
		if op.Events = events; op.URL == "" || len(op.Secrets) == 0 {
			return invalid(fmt.Sprintf("Options.Webhooks.Operator[%d]", i), "lacks a URL or a secret")
		}
		if slices.ContainsFunc(o.Operator[:i], func(other OperatorWebhook) bool { return other.URL == op.URL }) {
			return invalid(fmt.Sprintf("Options.Webhooks.Operator[%d]", i), "has the URL of another")
		}
		for _, secret := range op.Secrets {
			if _, err := whsec.Decode(string(secret)); err != nil {
				return invalid(fmt.Sprintf("Options.Webhooks.Operator[%d]", i), "%v", err)
			}
		}
	}
	return nil
}

// hasRoom refuses one more subscription to a host beside those that its owner has.
func (o *WebhookOptions) hasRoom(host string, others []subscription) error {
	n := 0
	for i := range others {
		if others[i].host() == host {
			n++
		}
	}
	if n >= o.perHost() {
		return &HostLimitError{host, n}
	}
	return nil
}
