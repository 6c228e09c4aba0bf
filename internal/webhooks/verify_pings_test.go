package webhooks_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/sandbox"
	"github.com/traintravel/traintravel/store/memstore"
)

// A user has some pings posted to a host that has not answered any, and then one a minute,
// whatever the user does to have more posted. The webhook is verified all the same.
func TestPingsAreRationed(t *testing.T) {
	const ration = 4 * 3
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o, m := officetest.WithWebhooks(t, store, func(opts *traintravel.Options) { opts.Webhooks.PerHost = 0 })
		ctx := t.Context()
		m.Always = officetest.Answers(404)
		sub := subscribeUnverified(o, "https://victim.example/")
		for range ration {
			if _, err := o.PingSubscription(ctx, officetest.Anna, sub.ID, ""); err != nil {
				t.Fatal(err)
			}
			o.Do()
			o.Clock.Add(time.Millisecond)
		}
		expect := func(what string, posts int) {
			t.Helper()
			if n := len(m.Posts); n != posts {
				t.Fatalf("%s: %d posts, not %d", what, n, posts)
			}
			o.Audit()
		}
		expect("pings that somebody asked for", ration)
		all, err := o.Deliveries(ctx, officetest.Anna, sub.ID, traintravel.Page{})
		if last := all.Items[0]; err != nil || last.Dead != traintravel.DeadByPings || last.Attempts != 0 {
			t.Fatalf("%+v, %v", last, err)
		}
		for i := range 10 {
			url := fmt.Sprint("https://victim.example/", i)
			is, err := o.ChangeSubscription(ctx, officetest.Anna, sub.ID, traintravel.SubscriptionChange{URL: &url})
			o.Expect("changing the URL", err, nil)
			another := subscribeUnverified(o, url)
			o.Do()
			o.Expect("deleting", o.Unsubscribe(ctx, officetest.Anna, another.ID), nil)
			sub = is
		}
		expect("other URLs, and other webhooks", ration)
		_, _, err = o.Subscribe(ctx, officetest.Berta, traintravel.NewSubscription{URL: "https://victim.example/"})
		o.Expect("another user", err, nil)
		subscribeUnverified(o, "https://other.example/")
		o.Do()
		expect("another user, and another host", ration+2)

		// The receiver is there now, and gets what it waits for with the next ration.
		m.Always = officetest.Answers(200)
		o.Book(officetest.Anna, o.TripID('F', 'G', "S 3"))
		o.Do()
		verifiedIs(o, sub.ID, false)
		o.Clock.Add(time.Minute)
		o.Do()
		verifiedIs(o, sub.ID, true)
		before := len(m.To(sub.URL)) // with pings of URLs before, which may have waited until now
		if events := events(o, sub.ID); len(events) != 1 || events[0].Status != traintravel.DeliveryDelivered {
			t.Fatalf("%+v", events)
		}
		for range 2 * ration { // there is no ration for those who have agreed
			if _, err := o.PingSubscription(ctx, officetest.Anna, sub.ID, ""); err != nil {
				t.Fatal(err)
			}
		}
		o.Do()
		if n := len(m.To(sub.URL)) - before; n < 2*ration {
			t.Errorf("%d posts to a receiver that is verified", n)
		}
		o.Audit()
	})
}

// As many pings are under way to a host as a user may have webhooks there, though the user
// deletes and makes them as fast as may be.
func TestPingsUnderWayToOneHost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &sluggish{Mailroom: &officetest.Mailroom{Always: officetest.Answers(404)}, takes: 10 * time.Second, now: map[string]int{}, most: map[string]int{}}
		o := &officetest.Office{T: t, Store: memstore.New(), Bank: &officetest.Bank{Gateway: sandbox.New()}, Post: &officetest.Post{}}
		o = o.Another(func(opts *traintravel.Options) {
			opts.Now, opts.Webhooks = nil, &traintravel.WebhookOptions{Sender: m, SealKey: make([]byte, 32)}
		})
		o.Load(officetest.InBubbles())
		defer o.Start()()
		for range 20 {
			sub := subscribeUnverified(o, officetest.Hook)
			time.Sleep(100 * time.Millisecond)
			o.Expect("deleting", o.Unsubscribe(t.Context(), officetest.Anna, sub.ID), nil)
		}
		m.Mu.Lock()
		if m.most[officetest.Hook] != 3 {
			t.Errorf("%d under way at a time", m.most[officetest.Hook])
		}
		m.Mu.Unlock()
	})
}

// However often the URL is changed, and whatever the receivers before have said, the events
// that wait are posted when the subscription is verified.
func TestOftenAnotherURL(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o, m := officetest.WithWebhooks(t, store)
		ctx := t.Context()
		m.Always = officetest.Answers(503)
		sub := o.MustSubscribe(officetest.Anna, officetest.Hook)
		book := func() {
			o.Book(officetest.Anna, o.TripID('F', 'G', "S 3"))
			o.Do()
			o.Clock.Add(time.Second)
		}
		book() // waits to be tried again
		for i := range 3 {
			url := fmt.Sprint("https://elsewhere.example/", i)
			if _, err := o.ChangeSubscription(ctx, officetest.Anna, sub.ID, traintravel.SubscriptionChange{URL: &url}); err != nil {
				t.Fatal(err)
			}
			book()
			o.Clock.Add(time.Hour)
			book()
		}
		m.Always = officetest.Answers(200)
		if _, err := o.PingSubscription(ctx, officetest.Anna, sub.ID, ""); err != nil {
			t.Fatal(err)
		}
		o.Do()
		verifiedIs(o, sub.ID, true)
		all := events(o, sub.ID)
		for i, d := range all {
			if d.Status != traintravel.DeliveryDelivered {
				t.Errorf("the %d. of %d: %+v", i+1, len(all), d)
			}
		}
		if len(all) != 7 {
			t.Errorf("%d events", len(all))
		}
		o.Audit()
	})
}
