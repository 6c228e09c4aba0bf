package traintravel_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/store/memstore"
)

// What has to do with webhooks moves along: who has subscribed, and with which secret,
// what waits, and what is dead. It is posted from where it is then.
func TestCopyWebhooks(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		ctx := t.Context()
		o, m := withWebhooks(t, memstore.New())
		own := func(w *traintravel.WebhookOptions) {
			w.Operator = []traintravel.OperatorWebhook{{URL: operatorsHook, Secrets: []traintravel.Secret{operators}}}
		}
		posts := o.colleague(m, own)
		waits, secret, err := posts.Subscribe(ctx, anna, traintravel.NewSubscription{URL: hook, IdempotencyKey: "k"})
		if err != nil {
			t.Fatal(err)
		}
		o.expect("verifying", verify(ctx, posts.store, posts.now, waits.ID), nil)
		dies := posts.subscribe(anna, hook+"/dies")
		m.answers[hook], m.answers[operatorsHook], m.answers[hook+"/dies"] = answers(503), answers(503), answers(410)
		posts.book(anna, o.trip('F', 'G', "S 3"))
		posts.do()
		posts.clock.add(time.Second)
		posts.book(anna, o.trip('F', 'G', "S 3")) // nobody has been given it
		clear(m.answers)
		before := len(m.posts)
		events := map[uuid.UUID]bool{}
		for _, p := range m.posts {
			events[p.Event.ID] = true
		}

		o.expect("moving", traintravel.Copy(ctx, store, o.store, traintravel.CopyOptions{}), nil)
		there := posts.on(store)
		moved := there.colleague(m, own)
		if again, same, err := moved.Subscribe(ctx, anna, traintravel.NewSubscription{URL: hook, IdempotencyKey: "k"}); err != nil || again.ID != waits.ID || same != secret {
			t.Errorf("subscribing again: %+v, %v", again, err)
		}
		moved.clock.add(10 * time.Second)
		moved.do()
		if is, err := moved.Subscription(ctx, anna, dies.ID); err != nil || !is.Disabled {
			t.Errorf("%+v, %v", is, err)
		}
		no := false
		if _, err := moved.ChangeSubscription(ctx, anna, dies.ID, traintravel.SubscriptionChange{Disabled: &no}); err != nil {
			t.Fatal(err)
		}
		if n, err := moved.RetryDead(ctx, anna, dies.ID); n != 1 || err != nil {
			t.Errorf("%d were dead, %v", n, err)
		}
		moved.do()
		got := map[string]int{}
		for _, p := range m.posts[before:] {
			got[p.URL]++
			if p.URL == hook && !slices.Equal(p.Secrets, []traintravel.Secret{secret}) {
				t.Error("it is signed with another secret")
			}
			if p.URL == hook+"/dies" && !events[p.Event.ID] {
				t.Error("the dead letter is another event")
			}
		}
		if want := map[string]int{hook: 2, operatorsHook: 2, hook + "/dies": 1}; !maps.Equal(got, want) {
			t.Errorf("posted are %v, want %v", got, want)
		}
		if books := moved.audit(); books.Deliveries != 0 {
			t.Errorf("%d deliveries wait", books.Deliveries)
		}
		posts.expect("what the old one does", posts.RunDue(ctx), traintravel.ErrMoved)
	})
}
