package paymenttest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
)

type (
	charger  = func(context.Context, traintravel.Charge) (traintravel.Outcome, error)
	looker   = func(context.Context, uuid.UUID) (traintravel.Outcome, error)
	refunder = func(context.Context, traintravel.Refund) (traintravel.Outcome, error)
)

// wrongCharge, wrongLookup, wrongRefund and wrongCancel make a mistake around
// what is right.
func wrongCharge(f func(g *faulty, right charger) charger) func(*faulty) {
	return func(g *faulty) { g.charge = f(g, g.soundCharge) }
}

func wrongLookup(f func(g *faulty, right looker) looker) func(*faulty) {
	return func(g *faulty) { g.lookup = f(g, g.soundLookup) }
}

func wrongRefund(f func(g *faulty, right refunder) refunder) func(*faulty) {
	return func(g *faulty) { g.refund = f(g, g.soundRefund) }
}

func wrongCancel(f func(g *faulty, right looker) looker) func(*faulty) {
	return func(g *faulty) { g.cancel = f(g, g.soundCancel) }
}

// has says whether an ID has come before.
func (g *faulty) has(id uuid.UUID) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.deeds[id] != nil
}

// gap lets others come between two steps that should be one.
func gap() { time.Sleep(2 * time.Millisecond) }

var wrongCharges = []mistake{
	{"nothing is taken", wrongCharge(func(*faulty, charger) charger {
		return func(context.Context, traintravel.Charge) (traintravel.Outcome, error) { return good, nil }
	}), []string{"Charge", "Apart", "Again", "Moved"}},
	{"every call charges", wrongCharge(func(g *faulty, right charger) charger {
		return func(ctx context.Context, c traintravel.Charge) (traintravel.Outcome, error) {
			if g.has(c.ID) && c.Source.Card.Number == "4242424242424242" {
				g.take(c.ID, c.Amount)
			}
			return right(ctx, c)
		}
	}), []string{"Again", "AtOnce", "Refund", "Amounts", "OtherAmount", "DeclinedForGood"}},
	{"the ID is looked for, then charged, then recorded", wrongCharge(func(g *faulty, right charger) charger {
		return func(ctx context.Context, c traintravel.Charge) (traintravel.Outcome, error) {
			twice := !g.has(c.ID)
			gap()
			if twice && g.has(c.ID) {
				g.take(c.ID, c.Amount)
			}
			return right(ctx, c)
		}
	}), []string{"AtOnce"}},
	{"an ID that is in use has failed", wrongCharge(func(g *faulty, right charger) charger {
		return func(ctx context.Context, c traintravel.Charge) (traintravel.Outcome, error) {
			if g.has(c.ID) {
				return bad, nil
			}
			return right(ctx, c)
		}
	}), []string{"AtOnce", "Again"}},
	{"another amount with the same ID gets the first outcome", wrongCharge(func(g *faulty, right charger) charger {
		return func(ctx context.Context, c traintravel.Charge) (traintravel.Outcome, error) {
			if g.has(c.ID) {
				return g.soundLookup(ctx, c.ID)
			}
			return right(ctx, c)
		}
	}), []string{"OtherAmount"}},
	{"another amount is refused, and taken", wrongCharge(func(g *faulty, right charger) charger {
		return func(ctx context.Context, c traintravel.Charge) (traintravel.Outcome, error) {
			out, err := right(ctx, c)
			if err != nil && g.has(c.ID) {
				g.take(c.ID, c.Amount)
			}
			return out, err
		}
	}), []string{"OtherAmount"}},
	{"amounts pass through a float", wrongCharge(func(g *faulty, right charger) charger {
		return func(ctx context.Context, c traintravel.Charge) (traintravel.Outcome, error) {
			c.Amount.Amount = int64(float64(c.Amount.Amount) / 100 * 100)
			return right(ctx, c)
		}
	}), []string{"Amounts"}},
	{"every currency has two decimals", wrongCharge(func(g *faulty, right charger) charger {
		return func(ctx context.Context, c traintravel.Charge) (traintravel.Outcome, error) {
			if c.Amount.Currency == "jpy" || c.Amount.Currency == "isk" {
				c.Amount.Amount *= 100
			}
			return right(ctx, c)
		}
	}), []string{"Amounts"}},
	{"there is no more money than fits 32 bits", wrongCharge(func(g *faulty, right charger) charger {
		return func(ctx context.Context, c traintravel.Charge) (traintravel.Outcome, error) {
			c.Amount.Amount = min(c.Amount.Amount, math.MaxInt32)
			return right(ctx, c)
		}
	}), []string{"Amounts"}},
	{"charges at the same time share what they charge", func(g *faulty) {
		var shared traintravel.Money
		g.charge = func(ctx context.Context, c traintravel.Charge) (traintravel.Outcome, error) {
			g.mu.Lock()
			shared = c.Amount
			g.mu.Unlock()
			gap()
			g.mu.Lock()
			c.Amount = shared
			g.mu.Unlock()
			return g.soundCharge(ctx, c)
		}
	}, []string{"Apart"}},
	{"a decline is an error", wrongCharge(func(g *faulty, right charger) charger {
		return func(ctx context.Context, c traintravel.Charge) (traintravel.Outcome, error) {
			out, err := right(ctx, c)
			if out.Status == traintravel.Failed {
				return traintravel.Outcome{}, errors.New("declined")
			}
			return out, err
		}
	}), []string{"Declined", "CancelDone", "RefundDeclined"}},
	{"a decline has no code", wrongCharge(func(g *faulty, right charger) charger {
		return func(ctx context.Context, c traintravel.Charge) (traintravel.Outcome, error) {
			out, err := right(ctx, c)
			out.Failure.Code = ""
			return out, err
		}
	}), []string{"Declined"}},
	{"a decline takes the money", wrongCharge(func(g *faulty, right charger) charger {
		return func(ctx context.Context, c traintravel.Charge) (traintravel.Outcome, error) {
			out, err := right(ctx, c)
			if out.Status == traintravel.Failed {
				g.take(c.ID, c.Amount)
			}
			return out, err
		}
	}), []string{"Declined", "RefundDeclined"}},
	{"a decline is forgotten, and tried again", wrongCharge(func(g *faulty, right charger) charger {
		return func(ctx context.Context, c traintravel.Charge) (traintravel.Outcome, error) {
			g.mu.Lock()
			if d := g.deeds[c.ID]; d != nil && d.outcome.Status == traintravel.Failed {
				delete(g.deeds, c.ID)
			}
			g.mu.Unlock()
			return right(ctx, c)
		}
	}), []string{"DeclinedForGood"}},
}

var wrongAnswers = []mistake{
	{"an ID never heard is an error like another", wrongLookup(func(g *faulty, right looker) looker {
		return func(ctx context.Context, id uuid.UUID) (traintravel.Outcome, error) {
			out, err := right(ctx, id)
			if err != nil {
				err = fmt.Errorf("%v", err)
			}
			return out, err
		}
	}), []string{"Unknown", "Ended"}},
	{"an ID never heard has failed", wrongLookup(func(g *faulty, right looker) looker {
		return func(ctx context.Context, id uuid.UUID) (traintravel.Outcome, error) {
			if !g.has(id) {
				return bad, nil
			}
			return right(ctx, id)
		}
	}), []string{"Unknown", "CutShort"}},
	{"whatever goes wrong, it was never heard", wrongLookup(func(g *faulty, right looker) looker {
		return func(ctx context.Context, id uuid.UUID) (traintravel.Outcome, error) {
			out, err := right(ctx, id)
			if err != nil {
				err = traintravel.ErrNotFound
			}
			return out, err
		}
	}), []string{"Ended"}},
	{"refunds are not looked up", wrongLookup(func(g *faulty, right looker) looker {
		return func(ctx context.Context, id uuid.UUID) (traintravel.Outcome, error) {
			g.mu.Lock()
			d := g.deeds[id]
			g.mu.Unlock()
			if d != nil && d.charge != id {
				return traintravel.Outcome{}, traintravel.ErrNotFound
			}
			return right(ctx, id)
		}
	}), []string{"Lookup", "LostRefund"}},
	{"a lost answer is a failure", func(g *faulty) {
		g.charge = func(ctx context.Context, c traintravel.Charge) (traintravel.Outcome, error) {
			if out, err := g.soundCharge(ctx, c); err == nil {
				return out, nil
			}
			return bad, nil
		}
	}, []string{"CutShort", "Ended"}},
	{"a refund's lost answer is a failure", func(g *faulty) {
		g.refund = func(ctx context.Context, r traintravel.Refund) (traintravel.Outcome, error) {
			if out, err := g.soundRefund(ctx, r); err == nil {
				return out, nil
			}
			return bad, nil
		}
	}, []string{"CutShortRefund", "Ended"}},
	{"what came with a dead context is done all the same", func(g *faulty) {
		g.charge = func(ctx context.Context, c traintravel.Charge) (traintravel.Outcome, error) {
			if err := ctx.Err(); err != nil {
				_, _ = g.soundCharge(context.WithoutCancel(ctx), c)
				return traintravel.Outcome{}, err
			}
			return g.soundCharge(ctx, c)
		}
	}, []string{"Ended"}},
	{"one who heard nothing asks under a new ID", func(g *faulty) {
		g.charge = func(ctx context.Context, c traintravel.Charge) (traintravel.Outcome, error) {
			if g.has(c.ID) {
				g.take(c.ID, c.Amount)
			}
			return g.soundCharge(ctx, c)
		}
	}, []string{"LostAnswer"}},
	{"what is pending has succeeded", wrongCharge(func(g *faulty, right charger) charger {
		return func(ctx context.Context, c traintravel.Charge) (traintravel.Outcome, error) {
			out, err := right(ctx, c)
			if out.Status == traintravel.Pending {
				return good, nil
			}
			return out, err
		}
	}), []string{"SettlesLater", "FailsLater"}},
	{"what is pending stays so", wrongLookup(func(g *faulty, right looker) looker {
		return func(ctx context.Context, id uuid.UUID) (traintravel.Outcome, error) {
			out, err := right(ctx, id)
			if g.has(id) && err == nil {
				out = traintravel.Outcome{Status: traintravel.Pending}
			}
			return out, err
		}
	}), []string{"SettlesLater", "Lookup"}},
	{"an answer has no status", wrongCharge(func(g *faulty, right charger) charger {
		return func(ctx context.Context, c traintravel.Charge) (traintravel.Outcome, error) {
			_, err := right(ctx, c)
			return traintravel.Outcome{}, err
		}
	}), []string{"Charge", "SettlesLater"}},
	{"an error quotes the number", wrongCharge(func(g *faulty, right charger) charger {
		return func(ctx context.Context, c traintravel.Charge) (traintravel.Outcome, error) {
			out, err := right(ctx, c)
			if err != nil {
				n := string(c.Source.Card.Number)
				err = fmt.Errorf("card %s-%s: %w", n[:4], n[4:], err)
			}
			return out, err
		}
	}), []string{"Secrets"}},
	{"a decline quotes the code", wrongCharge(func(g *faulty, right charger) charger {
		return func(ctx context.Context, c traintravel.Charge) (traintravel.Outcome, error) {
			out, err := right(ctx, c)
			if out.Status == traintravel.Failed {
				out.Failure.Message = fmt.Sprintf(`no: {"cvc":%q}`, string(c.Source.Card.CVC))
			}
			return out, err
		}
	}), []string{"Secrets"}},
}

var wrongCancels = []mistake{
	{"Cancel does not fence", wrongCancel(func(g *faulty, right looker) looker {
		return func(ctx context.Context, id uuid.UUID) (traintravel.Outcome, error) {
			if !g.has(id) {
				return fenced, nil
			}
			return right(ctx, id)
		}
	}), []string{"Fence", "LostCancel"}},
	{"Cancel looks first, and fences then", wrongCancel(func(g *faulty, right looker) looker {
		return func(ctx context.Context, id uuid.UUID) (traintravel.Outcome, error) {
			if g.has(id) {
				return right(ctx, id)
			}
			gap()
			g.mu.Lock()
			defer g.mu.Unlock()
			g.fences[id] = true
			return fenced, nil
		}
	}), []string{"FenceRace", "CancelUnderWay"}},
	{"Cancel says of all that it is cancelled", wrongCancel(func(g *faulty, right looker) looker {
		return func(ctx context.Context, id uuid.UUID) (traintravel.Outcome, error) {
			_, err := right(ctx, id)
			return fenced, err
		}
	}), []string{"CancelDone"}},
	{"what is pending goes on after Cancel", wrongCancel(func(g *faulty, right looker) looker {
		return func(ctx context.Context, id uuid.UUID) (traintravel.Outcome, error) {
			if g.has(id) {
				return fenced, nil
			}
			return right(ctx, id)
		}
	}), []string{"CancelPending", "CancelDone"}},
	{"a second Cancel tells what a pending charge would have become", wrongCancel(func(g *faulty, right looker) looker {
		return func(ctx context.Context, id uuid.UUID) (traintravel.Outcome, error) {
			g.mu.Lock()
			d, again := g.deeds[id], g.fences[id]
			g.mu.Unlock()
			if d != nil && again {
				return d.outcome, nil
			}
			return right(ctx, id)
		}
	}), []string{"CancelAgain"}},
}

var wrongRefunds = []mistake{
	{"every call refunds", wrongRefund(func(g *faulty, right refunder) refunder {
		return func(ctx context.Context, r traintravel.Refund) (traintravel.Outcome, error) {
			if g.has(r.ID) {
				g.take(r.Charge, traintravel.Money{Amount: -r.Amount.Amount, Currency: r.Amount.Currency})
			}
			return right(ctx, r)
		}
	}), []string{"Refund", "RefundParts", "RefundAtOnce", "LostRefund"}},
	{"a refund is known by its charge", wrongRefund(func(g *faulty, right refunder) refunder {
		return func(ctx context.Context, r traintravel.Refund) (traintravel.Outcome, error) {
			r.ID = uuid.NewSHA1(r.Charge, nil)
			return right(ctx, r)
		}
	}), []string{"RefundParts", "Lookup"}},
	{"another amount with the same refund ID gets the first outcome", wrongRefund(func(g *faulty, right refunder) refunder {
		return func(ctx context.Context, r traintravel.Refund) (traintravel.Outcome, error) {
			if g.has(r.ID) {
				return g.soundLookup(ctx, r.ID)
			}
			return right(ctx, r)
		}
	}), []string{"RefundOtherAmount"}},
	{"a refund gives back what is asked for", wrongRefund(func(g *faulty, right refunder) refunder {
		return func(ctx context.Context, r traintravel.Refund) (traintravel.Outcome, error) {
			if g.has(r.ID) {
				return right(ctx, r)
			}
			g.mu.Lock()
			defer g.mu.Unlock()
			return g.do(r.ID, deed{charge: r.Charge, amount: traintravel.Money{Amount: -r.Amount.Amount, Currency: r.Amount.Currency}},
				func(d *deed) error { d.outcome = good; return nil })
		}
	}), []string{"RefundTooMuch", "RefundTooMuchAtOnce", "RefundNothing", "RefundUnknown", "RefundDeclined", "RefundPending"}},
	{"what is left is looked up before", wrongRefund(func(g *faulty, right refunder) refunder {
		return func(ctx context.Context, r traintravel.Refund) (traintravel.Outcome, error) {
			left, _ := g.moved(ctx, r.Charge)
			gap()
			if r.Amount.Amount > left.Amount {
				return traintravel.Outcome{}, errors.New("too much")
			}
			g.take(r.Charge, traintravel.Money{Amount: -r.Amount.Amount, Currency: r.Amount.Currency})
			return good, nil
		}
	}), []string{"RefundTooMuchAtOnce"}},
	{"a refund that was refused is taken for one that was made", wrongRefund(func(g *faulty, right refunder) refunder {
		return func(ctx context.Context, r traintravel.Refund) (traintravel.Outcome, error) {
			if out, err := right(ctx, r); err == nil {
				return out, nil
			}
			return good, nil
		}
	}), []string{"RefundTooMuch", "RefundNothing", "RefundUnknown", "RefundPending"}},
	{"what was charged back is an error for ever", wrongRefund(func(g *faulty, right refunder) refunder {
		return func(ctx context.Context, r traintravel.Refund) (traintravel.Outcome, error) {
			out, err := right(ctx, r)
			if out == gone {
				return traintravel.Outcome{}, errors.New("already refunded")
			}
			return out, err
		}
	}), []string{"RefundedElsewhere"}},
	{"what is impossible has only failed", wrongRefund(func(g *faulty, right refunder) refunder {
		return func(ctx context.Context, r traintravel.Refund) (traintravel.Outcome, error) {
			out, err := right(ctx, r)
			if out == never {
				out.Resolution = ""
			}
			return out, err
		}
	}), []string{"RefundImpossible"}},
	{"every refund was made elsewhere", wrongRefund(func(g *faulty, right refunder) refunder {
		return func(ctx context.Context, r traintravel.Refund) (traintravel.Outcome, error) {
			if _, err := right(ctx, r); err != nil {
				return gone, nil
			}
			return right(ctx, r)
		}
	}), []string{"RefundTooMuch", "RefundNothing", "RefundUnknown", "RefundPending"}},
}
