package webhooks

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/agenda"
	"github.com/traintravel/traintravel/internal/ids"
	"github.com/traintravel/traintravel/internal/ledger"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
)

// attempt posts a delivery once.
func (t *endpointWorker) attempt(ctx context.Context, d *job) (o ledger.Outcome) {
	defer agenda.Recovered(&o.Err)
	if t.p.stale(d.to) {
		var again []*job
		err := t.p.Books.Store.View(ctx, func(r store.Reader) (err error) {
			again, _, err = t.p.jobs(ctx, r, t.sub, d.delivery.ID)
			return err
		})
		if err != nil && ctx.Err() != nil {
			return o
		}
		if err != nil || len(again) == 0 || !again[0].delivery.Next.Equal(d.delivery.Next) {
			return ledger.Outcome{Err: err} // somebody has changed it
		}
		d = again[0]
	}
	to := d.to
	o.Delivery = &d.delivery
	switch {
	case to.Disabled && d.delivery.Type != rail.Ping:
		o.Dropped = rail.DeadByDisabling
		return o
	case errors.Is(d.err, ledger.ErrBookingGone):
		o.Dropped = rail.DeadByRemoval
		return o
	case !to.Unverified.IsZero() && d.delivery.Type != rail.Ping:
		o.Kept = true
		return o
	}
	if o.Err = cmp.Or(to.err, d.err); o.Err != nil {
		return o
	}
	err := errNotHere
	if len(to.keys) > 0 {
		if !to.Unverified.IsZero() {
			end, wait := t.p.pings.begin(pinged{to.Owner, to.Host()}, t.p.Opts.perHost(), t.p.Books.Now())
			if end == nil {
				o.Rationed, o.Wait = true, wait
				return o
			}
			defer end()
		}
		t.underWay.Add(1)
		begun := time.Now()
		o.Answer, err = t.p.post(ctx, rail.WebhookPost{Event: d.event, URL: to.URL, Secrets: to.keys, Operator: to.Operator})
		t.underWay.Add(-1)
		t.answered(time.Since(begun))
	}
	if err != nil && ctx.Err() != nil {
		return o
	}
	o.URL, o.Wait = to.URL, max(jittered(d.delivery.ID, d.delivery.Attempts), min(o.Answer.RetryAfter, 24*time.Hour))
	if err != nil || !ledger.Received(d.delivery.Type, o.Answer.Status) {
		t.p.Books.Log.InfoContext(ctx, "event delivery failed", "event", d.event.ID, "type", string(d.event.Type), "webhook", t.sub, "attempt", d.delivery.Attempts+1, "status", o.Answer.Status, "error", err)
	}
	return o
}

// errNotHere counts like other failures: another service on the store may make the next
// attempt.
var errNotHere = errors.New("the options of this service no longer name that operator's endpoint or that client")

// jittered returns how long a delivery waits after a failure, plus or minus a fifth, so that
// deliveries that failed together are not retried together. Each server computes the same.
func jittered(delivery uuid.UUID, failures int) time.Duration {
	wait := ledger.RetryAfter(failures)
	h := ids.HashID("jitter", delivery, failures)
	return wait - wait/5 + time.Duration(binary.BigEndian.Uint64(h[:])%uint64(2*wait/5))
}
