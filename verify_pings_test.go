package traintravel_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/sandbox"
	"github.com/traintravel/traintravel/store/memstore"
)

// A user has some pings posted to a host that has not answered any, and then one a minute,
// whatever the user does to have more posted. The webhook is verified all the same.
func TestPingsAreRationed(t *testing.T) {
	const ration = 4 * 3
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o, m := withWebhooks(t, store, func(opts *traintravel.Options) { opts.Webhooks.PerHost = 0 })
		ctx := t.Context()
		m.always = answers(404)
		sub := o.subscribeUnverified("https://victim.example/")
		for range ration {
			if _, err := o.PingSubscription(ctx, anna, sub.ID, ""); err != nil {
				t.Fatal(err)
			}
			o.do()
			o.clock.add(time.Millisecond)
		}
		expect := func(what string, posts int) {
			t.Helper()
			if n := len(m.posts); n != posts {
				t.Fatalf("%s: %d posts, not %d", what, n, posts)
			}
			o.audit()
		}
		expect("pings that somebody asked for", ration)
		all, err := o.Deliveries(ctx, anna, sub.ID, traintravel.Page{})
		if last := all.Items[0]; err != nil || last.Dead != traintravel.DeadByPings || last.Attempts != 0 {
			t.Fatalf("%+v, %v", last, err)
		}
		for i := range 10 {
			url := fmt.Sprint("https://victim.example/", i)
			is, err := o.ChangeSubscription(ctx, anna, sub.ID, traintravel.SubscriptionChange{URL: &url})
			o.expect("changing the URL", err, nil)
			another := o.subscribeUnverified(url)
			o.do()
			o.expect("deleting", o.Unsubscribe(ctx, anna, another.ID), nil)
			sub = is
		}
		expect("other URLs, and other webhooks", ration)
		_, _, err = o.Subscribe(ctx, berta, traintravel.NewSubscription{URL: "https://victim.example/"})
		o.expect("another user", err, nil)
		o.subscribeUnverified("https://other.example/")
		o.do()
		expect("another user, and another host", ration+2)

		// The receiver is there now, and gets what it waits for with the next ration.
		m.always = answers(200)
		o.book(anna, o.trip('F', 'G', "S 3"))
		o.do()
		o.verifiedIs(sub.ID, false)
		o.clock.add(time.Minute)
		o.do()
		o.verifiedIs(sub.ID, true)
		before := len(m.to(sub.URL)) // with pings of URLs before, which may have waited until now
		if events := o.events(sub.ID); len(events) != 1 || events[0].Status != traintravel.DeliveryDelivered {
			t.Fatalf("%+v", events)
		}
		for range 2 * ration { // there is no ration for those who have agreed
			if _, err := o.PingSubscription(ctx, anna, sub.ID, ""); err != nil {
				t.Fatal(err)
			}
		}
		o.do()
		if n := len(m.to(sub.URL)) - before; n < 2*ration {
			t.Errorf("%d posts to a receiver that is verified", n)
		}
		o.audit()
	})
}

// As many pings are under way to a host as a user may have webhooks there, though the user
// deletes and makes them as fast as may be.
func TestPingsUnderWayToOneHost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &sluggish{mailroom: &mailroom{always: answers(404)}, takes: 10 * time.Second, now: map[string]int{}, most: map[string]int{}}
		o := &office{t: t, store: memstore.New(), bank: &bank{Gateway: sandbox.New()}, post: &post{}}
		o = o.another(func(opts *traintravel.Options) {
			opts.Now, opts.Webhooks = nil, &traintravel.WebhookOptions{Sender: m, SealKey: make([]byte, 32)}
		})
		o.load(inBubbles())
		defer o.runs()()
		for range 20 {
			sub := o.subscribeUnverified(hook)
			time.Sleep(100 * time.Millisecond)
			o.expect("deleting", o.Unsubscribe(t.Context(), anna, sub.ID), nil)
		}
		m.mu.Lock()
		if m.most[hook] != 3 {
			t.Errorf("%d under way at a time", m.most[hook])
		}
		m.mu.Unlock()
	})
}

// However often the URL is changed, and whatever the receivers before have said, the events
// that wait are posted when the subscription is verified.
func TestOftenAnotherURL(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o, m := withWebhooks(t, store)
		ctx := t.Context()
		m.always = answers(503)
		sub := o.subscribe(anna, hook)
		book := func() {
			o.book(anna, o.trip('F', 'G', "S 3"))
			o.do()
			o.clock.add(time.Second)
		}
		book() // waits to be tried again
		for i := range 3 {
			url := fmt.Sprint("https://elsewhere.example/", i)
			if _, err := o.ChangeSubscription(ctx, anna, sub.ID, traintravel.SubscriptionChange{URL: &url}); err != nil {
				t.Fatal(err)
			}
			book()
			o.clock.add(time.Hour)
			book()
		}
		m.always = answers(200)
		if _, err := o.PingSubscription(ctx, anna, sub.ID, ""); err != nil {
			t.Fatal(err)
		}
		o.do()
		o.verifiedIs(sub.ID, true)
		all := o.events(sub.ID)
		for i, d := range all {
			if d.Status != traintravel.DeliveryDelivered {
				t.Errorf("the %d. of %d: %+v", i+1, len(all), d)
			}
		}
		if len(all) != 7 {
			t.Errorf("%d events", len(all))
		}
		o.audit()
	})
}
