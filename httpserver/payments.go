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

func (d *paymentDoc) appendJSON(b []byte, base string) []byte {
	b = append(b, `{"id":"`...)
	b = appendID(b, d.ID)
	b = append(b, `","amount":`...)
	b = append(b, d.Amount.Decimal()...)
	b = append(b, `,"currency":"`...)
	b = append(b, d.Amount.Currency...)
	b = append(b, '"')
	b = appendSource(b, d.Source)
	b = append(b, `,"status":`...)
	b = appendString(b, string(d.Status))
	if d.Failure != (traintravel.Failure{}) {
		b = append(b, `,"failure":{"code":`...)
		b = appendString(b, d.Failure.Code)
		b = append(b, `,"message":`...)
		b = appendString(b, d.Failure.Message)
		b = append(b, '}')
	}
	if d.RefundOf != uuid.Nil {
		b = append(b, `,"refund_of":"`...)
		b = appendID(b, d.RefundOf)
		b = append(b, '"')
	}
	var links [1]link
	b = appendLinks(b, base, d.links(links[:0]))
	return append(b, '}')
}

// appendSource writes what a payment was taken from, masked; a refund has none.
func appendSource(b []byte, s traintravel.Source) []byte {
	s = s.Masked() // it is already; nothing depends on that
	switch {
	case s.Card != nil:
		b = append(b, `,"source":{"object":"card"`...)
		b = appendText(b, "name", s.Card.Name)
		b = appendText(b, "number", s.Card.Number.String())
		b = append(b, `,"exp_month":`...)
		b = strconv.AppendInt(b, int64(s.Card.ExpMonth), 10)
		b = append(b, `,"exp_year":`...)
		b = strconv.AppendInt(b, int64(s.Card.ExpYear), 10)
		b = appendText(b, "address_city", s.Card.City)
		b = appendText(b, "address_country", s.Card.Country)
		b = appendText(b, "address_post_code", s.Card.PostCode)
	case s.Bank != nil:
		b = append(b, `,"source":{"object":"bank_account"`...)
		b = appendText(b, "name", s.Bank.Name)
		b = appendText(b, "number", s.Bank.Number.String())
		b = appendText(b, "sort_code", s.Bank.SortCode)
		b = appendText(b, "account_type", string(s.Bank.AccountType))
		b = appendText(b, "bank_name", s.Bank.BankName)
		b = appendText(b, "country", s.Bank.Country)
	default:
		return b
	}
	return append(b, '}')
}

func (s *Server) payBooking(x *exchange) error {
	id, err := x.id("bookingId")
	if err != nil {
		return err
	}
	var ask traintravel.NewPayment
	if err := x.decode(func(d *decoder) { ask = d.newPayment() }); err != nil {
		return err
	}
	p, err := s.service.PayBooking(x.ctx(), x.by, id, ask)
	if err != nil {
		return err
	}
	return x.answer(http.StatusOK, &paymentDoc{p, true})
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
	docs := make([]*paymentDoc, len(found.Items))
	for i, p := range found.Items {
		docs[i] = &paymentDoc{p, live}
	}
	return x.answer(http.StatusOK, list[*paymentDoc]{docs, q.links(x, found.Next)})
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
