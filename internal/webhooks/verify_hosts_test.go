package webhooks_test

import (
	"errors"
	"testing"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/store/memstore"
)

// However an address is spelled, it is one host.
func TestSubscriptionsToOneAddress(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		host  string
		urls  []string
		other string
	}{
		{"2001:db8::1", []string{
			"https://[2001:db8::1]/", "https://[2001:0db8::0001]:8443/a", "https://[2001:DB8:0:0:0:0:0:1]/",
			"https://[2001:db8:0::1]/", "https://[2001:db8::0.0.0.1]/",
		}, "https://[2001:db8::2]/"},
		{"192.0.2.1", []string{
			"https://192.0.2.1/", "https://[::ffff:192.0.2.1]/", "https://[::ffff:c000:201]/", "https://[0:0:0:0:0:FFFF:192.0.2.1]/",
		}, "https://192.0.2.2/"},
	} {
		for order := range c.urls {
			urls := append(append([]string{}, c.urls[order:]...), c.urls[:order]...)
			o, _ := officetest.WithWebhooks(t, memstore.New(), func(opts *traintravel.Options) { opts.Webhooks.PerHost = 1 })
			var first traintravel.Subscription
			for i, url := range urls {
				sub, _, err := o.Subscribe(t.Context(), officetest.Anna, traintravel.NewSubscription{URL: url})
				if i == 0 {
					o.Expect(url, err, nil)
					first = sub
				} else if full, ok := errors.AsType[*traintravel.HostLimitError](err); !ok || full.Host != c.host {
					t.Errorf("%s after %s: %v", url, urls[0], err)
				}
			}
			another, _, err := o.Subscribe(t.Context(), officetest.Anna, traintravel.NewSubscription{URL: c.other})
			o.Expect("another address", err, nil)
			_, err = o.ChangeSubscription(t.Context(), officetest.Anna, another.ID, traintravel.SubscriptionChange{URL: &urls[1]})
			if _, ok := errors.AsType[*traintravel.HostLimitError](err); !ok {
				t.Errorf("moving one to %s: %v", urls[1], err)
			}
			_, err = o.ChangeSubscription(t.Context(), officetest.Anna, first.ID, traintravel.SubscriptionChange{URL: &urls[1]})
			o.Expect("spelling one otherwise", err, nil)
		}
	}
}
