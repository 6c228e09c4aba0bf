package webhooks_test

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
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/sandbox"
	"github.com/traintravel/traintravel/store/memstore"
)

// subscribeUnverified subscribes, and leaves it to the receiver to verify that.
func subscribeUnverified(o *officetest.Office, url string) traintravel.Subscription {
	o.T.Helper()
	sub, _, err := o.Subscribe(o.T.Context(), officetest.Anna, traintravel.NewSubscription{URL: url})
	if err != nil || sub.Unverified.IsZero() {
		o.T.Fatalf("%+v, %v", sub, err)
	}
	return sub
}

// verifiedIs expects a subscription of Anna's to be verified, or not.
func verifiedIs(o *officetest.Office, id uuid.UUID, want bool) {
	o.T.Helper()
	sub, err := o.Subscription(o.T.Context(), officetest.Anna, id)
	if err != nil || sub.Unverified.IsZero() != want || sub.VerifyBy().IsZero() != want {
		o.T.Fatalf("%+v, %v; verified is to be %t", sub, err, want)
	}
}

// events lists the deliveries of a subscription of Anna's but for pings, the newest first.
func events(o *officetest.Office, id uuid.UUID) (events []traintravel.Delivery) {
	o.T.Helper()
	l, err := o.Deliveries(o.T.Context(), officetest.Anna, id, traintravel.Page{Limit: 100})
	if err != nil {
		o.T.Fatal(err)
	}
	return slices.DeleteFunc(l.Items, func(d traintravel.Delivery) bool { return d.Type == traintravel.Ping })
}

// Nothing but pings goes to a receiver before it has answered one. Events wait for that.
func TestEventsWaitForVerification(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o, m := officetest.WithWebhooks(t, store)
		m.Answers[officetest.Hook] = officetest.Answers(302)
		sub := subscribeUnverified(o, officetest.Hook)
		o.Book(officetest.Anna, o.TripID('A', 'D', "R 1"))
		for range 3 {
			o.Do()
			o.Clock.Add(6 * time.Second)
		}
		officetest.ExpectEvents(t, m, officetest.Hook, traintravel.Ping, traintravel.Ping) // at once and after five seconds
		waiting := events(o, sub.ID)
		if len(waiting) != 1 || waiting[0].Status != traintravel.DeliveryPending || waiting[0].Attempts != 0 || !waiting[0].Next.Equal(sub.VerifyBy()) {
			t.Fatalf("%+v", waiting)
		}
		_, err := o.RetryDelivery(t.Context(), officetest.Anna, sub.ID, waiting[0].ID, "")
		o.Expect("retrying one", err, traintravel.ErrUnverified)
		_, err = o.RetryDead(t.Context(), officetest.Anna, sub.ID)
		o.Expect("retrying all", err, traintravel.ErrUnverified)
		verifiedIs(o, sub.ID, false)
		o.Audit()

		m.Answers[officetest.Hook] = func(n int) (traintravel.WebhookAnswer, error) {
			if n == 3 {
				return traintravel.WebhookAnswer{Status: 204}, nil // says yes to a ping, and nothing to an event
			}
			return traintravel.WebhookAnswer{Status: 200}, nil
		}
		if _, err := o.PingSubscription(t.Context(), officetest.Anna, sub.ID, ""); err != nil {
			t.Fatal(err)
		}
		o.Do()
		verifiedIs(o, sub.ID, true)
		officetest.ExpectEvents(t, m, officetest.Hook, traintravel.Ping, traintravel.Ping, traintravel.Ping, traintravel.BookingCreated)
		o.Book(officetest.Anna, o.TripID('A', 'D', "R 1"))
		o.Do()
		if got := m.To(officetest.Hook); len(got) != 5 {
			t.Errorf("%v", got)
		}
		o.Clock.Add(time.Hour)
		o.Do()
		if got := m.To(officetest.Hook); len(got) != 6 || got[5] != traintravel.Ping { // what was waiting to be tried again is tried once
			t.Errorf("%v", got)
		}
		o.Audit()
	})
}

// What waits for a day is given up, and nothing is kept after that until there is an
// answer.
func TestVerificationLapses(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o, m := officetest.WithWebhooks(t, store)
		daily := officetest.Network()
		for i := range daily.Trains {
			daily.Trains[i].Days = traintravel.Daily(traintravel.DateOf(officetest.Opens), traintravel.DateOf(officetest.Opens.AddDate(0, 0, 7)))
		}
		o.Load(daily)
		trip, err := o.Direct(t.Context(), "S 3", traintravel.DateOf(officetest.Opens.AddDate(0, 0, 5)), officetest.Station('F'), officetest.Station('G'))
		if err != nil {
			t.Fatal(err)
		}
		m.Answers[officetest.Hook] = func(int) (traintravel.WebhookAnswer, error) {
			return traintravel.WebhookAnswer{}, errors.New("no answer")
		}
		sub := subscribeUnverified(o, officetest.Hook)
		o.Book(officetest.Anna, trip)
		for range 13 {
			o.Do()
			o.Clock.Add(2 * time.Hour)
		}
		if got := m.To(officetest.Hook); len(got) != 5 || slices.Contains(got, traintravel.BookingCreated) {
			t.Fatalf("%v", got)
		}
		o.Book(officetest.Anna, trip)
		o.Do()
		dead := events(o, sub.ID)
		if len(dead) != 1 || dead[0].Status != traintravel.DeliveryDead || dead[0].Dead != traintravel.DeadByVerification {
			t.Fatalf("%+v", dead)
		}
		o.Audit()
		delete(m.Answers, officetest.Hook)
		if _, err := o.PingSubscription(t.Context(), officetest.Anna, sub.ID, ""); err != nil {
			t.Fatal(err)
		}
		o.Do()
		verifiedIs(o, sub.ID, true)
		if _, err := o.RetryDelivery(t.Context(), officetest.Anna, sub.ID, dead[0].ID, ""); err != nil {
			t.Fatal(err)
		}
		o.Book(officetest.Anna, trip)
		o.Do()
		for _, d := range events(o, sub.ID) {
			if d.Status != traintravel.DeliveryDelivered {
				t.Errorf("%+v", d)
			}
		}
		if n := len(events(o, sub.ID)); n != 2 {
			t.Errorf("%d events", n)
		}
		o.Audit()
	})
}

// Another URL has to be verified anew, whatever the one before answers. What waits is
// posted there then, at once.
func TestAnotherURLIsVerified(t *testing.T) {
	elsewhere := "https://elsewhere.example/"
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o, m := officetest.WithWebhooks(t, store)
		sub := o.MustSubscribe(officetest.Anna, officetest.Hook)
		m.Answers[officetest.Hook], m.Answers[elsewhere] = officetest.Answers(503), officetest.Answers(404)
		o.Book(officetest.Anna, o.TripID('A', 'D', "R 1"))
		o.Do()
		m.Answers[officetest.Hook] = func(int) (traintravel.WebhookAnswer, error) { // while the ping is under way there
			_, err := o.ChangeSubscription(t.Context(), officetest.Anna, sub.ID, traintravel.SubscriptionChange{URL: &elsewhere})
			o.Expect("changing the URL", err, nil)
			return traintravel.WebhookAnswer{Status: 200}, nil
		}
		if _, err := o.PingSubscription(t.Context(), officetest.Anna, sub.ID, ""); err != nil {
			t.Fatal(err)
		}
		o.Do()
		verifiedIs(o, sub.ID, false)
		o.Clock.Add(time.Hour)
		o.Book(officetest.Anna, o.TripID('A', 'D', "R 1"))
		o.Do()
		for _, e := range m.To(elsewhere) {
			if e != traintravel.Ping {
				t.Fatalf("%s got %v", elsewhere, m.To(elsewhere))
			}
		}
		for _, d := range events(o, sub.ID) {
			if d.Status != traintravel.DeliveryPending {
				t.Fatalf("%+v", d)
			}
		}
		o.Audit()
		delete(m.Answers, elsewhere)
		if _, err := o.PingSubscription(t.Context(), officetest.Anna, sub.ID, ""); err != nil {
			t.Fatal(err)
		}
		o.Do()
		verifiedIs(o, sub.ID, true)
		for _, d := range events(o, sub.ID) {
			if d.Status != traintravel.DeliveryDelivered {
				t.Errorf("%+v", d)
			}
		}
		// The same URL, or other events, change nothing of that.
		for _, c := range []traintravel.SubscriptionChange{{URL: &elsewhere}, {Events: traintravel.EventTypes()}} {
			if is, err := o.ChangeSubscription(t.Context(), officetest.Anna, sub.ID, c); err != nil || !is.Unverified.IsZero() {
				t.Errorf("%+v, %v", is, err)
			}
		}
		o.Audit()
	})
}

// An event that is due before the ping that verifies its subscription, and one that is not
// due yet, because the receiver before asked to be left alone, are posted after the ping.
func TestAnotherURLWhileEventsAreDue(t *testing.T) {
	elsewhere := "https://elsewhere.example/"
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o, m := officetest.WithWebhooks(t, store)
		sub := o.MustSubscribe(officetest.Anna, officetest.Hook)
		m.Answers[officetest.Hook] = func(n int) (traintravel.WebhookAnswer, error) {
			return traintravel.WebhookAnswer{Status: 503, RetryAfter: time.Duration(n) * time.Hour}, nil
		}
		for range 2 {
			o.Book(officetest.Anna, o.TripID('F', 'G', "S 3"))
			o.Do()
		}
		o.Clock.Add(90 * time.Minute)
		if _, err := o.ChangeSubscription(t.Context(), officetest.Anna, sub.ID, traintravel.SubscriptionChange{URL: &elsewhere}); err != nil {
			t.Fatal(err)
		}
		o.Do()
		officetest.ExpectEvents(t, m, elsewhere, traintravel.Ping, traintravel.BookingCreated, traintravel.BookingCreated)
		o.Audit()
	})
}

// One that is made disabled is pinged when it is enabled.
func TestVerificationWhenEnabled(t *testing.T) {
	t.Parallel()
	o, m := officetest.WithWebhooks(t, memstore.New())
	sub, _, err := o.Subscribe(t.Context(), officetest.Anna, traintravel.NewSubscription{URL: officetest.Hook, Disabled: true})
	if err != nil {
		t.Fatal(err)
	}
	o.Do()
	officetest.ExpectEvents(t, m, officetest.Hook)
	o.Clock.Add(48 * time.Hour)
	no := false
	is, err := o.ChangeSubscription(t.Context(), officetest.Anna, sub.ID, traintravel.SubscriptionChange{Disabled: &no})
	if err != nil || !is.VerifyBy().Equal(o.Clock.Now().Add(24*time.Hour)) {
		t.Fatalf("%+v, %v", is, err)
	}
	o.Do()
	verifiedIs(o, sub.ID, true)
	officetest.ExpectEvents(t, m, officetest.Hook, traintravel.Ping)
}

// A user has three subscriptions to a host, through whichever client, under whichever
// spelling, port and path.
func TestSubscriptionsToOneHost(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o, m := officetest.WithWebhooks(t, store, func(opts *traintravel.Options) { opts.Webhooks.PerHost = 0 })
		ctx := t.Context()
		subscribe := func(by traintravel.Caller, url string) (traintravel.Subscription, error) {
			sub, _, err := o.Subscribe(ctx, by, traintravel.NewSubscription{URL: url})
			return sub, err
		}
		app := officetest.Anna
		app.Client = "another app"
		var first traintravel.Subscription
		for i, c := range []struct {
			by  traintravel.Caller
			url string
		}{{officetest.Anna, "https://shop.example/a"}, {app, "https://SHOP.example:8443/a"}, {officetest.Anna, "https://shop.example./b?c"}} {
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
			_, err := subscribe(officetest.Anna, fmt.Sprint("https://shop.example/", i))
			full("one more", err)
		}
		other, err := subscribe(officetest.Anna, "https://other.example/")
		o.Expect("another host", err, nil)
		_, err = subscribe(officetest.Berta, "https://shop.example/")
		o.Expect("another user", err, nil)
		there, path := "https://shop.example:9999/", "https://shop.example/another"
		_, err = o.ChangeSubscription(ctx, officetest.Anna, other.ID, traintravel.SubscriptionChange{URL: &there})
		full("moving one there", err)
		_, err = o.ChangeSubscription(ctx, officetest.Anna, first.ID, traintravel.SubscriptionChange{URL: &path})
		o.Expect("moving one within the host", err, nil)
		o.Expect("deleting one", o.Unsubscribe(ctx, officetest.Anna, first.ID), nil)
		_, err = o.ChangeSubscription(ctx, officetest.Anna, other.ID, traintravel.SubscriptionChange{URL: &there})
		o.Expect("moving one there then", err, nil)
		o.Do()
		if len(m.Posts) > 6 {
			t.Errorf("%d posts", len(m.Posts))
		}
	})
}

// A receiver has one delivery under way, and an endpoint of the operator's up to 16.
func TestOneDeliveryAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &sluggish{Mailroom: &officetest.Mailroom{}, takes: time.Second / 5, now: map[string]int{}, most: map[string]int{}}
		o := &officetest.Office{T: t, Store: memstore.New(), Bank: &officetest.Bank{Gateway: sandbox.New()}, Post: &officetest.Post{}}
		o = o.Another(func(opts *traintravel.Options) {
			opts.Now, opts.Webhooks = nil, &traintravel.WebhookOptions{Sender: m, SealKey: make([]byte, 32), Operator: []traintravel.OperatorWebhook{
				{URL: officetest.OperatorsHook, Secrets: []traintravel.Secret{officetest.Operators}},
			}}
		})
		o.Load(officetest.InBubbles())
		sub := o.MustSubscribe(officetest.Anna, officetest.Hook)
		for range 100 {
			o.Book(officetest.Anna, o.Unreserved())
		}
		defer o.Start()()
		time.Sleep(time.Hour)
		m.Mu.Lock()
		if m.most[officetest.Hook] != 1 || m.most[officetest.OperatorsHook] != 16 {
			t.Errorf("%v under way at a time", m.most)
		}
		m.Mu.Unlock()
		for _, d := range events(o, sub.ID) {
			if d.Status != traintravel.DeliveryDelivered {
				t.Errorf("%+v", d)
			}
		}
	})
}

// A sluggish receiver takes its time for everything.
type sluggish struct {
	*officetest.Mailroom
	takes     time.Duration
	now, most map[string]int // by URL
}

func (s *sluggish) Send(ctx context.Context, p traintravel.WebhookPost) (traintravel.WebhookAnswer, error) {
	s.count(p.URL, 1)
	defer s.count(p.URL, -1)
	time.Sleep(s.takes)
	return s.Mailroom.Send(ctx, p)
}

func (s *sluggish) count(url string, n int) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.now[url] += n
	s.most[url] = max(s.most[url], s.now[url])
}
