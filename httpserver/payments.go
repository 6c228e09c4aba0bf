package httpserver

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
)

// A paymentDoc is a payment as clients see it.
type paymentDoc struct {
	traintravel.Payment
	live bool // whether its booking can be looked up
}

func (d *paymentDoc) encode(e *encoder) {
	e.item("payment")
	d.members(e)
	e.close("payment")
}

func (d *paymentDoc) members(e *encoder) {
	e.id("id", d.ID)
	e.decimal("amount", d.Amount.Decimal())
	e.text("currency", d.Amount.Currency)
	e.source(d.Source)
	e.text("status", string(d.Status))
	if d.Failure != (traintravel.Failure{}) {
		e.open("failure")
		e.text("code", d.Failure.Code)
		e.text("message", d.Failure.Message)
		e.close("failure")
	}
	if d.RefundOf != uuid.Nil {
		e.id("refund_of", d.RefundOf)
	}
	e.optional("resolution", string(d.Resolution))
	var links [1]link
	e.links(d.links(links[:0]))
}

// source writes what a payment was taken from, masked; a refund has none.
func (e *encoder) source(s traintravel.Source) {
	s = s.Masked() // it is already; nothing depends on that
	switch {
	case s.Card != nil:
		e.open("source")
		e.text("object", "card")
		e.optional("name", s.Card.Name)
		e.optional("number", s.Card.Number.String())
		e.whole("exp_month", s.Card.ExpMonth)
		e.whole("exp_year", s.Card.ExpYear)
		e.optional("address_city", s.Card.City)
		e.optional("address_country", s.Card.Country)
		e.optional("address_post_code", s.Card.PostCode)
		e.close("source")
	case s.Bank != nil:
		e.open("source")
		e.text("object", "bank_account")
		e.optional("name", s.Bank.Name)
		e.optional("number", s.Bank.Number.String())
		e.optional("sort_code", s.Bank.SortCode)
		e.optional("account_type", string(s.Bank.AccountType))
		e.optional("bank_name", s.Bank.BankName)
		e.optional("country", s.Bank.Country)
		e.close("source")
	}
}

func (s *Server) payBooking(x *exchange) error {
	id, err := x.id("bookingId")
	if err != nil {
		return err
	}
	key, err := x.idempotencyKey()
	if err != nil {
		return err
	}
	var ask traintravel.NewPayment
	if err := x.decode(func(d *decoder) { ask = d.newPayment() }); err != nil {
		return err
	}
	ask.IdempotencyKey = key
	p, err := s.service.PayBooking(x.ctx(), x.by, id, ask)
	if err != nil {
		return err
	}
	x.replayed(p.Replayed)
	x.lookAgain(p)
	return x.answer(http.StatusOK, &paymentDoc{p, true})
}

// lookAgain says when to look at a payment again whose outcome is not known yet.
func (x *exchange) lookAgain(p traintravel.Payment) {
	if p.Status == traintravel.Pending {
		x.set("Retry-After", strconv.Itoa(lookAgain))
	}
}

func (s *Server) latestPayment(x *exchange) error {
	id, err := x.id("bookingId")
	if err != nil {
		return err
	}
	p, err := s.service.Payment(x.ctx(), x.by, id)
	if err != nil {
		return err
	}
	live, err := x.live(id)
	if err != nil {
		return err
	}
	x.lookAgain(p)
	return x.answer(http.StatusOK, &paymentDoc{p, live})
}

func (s *Server) listPayments(x *exchange) error {
	q := x.query(pageParams)
	page := q.page()
	id, err := x.id("bookingId")
	if err = errors.Join(err, q.problem()); err != nil {
		return err
	}
	found, err := s.service.Payments(x.ctx(), x.by, id, page)
	if err != nil {
		return err
	}
	live, err := x.live(id)
	if err != nil {
		return err
	}
	docs := make([]paymentDoc, len(found.Items))
	for i, p := range found.Items {
		docs[i] = paymentDoc{p, live}
	}
	return x.answer(http.StatusOK, listOf("payments", docs, q.links(x, found.Next)))
}

// live says whether a booking can be looked up: the payments of one that is
// over still can.
func (x *exchange) live(booking uuid.UUID) (bool, error) {
	_, err := x.s.service.Booking(x.ctx(), x.by, booking)
	if errors.Is(err, traintravel.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// newPayment reads the body of a request to pay. Members that the server
// itself writes, such as id and status, are not asked for and ignored.
func (d *decoder) newPayment() traintravel.NewPayment {
	var n traintravel.NewPayment
	var amount, currency string
	var sent bool // a currency
	d.object([]string{"amount", "currency", "source"}, func(name string) bool {
		switch name {
		case "amount":
			amount = d.number()
		case "currency":
			sent = d.dec.PeekKind() == '"'
			currency = d.text()
		case "source":
			n.Source = d.source()
		default:
			return false
		}
		return true
	})
	if amount != "" && sent {
		var err error
		n.Amount, err = traintravel.ParseMoney(amount, currency)
		d.refuse(err)
	}
	return n
}

// links of a payment lead to its booking, unless that is over.
func (d *paymentDoc) links(to []link) []link {
	if d.live {
		to = append(to, link{"booking", bookingsPath, d.Booking, ""})
	}
	return to
}
