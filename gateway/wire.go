package gateway

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
)

const (
	maxBody = 64 << 10 // bytes of a request or an answer
	// maxAmount is the most that is moved at once, in minor units.
	maxAmount = 1e16
	// maxFailure bounds a failure's code and message, in bytes.
	maxFailure = 500
)

// What the bodies are. JSON is read strictly (RFC 7493).

type chargeBody struct {
	Booking  string         `json:"booking"`
	Amount   int64          `json:"amount"`
	Currency string         `json:"currency"`
	Source   jsontext.Value `json:"source"`
}

type refundBody struct {
	Charge   string `json:"charge"`
	Amount   int64  `json:"amount"`
	Currency string `json:"currency"`
}

type cardBody struct {
	Object   string `json:"object"`
	Name     string `json:"name"`
	Number   string `json:"number"`
	CVC      string `json:"cvc"`
	ExpMonth int    `json:"exp_month"`
	ExpYear  int    `json:"exp_year"`
	Address1 string `json:"address_line1,omitzero"`
	Address2 string `json:"address_line2,omitzero"`
	City     string `json:"address_city,omitzero"`
	Country  string `json:"address_country"`
	PostCode string `json:"address_post_code,omitzero"`
}

type bankBody struct {
	Object      string                  `json:"object"`
	Name        string                  `json:"name"`
	Number      string                  `json:"number"`
	SortCode    string                  `json:"sort_code,omitzero"`
	AccountType traintravel.AccountType `json:"account_type"`
	BankName    string                  `json:"bank_name"`
	Country     string                  `json:"country"`
}

const (
	objectCard = "card"
	objectBank = "bank_account"
)

type outcomeBody struct {
	ID      string                    `json:"id"`
	Status  traintravel.PaymentStatus `json:"status"`
	Failure *failureBody              `json:"failure,omitzero"`
	// Resolution is of refunds alone.
	Resolution traintravel.Resolution `json:"resolution,omitzero"`
}

type failureBody struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// encodeCharge writes numbers in full: this is where they are passed on.
func encodeCharge(c traintravel.Charge) ([]byte, error) {
	var source any
	switch card, bank := c.Source.Card, c.Source.Bank; {
	case card != nil && bank == nil:
		source = cardBody{
			objectCard, card.Name, string(card.Number), string(card.CVC), card.ExpMonth, card.ExpYear,
			card.Address1, card.Address2, card.City, card.Country, card.PostCode,
		}
	case bank != nil && card == nil:
		source = bankBody{objectBank, bank.Name, string(bank.Number), bank.SortCode, bank.AccountType, bank.BankName, bank.Country}
	default:
		return nil, errors.New("the source is neither a card nor a bank account")
	}
	raw, err := json.Marshal(source)
	if err != nil {
		return nil, errors.New("the source cannot be written as JSON") // the error may quote it
	}
	return json.Marshal(chargeBody{c.Booking.String(), c.Amount.Amount, c.Amount.Currency, raw})
}

func encodeRefund(r traintravel.Refund) ([]byte, error) {
	return json.Marshal(refundBody{r.Charge.String(), r.Amount.Amount, r.Amount.Currency})
}

func decodeCharge(id uuid.UUID, body []byte) (traintravel.Charge, error) {
	var in chargeBody
	if err := decode(body, &in); err != nil {
		return traintravel.Charge{}, err
	}
	booking, err := parseID("booking", in.Booking)
	if err != nil {
		return traintravel.Charge{}, err
	}
	amount, err := parseAmount(in.Amount, in.Currency)
	if err != nil {
		return traintravel.Charge{}, err
	}
	source, err := decodeSource(in.Source)
	return traintravel.Charge{ID: id, Booking: booking, Amount: amount, Source: source}, err
}

func decodeRefund(id uuid.UUID, body []byte) (traintravel.Refund, error) {
	var in refundBody
	if err := decode(body, &in); err != nil {
		return traintravel.Refund{}, err
	}
	charge, err := parseID("charge", in.Charge)
	if err != nil {
		return traintravel.Refund{}, err
	}
	amount, err := parseAmount(in.Amount, in.Currency)
	return traintravel.Refund{ID: id, Charge: charge, Amount: amount}, err
}

func decodeSource(raw jsontext.Value) (s traintravel.Source, err error) {
	var kind struct {
		Object string `json:"object"`
	}
	if len(raw) == 0 {
		return s, errors.New("source is required")
	}
	if err := json.Unmarshal(raw, &kind); err != nil {
		return s, fault("source", err)
	}
	switch kind.Object {
	case objectCard:
		var in cardBody
		if err := decode(raw, &in); err != nil {
			return s, fmt.Errorf("source: %w", err)
		}
		s.Card = &traintravel.Card{
			Name: in.Name, Number: traintravel.Secret(in.Number), CVC: traintravel.Secret(in.CVC),
			ExpMonth: in.ExpMonth, ExpYear: in.ExpYear,
			Address1: in.Address1, Address2: in.Address2, City: in.City, Country: in.Country, PostCode: in.PostCode,
		}
	case objectBank:
		var in bankBody
		if err := decode(raw, &in); err != nil {
			return s, fmt.Errorf("source: %w", err)
		}
		s.Bank = &traintravel.BankAccount{
			Name: in.Name, Number: traintravel.Secret(in.Number), SortCode: in.SortCode,
			AccountType: in.AccountType, BankName: in.BankName, Country: in.Country,
		}
	default:
		return s, errors.New(`source.object is neither "card" nor "bank_account"`)
	}
	return s, s.Validate()
}

// encodeOutcome writes what a gateway says, its words cut to a length that can
// be shown.
func encodeOutcome(id uuid.UUID, out traintravel.Outcome) ([]byte, error) {
	body := outcomeBody{ID: id.String(), Status: out.Status}
	switch out.Status {
	case traintravel.Pending, traintravel.Succeeded:
	case traintravel.Failed:
		cut := func(s string) string { return strings.ToValidUTF8(s[:min(len(s), maxFailure)], "") }
		body.Failure = &failureBody{cut(out.Failure.Code), cut(out.Failure.Message)}
		if body.Failure.Code == "" {
			body.Failure.Code = traintravel.ProcessingError
		}
	default:
		return nil, fmt.Errorf("the gateway answered the unknown status %.40q", out.Status)
	}
	if !out.Resolution.Fits(out.Status) {
		return nil, fmt.Errorf("the gateway answered %s with the resolution %.40q", out.Status, out.Resolution)
	}
	body.Resolution = out.Resolution
	return json.Marshal(body)
}

// decodeOutcome reads what became of an ID. Members that are not known are
// ignored, so that the other side may be newer.
func decodeOutcome(id uuid.UUID, body []byte) (out traintravel.Outcome, err error) {
	var in outcomeBody
	if err := json.Unmarshal(body, &in); err != nil {
		return out, fault("the answer", err)
	}
	switch {
	case in.ID != id.String():
		return out, errors.New("the answer is about another ID")
	case in.Status == traintravel.Failed:
		if in.Failure == nil || in.Failure.Code == "" {
			return out, errors.New("the answer is failed without a code")
		}
		out.Failure = traintravel.Failure{Code: in.Failure.Code, Message: in.Failure.Message}
	case in.Status != traintravel.Pending && in.Status != traintravel.Succeeded:
		return out, errors.New("the answer's status is unknown")
	case in.Failure != nil:
		return out, fmt.Errorf("the answer is %s with a failure", in.Status)
	}
	if !in.Resolution.Fits(in.Status) {
		return out, fmt.Errorf("the answer is %s with a resolution that it cannot have", in.Status)
	}
	out.Status, out.Resolution = in.Status, in.Resolution
	return out, nil
}

// decode reads JSON without members that are not known.
func decode(body []byte, v any) error {
	if err := json.Unmarshal(body, v, json.RejectUnknownMembers(true)); err != nil {
		return fault("the body", err)
	}
	return nil
}

// fault says where JSON is wrong, without the value, which may be a number of a
// card.
func fault(what string, err error) error {
	if e, ok := errors.AsType[*json.SemanticError](err); ok {
		return fmt.Errorf("%s has an invalid member: %.100q", what, string(e.JSONPointer))
	}
	return fmt.Errorf("%s is not JSON by RFC 7493", what)
}

// parseID reads a UUID in the one form that we write.
func parseID(what, text string) (uuid.UUID, error) {
	id, err := uuid.Parse(text)
	if err != nil || id.String() != text || id == uuid.Nil {
		return uuid.Nil, fmt.Errorf("%s is not a UUID in lower case such as 018d63af-d4fd-73c6-be08-f6e3347fea0b", what)
	}
	return id, nil
}

var currencyForm = regexp.MustCompile(`^[a-z]{3}$`)

func parseAmount(amount int64, currency string) (traintravel.Money, error) {
	switch {
	case amount < 1 || amount > maxAmount:
		return traintravel.Money{}, fmt.Errorf("amount is not from 1 to %d minor units", int64(maxAmount))
	case !currencyForm.MatchString(currency):
		return traintravel.Money{}, errors.New("currency is not a code of three lower-case letters such as eur")
	}
	return traintravel.Money{Amount: amount, Currency: currency}, nil
}
