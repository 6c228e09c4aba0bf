package webhooks_test

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
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/sandbox"
	"github.com/traintravel/traintravel/store/memstore"
)

// endpointsDue counts the entries of the agenda that are endpoints.
func endpointsDue(o *officetest.Office) int {
	o.T.Helper()
	all, err := o.Store.List(o.T.Context(), traintravel.Range{Table: traintravel.TableAgenda, From: "w", To: "x"})
	if err != nil {
		o.T.Fatal(err)
	}
	return len(all)
}

// counting is a store that counts updates.
type counting struct {
	*memstore.Store
	updates atomic.Int64
}

func (c *counting) Update(ctx context.Context, fn func(traintravel.Tx) error) error {
	c.updates.Add(1)
	return c.Store.Update(ctx, fn)
}

// An endpoint is not read before a delivery is due, and is on the agenda once, however many
// deliveries wait for it.
func TestEndpointsWithoutWorkAreNotRead(t *testing.T) {
	t.Parallel()
	store := &counting{Store: memstore.New()}
	o, m := officetest.WithWebhooks(t, store)
	sub := o.MustSubscribe(officetest.Anna, officetest.Hook)
	m.Answers[officetest.Hook] = officetest.Answers(500)
	for range 40 {
		o.Book(officetest.Anna, o.TripID('F', 'G', "S 3"))
		o.Clock.Add(370 * time.Millisecond)
		o.Do()
	}
	o.Clock.Add(10 * time.Second)
	o.Do()
	if n := endpointsDue(o); n != 1 {
		t.Errorf("the endpoint is on the agenda %d times", n)
	}
	l, err := o.Deliveries(t.Context(), officetest.Anna, sub.ID, traintravel.Page{Limit: 100})
	if err != nil || len(l.Items) != 40 {
		t.Fatalf("%d deliveries, %v", len(l.Items), err)
	}
	next := l.Items[0].Next
	for _, d := range l.Items {
		if d.Next.Before(next) {
			next = d.Next
		}
	}
	o.Clock.Set(next.Add(-1))
	posts, updates := len(m.Posts), store.updates.Load()
	if o.Do(); len(m.Posts) != posts || store.updates.Load() != updates+1 { // which is the clock's
		t.Errorf("%d posts and %d updates before something is due", len(m.Posts)-posts, store.updates.Load()-updates)
	}
	o.Clock.Set(next)
	if o.Do(); len(m.Posts) == posts {
		t.Error("nothing was posted when it was due")
	}
}

// A server whose clock is behind writes events that a subscription made before gets;
// events from long before it does not get.
func TestSubscribersClock(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o, m := officetest.WithWebhooks(t, store)
		o.MustSubscribe(officetest.Anna, officetest.Hook+"1")
		late := o.Another() // has no webhooks itself
		late.Clock.Add(-10 * time.Second)
		late.Book(officetest.Anna, late.TripID('F', 'G', "S 3"))
		o.Do()
		officetest.ExpectEvents(t, m, officetest.Hook+"1", traintravel.BookingCreated)
		o.Book(officetest.Anna, o.TripID('F', 'G', "S 3"))
		o.Clock.Add(3 * time.Minute)
		o.MustSubscribe(officetest.Anna, officetest.Hook+"2")
		o.Do()
		officetest.ExpectEvents(t, m, officetest.Hook+"1", traintravel.BookingCreated, traintravel.BookingCreated)
		officetest.ExpectEvents(t, m, officetest.Hook+"2")
	})
}

// The operator's endpoint gets all that happens. While a server works that does not
// know it, or while it says that it is gone, events wait.
func TestOperatorsEndpoint(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o, m := officetest.WithWebhooks(t, store)
		const url = "http://10.0.0.1/hook"
		knows := o.Colleague(m, func(w *traintravel.WebhookOptions) {
			w.Operator = []traintravel.OperatorWebhook{{URL: url, Secrets: []traintravel.Secret{officetest.Operators}}}
		})
		b := knows.Book(officetest.Anna, o.TripID('F', 'G', "S 3"))
		other := o.Another() // no webhooks at all
		other.Book(officetest.Berta, o.TripID('F', 'G', "S 3"))
		knows.Do()
		officetest.ExpectEvents(t, m, url, traintravel.BookingCreated, traintravel.BookingCreated)
		if p := m.Posts[0]; !p.Operator || !slices.Equal(p.Secrets, []traintravel.Secret{officetest.Operators}) || len(m.Posts) != 2 {
			t.Errorf("%+v", m.Posts)
		}
		m.Answers[url] = officetest.Answers(410)
		o.Book(officetest.Anna, o.TripID('F', 'G', "S 3"))
		o.Do() // gives the event to nobody: it does not know the operator's
		knows.Book(officetest.Anna, o.TripID('F', 'G', "S 3"))
		knows.Do()
		if books := o.Audit(); books.Deliveries != 1 {
			t.Errorf("%d deliveries wait; of %v", books.Deliveries, b.ID)
		}
		m.Answers[url] = nil
		o.Clock.Add(10 * time.Second)
		o.Do()
		knows.Clock.Add(10 * time.Minute)
		knows.Do()
		if books := o.Audit(); books.Deliveries != 0 || len(m.To(url)) != 4 {
			t.Errorf("%d deliveries wait after %v", books.Deliveries, m.To(url))
		}

		// Who has other endpoints says that it is none of them, and sends nothing there.
		for _, c := range []struct {
			*officetest.Office
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
		Sender: &officetest.Mailroom{}, SealKey: make([]byte, 32), Operator: []traintravel.OperatorWebhook{{URL: "u", Secrets: []traintravel.Secret{officetest.Operators}}, {URL: "u", Secrets: []traintravel.Secret{officetest.Operators}}},
	}})
	if _, ok := errors.AsType[*traintravel.InvalidError](err); !ok {
		t.Errorf("an endpoint that is there twice: %v", err)
	}
}

// An operator's endpoint is listed whatever the bytes of its ID.
func TestOperatorsEndpointIsListed(t *testing.T) {
	t.Parallel()
	url := officetest.Hook
	for i := 0; records.OperatorID(url)[0] != 0xff; i++ {
		url = fmt.Sprint(officetest.Hook, i)
	}
	o, m := officetest.WithWebhooks(t, memstore.New())
	knows := o.Colleague(m, func(w *traintravel.WebhookOptions) {
		w.Operator = []traintravel.OperatorWebhook{{URL: url, Secrets: []traintravel.Secret{officetest.Operators}}}
	})
	knows.Book(officetest.Anna, o.TripID('F', 'G', "S 3"))
	knows.Do()
	subs, err := knows.Desk().Subscriptions(t.Context(), traintravel.Page{})
	if err != nil || len(subs.Items) != 1 || subs.Items[0].URL != url {
		t.Errorf("%+v, %v", subs, err)
	}
}

// A client that the operator has removed from the options gets no more events.
func TestRemovedClientGetsNoEvents(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o, m := officetest.WithWebhooks(t, store)
		sub := o.MustSubscribe(officetest.Partner, officetest.Hook)
		o.Book(officetest.Through, o.TripID('F', 'G', "S 3"))
		without := o.Colleague(m, func(w *traintravel.WebhookOptions) { w.Clients = nil })
		without.Do()
		officetest.ExpectEvents(t, m, officetest.Hook)
		if d := o.OnlyDelivery(officetest.Partner, sub); d.Status != traintravel.DeliveryPending || d.Attempts != 1 || d.LastStatus != 0 {
			t.Fatalf("%+v", d)
		}
		o.Clock.Add(10 * time.Second)
		o.Do() // this one still has it: they are being restarted one by one
		officetest.ExpectEvents(t, m, officetest.Hook, traintravel.BookingCreated)
	})
}

// What the owner changes holds at once, also for what waits for its turn.
func TestChangesWhilePosting(t *testing.T) {
	no := true
	elsewhere := officetest.Hook + "/elsewhere"
	for name, change := range map[string]func(*officetest.Office, traintravel.Subscription) error{
		"deleted": func(o *officetest.Office, s traintravel.Subscription) error {
			return o.Unsubscribe(o.T.Context(), officetest.Anna, s.ID)
		},
		"disabled": func(o *officetest.Office, s traintravel.Subscription) error {
			_, err := o.ChangeSubscription(o.T.Context(), officetest.Anna, s.ID, traintravel.SubscriptionChange{Disabled: &no})
			return err
		},
		"moved": func(o *officetest.Office, s traintravel.Subscription) error {
			_, err := o.ChangeSubscription(o.T.Context(), officetest.Anna, s.ID, traintravel.SubscriptionChange{URL: &elsewhere})
			return err
		},
	} {
		officetest.OnEveryStoreCase(t, name, func(t *testing.T, store traintravel.Store) {
			const events, underWay = 60, 16
			o, m := officetest.WithWebhooks(t, store)
			sub := o.MustSubscribe(officetest.Anna, officetest.Hook)
			changed := make(chan struct{})
			m.Answers[officetest.Hook] = func(n int) (traintravel.WebhookAnswer, error) {
				if n == 1 {
					o.Expect("the change", change(o, sub), nil)
					close(changed)
				}
				<-changed
				return traintravel.WebhookAnswer{Status: 500}, nil
			}
			for range events {
				o.Book(officetest.Anna, o.TripID('F', 'G', "S 3"))
			}
			o.Do()
			if before, after := len(m.To(officetest.Hook)), len(m.To(elsewhere)); before > underWay || name == "moved" && after != events+1 { // with the ping that verifies the new address
				t.Errorf("%d posts, and %d to the new address", before, after)
			}
		})
	}
}

// With another seal key nothing is lost, and a new secret mends it at once.
func TestSealKeyIsLost(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o, m := officetest.WithWebhooks(t, store)
		sub := o.MustSubscribe(officetest.Anna, officetest.Hook)
		o.Book(officetest.Anna, o.TripID('F', 'G', "S 3"))
		other := o.Colleague(m, func(w *traintravel.WebhookOptions) { w.SealKey = slices.Repeat([]byte{1}, 32) })
		if err := other.RunDue(t.Context()); err == nil {
			t.Fatal("it could read the secret")
		}
		_, secret, err := other.NewSubscriptionSecret(t.Context(), officetest.Anna, sub.ID, "")
		if err != nil {
			t.Fatal(err)
		}
		other.Do()
		officetest.ExpectEvents(t, m, officetest.Hook, traintravel.BookingCreated)
		if p := m.Posts[0]; !slices.Equal(p.Secrets, []traintravel.Secret{secret}) {
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

// A delivery that arrives while a worker leaves the endpoint does not wait for the next pass.
func TestLeavingAnEndpoint(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &holdingUp{Store: memstore.New()}
		m := &officetest.Mailroom{Answers: map[string]func(int) (traintravel.WebhookAnswer, error){}}
		o := &officetest.Office{T: t, Store: store, Bank: &officetest.Bank{Gateway: sandbox.New()}, Post: &officetest.Post{}}
		o = o.Another(func(opts *traintravel.Options) {
			opts.Now, opts.Webhooks = nil, &traintravel.WebhookOptions{Sender: m, SealKey: make([]byte, 32), PerHost: 1000}
		})
		o.Load(officetest.InBubbles())
		o.MustSubscribe(officetest.Anna, officetest.Hook)
		var left atomic.Bool
		var last time.Time
		m.Answers[officetest.Hook] = func(int) (traintravel.WebhookAnswer, error) {
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
					o.Book(officetest.Anna, o.Unreserved())
					time.Sleep(100 * time.Millisecond)
				}
			}
		}
		o.Book(officetest.Anna, o.Unreserved())
		time.Sleep(10 * time.Second)
		stop()
		running.Wait()
		if len(m.Posts) != 2 || last.Sub(booked) > 100*time.Millisecond {
			t.Errorf("%d posts, the last %v after the booking", len(m.Posts), last.Sub(booked))
		}
	})
}
