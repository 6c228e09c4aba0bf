package traintravel_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/sandbox"
	"github.com/traintravel/traintravel/store/memstore"
)

func answers(status int) func(int) (traintravel.WebhookAnswer, error) {
	return func(int) (traintravel.WebhookAnswer, error) { return traintravel.WebhookAnswer{Status: status}, nil }
}

// partner is a client that acts for itself, and through is a user of it.
var (
	partner = traintravel.Caller{Subject: traintravel.Subject{Issuer: anna.Issuer, ID: "partner"}, Client: "partner", ForItself: true}
	through = traintravel.Caller{Subject: anna.Subject, Client: "partner"}
)

// colleague opens an office that posts to subscribers through the same mailroom.
func (o *office) colleague(m *mailroom, options ...func(*traintravel.WebhookOptions)) *office {
	return o.another(keepUnpaid, func(opts *traintravel.Options) {
		opts.Webhooks = &traintravel.WebhookOptions{Sender: m, SealKey: make([]byte, 32), PerHost: 1000, Clients: []string{"partner"}}
		for _, f := range options {
			f(opts.Webhooks)
		}
	})
}

// endpointsDue counts the entries of the agenda that are endpoints.
func (o *office) endpointsDue() int {
	o.t.Helper()
	all, err := o.store.List(o.t.Context(), traintravel.Range{Table: traintravel.TableAgenda, From: "w", To: "x"})
	if err != nil {
		o.t.Fatal(err)
	}
	return len(all)
}

const operators traintravel.Secret = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

// counting is a store that counts updates.
type counting struct {
	*memstore.Store
	updates atomic.Int64
}

func (c *counting) Update(ctx context.Context, fn func(traintravel.Tx) error) error {
	c.updates.Add(1)
	return c.Store.Update(ctx, fn)
}

// Nobody looks at an endpoint before something is due there, and it is on the agenda
// once however much waits for it.
func TestEndpointsAreLeftAlone(t *testing.T) {
	t.Parallel()
	store := &counting{Store: memstore.New()}
	o, m := withWebhooks(t, store)
	sub := o.subscribe(anna, hook)
	m.answers[hook] = answers(500)
	for range 40 {
		o.book(anna, o.trip('F', 'G', "S 3"))
		o.clock.add(370 * time.Millisecond)
		o.do()
	}
	o.clock.add(10 * time.Second)
	o.do()
	if n := o.endpointsDue(); n != 1 {
		t.Errorf("the endpoint is on the agenda %d times", n)
	}
	l, err := o.Deliveries(t.Context(), anna, sub.ID, traintravel.Page{Limit: 100})
	if err != nil || len(l.Items) != 40 {
		t.Fatalf("%d deliveries, %v", len(l.Items), err)
	}
	next := l.Items[0].Next
	for _, d := range l.Items {
		if d.Next.Before(next) {
			next = d.Next
		}
	}
	o.clock.set(next.Add(-1))
	posts, updates := len(m.posts), store.updates.Load()
	if o.do(); len(m.posts) != posts || store.updates.Load() != updates+1 { // which is the clock's
		t.Errorf("%d posts and %d updates before something is due", len(m.posts)-posts, store.updates.Load()-updates)
	}
	o.clock.set(next)
	if o.do(); len(m.posts) == posts {
		t.Error("nothing was posted when it was due")
	}
}

// A server whose clock is behind writes events that a subscription made before gets;
// events from long before it does not get.
func TestSubscribersClock(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o, m := withWebhooks(t, store)
		o.subscribe(anna, hook+"1")
		late := o.another() // has no webhooks itself
		late.clock.add(-10 * time.Second)
		late.book(anna, late.trip('F', 'G', "S 3"))
		o.do()
		expectEvents(t, m, hook+"1", traintravel.BookingCreated)
		o.book(anna, o.trip('F', 'G', "S 3"))
		o.clock.add(3 * time.Minute)
		o.subscribe(anna, hook+"2")
		o.do()
		expectEvents(t, m, hook+"1", traintravel.BookingCreated, traintravel.BookingCreated)
		expectEvents(t, m, hook+"2")
	})
}

// The operator's endpoint gets all that happens. While a server works that does not
// know it, or while it says that it is gone, events wait.
func TestOperatorsEndpoint(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o, m := withWebhooks(t, store)
		const url = "http://10.0.0.1/hook"
		knows := o.colleague(m, func(w *traintravel.WebhookOptions) {
			w.Operator = []traintravel.OperatorWebhook{{URL: url, Secrets: []traintravel.Secret{operators}}}
		})
		b := knows.book(anna, o.trip('F', 'G', "S 3"))
		other := o.another() // no webhooks at all
		other.book(berta, o.trip('F', 'G', "S 3"))
		knows.do()
		expectEvents(t, m, url, traintravel.BookingCreated, traintravel.BookingCreated)
		if p := m.posts[0]; !p.Operator || !slices.Equal(p.Secrets, []traintravel.Secret{operators}) || len(m.posts) != 2 {
			t.Errorf("%+v", m.posts)
		}
		m.answers[url] = answers(410)
		o.book(anna, o.trip('F', 'G', "S 3"))
		o.do() // gives the event to nobody: it does not know the operator's
		knows.book(anna, o.trip('F', 'G', "S 3"))
		knows.do()
		if books := o.audit(); books.Deliveries != 1 {
			t.Errorf("%d deliveries wait; of %v", books.Deliveries, b.ID)
		}
		m.answers[url] = nil
		o.clock.add(10 * time.Second)
		o.do()
		knows.clock.add(10 * time.Minute)
		knows.do()
		if books := o.audit(); books.Deliveries != 0 || len(m.to(url)) != 4 {
			t.Errorf("%d deliveries wait after %v", books.Deliveries, m.to(url))
		}

		// Who has other endpoints says that it is none of them, and sends nothing there.
		for _, c := range []struct {
			*office
			removed bool
		}{{knows, false}, {o, true}, {other, false}} {
			subs, err := c.Desk().Subscriptions(t.Context(), traintravel.Page{})
			if err != nil || len(subs.Items) != 1 || subs.Items[0].Removed != c.removed {
				t.Fatalf("%+v, %v, removed: %t", subs, err, c.removed)
			}
			if one, err := c.Desk().Subscription(t.Context(), subs.Items[0].ID); err != nil || one.Removed != c.removed {
				t.Errorf("%+v, %v, removed: %t", one, err, c.removed)
			}
			want := map[bool]error{true: traintravel.ErrDisabled}[c.removed]
			if _, err := c.Desk().RetryDead(t.Context(), subs.Items[0].ID); !errors.Is(err, want) {
				t.Errorf("%v, want %v", err, want)
			}
		}
	})
	_, err := traintravel.New(memstore.New(), traintravel.Options{Webhooks: &traintravel.WebhookOptions{
		Sender: &mailroom{}, SealKey: make([]byte, 32), Operator: []traintravel.OperatorWebhook{{URL: "u", Secrets: []traintravel.Secret{operators}}, {URL: "u", Secrets: []traintravel.Secret{operators}}},
	}})
	if _, ok := errors.AsType[*traintravel.InvalidError](err); !ok {
		t.Errorf("an endpoint that is there twice: %v", err)
	}
}

// An operator's endpoint is listed whatever the bytes of its ID.
func TestOperatorsEndpointIsListed(t *testing.T) {
	t.Parallel()
	url := hook
	for i := 0; records.OperatorID(url)[0] != 0xff; i++ {
		url = fmt.Sprint(hook, i)
	}
	o, m := withWebhooks(t, memstore.New())
	knows := o.colleague(m, func(w *traintravel.WebhookOptions) {
		w.Operator = []traintravel.OperatorWebhook{{URL: url, Secrets: []traintravel.Secret{operators}}}
	})
	knows.book(anna, o.trip('F', 'G', "S 3"))
	knows.do()
	subs, err := knows.Desk().Subscriptions(t.Context(), traintravel.Page{})
	if err != nil || len(subs.Items) != 1 || subs.Items[0].URL != url {
		t.Errorf("%+v, %v", subs, err)
	}
}

// A client that the operator has taken from the list gets nothing any more.
func TestClientLosesItsRight(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o, m := withWebhooks(t, store)
		sub := o.subscribe(partner, hook)
		o.book(through, o.trip('F', 'G', "S 3"))
		without := o.colleague(m, func(w *traintravel.WebhookOptions) { w.Clients = nil })
		without.do()
		expectEvents(t, m, hook)
		if d := o.delivery(partner, sub); d.Status != traintravel.DeliveryPending || d.Attempts != 1 || d.LastStatus != 0 {
			t.Fatalf("%+v", d)
		}
		o.clock.add(10 * time.Second)
		o.do() // this one still has it: they are being restarted one by one
		expectEvents(t, m, hook, traintravel.BookingCreated)
	})
}

// What the owner changes holds at once, also for what waits for its turn.
func TestChangesWhilePosting(t *testing.T) {
	no := true
	elsewhere := hook + "/elsewhere"
	for name, change := range map[string]func(*office, traintravel.Subscription) error{
		"deleted": func(o *office, s traintravel.Subscription) error { return o.Unsubscribe(o.t.Context(), anna, s.ID) },
		"disabled": func(o *office, s traintravel.Subscription) error {
			_, err := o.ChangeSubscription(o.t.Context(), anna, s.ID, traintravel.SubscriptionChange{Disabled: &no})
			return err
		},
		"moved": func(o *office, s traintravel.Subscription) error {
			_, err := o.ChangeSubscription(o.t.Context(), anna, s.ID, traintravel.SubscriptionChange{URL: &elsewhere})
			return err
		},
	} {
		onEveryStoreCase(t, name, func(t *testing.T, store traintravel.Store) {
			const events, underWay = 60, 16
			o, m := withWebhooks(t, store)
			sub := o.subscribe(anna, hook)
			changed := make(chan struct{})
			m.answers[hook] = func(n int) (traintravel.WebhookAnswer, error) {
				if n == 1 {
					o.expect("the change", change(o, sub), nil)
					close(changed)
				}
				<-changed
				return traintravel.WebhookAnswer{Status: 500}, nil
			}
			for range events {
				o.book(anna, o.trip('F', 'G', "S 3"))
			}
			o.do()
			if before, after := len(m.to(hook)), len(m.to(elsewhere)); before > underWay || name == "moved" && after != events+1 { // with the ping that verifies the new address
				t.Errorf("%d posts, and %d to the new address", before, after)
			}
		})
	}
}

// With another seal key nothing is lost, and a new secret mends it at once.
func TestSealKeyIsLost(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o, m := withWebhooks(t, store)
		sub := o.subscribe(anna, hook)
		o.book(anna, o.trip('F', 'G', "S 3"))
		other := o.colleague(m, func(w *traintravel.WebhookOptions) { w.SealKey = slices.Repeat([]byte{1}, 32) })
		if err := other.RunDue(t.Context()); err == nil {
			t.Fatal("it could read the secret")
		}
		_, secret, err := other.NewSubscriptionSecret(t.Context(), anna, sub.ID, "")
		if err != nil {
			t.Fatal(err)
		}
		other.do()
		expectEvents(t, m, hook, traintravel.BookingCreated)
		if p := m.posts[0]; !slices.Equal(p.Secrets, []traintravel.Secret{secret}) {
			t.Errorf("signed by %d secrets", len(p.Secrets))
		}
	})
}

// holdingUp is a store that holds up one update after it was made.
type holdingUp struct {
	*memstore.Store
	after func(deleted []traintravel.Key)
}

func (h *holdingUp) Update(ctx context.Context, fn func(traintravel.Tx) error) error {
	var deleted []traintravel.Key
	err := h.Store.Update(ctx, func(tx traintravel.Tx) error {
		deleted = nil
		return fn(noting{tx, &deleted})
	})
	if h.after != nil {
		h.after(deleted)
	}
	return err
}

type noting struct {
	traintravel.Tx
	deleted *[]traintravel.Key
}

func (n noting) Delete(k traintravel.Key) {
	*n.deleted = append(*n.deleted, k)
	n.Tx.Delete(k)
}

// What comes for an endpoint at the moment at which a worker leaves it does not wait
// for the next look at the agenda.
func TestLeavingAnEndpoint(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &holdingUp{Store: memstore.New()}
		m := &mailroom{answers: map[string]func(int) (traintravel.WebhookAnswer, error){}}
		o := &office{t: t, store: store, bank: &bank{Gateway: sandbox.New()}, post: &post{}}
		o = o.another(func(opts *traintravel.Options) {
			opts.Now, opts.Webhooks = nil, &traintravel.WebhookOptions{Sender: m, SealKey: make([]byte, 32), PerHost: 1000}
		})
		o.load(inBubbles())
		o.subscribe(anna, hook)
		var left atomic.Bool
		var last time.Time
		m.answers[hook] = func(int) (traintravel.WebhookAnswer, error) {
			last = time.Now()
			return traintravel.WebhookAnswer{Status: 200}, nil
		}
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { _ = o.Run(ctx) })
		synctest.Wait()
		time.Sleep(300 * time.Millisecond) // not on a full second
		var booked time.Time
		store.after = func(deleted []traintravel.Key) {
			for _, k := range deleted {
				if k.Table == traintravel.TableAgenda && k.ID[0] == 'w' && !left.Swap(true) {
					booked = time.Now()
					o.book(anna, o.unreserved())
					time.Sleep(100 * time.Millisecond)
				}
			}
		}
		o.book(anna, o.unreserved())
		time.Sleep(10 * time.Second)
		stop()
		running.Wait()
		if len(m.posts) != 2 || last.Sub(booked) > 100*time.Millisecond {
			t.Errorf("%d posts, the last %v after the booking", len(m.posts), last.Sub(booked))
		}
	})
}
