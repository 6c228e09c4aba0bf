package traintravel_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/store/memstore"
)

// A mailroom is a sender and all who receive.
type mailroom struct {
	mu      sync.Mutex
	posts   []traintravel.WebhookPost
	answers map[string]func(n int) (traintravel.WebhookAnswer, error) // by URL; n counts the posts to it
	always  func(n int) (traintravel.WebhookAnswer, error)            // what others answer; nil is 200
}

func (m *mailroom) CheckURL(url string) error {
	if !strings.HasPrefix(url, "https://") {
		return &traintravel.InvalidError{Field: "url", Reason: "is not https"}
	}
	return nil
}

func (m *mailroom) Send(_ context.Context, p traintravel.WebhookPost) (traintravel.WebhookAnswer, error) {
	m.mu.Lock()
	m.posts = append(m.posts, p)
	n := 0
	for _, q := range m.posts {
		if q.URL == p.URL {
			n++
		}
	}
	answer := m.answers[p.URL]
	if answer == nil {
		answer = m.always
	}
	m.mu.Unlock()
	if answer == nil {
		return traintravel.WebhookAnswer{Status: 200}, nil
	}
	return answer(n)
}

// to lists the events that were posted to a URL.
func (m *mailroom) to(url string) (events []traintravel.EventType) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range m.posts {
		if p.URL == url {
			events = append(events, p.Event.Type)
		}
	}
	return events
}

const hook = "https://hooks.example/a"

// withWebhooks opens an office that posts to subscribers.
func withWebhooks(t *testing.T, store traintravel.Store, options ...func(*traintravel.Options)) (*office, *mailroom) {
	t.Helper()
	m := &mailroom{answers: map[string]func(int) (traintravel.WebhookAnswer, error){}}
	o := newOffice(t, store, append([]func(*traintravel.Options){func(opts *traintravel.Options) {
		opts.Webhooks = &traintravel.WebhookOptions{Sender: m, SealKey: make([]byte, 32), PerHost: 1000, Clients: []string{"partner"}}
	}}, options...)...)
	return o, m
}

func (o *office) subscribe(by traintravel.Caller, url string, events ...traintravel.EventType) traintravel.Subscription {
	o.t.Helper()
	sub, secret, err := o.Subscribe(o.t.Context(), by, traintravel.NewSubscription{URL: url, Events: events})
	if err != nil || !strings.HasPrefix(string(secret), "whsec_") {
		o.t.Fatalf("subscribing: %v", err)
	}
	if err := verify(o.t.Context(), o.store, o.now, sub.ID); err != nil {
		o.t.Fatalf("verifying: %v", err)
	}
	return sub
}

// delivery expects a subscription to have one delivery, and returns it.
func (o *office) delivery(by traintravel.Caller, sub traintravel.Subscription) traintravel.Delivery {
	o.t.Helper()
	l, err := o.Deliveries(o.t.Context(), by, sub.ID, traintravel.Page{})
	if err != nil || len(l.Items) != 1 {
		o.t.Fatalf("deliveries: %+v, %v", l.Items, err)
	}
	return l.Items[0]
}

func expectEvents(t *testing.T, m *mailroom, url string, want ...traintravel.EventType) {
	t.Helper()
	if got := m.to(url); !slices.Equal(got, want) {
		t.Fatalf("%s got %v, want %v", url, got, want)
	}
}

func TestSubscribersGetTheirEvents(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o, m := withWebhooks(t, store)
		o.book(anna, o.trip('A', 'D', "R 1")) // nobody wanted to know
		o.clock.add(time.Second)
		o.subscribe(anna, hook+"1")
		o.subscribe(anna, hook+"2", traintravel.BookingCancelled, traintravel.BookingConfirmed)
		o.subscribe(berta, hook+"3")
		partner := traintravel.Caller{Subject: traintravel.Subject{Issuer: anna.Issuer, ID: "partner"}, Client: "partner", ForItself: true}
		o.subscribe(partner, hook+"4")
		b := o.book(anna, o.trip('A', 'D', "R 1"))
		o.mustPay(b, traintravel.Succeeded)
		o.expect("cancelling", o.CancelBooking(t.Context(), anna, b.ID), nil)
		through := anna
		through.Client = "partner"
		o.book(through, o.trip('A', 'D', "R 1"))
		o.do()
		created := traintravel.BookingCreated
		expectEvents(t, m, hook+"1", created, created)
		expectEvents(t, m, hook+"3")
		expectEvents(t, m, hook+"4", created)
		got := m.to(hook + "2")
		slices.Sort(got)
		if !slices.Equal(got, []traintravel.EventType{traintravel.BookingCancelled, traintravel.BookingConfirmed}) {
			t.Fatalf("%v", got)
		}
		o.do()
		if len(m.posts) != 5 {
			t.Errorf("%d posts", len(m.posts))
		}
	})
}

// The schedule to its end, then a replay.
func TestDeliverySchedule(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o, m := withWebhooks(t, store, keepUnpaid)
		sub := o.subscribe(anna, hook)
		m.answers[hook] = func(int) (traintravel.WebhookAnswer, error) { return traintravel.WebhookAnswer{Status: 204}, nil }
		o.book(anna, o.trip('A', 'D', "R 1"))
		waits := []time.Duration{0, 5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour}
		for n, wait := range waits {
			if n > 0 {
				d := o.delivery(anna, sub)
				in := d.Next.Sub(o.clock.now())
				if d.Status != traintravel.DeliveryPending || d.Attempts != n || d.LastStatus != 204 || in < wait*4/5 || in > wait*6/5 {
					t.Fatalf("after %d attempts: %+v, in %v", n, d, in)
				}
				o.clock.add(in - 1)
				if o.do(); len(m.posts) != n {
					t.Fatalf("it was tried before its time")
				}
				o.clock.add(1)
			}
			if o.do(); len(m.posts) != n+1 {
				t.Fatalf("%d posts after %d tries", len(m.posts), n+1)
			}
		}
		d := o.delivery(anna, sub)
		if d.Status != traintravel.DeliveryDead || d.Attempts != 10 || !d.Next.IsZero() {
			t.Fatalf("in the end %+v", d)
		}
		o.clock.add(20 * 24 * time.Hour)
		if o.do(); len(m.posts) != 10 {
			t.Fatalf("a dead letter was posted")
		}
		m.answers[hook] = nil
		again, err := o.RetryDelivery(t.Context(), anna, sub.ID, d.ID, "")
		if err != nil || again.Status != traintravel.DeliveryPending || again.ID != d.ID {
			t.Fatalf("%+v, %v", again, err)
		}
		o.do()
		if d := o.delivery(anna, sub); d.Status != traintravel.DeliveryDelivered || d.LastStatus != 200 || m.posts[10].Event.ID != m.posts[0].Event.ID {
			t.Fatalf("%+v", d)
		}
		_, err = o.RetryDelivery(t.Context(), anna, sub.ID, d.ID, "")
		o.expect("trying what was delivered", err, traintravel.ErrDelivered)
		o.clock.add(8 * 24 * time.Hour)
		o.do()
		if l, err := o.Deliveries(t.Context(), anna, sub.ID, traintravel.Page{}); err != nil || len(l.Items) != 0 {
			t.Errorf("%+v, %v are still there", l.Items, err)
		}
	})
}

// What waits for its next attempt is given up once nothing is posted any more, by the
// owner's word or the receiver's, and is not tried before that is taken back.
func TestDisabledGivesUpWhatWaits(t *testing.T) {
	yes, no := true, false
	for name, disable := range map[string]func(*office, *mailroom, traintravel.Subscription){
		"by the owner": func(o *office, _ *mailroom, sub traintravel.Subscription) {
			_, err := o.ChangeSubscription(o.t.Context(), anna, sub.ID, traintravel.SubscriptionChange{Disabled: &yes})
			o.expect("disabling", err, nil)
		},
		"by the receiver": func(o *office, m *mailroom, _ traintravel.Subscription) {
			m.answers[hook] = answers(410)
			o.book(anna, o.trip('F', 'G', "S 3"))
		},
	} {
		onEveryStoreCase(t, name, func(t *testing.T, store traintravel.Store) {
			o, m := withWebhooks(t, store)
			sub := o.subscribe(anna, hook)
			const events = 300 // more than are looked at together
			m.answers[hook] = func(n int) (traintravel.WebhookAnswer, error) {
				if n == 1 {
					return traintravel.WebhookAnswer{Status: 200}, nil // there is hope for the others
				}
				return traintravel.WebhookAnswer{Status: 503, RetryAfter: time.Hour}, nil
			}
			for range events {
				o.book(anna, o.trip('F', 'G', "S 3"))
			}
			o.do()
			if n := len(m.to(hook)); n != events {
				t.Fatalf("%d posts", n)
			}
			disable(o, m, sub)
			for range 2 {
				o.do()
				o.clock.add(time.Second)
			}
			for after, more := "", true; more; {
				l, err := o.Deliveries(t.Context(), anna, sub.ID, traintravel.Page{Limit: 100, After: after})
				if err != nil {
					t.Fatal(err)
				}
				for _, d := range l.Items {
					if d.Status == traintravel.DeliveryPending {
						t.Fatalf("%+v", d)
					}
				}
				after, more = l.Next, l.Next != ""
			}
			l, err := o.Deliveries(t.Context(), anna, sub.ID, traintravel.Page{Limit: 1})
			if err != nil {
				t.Fatal(err)
			}
			_, err = o.RetryDelivery(t.Context(), anna, sub.ID, l.Items[0].ID, "")
			o.expect("trying one", err, traintravel.ErrDisabled)
			_, err = o.RetryDead(t.Context(), anna, sub.ID)
			o.expect("trying all", err, traintravel.ErrDisabled)
			ping, err := o.PingSubscription(t.Context(), anna, sub.ID, "")
			o.expect("a ping", err, nil)
			o.do()
			_, err = o.RetryDelivery(t.Context(), anna, sub.ID, ping.ID, "")
			o.expect("trying a ping", err, nil)
			_, err = o.ChangeSubscription(t.Context(), anna, sub.ID, traintravel.SubscriptionChange{Disabled: &no})
			o.expect("enabling", err, nil)
			_, err = o.RetryDelivery(t.Context(), anna, sub.ID, l.Items[0].ID, "")
			o.expect("trying one again", err, nil)
		})
	}
}

func TestReceiversHaveTheirSay(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o, m := withWebhooks(t, store)
		sub := o.subscribe(anna, hook)
		m.answers[hook] = func(n int) (traintravel.WebhookAnswer, error) {
			if n == 1 {
				return traintravel.WebhookAnswer{Status: 503, RetryAfter: time.Hour}, nil
			}
			return traintravel.WebhookAnswer{Status: 410}, nil
		}
		o.book(anna, o.trip('A', 'D', "R 1"))
		o.do()
		if d := o.delivery(anna, sub); d.Next.Sub(o.clock.now()) != time.Hour {
			t.Fatalf("it asked for an hour: %+v", d)
		}
		o.clock.add(time.Hour)
		o.do()
		if d := o.delivery(anna, sub); d.Status != traintravel.DeliveryDead || d.LastStatus != 410 {
			t.Fatalf("it is gone: %+v", d)
		}
		if is, err := o.Subscription(t.Context(), anna, sub.ID); err != nil || !is.Disabled {
			t.Fatalf("%+v, %v", is, err)
		}
		o.book(anna, o.trip('A', 'D', "R 1"))
		o.do()
		no := false
		if is, err := o.ChangeSubscription(t.Context(), anna, sub.ID, traintravel.SubscriptionChange{Disabled: &no}); err != nil || is.Disabled {
			t.Fatalf("%+v, %v", is, err)
		}
		m.answers[hook] = nil
		o.clock.add(time.Second)
		o.book(anna, o.trip('A', 'D', "R 1"))
		o.do()
		if len(m.posts) != 3 {
			t.Errorf("%d posts", len(m.posts))
		}
		if _, err := o.PingSubscription(t.Context(), anna, sub.ID, ""); err != nil {
			t.Fatal(err)
		}
		o.do()
		if last := m.posts[len(m.posts)-1]; last.Event.Type != traintravel.Ping || len(m.posts) != 4 {
			t.Errorf("%+v", last)
		}
	})
}

// A secret is shown once, signs, and is replaced with an overlap.
func TestSubscriptionSecrets(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o, m := withWebhooks(t, store)
		sub, first, err := o.Subscribe(t.Context(), anna, traintravel.NewSubscription{URL: hook, IdempotencyKey: "k"})
		if err != nil {
			t.Fatal(err)
		}
		same, again, err := o.Subscribe(t.Context(), anna, traintravel.NewSubscription{URL: hook, IdempotencyKey: "k"})
		if err != nil || same.ID != sub.ID || again != first || !same.Replayed {
			t.Fatalf("repeated: %+v, %v", same, err)
		}
		signed := func(want ...traintravel.Secret) {
			t.Helper()
			o.clock.add(time.Second)
			if _, err := o.PingSubscription(t.Context(), anna, sub.ID, ""); err != nil {
				t.Fatal(err)
			}
			o.do()
			if got := m.posts[len(m.posts)-1].Secrets; !slices.Equal(got, want) {
				t.Fatalf("signed by %d secrets, want %d, or by others", len(got), len(want))
			}
		}
		signed(first)
		_, second, err := o.NewSubscriptionSecret(t.Context(), anna, sub.ID, "")
		if err != nil || second == first {
			t.Fatal(err)
		}
		signed(second, first)
		o.clock.add(24 * time.Hour)
		signed(second)
		for _, table := range traintravel.Tables() {
			records, err := store.List(t.Context(), traintravel.Range{Table: table})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range records {
				if strings.Contains(r.ID+string(r.Value), "whsec_") {
					t.Fatalf("a record of %v has a secret in plain", table)
				}
			}
		}
	})
}

// An endpoint at which nothing arrives gives way after some deliveries, and gets the rest
// afterwards.
func TestFailingEndpointGivesWay(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o, m := withWebhooks(t, store)
		const events = 70
		for _, url := range []string{hook + "1", hook + "2"} {
			sub := o.subscribe(anna, url)
			for range events {
				if _, err := o.PingSubscription(t.Context(), anna, sub.ID, ""); err != nil {
					t.Fatal(err)
				}
			}
		}
		m.answers[hook+"1"] = func(int) (traintravel.WebhookAnswer, error) { return traintravel.WebhookAnswer{Status: 500}, nil }
		o.do()
		if bad, good := len(m.to(hook+"1")), len(m.to(hook+"2")); bad < 16 || bad > 32 || good != events {
			t.Errorf("%d posts to the bad one, %d to the good one", bad, good)
		}
		for range 5 {
			o.clock.add(time.Second)
			o.do()
		}
		if bad := len(m.to(hook + "1")); bad != events {
			t.Errorf("%d posts to the bad one", bad)
		}
	})
}

func TestUnsubscribing(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o, m := withWebhooks(t, store)
		sub := o.subscribe(anna, hook)
		m.answers[hook] = func(n int) (traintravel.WebhookAnswer, error) {
			if n == 2 { // while a delivery is under way
				o.expect("unsubscribing", o.Unsubscribe(t.Context(), anna, sub.ID), nil)
			}
			return traintravel.WebhookAnswer{}, errors.New("no answer")
		}
		for range 2 {
			o.book(anna, o.trip('A', 'D', "R 1"))
			o.do()
		}
		o.clock.add(100 * time.Hour)
		o.do()
		o.clock.add(100 * time.Hour)
		o.do()
		if len(m.posts) != 2 {
			t.Errorf("%d posts", len(m.posts))
		}
		for _, table := range []traintravel.Table{traintravel.TableWebhooks, traintravel.TableDeliveries} {
			if records, err := store.List(t.Context(), traintravel.Range{Table: table}); err != nil || len(records) > 0 {
				t.Errorf("%d records are left of %v, %v", len(records), table, err)
			}
		}
		_, err := o.Deliveries(t.Context(), anna, sub.ID, traintravel.Page{})
		o.expect("its deliveries", err, traintravel.ErrNotFound)
	})
}

// Nobody sees or touches what is another's.
func TestSubscriptionsAreTheirOwners(t *testing.T) {
	o, _ := withWebhooks(t, memstore.New())
	sub := o.subscribe(anna, hook)
	o.book(anna, o.trip('A', 'D', "R 1"))
	o.do()
	d := o.delivery(anna, sub)
	other := anna
	other.Client = "other app"
	abroad := anna
	abroad.Issuer = "https://other.example"
	for _, by := range []traintravel.Caller{berta, other, abroad} {
		ctx, yes := t.Context(), true
		for what, try := range map[string]func() error{
			"subscription": func() error { _, err := o.Subscription(ctx, by, sub.ID); return err },
			"change": func() error {
				_, err := o.ChangeSubscription(ctx, by, sub.ID, traintravel.SubscriptionChange{Disabled: &yes})
				return err
			},
			"unsubscribe": func() error { return o.Unsubscribe(ctx, by, sub.ID) },
			"secret":      func() error { _, _, err := o.NewSubscriptionSecret(ctx, by, sub.ID, ""); return err },
			"ping":        func() error { _, err := o.PingSubscription(ctx, by, sub.ID, ""); return err },
			"deliveries":  func() error { _, err := o.Deliveries(ctx, by, sub.ID, traintravel.Page{}); return err },
			"retry":       func() error { _, err := o.RetryDelivery(ctx, by, sub.ID, d.ID, ""); return err },
		} {
			o.expect(fmt.Sprintf("%s by %v", what, by), try(), traintravel.ErrNotFound)
		}
		if l, err := o.Subscriptions(ctx, by, traintravel.Page{}); err != nil || len(l.Items) != 0 {
			t.Errorf("%v sees %+v, %v", by, l.Items, err)
		}
	}
	if _, err := o.RetryDelivery(t.Context(), anna, sub.ID, uuid.New(), ""); !errors.Is(err, traintravel.ErrNotFound) {
		t.Error(err)
	}
}
