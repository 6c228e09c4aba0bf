package payments_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
)

// A repeated request for a secret gets its own secret and what it was told beside, whatever
// came after it: another secret, a change, the end of the subscription.
func TestSecretsAreReplayedAsTheyWere(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		ctx := t.Context()
		o := officetest.New(t, store, func(opts *traintravel.Options) {
			opts.Webhooks = &traintravel.WebhookOptions{Sender: &officetest.Mailroom{}, SealKey: make([]byte, 32), PerHost: 1000}
		})
		type told struct {
			Sub    traintravel.Subscription
			Secret string
		}
		want := map[string]told{}
		var sub traintravel.Subscription
		ask := func(key string) (got told, err error) {
			var secret traintravel.Secret
			if key == "subscribe" {
				got.Sub, secret, err = o.Subscribe(ctx, officetest.Anna, traintravel.NewSubscription{URL: "https://a.example/", IdempotencyKey: key})
			} else {
				got.Sub, secret, err = o.NewSubscriptionSecret(ctx, officetest.Anna, sub.ID, key)
			}
			got.Secret = string(secret)
			return got, err
		}
		first := func(key string) {
			t.Helper()
			got, err := ask(key)
			if err != nil || got.Sub.Replayed || got.Secret == "" {
				t.Fatalf("%s: %+v, %v", key, got.Sub, err)
			}
			if key == "subscribe" {
				sub = got.Sub
			}
			got.Sub.Replayed = true
			want[key] = got
		}
		replay := func(after string) {
			t.Helper()
			for key := range want {
				if got, err := ask(key); err != nil || !cmp.Equal(got, want[key]) {
					t.Errorf("%s after %s: %v %s", key, after, err, cmp.Diff(want[key], got))
				}
			}
		}
		first("subscribe")
		first("one")
		replay("another secret")
		url := "https://b.example/"
		if _, err := o.ChangeSubscription(ctx, officetest.Anna, sub.ID, traintravel.SubscriptionChange{URL: &url}); err != nil {
			t.Fatal(err)
		}
		first("two")
		replay("a change")
		for k, v := range officetest.Everything(t, store) {
			for _, w := range want {
				if strings.Contains(v, w.Secret) {
					t.Errorf("%v has a secret", k)
				}
			}
		}
		o.Expect("ending it", o.Unsubscribe(ctx, officetest.Anna, sub.ID), nil)
		replay("its end")
		_, err := ask("three")
		o.Expect("a new secret after the end", err, traintravel.ErrNotFound)
		o.Clock.Add(25 * time.Hour)
		_, err = ask("one")
		o.Expect("a request of yesterday", err, traintravel.ErrNotFound)
	})
}
