package payments_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/internal/redact"
	"github.com/traintravel/traintravel/store/memstore"
)

func TestHoldsCardNumber(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"4242424242424242", "Anna 4242 4242 4242 4242", "4242-4242-4242-4242 Anna", "4242.4242.4242.4242", "4 2 4 2 4 2 4 2 4 2 4 2 4 2 4 2",
		"378282246310005", "６０１１１１１１１１１１１１１７", "٤٢٤٢٤٢٤٢٤٢٤٢٤٢٤٢", "4242\u200b4242\u200b4242\u200b4242", "4242424242424242 5555555555554444", "12 4242 4242 4242 4242 34", "no. 4242\u00a04242\u00a04242\u00a04242!",
	} {
		if !redact.HoldsCardNumber(text) {
			t.Errorf("%q: not seen", text)
		}
	}
	for _, text := range []string{
		"", "Anna Example", "4242424242424241", "4242", "************4242", "+49 30 1234567", "4242:4242:4242:4242", "0000000000000000", "42424242 Anna 42424242",
		"018d63af-d4ef-7ba4-b288-dfd9f691f22a", "2026-11-28 14:41:36",
	} {
		if redact.HoldsCardNumber(text) {
			t.Errorf("%q is taken for a card's number", text)
		}
	}
}

// TestMisplacedNumbers: a number in a member that is stored and shown is refused,
// without being quoted.
func TestMisplacedNumbers(t *testing.T) {
	t.Parallel()
	card := officetest.Visa("4242424242424242")
	bank := officetest.Iban("AT611904300234573201")
	for field, set := range map[string]func(*traintravel.Source, string){
		"source.name":              func(s *traintravel.Source, v string) { s.Card.Name = v },
		"source.address_line1":     func(s *traintravel.Source, v string) { s.Card.Address1 = v },
		"source.address_line2":     func(s *traintravel.Source, v string) { s.Card.Address2 = v },
		"source.address_city":      func(s *traintravel.Source, v string) { s.Card.City = v },
		"source.address_post_code": func(s *traintravel.Source, v string) { s.Card.PostCode = v },
	} {
		for _, v := range []string{"4242424242424242", "a 4242-4242 4242 4242 b", "5555555555554444", "14242424242424242"} {
			s, c := traintravel.Source{}, *card.Card
			s.Card = &c
			set(&s, v)
			wantMisplaced(t, s.Validate(), field)
		}
	}
	for field, set := range map[string]func(*traintravel.Source, string){
		"source.name":      func(s *traintravel.Source, v string) { s.Bank.Name = v },
		"source.bank_name": func(s *traintravel.Source, v string) { s.Bank.BankName = v },
	} {
		for _, v := range []string{"AT611904300234573201", "at61 1904 3002 3457 3201, Wien", "4242 4242 4242 4242"} {
			s, b := traintravel.Source{}, *bank.Bank
			s.Bank = &b
			set(&s, v)
			wantMisplaced(t, s.Validate(), field)
		}
	}
	o := officetest.New(t, memstore.New())
	_, err := o.CreateBooking(t.Context(), officetest.Anna, traintravel.NewBooking{TripID: o.TripID('F', 'G', "S 3"), PassengerName: "Anna 4242 4242 4242 4242"})
	wantMisplaced(t, err, "passenger_name")
}

func wantMisplaced(t *testing.T, err error, field string) {
	t.Helper()
	bad, ok := errors.AsType[*traintravel.InvalidError](err)
	if !ok || bad.Field != field || strings.ContainsAny(bad.Reason, "0123456789") {
		t.Errorf("%v, want that %s is refused", err, field)
	}
}

// TestGatewayQuotesNumbers: what a gateway says of a failure is stored and shown,
// so numbers and codes in it are masked, and what would break a line is left out.
func TestGatewayQuotesNumbers(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"The card 4242424242424242 (cvc 9137) was declined.": "The card ************4242 (cvc ****) was declined.",
		"4242 4242-4242 4242: no; nor 5555555555554444":      "**** ****-**** 4242: no; nor ************4444",
		"id 91379137 of 29137 stays, 9137":                   "id 91379137 of 29137 stays, ****",
		"no\r\nX: \x1b[31m\x00\u202e":                        "no  X:  [31m  ",
		"no money":                                           "no money",
	} {
		o := officetest.New(t, memstore.New(), func(opts *traintravel.Options) { opts.Gateway = quoting{opts.Gateway, said} })
		b := o.Book(officetest.Anna, o.TripID('F', 'G', "S 3"))
		source := officetest.Visa("4242424242424242")
		source.Card.CVC = "9137"
		p, err := o.PayBooking(t.Context(), officetest.Anna, b.ID, traintravel.NewPayment{Amount: b.Price, Source: source})
		if err != nil || p.Failure.Message != want || p.Failure.Code != want {
			t.Errorf("%q is shown as %q, %q (%v), want %q", said, p.Failure.Code, p.Failure.Message, err, want)
		}
	}
	o := officetest.New(t, memstore.New(), func(opts *traintravel.Options) { opts.Gateway = quoting{opts.Gateway, "at61 1904 3002 3457 3201"} })
	b := o.Book(officetest.Anna, o.TripID('F', 'G', "S 3"))
	p, err := o.PayBooking(t.Context(), officetest.Anna, b.ID, traintravel.NewPayment{Amount: b.Price, Source: officetest.Iban("AT611904300234573201")})
	if err != nil || p.Failure.Message != "**** **** **** **** 3201" {
		t.Errorf("an account is shown as %q (%v)", p.Failure.Message, err)
	}
}

// quoting is a gateway that declines, in words of the test's.
type quoting struct {
	traintravel.PaymentGateway
	words string
}

func (q quoting) Charge(context.Context, traintravel.Charge) (traintravel.Outcome, error) {
	return traintravel.Outcome{Status: traintravel.Failed, Failure: traintravel.Failure{Code: q.words, Message: q.words}}, nil
}

// TestGatewayLogsNumbers: a gateway that is not as careful as Secret is has no
// number and no code in the log.
func TestGatewayLogsNumbers(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	o := officetest.New(t, memstore.New(), func(opts *traintravel.Options) {
		opts.Gateway = plainSpoken{opts.Gateway}
		opts.Logger = slog.New(slog.NewTextHandler(&log, nil))
	})
	b := o.Book(officetest.Anna, o.TripID('F', 'G', "S 3"))
	source := officetest.Visa("4242424242424242")
	source.Card.CVC = "9137"
	if _, err := o.PayBooking(t.Context(), officetest.Anna, b.ID, traintravel.NewPayment{Amount: b.Price, Source: source}); err != nil {
		t.Fatal(err)
	}
	o.Clock.Add(time.Minute)
	if err := o.RunDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"no answer to ************4242, ****", "still none to ************4242"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log does not say %q:\n%s", want, log.String())
		}
	}
	if strings.Contains(log.String(), "424242424242") {
		t.Errorf("the log holds the number:\n%s", log.String())
	}
}

// plainSpoken is a gateway whose errors have the number as it is.
type plainSpoken struct{ traintravel.PaymentGateway }

func (plainSpoken) Charge(_ context.Context, c traintravel.Charge) (traintravel.Outcome, error) {
	return traintravel.Outcome{}, fmt.Errorf("no answer to %s, %s", string(c.Source.Card.Number), string(c.Source.Card.CVC))
}

func (plainSpoken) Lookup(context.Context, uuid.UUID) (traintravel.Outcome, error) {
	return traintravel.Outcome{}, errors.New("still none to 4242424242424242")
}
