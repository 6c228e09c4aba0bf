package webhooks

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/internal/whsec"
	"github.com/traintravel/traintravel/rail"
)

// WebhookOptions configures how a service posts events to subscribers.
type WebhookOptions struct {
	// Sender posts the events. It is required.
	Sender rail.WebhookSender
	// SealKey encrypts the secrets of subscriptions in the store: 32 bytes, the same
	// for all services on the store. It is required.
	SealKey []byte
	// Operator are the operator's endpoints, which need no subscription: they get the events
	// of all bookings. All services on a store must have the same. Deliveries to an endpoint
	// that was removed fail as if it did not respond.
	Operator []rail.OperatorWebhook
	// Clients are the programs that may subscribe to the events of all bookings made through
	// them. They do so when they act for themselves: see [rail.Caller]. After a program is
	// removed from the list, no events are posted to its subscriptions.
	Clients []string
	// PerHost is the number of subscriptions to one host that a user may have, through all
	// clients. Zero is 3.
	PerHost int
	// Backlog is the number of deliveries that may wait for one subscription; if more wait,
	// the oldest become dead letters. Zero is 1,000. Ten times as many completed deliveries
	// are kept; then the oldest are deleted. The operator's own endpoints have no limits.
	Backlog int
}

// Bounds of subscriptions.
const (
	maxSubject     = 400 // of a user
	maxWebhookURL  = 2048
	defaultPerHost = 3
	defaultBacklog = 1000

	// LongestBacklog is the largest Backlog.
	LongestBacklog = 100_000

	// overlap is how long deliveries are signed with a replaced secret too.
	overlap = 24 * time.Hour
)

// checkEvents returns the event types asked for, in order and each once.
func checkEvents(events []rail.EventType) ([]rail.EventType, error) {
	if len(events) == 0 {
		return []rail.EventType{rail.BookingCreated}, nil
	}
	var known []rail.EventType
	for i, e := range events {
		if !slices.Contains(rail.EventTypes(), e) {
			return nil, rail.Invalid(fmt.Sprintf("events[%d]", i), "unknown event type %.40q: want one of %s", string(e), listed(rail.EventTypes()))
		}
	}
	for _, e := range rail.EventTypes() {
		if slices.Contains(events, e) {
			known = append(known, e)
		}
	}
	return known, nil
}

func listed(events []rail.EventType) string {
	var names []string
	for _, e := range events {
		names = append(names, string(e))
	}
	return strings.Join(names, ", ")
}

func (o *WebhookOptions) perHost() int    { return cmp.Or(o.PerHost, defaultPerHost) }
func (o *WebhookOptions) MaxBacklog() int { return cmp.Or(o.Backlog, defaultBacklog) }

// Check returns an error for options with which no event could be posted.
func (o *WebhookOptions) Check() error {
	switch {
	case o.Sender == nil:
		return rail.Invalid("Options.Webhooks.Sender", "is nil")
	case len(o.SealKey) != 32:
		return rail.Invalid("Options.Webhooks.SealKey", "has %d bytes: want 32", len(o.SealKey))
	case o.PerHost < 0:
		return rail.Invalid("Options.Webhooks.PerHost", "is below zero")
	case o.Backlog < 0 || o.Backlog > LongestBacklog:
		return rail.Invalid("Options.Webhooks.Backlog", "invalid number %d: want 0 to %d", o.Backlog, LongestBacklog)
	}
	for i := range o.Operator {
		op := &o.Operator[i]
		events, err := checkEvents(op.Events)
		if err != nil {
			return rail.Invalid(fmt.Sprintf("Options.Webhooks.Operator[%d]", i), "%v", err)
		}
		if op.Events = events; op.URL == "" || len(op.Secrets) == 0 {
			return rail.Invalid(fmt.Sprintf("Options.Webhooks.Operator[%d]", i), "lacks a URL or a secret")
		}
		if slices.ContainsFunc(o.Operator[:i], func(other rail.OperatorWebhook) bool { return other.URL == op.URL }) {
			return rail.Invalid(fmt.Sprintf("Options.Webhooks.Operator[%d]", i), "has the same URL as another")
		}
		for _, secret := range op.Secrets {
			if _, err := whsec.Decode(string(secret)); err != nil {
				return rail.Invalid(fmt.Sprintf("Options.Webhooks.Operator[%d]", i), "%v", err)
			}
		}
	}
	return nil
}

// hasRoom returns an error if the owner has reached the limit of subscriptions to a host.
func (o *WebhookOptions) hasRoom(host string, others []records.Subscription) error {
	n := 0
	for i := range others {
		if others[i].Host() == host {
			n++
		}
	}
	if n >= o.perHost() {
		return &rail.HostLimitError{Host: host, Most: n}
	}
	return nil
}
