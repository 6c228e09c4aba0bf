package officetest

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/agenda"
	"github.com/traintravel/traintravel/internal/ledger"
	"github.com/traintravel/traintravel/internal/records"
)

// A Mailroom is a sender and all who receive.
type Mailroom struct {
	Mu      sync.Mutex
	Posts   []traintravel.WebhookPost
	Answers map[string]func(n int) (traintravel.WebhookAnswer, error) // by URL; n counts the posts to it
	Always  func(n int) (traintravel.WebhookAnswer, error)            // what others answer; nil is 200
}

func (m *Mailroom) CheckURL(url string) error {
	if !strings.HasPrefix(url, "https://") {
		return &traintravel.InvalidError{Field: "url", Reason: "is not https"}
	}
	return nil
}

func (m *Mailroom) Send(_ context.Context, p traintravel.WebhookPost) (traintravel.WebhookAnswer, error) {
	m.Mu.Lock()
	m.Posts = append(m.Posts, p)
	n := 0
	for _, q := range m.Posts {
		if q.URL == p.URL {
			n++
		}
	}
	answer := m.Answers[p.URL]
	if answer == nil {
		answer = m.Always
	}
	m.Mu.Unlock()
	if answer == nil {
		return traintravel.WebhookAnswer{Status: 200}, nil
	}
	return answer(n)
}

// To lists the events that were posted to a URL.
func (m *Mailroom) To(url string) (events []traintravel.EventType) {
	m.Mu.Lock()
	defer m.Mu.Unlock()
	for _, p := range m.Posts {
		if p.URL == url {
			events = append(events, p.Event.Type)
		}
	}
	return events
}

const Hook = "https://hooks.example/a"

// WithWebhooks opens an office that posts to subscribers.
func WithWebhooks(t *testing.T, store traintravel.Store, options ...func(*traintravel.Options)) (*Office, *Mailroom) {
	t.Helper()
	m := &Mailroom{Answers: map[string]func(int) (traintravel.WebhookAnswer, error){}}
	o := New(t, store, append([]func(*traintravel.Options){func(opts *traintravel.Options) {
		opts.Webhooks = &traintravel.WebhookOptions{Sender: m, SealKey: make([]byte, 32), PerHost: 1000, Clients: []string{"partner"}}
	}}, options...)...)
	return o, m
}

func (o *Office) MustSubscribe(by traintravel.Caller, url string, events ...traintravel.EventType) traintravel.Subscription {
	o.T.Helper()
	sub, secret, err := o.Subscribe(o.T.Context(), by, traintravel.NewSubscription{URL: url, Events: events})
	if err != nil || !strings.HasPrefix(string(secret), "whsec_") {
		o.T.Fatalf("subscribing: %v", err)
	}
	if err := Verify(o.T.Context(), o.Store, o.Now, sub.ID); err != nil {
		o.T.Fatalf("verifying: %v", err)
	}
	return sub
}

// OnlyDelivery expects a subscription to have one delivery, and returns it.
func (o *Office) OnlyDelivery(by traintravel.Caller, sub traintravel.Subscription) traintravel.Delivery {
	o.T.Helper()
	l, err := o.Deliveries(o.T.Context(), by, sub.ID, traintravel.Page{})
	if err != nil || len(l.Items) != 1 {
		o.T.Fatalf("deliveries: %+v, %v", l.Items, err)
	}
	return l.Items[0]
}

func ExpectEvents(t *testing.T, m *Mailroom, url string, want ...traintravel.EventType) {
	t.Helper()
	if got := m.To(url); !slices.Equal(got, want) {
		t.Fatalf("%s got %v, want %v", url, got, want)
	}
}

func Answers(status int) func(int) (traintravel.WebhookAnswer, error) {
	return func(int) (traintravel.WebhookAnswer, error) { return traintravel.WebhookAnswer{Status: status}, nil }
}

// Partner is a client that acts for itself, and through is a user of it.
var (
	Partner = traintravel.Caller{Subject: traintravel.Subject{Issuer: Anna.Issuer, ID: "partner"}, Client: "partner", ForItself: true}
	Through = traintravel.Caller{Subject: Anna.Subject, Client: "partner"}
)

// Colleague opens an office that posts to subscribers through the same mailroom.
func (o *Office) Colleague(m *Mailroom, options ...func(*traintravel.WebhookOptions)) *Office {
	return o.Another(KeepUnpaid, func(opts *traintravel.Options) {
		opts.Webhooks = &traintravel.WebhookOptions{Sender: m, SealKey: make([]byte, 32), PerHost: 1000, Clients: []string{"partner"}}
		for _, f := range options {
			f(opts.Webhooks)
		}
	})
}

const Operators traintravel.Secret = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

const OperatorsHook = "http://10.0.0.1/hook"

// Of lists the types of the events of a booking that came to a URL, each once.
func (m *Mailroom) Of(url string, booking uuid.UUID) (types []traintravel.EventType) {
	m.Mu.Lock()
	defer m.Mu.Unlock()
	for _, p := range m.Posts {
		if p.URL == url && p.Event.Booking.ID == booking && !slices.Contains(types, p.Event.Type) {
			types = append(types, p.Event.Type)
		}
	}
	return types
}

// Twice counts the posts that came before.
func (m *Mailroom) Twice() (n int) {
	m.Mu.Lock()
	defer m.Mu.Unlock()
	seen := map[string]bool{}
	for _, p := range m.Posts {
		if key := p.URL + p.Event.ID.String(); seen[key] {
			n++
		} else {
			seen[key] = true
		}
	}
	return n
}

// Count counts the posts, but for pings: a server may be quicker than a test that verifies
// a subscription.
func (m *Mailroom) Count() (n int) {
	m.Mu.Lock()
	defer m.Mu.Unlock()
	for _, p := range m.Posts {
		if p.Event.Type != traintravel.Ping {
			n++
		}
	}
	return n
}

// newBooks are books on a store, as a service has them.
func newBooks(store traintravel.Store, now func() time.Time) *ledger.Books {
	return &ledger.Books{
		Store: store, Zones: zones(), Now: now, Log: slog.New(slog.DiscardHandler),
		Observer: new(traintravel.Observer), Committed: func(*ledger.Ledger) {}, Terms: ledger.Terms{KeepUnpaid: ledger.KeepUnpaid},
	}
}

// Verify verifies a subscription as a receiver does that answers its ping, and leaves
// nothing of the ping.
func Verify(ctx context.Context, store traintravel.Store, now func() time.Time, id uuid.UUID) error {
	return newBooks(store, now).Update(ctx, now(), func(l *ledger.Ledger) error {
		v, err := l.Tx.Get(ctx, records.SubscriptionKey(id))
		if err != nil {
			return err
		}
		sub, err := records.DecodeSubscription(v[0])
		if err != nil {
			return err
		}
		ping := records.NewDelivery(id, sub.Challenge(), records.Queued{Kind: traintravel.Ping, Created: sub.Unverified})
		d, err := l.Delivery(id, ping.ID)
		if err != nil {
			return err
		}
		l.Delete(d.QueueKey())
		l.Delete(records.DeliveryKey(id, d.ID))
		l.Delete(records.EndpointKey(sub.Unverified, id))
		return l.Verified(&sub)
	})
}

// RemovePasses are the passes over unpaid bookings that are due.
func RemovePasses(ctx context.Context, store traintravel.Store, now func() time.Time) (passes []func(context.Context) error) {
	due, _, _, err := agenda.ListDue(ctx, store, records.UnpaidPass, "", now(), records.Batch)
	if err != nil {
		panic(err)
	}
	for _, it := range due {
		passes = append(passes, func(ctx context.Context) error { return newBooks(store, now).RemoveUnpaid(ctx, it) })
	}
	return passes
}
