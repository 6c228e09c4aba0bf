package webhooks_test

import (
	"testing"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
)

// A user who is named like a client, and acts through it, has nothing of the client's: no
// events of other people's bookings, and no access to the subscription that has them.
func TestNamesakeOfAClient(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o, m := officetest.WithWebhooks(t, store)
		namesake := officetest.Partner
		namesake.ForItself = false
		own := o.MustSubscribe(officetest.Partner, officetest.Hook+"1")
		others := o.MustSubscribe(namesake, officetest.Hook+"2")
		if !own.ByClient || others.ByClient {
			t.Fatalf("by the client: %v, and by its namesake: %v", own.ByClient, others.ByClient)
		}
		for name, err := range map[string]error{
			"reading":  second(o.Subscription(t.Context(), namesake, own.ID)),
			"changing": second(o.ChangeSubscription(t.Context(), namesake, own.ID, traintravel.SubscriptionChange{URL: new(officetest.Hook + "3")})),
			"ending":   o.Unsubscribe(t.Context(), namesake, own.ID),
			"listing":  second(o.Deliveries(t.Context(), namesake, own.ID, traintravel.Page{})),
		} {
			o.Expect(name, err, traintravel.ErrNotFound)
		}
		n := traintravel.NewSubscription{URL: officetest.Hook + "4", IdempotencyKey: "k"}
		_, _, err := o.Subscribe(t.Context(), officetest.Partner, n)
		o.Expect("subscribing under a key", err, nil)
		_, secret, err := o.Subscribe(t.Context(), namesake, n)
		if o.Expect("repeating it", err, traintravel.ErrKeyReused); secret != "" {
			t.Error("the namesake has the secret of the client's subscription")
		}
		l, err := o.Subscriptions(t.Context(), namesake, traintravel.Page{})
		if err != nil || len(l.Items) != 1 || l.Items[0].ID != others.ID {
			t.Errorf("the namesake sees %+v, %v", l.Items, err)
		}
		o.Book(officetest.Through, o.TripID('A', 'D', "R 1"))
		o.Do()
		officetest.ExpectEvents(t, m, officetest.Hook+"1", traintravel.BookingCreated)
		officetest.ExpectEvents(t, m, officetest.Hook+"2")
	})
}

func second[T any](_ T, err error) error { return err }
