package transfer_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/store/memstore"
)

// What has to do with webhooks moves along: who has subscribed, and with which secret,
// what waits, and what is dead. It is posted from where it is then.
func TestCopyWebhooks(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		ctx := t.Context()
		o, m := officetest.WithWebhooks(t, memstore.New())
		own := func(w *traintravel.WebhookOptions) {
			w.Operator = []traintravel.OperatorWebhook{{URL: officetest.OperatorsHook, Secrets: []traintravel.Secret{officetest.Operators}}}
		}
		posts := o.Colleague(m, own)
		waits, secret, err := posts.Subscribe(ctx, officetest.Anna, traintravel.NewSubscription{URL: officetest.Hook, IdempotencyKey: "k"})
		if err != nil {
			t.Fatal(err)
		}
		o.Expect("verifying", officetest.Verify(ctx, posts.Store, posts.Now, waits.ID), nil)
		dies := posts.MustSubscribe(officetest.Anna, officetest.Hook+"/dies")
		m.Answers[officetest.Hook], m.Answers[officetest.OperatorsHook], m.Answers[officetest.Hook+"/dies"] = officetest.Answers(503), officetest.Answers(503), officetest.Answers(410)
		posts.Book(officetest.Anna, o.TripID('F', 'G', "S 3"))
		posts.Do()
		posts.Clock.Add(time.Second)
		posts.Book(officetest.Anna, o.TripID('F', 'G', "S 3")) // nobody has been given it
		clear(m.Answers)
		before := len(m.Posts)
		events := map[uuid.UUID]bool{}
		for _, p := range m.Posts {
			events[p.Event.ID] = true
		}

		o.Expect("moving", traintravel.Copy(ctx, store, o.Store, traintravel.CopyOptions{}), nil)
		there := posts.On(store)
		moved := there.Colleague(m, own)
		if again, same, err := moved.Subscribe(ctx, officetest.Anna, traintravel.NewSubscription{URL: officetest.Hook, IdempotencyKey: "k"}); err != nil || again.ID != waits.ID || same != secret {
			t.Errorf("subscribing again: %+v, %v", again, err)
		}
		moved.Clock.Add(10 * time.Second)
		moved.Do()
		if is, err := moved.Subscription(ctx, officetest.Anna, dies.ID); err != nil || !is.Disabled {
			t.Errorf("%+v, %v", is, err)
		}
		no := false
		if _, err := moved.ChangeSubscription(ctx, officetest.Anna, dies.ID, traintravel.SubscriptionChange{Disabled: &no}); err != nil {
			t.Fatal(err)
		}
		if n, err := moved.RetryDead(ctx, officetest.Anna, dies.ID); n != 1 || err != nil {
			t.Errorf("%d were dead, %v", n, err)
		}
		moved.Do()
		got := map[string]int{}
		for _, p := range m.Posts[before:] {
			got[p.URL]++
			if p.URL == officetest.Hook && !slices.Equal(p.Secrets, []traintravel.Secret{secret}) {
				t.Error("it is signed with another secret")
			}
			if p.URL == officetest.Hook+"/dies" && !events[p.Event.ID] {
				t.Error("the dead letter is another event")
			}
		}
		if want := map[string]int{officetest.Hook: 2, officetest.OperatorsHook: 2, officetest.Hook + "/dies": 1}; !maps.Equal(got, want) {
			t.Errorf("posted are %v, want %v", got, want)
		}
		if books := moved.Audit(); books.Deliveries != 0 {
			t.Errorf("%d deliveries wait", books.Deliveries)
		}
		posts.Expect("what the old one does", posts.RunDue(ctx), traintravel.ErrMoved)
	})
}
