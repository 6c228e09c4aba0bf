package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/user"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/traintravel/traintravel"
)

func (p *program) payment() *cobra.Command {
	c := &cobra.Command{
		Use:   "payment",
		Short: "List payments and refunds that do not end, and settle them by hand",
		Args:  args(cobra.NoArgs),
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(p.paymentStuck(), p.paymentSettle())
	return c
}

// A stuckRequest asks what waits for a person.
type stuckRequest struct{ Older time.Duration }

func (p *program) paymentStuck() *cobra.Command {
	var where storage
	var req stuckRequest
	c := &cobra.Command{
		Use:   "stuck",
		Short: "List payments and refunds that wait for a person",
		Long: `List what waits for a person: payments and refunds of which the gateway has not said
for a day what became of them, with its last error, and refunds that it calls impossible,
until 'payment settle' has settled them. The oldest come first.

While a server has the data file, it answers. All payments are looked through.`,
		Args: args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if req.Older < 0 {
				return usagef("--older: %v is below zero", req.Older)
			}
			return p.errand(c, where, "payment-stuck", req)
		},
	}
	c.Flags().DurationVar(&req.Older, "older", 24*time.Hour, "how `long` they have been pending at least")
	where.flags(c.Flags())
	return c
}

// onPaymentStuck lists what waits for a person.
func onPaymentStuck(ctx context.Context, service *traintravel.Service, req stuckRequest, tell teller) error {
	stuck, unreadable, err := service.StuckPayments(ctx, req.Older)
	if err != nil {
		return err
	}
	rows := [][]string{{"since", "amount", "status", "payment", "booking", "the gateway says"}}
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
		tell.say("No payment and no refund waits for a person.")
	} else {
		sayTable(tell, rows)
	}
	if unreadable > 0 {
		return fmt.Errorf("%s could not be read: 'traintravel check' names what is damaged", howMany(unreadable, "payment", "payments"))
	}
	return nil
}

// endOf is what a payment has come to, in words.
func endOf(p traintravel.Payment) string {
	end := string(p.Status)
	if p.Resolution != "" {
		end += ", " + strings.ReplaceAll(string(p.Resolution), "_", " ")
	}
	return end
}

// A settleRequest is an operator's verdict on a payment.
type settleRequest struct {
	ID             uuid.UUID
	As, By, Reason string
}

func (p *program) paymentSettle() *cobra.Command {
	var where storage
	var req settleRequest
	c := &cobra.Command{
		Use:   "settle ID --as OUTCOME --reason TEXT",
		Short: "Settle a payment or refund that the gateway does not settle",
		Long: `Settle a payment or refund by your word, when you have seen at the payment provider what
became of it. 'booking' shows who has settled it, when and why.

The outcomes of a payment are
  --as succeeded       the money came: it confirms the booking, or is given back if it is too late
  --as failed          it never will: its hold goes on if it has time left, or ends. It is
                       watched as before; given once more, --as failed ends that

The outcomes of a refund are
  --as succeeded       the money went back by the gateway
  --as made-elsewhere  it went back in another way: by the dashboard, a chargeback, in cash
  --as impossible      it never will

While a server has the data file, it does so. All payments are looked through for the ID.`,
		Args: args(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, a []string) (err error) {
			if req.ID, err = uuid.Parse(a[0]); err != nil {
				return usagef("%.100q is not the ID of a payment: 'payment stuck' and 'booking' show IDs", a[0])
			}
			for _, f := range [...]struct{ name, value string }{{"as", req.As}, {"reason", req.Reason}} {
				if f.value == "" {
					return usagef("--%s is missing", f.name)
				}
			}
			if req.By = cmp.Or(req.By, p.login()); req.By == "" {
				return usagef("--by is missing: this system does not know who you are")
			}
			return p.errand(c, where, "payment-settle", req)
		},
	}
	c.Flags().StringVar(&req.As, "as", "", "`outcome`: succeeded, failed, made-elsewhere or impossible")
	c.Flags().StringVar(&req.Reason, "reason", "", "`text` that says why, for the booking's history")
	c.Flags().StringVar(&req.By, "by", "", "`name` of who decides (default: your login name)")
	where.flags(c.Flags())
	return c
}

// login is the name of the person at the keyboard, empty if it is not known.
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

// onPaymentSettle settles a payment and says what follows.
func onPaymentSettle(ctx context.Context, service *traintravel.Service, req settleRequest, tell teller) error {
	p, err := service.FindPayment(ctx, req.ID)
	if errors.Is(err, traintravel.ErrNotFound) {
		return fmt.Errorf("no payment and no refund has the ID %v", req.ID)
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
		return usagef("--%s: %s", wrong.Field, strings.ReplaceAll(wrong.Reason, "made_elsewhere", "made-elsewhere"))
	case errors.Is(err, traintravel.ErrPaymentSettled):
		return fmt.Errorf("payment %v is %s since %s, and stays so: see 'traintravel booking %v'", p.ID, endOf(p), p.Settled.UTC().Format(time.DateTime), p.Booking)
	case errors.Is(err, traintravel.ErrPaymentInProgress):
		return fmt.Errorf("the gateway is being asked for payment %v at this moment: wait two minutes", p.ID)
	case err != nil:
		return err
	}
	h, err := service.BookingHistory(ctx, p.Booking)
	if err != nil {
		return err
	}
	tell.say(fmt.Sprintf("%v of %s is %s; booking %v is %s", settled.ID, settled.Amount, endOf(settled), h.Booking.ID, h.Booking.Status))
	return nil
}
