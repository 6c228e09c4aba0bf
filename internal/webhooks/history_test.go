package webhooks_test

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
)

// A subscription keeps a limited number of the newest dead deliveries, and of delivered ones
// besides. Waiting deliveries, and those of the operator's endpoints, are always kept.
func TestListedDeliveriesAreBounded(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		const most, kept, bookings, slack = 2, 10 * 2, 60, 30
		var log strings.Builder
		o, m := officetest.WithWebhooks(t, store, func(opts *traintravel.Options) {
			opts.Webhooks.Backlog = most
			opts.Webhooks.Operator = []traintravel.OperatorWebhook{{URL: officetest.OperatorsHook, Secrets: []traintravel.Secret{officetest.Operators}}}
			opts.Logger = slog.New(slog.NewTextHandler(&log, nil))
		})
		sub := o.MustSubscribe(officetest.Anna, officetest.Hook)
		m.Answers[officetest.Hook] = func(int) (traintravel.WebhookAnswer, error) {
			return traintravel.WebhookAnswer{Status: 503, RetryAfter: time.Hour}, nil
		}
		expect := func(status traintravel.DeliveryStatus, least, atMost int) []traintravel.Delivery {
			t.Helper()
			var found []traintravel.Delivery
			for _, d := range events(o, sub.ID) {
				if d.Status == status {
					found = append(found, d)
				}
			}
			if n := len(found); n < least || n > atMost {
				t.Fatalf("%d are %s, not %d to %d", n, status, least, atMost)
			}
			return found
		}
		book := func() {
			for range bookings {
				trip := o.TripID('F', 'G', "S 3")
				b := o.Book(officetest.Anna, trip)
				o.Do()
				o.Expect("cancelling", o.CancelBooking(t.Context(), officetest.Anna, b.ID), nil)
				o.Clock.Add(time.Second)
			}
		}
		book()
		expect(traintravel.DeliveryPending, most, most)
		dead := expect(traintravel.DeliveryDead, kept, kept+slack)
		if gap := dead[0].Created.Sub(dead[kept-1].Created); gap != (kept-1)*time.Second {
			t.Errorf("not the newest are kept: they are %v apart", gap)
		}
		if !strings.Contains(log.String(), "too many dead letters") || !strings.Contains(log.String(), sub.ID.String()) {
			t.Errorf("the log says %s", log.String())
		}
		o.Audit()

		delete(m.Answers, officetest.Hook)
		book()
		o.Clock.Add(2 * time.Hour)
		o.Do()
		expect(traintravel.DeliveryPending, 0, 0)
		expect(traintravel.DeliveryDead, kept, kept+slack)
		expect(traintravel.DeliveryDelivered, kept, kept+slack)
		if n := len(m.To(officetest.OperatorsHook)); n != 2*bookings {
			t.Errorf("the operator got %d events", n)
		}
		operators, err := o.Desk().Subscriptions(t.Context(), traintravel.Page{})
		o.Expect("listing the operator's", err, nil)
		all := 0
		for page := (traintravel.Page{Limit: 100}); ; {
			l, err := o.Desk().Deliveries(t.Context(), operators.Items[0].ID, page)
			if err != nil {
				t.Fatal(err)
			}
			if all += len(l.Items); l.Next == "" {
				break
			}
			page.After = l.Next
		}
		if all != 2*bookings {
			t.Errorf("%d deliveries of the operator's are listed", all)
		}
		o.Audit()
	})
}
