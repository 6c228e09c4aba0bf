package webhooks_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/store/memstore"
)

// The operator sees what became of events at the endpoints of its own, also through a
// service that posts nothing, and has what died tried again: one, or all.
func TestOperatorsDeadLetters(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		ctx, by := t.Context(), traintravel.Operator() //lint:ignore SA1019 programs of before use it
		o, m := officetest.WithWebhooks(t, store)
		theirs := o.MustSubscribe(officetest.Anna, officetest.Hook)
		const events = 5
		both := []traintravel.OperatorWebhook{
			{URL: "http://10.0.0.1/dies", Secrets: []traintravel.Secret{officetest.Operators}, Events: []traintravel.EventType{traintravel.BookingCreated, traintravel.BookingCancelled}},
			{URL: "http://10.0.0.1/lives", Secrets: []traintravel.Secret{officetest.Operators}},
		}
		posts := o.Colleague(m, func(w *traintravel.WebhookOptions) { w.Operator = both })
		m.Answers[both[0].URL] = officetest.Answers(500)
		if l, err := o.Subscriptions(ctx, by, traintravel.Page{}); err != nil || len(l.Items) != 0 {
			t.Fatalf("before anything happened: %+v, %v", l, err)
		}
		var last traintravel.Booking
		for range events - 1 {
			last = posts.Book(officetest.Anna, o.TripID('F', 'G', "S 3"))
		}
		posts.Clock.Add(time.Second)
		posts.Expect("cancelling", posts.CancelBooking(ctx, officetest.Anna, last.ID), nil)
		for range 10 {
			posts.Do()
			posts.Clock.Add(30 * time.Hour)
		}

		direct := posts.Another() // posts nothing
		l, err := direct.Subscriptions(ctx, by, traintravel.Page{})
		if err != nil || len(l.Items) != 2 {
			t.Fatalf("%+v, %v", l, err)
		}
		dies := l.Items[0]
		if dies.URL != both[0].URL {
			dies = l.Items[1]
		}
		if !slices.Equal(dies.Events, both[0].Events) {
			t.Errorf("%+v", dies)
		}
		one, err := direct.Deliveries(ctx, by, dies.ID, traintravel.Page{})
		if err != nil || len(one.Items) == 0 || one.Items[0].Status != traintravel.DeliveryDead || one.Items[0].LastStatus != 500 || one.Items[0].Type != traintravel.BookingCancelled {
			t.Fatalf("%+v, %v", one, err)
		}

		m.Answers[both[0].URL] = nil
		before := len(m.To(both[0].URL))
		if d, err := direct.RetryDelivery(ctx, by, dies.ID, one.Items[0].ID, ""); err != nil || d.Status != traintravel.DeliveryPending {
			t.Fatalf("%+v, %v", d, err)
		}
		posts.Do()
		if n := len(m.To(both[0].URL)) - before; n != 1 {
			t.Errorf("%d posts after one was asked for", n)
		}
		for _, want := range []int{events - 1, 0} {
			if n, err := direct.RetryDead(ctx, by, dies.ID); n != want || err != nil {
				t.Errorf("%d were dead, %v; want %d", n, err, want)
			}
		}
		posts.Do()
		if n := len(m.To(both[0].URL)) - before; n != events {
			t.Errorf("%d posts after all were asked for, want %d", n, events)
		}

		pinged, err := direct.Desk().PingSubscription(ctx, dies.ID, "")
		if err != nil || pinged.Type != traintravel.Ping {
			t.Errorf("%+v, %v", pinged, err)
		}
		if again, err := direct.Desk().RetryDelivery(ctx, dies.ID, pinged.ID, ""); err != nil || again.ID != pinged.ID {
			t.Errorf("%+v, %v", again, err)
		}
		if same, err := direct.Desk().Subscription(ctx, dies.ID); err != nil || same.URL != dies.URL {
			t.Errorf("%+v, %v", same, err)
		}

		// Nobody else sees them, and they are not to be changed.
		_, err = posts.Subscription(ctx, officetest.Anna, dies.ID)
		o.Expect("anna's look", err, traintravel.ErrNotFound)
		_, err = posts.RetryDead(ctx, officetest.Anna, dies.ID)
		o.Expect("anna's retry", err, traintravel.ErrNotFound)
		_, err = posts.Deliveries(ctx, by, theirs.ID, traintravel.Page{})
		o.Expect("the operator's look at anna's", err, traintravel.ErrNotFound)
		yes := true
		for what, try := range map[string]func() error{
			"subscribe": func() error {
				_, _, err := posts.Subscribe(ctx, by, traintravel.NewSubscription{URL: officetest.Hook})
				return err
			},
			"change": func() error {
				_, err := posts.ChangeSubscription(ctx, by, dies.ID, traintravel.SubscriptionChange{Disabled: &yes})
				return err
			},
			"unsubscribe": func() error { return posts.Unsubscribe(ctx, by, dies.ID) },
			"secret":      func() error { _, _, err := posts.NewSubscriptionSecret(ctx, by, dies.ID, ""); return err },
			"book": func() error {
				_, err := posts.CreateBooking(ctx, by, traintravel.NewBooking{TripID: last.TripID, PassengerName: "Anna"})
				return err
			},
		} {
			if _, ok := errors.AsType[*traintravel.InvalidError](try()); !ok {
				t.Errorf("%s by the operator: %v", what, try())
			}
		}
		posts.Audit()
	})
}

// All dead deliveries of a user's are retried likewise, and no others.
func TestRetryDead(t *testing.T) {
	t.Parallel()
	o, m := officetest.WithWebhooks(t, memstore.New())
	sub := o.MustSubscribe(officetest.Anna, officetest.Hook)
	m.Answers[officetest.Hook] = officetest.Answers(410)
	const events = 300 // more than are looked at together
	for range events {
		o.Book(officetest.Anna, o.TripID('F', 'G', "S 3"))
	}
	for range 2 {
		o.Do()
		o.Clock.Add(time.Second)
	}
	gone := len(m.Posts)
	no := false
	if _, err := o.ChangeSubscription(t.Context(), officetest.Anna, sub.ID, traintravel.SubscriptionChange{Disabled: &no}); err != nil {
		t.Fatal(err)
	}
	m.Answers[officetest.Hook] = nil
	o.Book(officetest.Anna, o.TripID('F', 'G', "S 3"))
	o.Do()
	if n, err := o.RetryDead(t.Context(), officetest.Anna, sub.ID); n != events || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	o.Do()
	if l, err := o.Deliveries(t.Context(), officetest.Anna, sub.ID, traintravel.Page{}); err != nil || len(l.Items) != 10 || l.Items[9].Status != traintravel.DeliveryDelivered || len(m.Posts)-gone != events+1 {
		t.Errorf("%+v, %v, %d posts", l, err, len(m.Posts)-gone)
	}
	if n, err := o.RetryDead(t.Context(), officetest.Berta, sub.ID); !errors.Is(err, traintravel.ErrNotFound) {
		t.Errorf("berta: %d, %v", n, err)
	}
}

// The operator's endpoint gets the event types that the options name now, and the list shows them.
func TestOperatorWantsOtherEvents(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o, m := officetest.WithWebhooks(t, store)
		own := traintravel.OperatorWebhook{URL: "http://10.0.0.1/", Secrets: []traintravel.Secret{officetest.Operators}}
		wants := func(events ...traintravel.EventType) *officetest.Office {
			return o.Colleague(m, func(w *traintravel.WebhookOptions) {
				own.Events = events
				w.Operator = []traintravel.OperatorWebhook{own}
			})
		}
		for i, events := range [][]traintravel.EventType{{traintravel.BookingCreated}, {traintravel.BookingCancelled, traintravel.BookingCreated}, {traintravel.BookingCancelled}} {
			posts := wants(events...)
			b := posts.Book(officetest.Anna, o.TripID('F', 'G', "S 3"))
			posts.Expect("cancelling", posts.CancelBooking(t.Context(), officetest.Anna, b.ID), nil)
			before := len(m.To(own.URL))
			posts.Do()
			slices.Sort(events)
			got := m.To(own.URL)[before:]
			l, err := posts.Desk().Subscriptions(t.Context(), traintravel.Page{})
			if err != nil || len(l.Items) != 1 {
				t.Fatalf("%+v, %v", l, err)
			}
			if slices.Sort(got); !slices.Equal(got, events) {
				t.Errorf("%d: %v came, want %v", i, got, events)
			}
			if slices.Sort(l.Items[0].Events); !slices.Equal(l.Items[0].Events, events) {
				t.Errorf("%d: the list says %v, want %v", i, l.Items[0].Events, events)
			}
			o.Clock.Add(time.Second)
		}
	})
}
