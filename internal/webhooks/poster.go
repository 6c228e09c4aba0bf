// Package webhooks keeps subscriptions and posts events to them: it verifies receivers, signs
// deliveries, and retries those that fail. It must not know why an event happened.
package webhooks

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/traintravel/traintravel/internal/agenda"
	"github.com/traintravel/traintravel/internal/ledger"
	"github.com/traintravel/traintravel/rail"
)

// sendTimeout is how long a receiver may take.
const sendTimeout = 15 * time.Second

// A Poster distributes events to subscriptions, and posts them.
type Poster struct {
	Books    *ledger.Books
	Opts     *WebhookOptions
	pace     pace // of the writes of outcomes
	recorder recorder
	Slow     slowEndpoints
	pings    pingRations
	senders  atomic.Int32  // the number of deliveries in progress, to all endpoints
	Changes  atomic.Uint64 // counts changes of subscriptions and posted events by this service
}

// post calls the sender with its time limit and recovers its panics.
func (p *Poster) post(ctx context.Context, post rail.WebhookPost) (a rail.WebhookAnswer, err error) {
	ctx, stop := context.WithTimeout(ctx, sendTimeout)
	defer stop()
	defer agenda.Recovered(&err)
	return p.Opts.Sender.Send(ctx, post)
}
