package traintravel_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
)

// The clock of whichever server steps back between any two steps, by an hour each time:
// lists have what came last first all the same, page by page.
func TestListsAreInOrderWhenTheClockStepsBack(t *testing.T) {
	onSharedStores(t, 2, func(t *testing.T, stores []traintravel.Store) {
		ctx := t.Context()
		options := func(opts *traintravel.Options) {
			unlimited(opts)
			opts.Webhooks = &traintravel.WebhookOptions{Sender: &mailroom{}, SealKey: make([]byte, 32), PerHost: 1000}
		}
		o := newOffice(t, stores[0], options)
		o.clock.set(opens.Add(-100 * time.Hour))
		servers := []*office{o, o.at(stores[1], options)}
		steps := 0
		server := func() *office {
			steps++
			for _, s := range servers {
				s.clock.add(-time.Hour)
			}
			return servers[steps%2]
		}
		trip := o.trip('A', 'D', "R 1")
		dear := o.trip('F', 'G', "S 3")
		var bookings, payments, subscriptions []uuid.UUID
		for range 4 {
			bookings = append(bookings, server().book(anna, dear).ID)
		}
		b := server().book(berta, trip)
		for range 3 {
			payments = append(payments, server().mustPay(b, traintravel.Failed, declined).ID)
		}
		payments = append(payments, server().mustPay(b, traintravel.Succeeded).ID)
		o.expect("cancelling", server().CancelBooking(ctx, berta, b.ID), nil)
		all, err := server().Payments(ctx, berta, b.ID, traintravel.Page{})
		if err != nil || len(all.Items) != 5 || all.Items[0].RefundOf != payments[3] {
			t.Fatalf("%+v, %v", all.Items, err)
		}
		payments = append(payments, all.Items[0].ID)
		for range 4 {
			sub, _, err := server().Subscribe(ctx, anna, traintravel.NewSubscription{URL: "https://a.example/"})
			if err != nil {
				t.Fatal(err)
			}
			subscriptions = append(subscriptions, sub.ID)
		}
		for limit := 1; limit <= 5; limit++ {
			inOrder(t, "bookings", bookings, walk(t, limit, func(p traintravel.Page) (traintravel.List[traintravel.Booking], error) {
				return o.Bookings(ctx, anna, p)
			}, func(int) {}), func(b traintravel.Booking) uuid.UUID { return b.ID })
			inOrder(t, "payments", payments, walk(t, limit, func(p traintravel.Page) (traintravel.List[traintravel.Payment], error) {
				return o.Payments(ctx, berta, b.ID, p)
			}, func(int) {}), func(p traintravel.Payment) uuid.UUID { return p.ID })
			inOrder(t, "subscriptions", subscriptions, walk(t, limit, func(p traintravel.Page) (traintravel.List[traintravel.Subscription], error) {
				return o.Subscriptions(ctx, anna, p)
			}, func(int) {}), func(s traintravel.Subscription) uuid.UUID { return s.ID })
		}
		latest, err := o.Payment(ctx, berta, b.ID)
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
