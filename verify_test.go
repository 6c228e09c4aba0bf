package traintravel_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/sandbox"
	"github.com/traintravel/traintravel/store/memstore"
)

// subscribeUnverified subscribes, and leaves it to the receiver to verify that.
func (o *office) subscribeUnverified(url string) traintravel.Subscription {
	o.t.Helper()
	sub, _, err := o.Subscribe(o.t.Context(), anna, traintravel.NewSubscription{URL: url})
	if err != nil || sub.Unverified.IsZero() {
		o.t.Fatalf("%+v, %v", sub, err)
	}
	return sub
}

// verifiedIs expects a subscription of Anna's to be verified, or not.
func (o *office) verifiedIs(id uuid.UUID, want bool) {
	o.t.Helper()
	sub, err := o.Subscription(o.t.Context(), anna, id)
	if err != nil || sub.Unverified.IsZero() != want || sub.VerifyBy().IsZero() != want {
		o.t.Fatalf("%+v, %v; verified is to be %t", sub, err, want)
	}
}

// events lists the deliveries of a subscription of Anna's but for pings, the newest first.
func (o *office) events(id uuid.UUID) (events []traintravel.Delivery) {
	o.t.Helper()
	l, err := o.Deliveries(o.t.Context(), anna, id, traintravel.Page{Limit: 100})
	if err != nil {
		o.t.Fatal(err)
	}
	return slices.DeleteFunc(l.Items, func(d traintravel.Delivery) bool { return d.Type == traintravel.Ping })
}

// Nothing but pings goes to a receiver before it has answered one. Events wait for that.
func TestEventsWaitForVerification(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o, m := withWebhooks(t, store)
		m.answers[hook] = answers(302)
		sub := o.subscribeUnverified(hook)
		o.book(anna, o.trip('A', 'D', "R 1"))
		for range 3 {
			o.do()
			o.clock.add(6 * time.Second)
		}
		expectEvents(t, m, hook, traintravel.Ping, traintravel.Ping) // at once and after five seconds
		waiting := o.events(sub.ID)
		if len(waiting) != 1 || waiting[0].Status != traintravel.DeliveryPending || waiting[0].Attempts != 0 || !waiting[0].Next.Equal(sub.VerifyBy()) {
			t.Fatalf("%+v", waiting)
		}
		_, err := o.RetryDelivery(t.Context(), anna, sub.ID, waiting[0].ID, "")
		o.expect("retrying one", err, traintravel.ErrUnverified)
		_, err = o.RetryDead(t.Context(), anna, sub.ID)
		o.expect("retrying all", err, traintravel.ErrUnverified)
		o.verifiedIs(sub.ID, false)
		o.audit()

		m.answers[hook] = func(n int) (traintravel.WebhookAnswer, error) {
			if n == 3 {
				return traintravel.WebhookAnswer{Status: 204}, nil // says yes to a ping, and nothing to an event
			}
			return traintravel.WebhookAnswer{Status: 200}, nil
		}
		if _, err := o.PingSubscription(t.Context(), anna, sub.ID, ""); err != nil {
			t.Fatal(err)
		}
		o.do()
		o.verifiedIs(sub.ID, true)
		expectEvents(t, m, hook, traintravel.Ping, traintravel.Ping, traintravel.Ping, traintravel.BookingCreated)
		o.book(anna, o.trip('A', 'D', "R 1"))
		o.do()
		if got := m.to(hook); len(got) != 5 {
			t.Errorf("%v", got)
		}
		o.clock.add(time.Hour)
		o.do()
		if got := m.to(hook); len(got) != 6 || got[5] != traintravel.Ping { // what was waiting to be tried again is tried once
			t.Errorf("%v", got)
		}
		o.audit()
	})
}

// What waits for a day is given up, and nothing is kept after that until there is an
// answer.
func TestVerificationLapses(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o, m := withWebhooks(t, store)
		daily := network()
		for i := range daily.Trains {
			daily.Trains[i].Days = traintravel.Daily(traintravel.DateOf(opens), traintravel.DateOf(opens.AddDate(0, 0, 7)))
		}
		o.load(daily)
		trip, err := o.direct(t.Context(), "S 3", traintravel.DateOf(opens.AddDate(0, 0, 5)), station('F'), station('G'))
		if err != nil {
			t.Fatal(err)
		}
		m.answers[hook] = func(int) (traintravel.WebhookAnswer, error) {
			return traintravel.WebhookAnswer{}, errors.New("no answer")
		}
		sub := o.subscribeUnverified(hook)
		o.book(anna, trip)
		for range 13 {
			o.do()
			o.clock.add(2 * time.Hour)
		}
		if got := m.to(hook); len(got) != 5 || slices.Contains(got, traintravel.BookingCreated) {
			t.Fatalf("%v", got)
		}
		o.book(anna, trip)
		o.do()
		dead := o.events(sub.ID)
		if len(dead) != 1 || dead[0].Status != traintravel.DeliveryDead || dead[0].Dead != traintravel.DeadByVerification {
			t.Fatalf("%+v", dead)
		}
		o.audit()
		delete(m.answers, hook)
		if _, err := o.PingSubscription(t.Context(), anna, sub.ID, ""); err != nil {
			t.Fatal(err)
		}
		o.do()
		o.verifiedIs(sub.ID, true)
		if _, err := o.RetryDelivery(t.Context(), anna, sub.ID, dead[0].ID, ""); err != nil {
			t.Fatal(err)
		}
		o.book(anna, trip)
		o.do()
		for _, d := range o.events(sub.ID) {
			if d.Status != traintravel.DeliveryDelivered {
				t.Errorf("%+v", d)
			}
		}
		if n := len(o.events(sub.ID)); n != 2 {
			t.Errorf("%d events", n)
		}
		o.audit()
	})
}

// Another URL has to be verified anew, whatever the one before answers. What waits is
// posted there then, at once.
func TestAnotherURLIsVerified(t *testing.T) {
	elsewhere := "https://elsewhere.example/"
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o, m := withWebhooks(t, store)
		sub := o.subscribe(anna, hook)
		m.answers[hook], m.answers[elsewhere] = answers(503), answers(404)
		o.book(anna, o.trip('A', 'D', "R 1"))
		o.do()
		m.answers[hook] = func(int) (traintravel.WebhookAnswer, error) { // while the ping is under way there
			_, err := o.ChangeSubscription(t.Context(), anna, sub.ID, traintravel.SubscriptionChange{URL: &elsewhere})
			o.expect("changing the URL", err, nil)
			return traintravel.WebhookAnswer{Status: 200}, nil
		}
		if _, err := o.PingSubscription(t.Context(), anna, sub.ID, ""); err != nil {
			t.Fatal(err)
		}
		o.do()
		o.verifiedIs(sub.ID, false)
		o.clock.add(time.Hour)
		o.book(anna, o.trip('A', 'D', "R 1"))
		o.do()
		for _, e := range m.to(elsewhere) {
			if e != traintravel.Ping {
				t.Fatalf("%s got %v", elsewhere, m.to(elsewhere))
			}
		}
		for _, d := range o.events(sub.ID) {
			if d.Status != traintravel.DeliveryPending {
				t.Fatalf("%+v", d)
			}
		}
		o.audit()
		delete(m.answers, elsewhere)
		if _, err := o.PingSubscription(t.Context(), anna, sub.ID, ""); err != nil {
			t.Fatal(err)
		}
		o.do()
		o.verifiedIs(sub.ID, true)
		for _, d := range o.events(sub.ID) {
			if d.Status != traintravel.DeliveryDelivered {
				t.Errorf("%+v", d)
			}
		}
		// The same URL, or other events, change nothing of that.
		for _, c := range []traintravel.SubscriptionChange{{URL: &elsewhere}, {Events: traintravel.EventTypes()}} {
			if is, err := o.ChangeSubscription(t.Context(), anna, sub.ID, c); err != nil || !is.Unverified.IsZero() {
				t.Errorf("%+v, %v", is, err)
			}
		}
		o.audit()
	})
}

// An event that is due before the ping that verifies its subscription, and one that is not
// due yet, because the receiver before asked to be left alone, are posted after the ping.
func TestAnotherURLWhileEventsAreDue(t *testing.T) {
	elsewhere := "https://elsewhere.example/"
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o, m := withWebhooks(t, store)
		sub := o.subscribe(anna, hook)
		m.answers[hook] = func(n int) (traintravel.WebhookAnswer, error) {
			return traintravel.WebhookAnswer{Status: 503, RetryAfter: time.Duration(n) * time.Hour}, nil
		}
		for range 2 {
			o.book(anna, o.trip('F', 'G', "S 3"))
			o.do()
		}
		o.clock.add(90 * time.Minute)
		if _, err := o.ChangeSubscription(t.Context(), anna, sub.ID, traintravel.SubscriptionChange{URL: &elsewhere}); err != nil {
			t.Fatal(err)
		}
		o.do()
		expectEvents(t, m, elsewhere, traintravel.Ping, traintravel.BookingCreated, traintravel.BookingCreated)
		o.audit()
	})
}

// One that is made disabled is pinged when it is enabled.
func TestVerificationWhenEnabled(t *testing.T) {
	t.Parallel()
	o, m := withWebhooks(t, memstore.New())
	sub, _, err := o.Subscribe(t.Context(), anna, traintravel.NewSubscription{URL: hook, Disabled: true})
	if err != nil {
		t.Fatal(err)
	}
	o.do()
	expectEvents(t, m, hook)
	o.clock.add(48 * time.Hour)
	no := false
	is, err := o.ChangeSubscription(t.Context(), anna, sub.ID, traintravel.SubscriptionChange{Disabled: &no})
	if err != nil || !is.VerifyBy().Equal(o.clock.now().Add(24*time.Hour)) {
		t.Fatalf("%+v, %v", is, err)
	}
	o.do()
	o.verifiedIs(sub.ID, true)
	expectEvents(t, m, hook, traintravel.Ping)
}

// A user has three subscriptions to a host, through whichever client, under whichever
// spelling, port and path.
func TestSubscriptionsToOneHost(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o, m := withWebhooks(t, store, func(opts *traintravel.Options) { opts.Webhooks.PerHost = 0 })
		ctx := t.Context()
		subscribe := func(by traintravel.Caller, url string) (traintravel.Subscription, error) {
			sub, _, err := o.Subscribe(ctx, by, traintravel.NewSubscription{URL: url})
			return sub, err
		}
		app := anna
		app.Client = "another app"
		var first traintravel.Subscription
		for i, c := range []struct {
			by  traintravel.Caller
			url string
		}{{anna, "https://shop.example/a"}, {app, "https://SHOP.example:8443/a"}, {anna, "https://shop.example./b?c"}} {
			sub, err := subscribe(c.by, c.url)
			if err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				first = sub
			}
		}
		full := func(what string, err error) {
			t.Helper()
			e, ok := errors.AsType[*traintravel.HostLimitError](err)
			if !ok || e.Host != "shop.example" || e.Most != 3 || !strings.Contains(e.Error(), "3 subscriptions to shop.example") {
				t.Errorf("%s: %v", what, err)
			}
		}
		for i := range 100 {
			_, err := subscribe(anna, fmt.Sprint("https://shop.example/", i))
			full("one more", err)
		}
		other, err := subscribe(anna, "https://other.example/")
		o.expect("another host", err, nil)
		_, err = subscribe(berta, "https://shop.example/")
		o.expect("another user", err, nil)
		there, path := "https://shop.example:9999/", "https://shop.example/another"
		_, err = o.ChangeSubscription(ctx, anna, other.ID, traintravel.SubscriptionChange{URL: &there})
		full("moving one there", err)
		_, err = o.ChangeSubscription(ctx, anna, first.ID, traintravel.SubscriptionChange{URL: &path})
		o.expect("moving one within the host", err, nil)
		o.expect("deleting one", o.Unsubscribe(ctx, anna, first.ID), nil)
		_, err = o.ChangeSubscription(ctx, anna, other.ID, traintravel.SubscriptionChange{URL: &there})
		o.expect("moving one there then", err, nil)
		o.do()
		if len(m.posts) > 6 {
			t.Errorf("%d posts", len(m.posts))
		}
	})
}

// A receiver has one delivery under way, and an endpoint of the operator's up to 16.
func TestOneDeliveryAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &sluggish{mailroom: &mailroom{}, takes: time.Second / 5, now: map[string]int{}, most: map[string]int{}}
		o := &office{t: t, store: memstore.New(), bank: &bank{Gateway: sandbox.New()}, post: &post{}}
		o = o.another(func(opts *traintravel.Options) {
			opts.Now, opts.Webhooks = nil, &traintravel.WebhookOptions{Sender: m, SealKey: make([]byte, 32), Operator: []traintravel.OperatorWebhook{
				{URL: operatorsHook, Secrets: []traintravel.Secret{operators}},
			}}
		})
		o.load(inBubbles())
		sub := o.subscribe(anna, hook)
		for range 100 {
			o.book(anna, o.unreserved())
		}
		defer o.runs()()
		time.Sleep(time.Hour)
		m.mu.Lock()
		if m.most[hook] != 1 || m.most[operatorsHook] != 16 {
			t.Errorf("%v under way at a time", m.most)
		}
		m.mu.Unlock()
		for _, d := range o.events(sub.ID) {
			if d.Status != traintravel.DeliveryDelivered {
				t.Errorf("%+v", d)
			}
		}
	})
}

// A sluggish receiver takes its time for everything.
type sluggish struct {
	*mailroom
	takes     time.Duration
	now, most map[string]int // by URL
}

func (s *sluggish) Send(ctx context.Context, p traintravel.WebhookPost) (traintravel.WebhookAnswer, error) {
	s.count(p.URL, 1)
	defer s.count(p.URL, -1)
	time.Sleep(s.takes)
	return s.mailroom.Send(ctx, p)
}

func (s *sluggish) count(url string, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now[url] += n
	s.most[url] = max(s.most[url], s.now[url])
}
