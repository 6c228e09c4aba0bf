package webhooks_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/store/memstore"
)

// When as many deliveries wait for a subscription as may, the oldest become dead letters,
// which its owner, the operator's log and the metrics are told.
func TestBacklogIsBounded(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		const most = 5
		var log strings.Builder
		told := map[traintravel.DeadReason]int{}
		o, m := officetest.WithWebhooks(t, store, func(opts *traintravel.Options) {
			opts.Webhooks.Backlog = most
			opts.Logger = slog.New(slog.NewTextHandler(&log, nil))
			opts.Observer.Dead = func(_ context.Context, why traintravel.DeadReason) { told[why]++ }
		})
		sub := o.MustSubscribe(officetest.Anna, officetest.Hook)
		m.Answers[officetest.Hook] = func(int) (traintravel.WebhookAnswer, error) {
			return traintravel.WebhookAnswer{Status: 503, RetryAfter: time.Hour}, nil
		}
		expect := func(what string, dead int) {
			t.Helper()
			all := events(o, sub.ID)
			for i, d := range all { // the newest first
				switch old := i >= len(all)-dead; {
				case old && (d.Status != traintravel.DeliveryDead || d.Dead != traintravel.DeadByBacklog || d.Ended.IsZero()):
					t.Fatalf("%s: the %d. of %d is %+v", what, i+1, len(all), d)
				case !old && d.Status != traintravel.DeliveryPending:
					t.Fatalf("%s: the %d. of %d is %+v", what, i+1, len(all), d)
				}
			}
			if told[traintravel.DeadByBacklog] != dead {
				t.Fatalf("%s: told of %v", what, told)
			}
			o.Audit()
		}
		for range most { // one by one
			o.Book(officetest.Anna, o.TripID('F', 'G', "S 3"))
			o.Do()
			o.Clock.Add(time.Second)
		}
		expect("as many as may wait", 0)
		for range 2 {
			o.Book(officetest.Anna, o.TripID('F', 'G', "S 3"))
			o.Do()
			o.Clock.Add(time.Second)
		}
		expect("two more", 2)
		for range 3 * most { // more than may wait at once
			o.Book(officetest.Anna, o.TripID('F', 'G', "S 3"))
			o.Clock.Add(time.Second)
		}
		o.Do()
		expect("many together", 2+3*most)
		if !strings.Contains(log.String(), "webhook backlog full") || !strings.Contains(log.String(), sub.ID.String()) {
			t.Errorf("the log says %s", log.String())
		}

		// There is no room to retry all. One that somebody asks for takes the place of another.
		if n, err := o.RetryDead(t.Context(), officetest.Anna, sub.ID); n != 0 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
		all := events(o, sub.ID)
		oldest := all[len(all)-1]
		if d, err := o.RetryDelivery(t.Context(), officetest.Anna, sub.ID, oldest.ID, ""); err != nil || d.Status != traintravel.DeliveryPending {
			t.Errorf("%+v, %v", d, err)
		}
		pending := 0
		for _, d := range events(o, sub.ID) {
			if d.Status == traintravel.DeliveryPending {
				pending++
			} else if d.ID == oldest.ID {
				t.Errorf("what was asked for goes for its age: %+v", d)
			}
		}
		if pending != most {
			t.Errorf("%d wait", pending)
		}
		o.Audit()

		// When the receiver is there again nothing is lost.
		delete(m.Answers, officetest.Hook)
		o.Clock.Add(2 * time.Hour)
		for {
			o.Do()
			n, err := o.RetryDead(t.Context(), officetest.Anna, sub.ID)
			if err != nil || n > most {
				t.Fatal(n, err)
			}
			if n == 0 {
				break
			}
		}
		for _, d := range events(o, sub.ID) {
			if d.Status != traintravel.DeliveryDelivered {
				t.Errorf("%+v", d)
			}
		}
		o.Audit()
	})
}

// Where more wait than may, and each is a ping that has to stay, nothing is given up, and
// nobody is told so.
func TestBacklogOfPings(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	o, m := officetest.WithWebhooks(t, memstore.New(), func(opts *traintravel.Options) {
		opts.Webhooks.Backlog = 1
		opts.Logger = slog.New(slog.NewTextHandler(&log, nil))
		opts.Observer.Dead = func(_ context.Context, why traintravel.DeadReason) { t.Errorf("told of %s", why) }
	})
	m.Answers[officetest.Hook] = officetest.Answers(503)
	sub := subscribeUnverified(o, officetest.Hook)
	o.Do()
	if _, err := o.PingSubscription(t.Context(), officetest.Anna, sub.ID, ""); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(log.String(), "backlog full") {
		t.Errorf("the log says %s", log.String())
	}
	o.Audit()
}
