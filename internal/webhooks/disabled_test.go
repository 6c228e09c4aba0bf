package webhooks_test

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
)

// A subscription that is stopped says who stopped it and when, to its owner and to the
// operator; a receiver that stops one is told to the observer and logged as a warning, once.
func TestStoppedSubscriptionsSayWhy(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		var log bytes.Buffer
		var mu sync.Mutex
		var told []traintravel.DisabledBy
		o, m := officetest.WithWebhooks(t, store, func(opts *traintravel.Options) {
			opts.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))
			opts.Observer.Disabled = func(_ context.Context, by traintravel.DisabledBy) {
				mu.Lock()
				defer mu.Unlock()
				told = append(told, by)
			}
		})
		expect := func(sub traintravel.Subscription, want traintravel.Disabling) {
			t.Helper()
			got, err := o.Subscription(t.Context(), officetest.Anna, sub.ID)
			if diff := cmp.Diff(want, got.Stopped()); err != nil || diff != "" || got.Disabled != (want.By != "") {
				t.Errorf("%v %v %s", err, got.Disabled, diff)
			}
			l, err := o.Subscriptions(t.Context(), officetest.Anna, traintravel.Page{})
			if i := slices.IndexFunc(l.Items, func(s traintravel.Subscription) bool { return s.ID == sub.ID }); err != nil || i < 0 || l.Items[i].Stopped() != got.Stopped() {
				t.Errorf("the list says otherwise: %+v, %v", l.Items, err)
			}
		}
		change := func(sub traintravel.Subscription, disabled bool) {
			t.Helper()
			o.Clock.Add(time.Minute)
			_, err := o.ChangeSubscription(t.Context(), officetest.Anna, sub.ID, traintravel.SubscriptionChange{Disabled: &disabled})
			o.Expect("changing", err, nil)
		}
		gone := o.MustSubscribe(officetest.Anna, officetest.Hook+"1")
		o.Clock.Add(time.Second)
		owners := o.MustSubscribe(officetest.Anna, officetest.Hook+"2")
		m.Answers[officetest.Hook+"1"] = officetest.Answers(410)
		expect(gone, traintravel.Disabling{})
		change(owners, true)
		byOwner := traintravel.Disabling{By: traintravel.DisabledByOwner, At: o.Clock.Now()}
		o.Clock.Add(time.Minute)
		o.Book(officetest.Anna, o.TripID('A', 'D', "R 1"))
		o.Book(officetest.Anna, o.TripID('A', 'D', "R 1"))
		o.Do()
		byReceiver := traintravel.Disabling{By: traintravel.DisabledByReceiver, At: o.Clock.Now()}
		expect(gone, byReceiver)
		expect(owners, byOwner)
		change(gone, true) // it is disabled already
		expect(gone, byReceiver)
		if l, err := o.StoppedSubscriptions(t.Context(), traintravel.Page{Limit: 1}); err != nil || len(l.Items) != 1 || l.Items[0].ID != owners.ID || l.Next == "" {
			t.Errorf("the operator sees %+v, %v", l, err)
		} else if l, err := o.StoppedSubscriptions(t.Context(), traintravel.Page{Limit: 1, After: l.Next}); err != nil || len(l.Items) != 1 || l.Items[0].ID != gone.ID || l.Next != "" {
			t.Errorf("and then %+v, %v", l, err)
		}
		change(gone, false)
		expect(gone, traintravel.Disabling{})

		if got := log.String(); strings.Count(got, "webhook disabled because") != 1 || !strings.Contains(got, gone.ID.String()) {
			t.Errorf("the log says %s", got)
		}
		if want := []traintravel.DisabledBy{traintravel.DisabledByOwner, traintravel.DisabledByReceiver}; !slices.Equal(told, want) {
			t.Errorf("the observer was told %v", told)
		}
	})
}

// A subscription of a client that the operator no longer names says so, and is not written.
func TestSubscriptionOfARemovedClient(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o, m := officetest.WithWebhooks(t, store)
		sub := o.MustSubscribe(officetest.Partner, officetest.Hook)
		later := o.Colleague(m, func(w *traintravel.WebhookOptions) { w.Clients = nil })
		want := traintravel.Disabling{By: traintravel.DisabledByOperator}
		for range 2 {
			if got, err := later.Subscription(t.Context(), officetest.Partner, sub.ID); err != nil || got.Disabled || got.Stopped() != want || got.Stopped().Reason() == "" {
				t.Errorf("%+v, %v", got.Stopped(), err)
			}
			enable := false
			_, err := later.ChangeSubscription(t.Context(), officetest.Partner, sub.ID, traintravel.SubscriptionChange{Disabled: &enable})
			o.Expect("enabling it", err, nil)
		}
		if got, err := o.Subscription(t.Context(), officetest.Partner, sub.ID); err != nil || got.Stopped() != (traintravel.Disabling{}) {
			t.Errorf("where the client is named: %+v, %v", got.Stopped(), err)
		}
	})
}

// A delivery that is over says when and, if it is dead, why.
func TestDeadDeliveriesSayWhy(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o, m := officetest.WithWebhooks(t, store)
		for name, c := range map[string]struct {
			answer int
			ping   bool // and nothing else
			stop   bool // while it waits
			want   traintravel.DeadReason
		}{
			"delivered":          {answer: 200},
			"gone":               {answer: 410, want: traintravel.DeadByReceiver},
			"disabled":           {answer: 503, stop: true, want: traintravel.DeadByDisabling},
			"a ping that failed": {answer: 503, ping: true, want: traintravel.DeadByAttempts},
		} {
			user := traintravel.Caller{Subject: traintravel.Subject{ID: name}}
			sub := o.MustSubscribe(user, officetest.Hook+name)
			m.Answers[sub.URL] = officetest.Answers(c.answer)
			if c.ping {
				_, err := o.PingSubscription(t.Context(), user, sub.ID, "")
				o.Expect("pinging", err, nil)
			} else {
				b := o.Book(user, o.TripID('A', 'D', "R 1"))
				o.Expect("cancelling", o.CancelBooking(t.Context(), user, b.ID), nil) // the train is small
			}
			o.Do()
			if c.stop {
				if d := o.OnlyDelivery(user, sub); !d.Ended.IsZero() || d.Dead != "" {
					t.Errorf("%s: while it is pending: %+v", name, d)
				}
				o.Clock.Add(time.Second)
				_, err := o.ChangeSubscription(t.Context(), user, sub.ID, traintravel.SubscriptionChange{Disabled: &c.stop})
				o.Expect("disabling", err, nil)
				o.Do()
			}
			if d := o.OnlyDelivery(user, sub); d.Dead != c.want || !d.Ended.Equal(o.Clock.Now()) {
				t.Errorf("%s: %q at %v, want %q at %v", name, d.Dead, d.Ended, c.want, o.Clock.Now())
			}
			o.Clock.Add(time.Second)
			if d := o.OnlyDelivery(user, sub); c.ping {
				again, err := o.RetryDelivery(t.Context(), user, sub.ID, d.ID, "")
				if err != nil || again.Dead != "" || !again.Ended.IsZero() {
					t.Errorf("%s: tried again: %+v, %v", name, again, err)
				}
			}
		}
	})
}
