package webhooks_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/store/memstore"
)

func TestSubscribersGetTheirEvents(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o, m := officetest.WithWebhooks(t, store)
		o.Book(officetest.Anna, o.TripID('A', 'D', "R 1")) // nobody wanted to know
		o.Clock.Add(time.Second)
		o.MustSubscribe(officetest.Anna, officetest.Hook+"1")
		o.MustSubscribe(officetest.Anna, officetest.Hook+"2", traintravel.BookingCancelled, traintravel.BookingConfirmed)
		o.MustSubscribe(officetest.Berta, officetest.Hook+"3")
		partner := traintravel.Caller{Subject: traintravel.Subject{Issuer: officetest.Anna.Issuer, ID: "partner"}, Client: "partner", ForItself: true}
		o.MustSubscribe(partner, officetest.Hook+"4")
		b := o.Book(officetest.Anna, o.TripID('A', 'D', "R 1"))
		o.MustPay(b, traintravel.Succeeded)
		o.Expect("cancelling", o.CancelBooking(t.Context(), officetest.Anna, b.ID), nil)
		through := officetest.Anna
		through.Client = "partner"
		o.Book(through, o.TripID('A', 'D', "R 1"))
		o.Do()
		created := traintravel.BookingCreated
		officetest.ExpectEvents(t, m, officetest.Hook+"1", created, created)
		officetest.ExpectEvents(t, m, officetest.Hook+"3")
		officetest.ExpectEvents(t, m, officetest.Hook+"4", created)
		got := m.To(officetest.Hook + "2")
		slices.Sort(got)
		if !slices.Equal(got, []traintravel.EventType{traintravel.BookingCancelled, traintravel.BookingConfirmed}) {
			t.Fatalf("%v", got)
		}
		o.Do()
		if len(m.Posts) != 5 {
			t.Errorf("%d posts", len(m.Posts))
		}
	})
}

// The schedule to its end, then a replay.
func TestDeliverySchedule(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o, m := officetest.WithWebhooks(t, store, officetest.KeepUnpaid)
		sub := o.MustSubscribe(officetest.Anna, officetest.Hook)
		m.Answers[officetest.Hook] = func(int) (traintravel.WebhookAnswer, error) { return traintravel.WebhookAnswer{Status: 204}, nil }
		o.Book(officetest.Anna, o.TripID('A', 'D', "R 1"))
		waits := []time.Duration{0, 5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour}
		for n, wait := range waits {
			if n > 0 {
				d := o.OnlyDelivery(officetest.Anna, sub)
				in := d.Next.Sub(o.Clock.Now())
				if d.Status != traintravel.DeliveryPending || d.Attempts != n || d.LastStatus != 204 || in < wait*4/5 || in > wait*6/5 {
					t.Fatalf("after %d attempts: %+v, in %v", n, d, in)
				}
				o.Clock.Add(in - 1)
				if o.Do(); len(m.Posts) != n {
					t.Fatalf("it was tried before its time")
				}
				o.Clock.Add(1)
			}
			if o.Do(); len(m.Posts) != n+1 {
				t.Fatalf("%d posts after %d tries", len(m.Posts), n+1)
			}
		}
		d := o.OnlyDelivery(officetest.Anna, sub)
		if d.Status != traintravel.DeliveryDead || d.Attempts != 10 || !d.Next.IsZero() {
			t.Fatalf("in the end %+v", d)
		}
		o.Clock.Add(20 * 24 * time.Hour)
		if o.Do(); len(m.Posts) != 10 {
			t.Fatalf("a dead letter was posted")
		}
		m.Answers[officetest.Hook] = nil
		again, err := o.RetryDelivery(t.Context(), officetest.Anna, sub.ID, d.ID, "")
		if err != nil || again.Status != traintravel.DeliveryPending || again.ID != d.ID {
			t.Fatalf("%+v, %v", again, err)
		}
		o.Do()
		if d := o.OnlyDelivery(officetest.Anna, sub); d.Status != traintravel.DeliveryDelivered || d.LastStatus != 200 || m.Posts[10].Event.ID != m.Posts[0].Event.ID {
			t.Fatalf("%+v", d)
		}
		_, err = o.RetryDelivery(t.Context(), officetest.Anna, sub.ID, d.ID, "")
		o.Expect("trying what was delivered", err, traintravel.ErrDelivered)
		o.Clock.Add(8 * 24 * time.Hour)
		o.Do()
		if l, err := o.Deliveries(t.Context(), officetest.Anna, sub.ID, traintravel.Page{}); err != nil || len(l.Items) != 0 {
			t.Errorf("%+v, %v are still there", l.Items, err)
		}
	})
}

// What waits for its next attempt is given up once nothing is posted any more, by the
// owner's word or the receiver's, and is not tried before that is taken back.
func TestDisabledGivesUpWhatWaits(t *testing.T) {
	yes, no := true, false
	for name, disable := range map[string]func(*officetest.Office, *officetest.Mailroom, traintravel.Subscription){
		"by the owner": func(o *officetest.Office, _ *officetest.Mailroom, sub traintravel.Subscription) {
			_, err := o.ChangeSubscription(o.T.Context(), officetest.Anna, sub.ID, traintravel.SubscriptionChange{Disabled: &yes})
			o.Expect("disabling", err, nil)
		},
		"by the receiver": func(o *officetest.Office, m *officetest.Mailroom, _ traintravel.Subscription) {
			m.Answers[officetest.Hook] = officetest.Answers(410)
			o.Book(officetest.Anna, o.TripID('F', 'G', "S 3"))
		},
	} {
		officetest.OnEveryStoreCase(t, name, func(t *testing.T, store traintravel.Store) {
			o, m := officetest.WithWebhooks(t, store)
			sub := o.MustSubscribe(officetest.Anna, officetest.Hook)
			const events = 300 // more than are looked at together
			m.Answers[officetest.Hook] = func(n int) (traintravel.WebhookAnswer, error) {
				if n == 1 {
					return traintravel.WebhookAnswer{Status: 200}, nil // there is hope for the others
				}
				return traintravel.WebhookAnswer{Status: 503, RetryAfter: time.Hour}, nil
			}
			for range events {
				o.Book(officetest.Anna, o.TripID('F', 'G', "S 3"))
			}
			o.Do()
			if n := len(m.To(officetest.Hook)); n != events {
				t.Fatalf("%d posts", n)
			}
			disable(o, m, sub)
			for range 2 {
				o.Do()
				o.Clock.Add(time.Second)
			}
			for after, more := "", true; more; {
				l, err := o.Deliveries(t.Context(), officetest.Anna, sub.ID, traintravel.Page{Limit: 100, After: after})
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
			l, err := o.Deliveries(t.Context(), officetest.Anna, sub.ID, traintravel.Page{Limit: 1})
			if err != nil {
				t.Fatal(err)
			}
			_, err = o.RetryDelivery(t.Context(), officetest.Anna, sub.ID, l.Items[0].ID, "")
			o.Expect("trying one", err, traintravel.ErrDisabled)
			_, err = o.RetryDead(t.Context(), officetest.Anna, sub.ID)
			o.Expect("trying all", err, traintravel.ErrDisabled)
			ping, err := o.PingSubscription(t.Context(), officetest.Anna, sub.ID, "")
			o.Expect("a ping", err, nil)
			o.Do()
			_, err = o.RetryDelivery(t.Context(), officetest.Anna, sub.ID, ping.ID, "")
			o.Expect("trying a ping", err, nil)
			_, err = o.ChangeSubscription(t.Context(), officetest.Anna, sub.ID, traintravel.SubscriptionChange{Disabled: &no})
			o.Expect("enabling", err, nil)
			_, err = o.RetryDelivery(t.Context(), officetest.Anna, sub.ID, l.Items[0].ID, "")
			o.Expect("trying one again", err, nil)
		})
	}
}

func TestResponsesOfReceivers(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o, m := officetest.WithWebhooks(t, store)
		sub := o.MustSubscribe(officetest.Anna, officetest.Hook)
		m.Answers[officetest.Hook] = func(n int) (traintravel.WebhookAnswer, error) {
			if n == 1 {
				return traintravel.WebhookAnswer{Status: 503, RetryAfter: time.Hour}, nil
			}
			return traintravel.WebhookAnswer{Status: 410}, nil
		}
		o.Book(officetest.Anna, o.TripID('A', 'D', "R 1"))
		o.Do()
		if d := o.OnlyDelivery(officetest.Anna, sub); d.Next.Sub(o.Clock.Now()) != time.Hour {
			t.Fatalf("it asked for an hour: %+v", d)
		}
		o.Clock.Add(time.Hour)
		o.Do()
		if d := o.OnlyDelivery(officetest.Anna, sub); d.Status != traintravel.DeliveryDead || d.LastStatus != 410 {
			t.Fatalf("it is gone: %+v", d)
		}
		if is, err := o.Subscription(t.Context(), officetest.Anna, sub.ID); err != nil || !is.Disabled {
			t.Fatalf("%+v, %v", is, err)
		}
		o.Book(officetest.Anna, o.TripID('A', 'D', "R 1"))
		o.Do()
		no := false
		if is, err := o.ChangeSubscription(t.Context(), officetest.Anna, sub.ID, traintravel.SubscriptionChange{Disabled: &no}); err != nil || is.Disabled {
			t.Fatalf("%+v, %v", is, err)
		}
		m.Answers[officetest.Hook] = nil
		o.Clock.Add(time.Second)
		o.Book(officetest.Anna, o.TripID('A', 'D', "R 1"))
		o.Do()
		if len(m.Posts) != 3 {
			t.Errorf("%d posts", len(m.Posts))
		}
		if _, err := o.PingSubscription(t.Context(), officetest.Anna, sub.ID, ""); err != nil {
			t.Fatal(err)
		}
		o.Do()
		if last := m.Posts[len(m.Posts)-1]; last.Event.Type != traintravel.Ping || len(m.Posts) != 4 {
			t.Errorf("%+v", last)
		}
	})
}

// A secret is shown once, signs, and is replaced with an overlap.
func TestSubscriptionSecrets(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o, m := officetest.WithWebhooks(t, store)
		sub, first, err := o.Subscribe(t.Context(), officetest.Anna, traintravel.NewSubscription{URL: officetest.Hook, IdempotencyKey: "k"})
		if err != nil {
			t.Fatal(err)
		}
		same, again, err := o.Subscribe(t.Context(), officetest.Anna, traintravel.NewSubscription{URL: officetest.Hook, IdempotencyKey: "k"})
		if err != nil || same.ID != sub.ID || again != first || !same.Replayed {
			t.Fatalf("repeated: %+v, %v", same, err)
		}
		signed := func(want ...traintravel.Secret) {
			t.Helper()
			o.Clock.Add(time.Second)
			if _, err := o.PingSubscription(t.Context(), officetest.Anna, sub.ID, ""); err != nil {
				t.Fatal(err)
			}
			o.Do()
			if got := m.Posts[len(m.Posts)-1].Secrets; !slices.Equal(got, want) {
				t.Fatalf("signed by %d secrets, want %d, or by others", len(got), len(want))
			}
		}
		signed(first)
		_, second, err := o.NewSubscriptionSecret(t.Context(), officetest.Anna, sub.ID, "")
		if err != nil || second == first {
			t.Fatal(err)
		}
		signed(second, first)
		o.Clock.Add(24 * time.Hour)
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

// An endpoint that fails yields its turn after some deliveries, and gets the rest afterwards.
func TestFailingEndpointYieldsItsTurn(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o, m := officetest.WithWebhooks(t, store)
		const events = 70
		for _, url := range []string{officetest.Hook + "1", officetest.Hook + "2"} {
			sub := o.MustSubscribe(officetest.Anna, url)
			for range events {
				if _, err := o.PingSubscription(t.Context(), officetest.Anna, sub.ID, ""); err != nil {
					t.Fatal(err)
				}
			}
		}
		m.Answers[officetest.Hook+"1"] = func(int) (traintravel.WebhookAnswer, error) { return traintravel.WebhookAnswer{Status: 500}, nil }
		o.Do()
		if bad, good := len(m.To(officetest.Hook+"1")), len(m.To(officetest.Hook+"2")); bad < 16 || bad > 32 || good != events {
			t.Errorf("%d posts to the bad one, %d to the good one", bad, good)
		}
		for range 5 {
			o.Clock.Add(time.Second)
			o.Do()
		}
		if bad := len(m.To(officetest.Hook + "1")); bad != events {
			t.Errorf("%d posts to the bad one", bad)
		}
	})
}

func TestUnsubscribing(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o, m := officetest.WithWebhooks(t, store)
		sub := o.MustSubscribe(officetest.Anna, officetest.Hook)
		m.Answers[officetest.Hook] = func(n int) (traintravel.WebhookAnswer, error) {
			if n == 2 { // while a delivery is under way
				o.Expect("unsubscribing", o.Unsubscribe(t.Context(), officetest.Anna, sub.ID), nil)
			}
			return traintravel.WebhookAnswer{}, errors.New("no answer")
		}
		for range 2 {
			o.Book(officetest.Anna, o.TripID('A', 'D', "R 1"))
			o.Do()
		}
		o.Clock.Add(100 * time.Hour)
		o.Do()
		o.Clock.Add(100 * time.Hour)
		o.Do()
		if len(m.Posts) != 2 {
			t.Errorf("%d posts", len(m.Posts))
		}
		for _, table := range []traintravel.Table{traintravel.TableWebhooks, traintravel.TableDeliveries} {
			if records, err := store.List(t.Context(), traintravel.Range{Table: table}); err != nil || len(records) > 0 {
				t.Errorf("%d records are left of %v, %v", len(records), table, err)
			}
		}
		_, err := o.Deliveries(t.Context(), officetest.Anna, sub.ID, traintravel.Page{})
		o.Expect("its deliveries", err, traintravel.ErrNotFound)
	})
}

// Nobody sees or touches what is another's.
func TestSubscriptionsAreTheirOwners(t *testing.T) {
	o, _ := officetest.WithWebhooks(t, memstore.New())
	sub := o.MustSubscribe(officetest.Anna, officetest.Hook)
	o.Book(officetest.Anna, o.TripID('A', 'D', "R 1"))
	o.Do()
	d := o.OnlyDelivery(officetest.Anna, sub)
	other := officetest.Anna
	other.Client = "other app"
	abroad := officetest.Anna
	abroad.Issuer = "https://other.example"
	for _, by := range []traintravel.Caller{officetest.Berta, other, abroad} {
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
			o.Expect(fmt.Sprintf("%s by %v", what, by), try(), traintravel.ErrNotFound)
		}
		if l, err := o.Subscriptions(ctx, by, traintravel.Page{}); err != nil || len(l.Items) != 0 {
			t.Errorf("%v sees %+v, %v", by, l.Items, err)
		}
	}
	if _, err := o.RetryDelivery(t.Context(), officetest.Anna, sub.ID, uuid.New(), ""); !errors.Is(err, traintravel.ErrNotFound) {
		t.Error(err)
	}
}
