package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/user"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/traintravel/traintravel"
)

func (p *program) payment() *cobra.Command {
	c := &cobra.Command{
		Use:   "payment",
		Short: "List stuck payments and refunds, and settle them by hand",
		Args:  takes(),
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(p.paymentStuck(), p.paymentSettle())
	return c
}

// A stuckRequest asks for payments and refunds that need a person.
type stuckRequest struct {
	Older time.Duration
	JSON  bool
}

func (p *program) paymentStuck() *cobra.Command {
	var where storage
	var req stuckRequest
	c := &cobra.Command{
		Use:   "stuck",
		Short: "List payments and refunds that need a person",
		Long: `List the payments and refunds that need a person: those that the gateway has not
finished for a day, with its last error, and refunds that it reports as impossible.
'payment settle' settles them. The oldest come first.

If a server has the data file open, it answers. All payments are searched.`,
		Args: takes(),
		RunE: func(c *cobra.Command, _ []string) error {
			if req.Older < 0 {
				return usagef("invalid --older %v: want 0s or more", req.Older)
			}
			return p.errand(c, where, "payment-stuck", req)
		},
	}
	c.Flags().DurationVar(&req.Older, "older", 24*time.Hour, "`duration` for which they have been pending at least")
	jsonFlag(c.Flags(), &req.JSON)
	where.flags(c.Flags())
	return c
}

// onPaymentStuck lists payments and refunds that need a person.
func onPaymentStuck(ctx context.Context, service *traintravel.Service, req stuckRequest, tell teller) error {
	stuck, unreadable, err := service.StuckPayments(ctx, req.Older)
	if err != nil {
		return err
	}
	if req.JSON {
		return errors.Join(sayJSON(tell, object{"payments": listOf(stuck, stuckJSON), "unreadable": unreadable}), unreadPayments(unreadable))
	}
	rows := [][]string{{"since", "amount", "status", "payment", "booking", "gateway"}}
	for _, p := range stuck {
		says := cmp.Or(p.LastError, p.Failure.Code)
		if p.Failure.Message != "" {
			says += ": " + p.Failure.Message
		}
		rows = append(rows, []string{
			p.Created.UTC().Format(time.DateTime), p.Amount.String(), endOf(p), p.ID.String(), p.Booking.String(), cmp.Or(says, "pending"),
		})
	}
	if len(stuck) == 0 {
		tell.say("No payment or refund needs a person.")
	} else {
		sayTable(tell, rows)
	}
	return unreadPayments(unreadable)
}

// unreadPayments is the error of payments that could not be read, nil if there are none.
func unreadPayments(n int) error {
	if n == 0 {
		return nil
	}
	return fmt.Errorf("%s could not be read: run 'traintravel check', which names the records", howMany(n, "payment", "payments"))
}

// endOf is the status of a payment in words.
func endOf(p traintravel.Payment) string {
	end := string(p.Status)
	if p.Resolution != "" {
		end += ", " + strings.ReplaceAll(string(p.Resolution), "_", " ")
	}
	return end
}

// A settleRequest is an operator's decision on a payment.
type settleRequest struct {
	ID             uuid.UUID
	As, By, Reason string
	JSON           bool
}

func (p *program) paymentSettle() *cobra.Command {
	var where storage
	var req settleRequest
	c := &cobra.Command{
		Use:   "settle ID --as OUTCOME --reason TEXT",
		Short: "Settle a payment or refund that the gateway does not settle",
		Long: `Settle a payment or refund by hand, after you have looked up its outcome at the payment
provider. 'booking' shows who has settled it, when and why.

The outcomes of a payment are
  --as succeeded       the money was taken: the booking is confirmed, or the money is
                       refunded if it is too late for that
  --as failed          the money was not taken: the hold continues if it has time left, or
                       ends. The payment is still watched; a second --as failed ends that

The outcomes of a refund are
  --as succeeded       the gateway has paid the money back
  --as made-elsewhere  the money was paid back in another way: by the provider's dashboard,
                       a chargeback or in cash
  --as impossible      the money cannot be paid back

If a server has the data file open, it does this. All payments are searched for the ID.`,
		Args: takes("ID"),
		RunE: func(c *cobra.Command, a []string) (err error) {
			if req.ID, err = uuid.Parse(a[0]); err != nil {
				return usagef("invalid ID %.100q: want the ID of a payment or refund, as 'payment stuck' and 'booking' print them", a[0])
			}
			if err := checkSettlement(req); err != nil {
				return err
			}
			if req.By = cmp.Or(req.By, p.login()); req.By == "" {
				return usagef("missing --by NAME: your login name is not known")
			}
			return p.errand(c, where, "payment-settle", req)
		},
	}
	c.Flags().StringVar(&req.As, "as", "", "`outcome`: succeeded, failed, made-elsewhere or impossible")
	c.Flags().StringVar(&req.Reason, "reason", "", "`text` for the history of the booking that says why")
	jsonFlag(c.Flags(), &req.JSON)
	c.Flags().StringVar(&req.By, "by", "", "`name` of the person who decides (default: your login name)")
	where.flags(c.Flags())
	return c
}

// checkSettlement returns an error for an outcome that does not exist, or if it or the reason
// is missing.
func checkSettlement(req settleRequest) error {
	outcomes := flagValues()["as"]
	switch {
	case req.As == "":
		return usagef("missing --as OUTCOME: want %s", orList(outcomes))
	case !slices.Contains(outcomes, req.As):
		return invalidChoice("--as", req.As, outcomes)
	case req.Reason == "":
		return usagef("missing --reason TEXT: say why, for the history of the booking")
	}
	return nil
}

// login is the login name of the user, "" if it is not known.
func (p *program) login() string {
	if name := p.env()["SUDO_USER"]; name != "" {
		return name
	}
	u, err := user.Current()
	if err != nil {
		return ""
	}
	return u.Username
}

// onPaymentSettle settles a payment and reports the result.
func onPaymentSettle(ctx context.Context, service *traintravel.Service, req settleRequest, tell teller) error {
	p, err := service.FindPayment(ctx, req.ID)
	if errors.Is(err, traintravel.ErrNotFound) {
		return fmt.Errorf("no payment or refund found with the ID %v", req.ID)
	}
	if err != nil {
		return err
	}
	settled, err := service.SettlePayment(ctx, p.Booking, p.ID, traintravel.Settlement{
		As: traintravel.Verdict(strings.ReplaceAll(req.As, "-", "_")), By: req.By, Reason: req.Reason,
	})
	wrong, isWrong := errors.AsType[*traintravel.InvalidError](err)
	switch {
	case isWrong:
		return usagef("invalid --%s: %s", wrong.Field, strings.ReplaceAll(wrong.Reason, "made_elsewhere", "made-elsewhere"))
	case errors.Is(err, traintravel.ErrPaymentSettled):
		return fmt.Errorf("payment %v is already settled: %s since %s; see 'traintravel booking %v'", p.ID, endOf(p), p.Settled.UTC().Format(time.DateTime), p.Booking)
	case errors.Is(err, traintravel.ErrPaymentInProgress):
		return fmt.Errorf("a request to the gateway for payment %v is in progress: try again in two minutes", p.ID)
	case err != nil:
		return err
	}
	h, err := service.BookingHistory(ctx, p.Booking)
	if err != nil {
		return err
	}
	if req.JSON {
		return sayJSON(tell, object{"payment": paymentJSON(settled), "booking_id": h.Booking.ID, "booking_status": h.Booking.Status.String()})
	}
	tell.say(fmt.Sprintf("%v of %s is %s; booking %v is %s", settled.ID, settled.Amount, endOf(settled), h.Booking.ID, h.Booking.Status))
	return nil
}
