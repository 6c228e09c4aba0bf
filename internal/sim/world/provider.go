package world

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
)

// A Provider is a gateway to test, which a bank asks to move all money. The bank still has the
// faults of the way there, and its books say what the gateway has answered.
type Provider interface {
	traintravel.PaymentGateway
	// Cancels says whether the gateway can cancel charges.
	Cancels() bool
	Cancel(ctx context.Context, id uuid.UUID) (traintravel.Outcome, error)
	// Source is what charges are taken from that have an outcome at first; false if no charges
	// can have it. Those that are Pending end when Settle is called, which waits for that.
	Source(first traintravel.PaymentStatus) (traintravel.Source, bool)
	Settle(ctx context.Context, id uuid.UUID) (traintravel.Outcome, error)
	// Moved is what was taken for a charge, less refunds, in minor units; false if nobody knows.
	Moved(ctx context.Context, id uuid.UUID) (amount int64, known bool, err error)
}

// hands are what a bank has its provider do, if it has one.
type hands struct {
	Provider
	sources map[uuid.UUID]traintravel.Source // of charges
	wrong   []string                         // what the gateway did against its contract
}

// blame writes down what the gateway did against its contract.
func (h *hands) blame(format string, args ...any) {
	h.wrong = append(h.wrong, "the gateway: "+fmt.Sprintf(format, args...))
}

// charged has the gateway make a charge, and returns its status. The one that is drawn holds if
// there is no gateway to ask.
func (h *hands) charged(c traintravel.Charge, drawn traintravel.PaymentStatus) traintravel.PaymentStatus {
	p := h.Provider
	if p == nil {
		return drawn
	}
	var ok bool
	if c.Source, ok = p.Source(drawn); !ok {
		drawn = traintravel.Succeeded
		c.Source, _ = p.Source(drawn)
	}
	h.sources[c.ID] = c.Source
	out, err := p.Charge(context.Background(), c)
	switch {
	case err != nil:
		h.blame("charge %v is answered with %v", c.ID, err)
	case drawn == traintravel.Succeeded && out.Status == traintravel.Failed, drawn == traintravel.Failed && out.Status == traintravel.Succeeded:
		h.blame("charge %v should be %s and is %s", c.ID, drawn, out.Status)
	}
	return out.Status
}

// again has the gateway get a charge that it knows, or that was cancelled before it came.
func (h *hands) again(c traintravel.Charge, status traintravel.PaymentStatus) {
	p := h.Provider
	if p == nil {
		return
	}
	var ok bool
	if c.Source, ok = h.sources[c.ID]; !ok {
		c.Source, _ = p.Source(traintravel.Succeeded)
	}
	out, err := p.Charge(context.Background(), c)
	if settles := status == traintravel.Pending && err == nil; !settles && (err != nil || out.Status != status) {
		h.blame("charge %v is %s, and answered with %s %v when it comes again", c.ID, status, out.Status, err)
	}
}

// settled has the gateway settle a pending charge or refund. The status that is drawn holds if
// there is no gateway to ask.
func (h *hands) settled(id uuid.UUID, drawn traintravel.PaymentStatus) traintravel.PaymentStatus {
	if h.Provider == nil {
		return drawn
	}
	out, err := h.Provider.Settle(context.Background(), id)
	if err != nil || out.Status == traintravel.Pending {
		h.blame("%v does not settle: %v", id, err)
		return drawn
	}
	return out.Status
}

// refunded has the gateway make a refund, for the first time or again, and returns its status.
func (h *hands) refunded(r traintravel.Refund, drawn traintravel.PaymentStatus) traintravel.PaymentStatus {
	if h.Provider == nil {
		return drawn
	}
	out, err := h.Provider.Refund(context.Background(), r)
	if err != nil || out.Status == traintravel.Failed {
		h.blame("refund %v of %v of charge %v is answered with %s %v", r.ID, r.Amount, r.Charge, out.Status, err)
		return drawn
	}
	return out.Status
}

// cancelled has the gateway cancel a charge, and returns its status.
func (h *hands) cancelled(id uuid.UUID, drawn traintravel.PaymentStatus) traintravel.PaymentStatus {
	if h.Provider == nil {
		return drawn
	}
	out, err := h.Provider.Cancel(context.Background(), id)
	if err != nil {
		h.blame("the cancellation of charge %v is answered with %v", id, err)
		return drawn
	}
	return out.Status
}

// compare asks the gateway for a charge or refund of which the bank knows the status; empty is
// that it has never come. It returns the status, which may be final since it was pending.
func (h *hands) compare(id uuid.UUID, status traintravel.PaymentStatus) traintravel.PaymentStatus {
	if h.Provider == nil {
		return status
	}
	out, err := h.Provider.Lookup(context.Background(), id)
	switch {
	case status == traintravel.Pending && err == nil:
		return out.Status
	case status == "" && !errors.Is(err, traintravel.ErrNotFound):
		h.blame("%v has never come, and is looked up as %s %v", id, out.Status, err)
	case status != "" && (err != nil || out.Status != status):
		h.blame("%v is %s, and is looked up as %s %v", id, status, out.Status, err)
	}
	return status
}
