package traintravel_test

import (
	"testing"

	"github.com/traintravel/traintravel"
)

// A user who is named like a client, and acts through it, has nothing of the client's: no
// events of other people's bookings, and no access to the subscription that has them.
func TestNamesakeOfAClient(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o, m := withWebhooks(t, store)
		namesake := partner
		namesake.ForItself = false
		own := o.subscribe(partner, hook+"1")
		others := o.subscribe(namesake, hook+"2")
		if !own.ByClient || others.ByClient {
			t.Fatalf("by the client: %v, and by its namesake: %v", own.ByClient, others.ByClient)
		}
		for name, err := range map[string]error{
			"reading":  second(o.Subscription(t.Context(), namesake, own.ID)),
			"changing": second(o.ChangeSubscription(t.Context(), namesake, own.ID, traintravel.SubscriptionChange{URL: new(hook + "3")})),
			"ending":   o.Unsubscribe(t.Context(), namesake, own.ID),
			"listing":  second(o.Deliveries(t.Context(), namesake, own.ID, traintravel.Page{})),
		} {
			o.expect(name, err, traintravel.ErrNotFound)
		}
		n := traintravel.NewSubscription{URL: hook + "4", IdempotencyKey: "k"}
		_, _, err := o.Subscribe(t.Context(), partner, n)
		o.expect("subscribing under a key", err, nil)
		_, secret, err := o.Subscribe(t.Context(), namesake, n)
		if o.expect("repeating it", err, traintravel.ErrKeyReused); secret != "" {
			t.Error("the namesake has the secret of the client's subscription")
		}
		l, err := o.Subscriptions(t.Context(), namesake, traintravel.Page{})
		if err != nil || len(l.Items) != 1 || l.Items[0].ID != others.ID {
			t.Errorf("the namesake sees %+v, %v", l.Items, err)
		}
		o.book(through, o.trip('A', 'D', "R 1"))
		o.do()
		expectEvents(t, m, hook+"1", traintravel.BookingCreated)
		expectEvents(t, m, hook+"2")
	})
}

func second[T any](_ T, err error) error { return err }
