package servers_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
)

// The clock of whichever server steps back between any two steps, by an hour each time:
// lists have what came last first all the same, page by page.
func TestListsAreInOrderWhenTheClockStepsBack(t *testing.T) {
	officetest.OnSharedStores(t, 2, func(t *testing.T, stores []traintravel.Store) {
		ctx := t.Context()
		options := func(opts *traintravel.Options) {
			officetest.Unlimited(opts)
			opts.Webhooks = &traintravel.WebhookOptions{Sender: &officetest.Mailroom{}, SealKey: make([]byte, 32), PerHost: 1000}
		}
		o := officetest.New(t, stores[0], options)
		o.Clock.Set(officetest.Opens.Add(-100 * time.Hour))
		servers := []*officetest.Office{o, o.At(stores[1], options)}
		steps := 0
		server := func() *officetest.Office {
			steps++
			for _, s := range servers {
				s.Clock.Add(-time.Hour)
			}
			return servers[steps%2]
		}
		trip := o.TripID('A', 'D', "R 1")
		dear := o.TripID('F', 'G', "S 3")
		var bookings, payments, subscriptions []uuid.UUID
		for range 4 {
			bookings = append(bookings, server().Book(officetest.Anna, dear).ID)
		}
		b := server().Book(officetest.Berta, trip)
		for range 3 {
			payments = append(payments, server().MustPay(b, traintravel.Failed, officetest.Declined).ID)
		}
		payments = append(payments, server().MustPay(b, traintravel.Succeeded).ID)
		o.Expect("cancelling", server().CancelBooking(ctx, officetest.Berta, b.ID), nil)
		all, err := server().Payments(ctx, officetest.Berta, b.ID, traintravel.Page{})
		if err != nil || len(all.Items) != 5 || all.Items[0].RefundOf != payments[3] {
			t.Fatalf("%+v, %v", all.Items, err)
		}
		payments = append(payments, all.Items[0].ID)
		for range 4 {
			sub, _, err := server().Subscribe(ctx, officetest.Anna, traintravel.NewSubscription{URL: "https://a.example/"})
			if err != nil {
				t.Fatal(err)
			}
			subscriptions = append(subscriptions, sub.ID)
		}
		for limit := 1; limit <= 5; limit++ {
			inOrder(t, "bookings", bookings, officetest.Walk(t, limit, func(p traintravel.Page) (traintravel.List[traintravel.Booking], error) {
				return o.Bookings(ctx, officetest.Anna, p)
			}, func(int) {}), func(b traintravel.Booking) uuid.UUID { return b.ID })
			inOrder(t, "payments", payments, officetest.Walk(t, limit, func(p traintravel.Page) (traintravel.List[traintravel.Payment], error) {
				return o.Payments(ctx, officetest.Berta, b.ID, p)
			}, func(int) {}), func(p traintravel.Payment) uuid.UUID { return p.ID })
			inOrder(t, "subscriptions", subscriptions, officetest.Walk(t, limit, func(p traintravel.Page) (traintravel.List[traintravel.Subscription], error) {
				return o.Subscriptions(ctx, officetest.Anna, p)
			}, func(int) {}), func(s traintravel.Subscription) uuid.UUID { return s.ID })
		}
		latest, err := o.Payment(ctx, officetest.Berta, b.ID)
		if err != nil || latest.ID != payments[3] {
			t.Errorf("the latest attempt is %v, %v", latest.ID, err)
		}
		h, err := o.BookingHistory(ctx, b.ID)
		var ids []uuid.UUID
		for _, p := range h.Payments {
			ids = append(ids, p.ID)
		}
		if err != nil || !slices.Equal(ids, payments) {
			t.Errorf("the history has %v, %v, want %v", ids, err, payments)
		}
	})
}

// inOrder expects a list to have the newest first of what was made in an order.
func inOrder[T any](t *testing.T, what string, made []uuid.UUID, list []T, id func(T) uuid.UUID) {
	t.Helper()
	var got []uuid.UUID
	for _, v := range list {
		got = append(got, id(v))
	}
	slices.Reverse(got)
	if !slices.Equal(got, made) {
		t.Errorf("%s were made as\n%v, and are listed the other way round as\n%v", what, made, got)
	}
}
