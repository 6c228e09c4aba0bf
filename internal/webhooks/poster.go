// Package webhooks keeps subscriptions and posts events to them: it verifies receivers, signs
// what it posts, and tries again what fails. It must not know why an event happened.
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

// A Poster gives events to those who have subscribed to them, and posts them.
type Poster struct {
	Books    *ledger.Books
	Opts     *WebhookOptions
	pace     pace // of what is written of deliveries
	recorder recorder
	Slow     slowEndpoints
	pings    pingRations
	senders  atomic.Int32  // how many deliveries are posted at a time, to all endpoints
	Changes  atomic.Uint64 // counts changes, by this service, of any subscription or of what is posted
}

// post calls the sender with its time limit and survives its panics.
func (p *Poster) post(ctx context.Context, post rail.WebhookPost) (a rail.WebhookAnswer, err error) {
	ctx, stop := context.WithTimeout(ctx, sendTimeout)
	defer stop()
	defer agenda.Recovered(&err)
	return p.Opts.Sender.Send(ctx, post)
}
