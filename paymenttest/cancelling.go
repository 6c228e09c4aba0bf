package paymenttest

import (
	"context"
	"fmt"

	"github.com/traintravel/traintravel"
)

// cancelling is what a Canceller promises.
var cancelling = []check{
	{"Fence", fence, []need{canceller}},
	{"FenceRace", fenceRace, []need{canceller}},
	{"CancelDone", cancelDone, []need{canceller, declines}},
	{"CancelPending", cancelPending, []need{canceller, settlesLater}},
	{"CancelAgain", cancelAgain, []need{canceller, settlesLater}},
	{"CancelUnderWay", cancelUnderWay, []need{canceller, settlesLater}},
}

// fenced returns an error if a charge that Cancel said has failed can still
// succeed, if it comes so many times at once.
func (g Gateway) fenced(ctx context.Context, c traintravel.Charge, times int) error {
	err := together(times, func(int) error {
		out, err := g.Charge(ctx, c)
		return refuses("Charge after Cancel has returned failed", out, err)
	})
	if err != nil {
		return err
	}
	switch out, err := g.Lookup(ctx, c.ID); {
	case err != nil:
		return wrong("Lookup after Cancel: %w", err)
	case out.Status != traintravel.Failed:
		return wrong("Lookup after Cancel has returned failed: %s", told(out))
	}
	return g.hasMoved(ctx, c, 0)
}

func (g Gateway) cancels(ctx context.Context, c traintravel.Charge) (traintravel.Outcome, error) {
	out, err := g.canceller().Cancel(ctx, c.ID)
	if err == nil {
		err = sane(out)
	}
	if err != nil {
		return out, wrong("Cancel: %w", err)
	}
	return out, nil
}

func fence(ctx context.Context, g Gateway) error {
	c := g.ask(g.Succeeds)
	for range 2 {
		out, err := g.cancels(ctx, c)
		if err != nil {
			return err
		}
		if out.Status != traintravel.Failed {
			return wrong("Cancel of a charge that has not come: %s", told(out))
		}
		if err := g.fenced(ctx, c, many); err != nil {
			return err
		}
	}
	return nil
}

// fenceRace lets a charge and its cancellation meet: both tell the same.
func fenceRace(ctx context.Context, g Gateway) error {
	return together(many, func(int) error {
		c := g.ask(g.Succeeds)
		var cancelled traintravel.Outcome
		err := together(2, func(i int) (err error) {
			if i == 0 {
				_, _ = g.Charge(ctx, c)
				return nil
			}
			cancelled, err = g.cancels(ctx, c)
			return err
		})
		if err != nil {
			return err
		}
		if cancelled.Status == traintravel.Failed {
			return g.fenced(ctx, c, 1)
		}
		if _, err := g.becomes(ctx, c, traintravel.Succeeded); err != nil {
			return fmt.Errorf("after Cancel has returned %s: %w", cancelled.Status, err)
		}
		return g.hasMoved(ctx, c, c.Amount.Amount)
	})
}

func cancelDone(ctx context.Context, g Gateway) error {
	good, bad := g.ask(g.Succeeds), g.ask(g.Declines)
	if _, err := g.becomes(ctx, good, traintravel.Succeeded); err != nil {
		return err
	}
	why, err := g.becomes(ctx, bad, traintravel.Failed)
	if err != nil {
		return err
	}
	for range 2 {
		for _, c := range []struct {
			traintravel.Charge
			was traintravel.Outcome
		}{{good, traintravel.Outcome{Status: traintravel.Succeeded}}, {bad, why}} {
			out, err := g.cancels(ctx, c.Charge)
			if err != nil {
				return err
			}
			if out != c.was {
				return wrong("Cancel of a charge whose outcome was %s: %s", told(c.was), told(out))
			}
		}
	}
	return g.hasMoved(ctx, good, good.Amount.Amount)
}

// cancelPending: a pending charge may be past recall. If Cancel says that it
// failed, it has.
func cancelPending(ctx context.Context, g Gateway) error {
	c := g.ask(g.SettlesLater)
	if _, err := g.Charge(ctx, c); err != nil {
		return wrong("Charge: %w", err)
	}
	out, err := g.cancels(ctx, c)
	if err != nil {
		return err
	}
	return g.cancelled(ctx, c, out)
}

// cancelled returns an error unless a charge that was pending has come to what Cancel has
// answered: it never succeeds, or it does.
func (g Gateway) cancelled(ctx context.Context, c traintravel.Charge, out traintravel.Outcome) error {
	if out.Status == traintravel.Failed {
		if g.Settle != nil {
			_ = g.Settle(ctx, c.ID) // what does not settle any more may be an error
		}
		return g.fenced(ctx, c, 1)
	}
	if _, err := g.ends(ctx, "Cancel", c.ID, out, nil, traintravel.Succeeded); err != nil {
		return err
	}
	return g.hasMoved(ctx, c, c.Amount.Amount)
}

// cancelAgain asks as the service does when a booking has ended: until there is an
// outcome, and perhaps once more. An outcome is told again.
func cancelAgain(ctx context.Context, g Gateway) error {
	c := g.ask(g.SettlesLater)
	if _, err := g.Charge(ctx, c); err != nil {
		return wrong("Charge: %w", err)
	}
	was := traintravel.Outcome{Status: traintravel.Pending}
	for i := range 4 {
		out, err := g.cancels(ctx, c)
		if err != nil {
			return err
		}
		if was.Status != traintravel.Pending && out != was {
			return wrong("Cancel, which returned %s before, now returns %s", told(was), told(out))
		}
		if was = out; was.Status == traintravel.Pending && i == 1 {
			if was, err = g.wait(ctx, c.ID, was); err != nil {
				return fmt.Errorf("after a pending Cancel: %w", err)
			}
		}
	}
	if err := g.finds(ctx, c.ID, was); err != nil {
		return err
	}
	return g.cancelled(ctx, c, was)
}

// cancelUnderWay cancels charges that are on their way and will be pending, as when a
// train is cancelled while somebody pays.
func cancelUnderWay(ctx context.Context, g Gateway) error {
	return together(many, func(int) error {
		c := g.ask(g.SettlesLater)
		var out traintravel.Outcome
		err := together(2, func(i int) (err error) {
			if i == 0 {
				_, _ = g.Charge(ctx, c)
				return nil
			}
			out, err = g.cancels(ctx, c)
			return err
		})
		if err != nil {
			return err
		}
		return g.cancelled(ctx, c, out)
	})
}
