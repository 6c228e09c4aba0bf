package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// A bill is what is to be paid together: bookings that are held, and beside them those
// whose payment is settled or under way.
type bill struct {
	Asked   []string // IDs, each once
	IDs     []string // of those that are not gone
	Gone    int      // how many are, or are over
	Due     []stub   // held
	Pending []stub
	Paid    []stub
	Over    []stub // nothing can be paid for these any more
	Total   *price // of those that are due
	Left    int    // seconds until the first hold ends
	Until   time.Time
	HeldTo  string // the same, by the clock at the origin
	Latest  *payment
	LastTry bool // one more declined payment may end a booking
	Form    payForm
	Fault   *fault
}

// Seats says what is known of the seats before they are paid.
func (b bill) Seats() string {
	seats := 0
	for _, s := range b.Due {
		if s.Reserved {
			seats++
		}
	}
	switch {
	case seats == 0:
		return "The trains have no reserved seats: take any that is free."
	case seats < len(b.Due):
		return "On trains with reservation a seat is reserved for each passenger; its coach and number are on the ticket. On the others take any that is free."
	}
	return "A seat is reserved for each passenger. Its coach and number are on the ticket."
}

// Charges are what the user sees that is to be paid for which booking. The form sends them
// back, so that nothing else is charged.
func (b bill) Charges() (all []string) {
	for _, s := range b.Due {
		all = append(all, s.charge())
	}
	return all
}

func (s stub) charge() string {
	return s.ID + " " + s.Journey.Price.Amount.String() + " " + s.Journey.Price.Currency
}

// asSeen says whether a form showed all that is due, and nothing that is gone. What is paid
// or under payment by now is not charged again, and no reason to stop.
func (b bill) asSeen(seen []string) bool {
	for _, due := range b.Due {
		if !slices.Contains(seen, due.charge()) {
			return false
		}
	}
	return !slices.ContainsFunc(seen, func(charge string) bool {
		id, _, _ := strings.Cut(charge, " ")
		return !slices.Contains(b.IDs, id)
	})
}

// Terms are what is known of refunds, each once.
func (b bill) Terms() (all []string) {
	for _, s := range b.Due {
		if s.Terms != "" && !slices.Contains(all, s.Terms) {
			all = append(all, s.Terms)
		}
	}
	return all
}

// payPath is where bookings are paid together, and receiptPath where it says that they are.
func payPath(ids ...string) string     { return "/pay?" + url.Values{"booking": ids}.Encode() }
func receiptPath(ids ...string) string { return "/receipt?" + url.Values{"booking": ids}.Encode() }

// paidPath is where to go on when nothing is to be paid: to the booking, or to the receipt.
func paidPath(ids []string) string {
	if len(ids) == 1 {
		return "/bookings/" + ids[0]
	}
	return receiptPath(ids...)
}

func (s *site) payPage(w http.ResponseWriter, r *http.Request, user *session) error {
	ids := r.URL.Query()["booking"]
	return s.afterPaying(user, ids, s.showBill(w, r, user, ids, payForm{}, nil))
}

// showBill shows what is to be paid and the form for that, with what was wrong with it. A
// page that cannot be had is no reason to hide that.
func (s *site) showBill(w http.ResponseWriter, r *http.Request, user *session, ids []string, form payForm, wrong error) error {
	b, err := s.billOf(r.Context(), user, ids)
	switch {
	case err != nil && wrong != nil:
		return wrong
	case err != nil:
		return err
	case len(b.Due)+len(b.Pending) == 0:
		s.redirect(w, r, paidPath(b.Asked))
		return nil
	}
	status, title := http.StatusOK, "Your payment is in progress"
	if len(b.Due) > 0 {
		title = "Pay for your trip"
		origin, _ := user.station(r.Context(), b.Due[0].Journey.Origin) // else the zone is UTC
		b.Left, b.HeldTo = int(b.Until.Sub(s.now()).Seconds()), heldTo(b.Until, origin)
		b.Form = form.with(origin.Country)
	}
	if wrong != nil {
		f := faultOf(wrong)
		b.Fault, status = &f, f.Status
	}
	return s.show(w, status, "pay", user, page{Title: title, Body: b})
}

// billOf sorts bookings by how they stand. Those that are gone are counted, unless all are.
func (s *site) billOf(ctx context.Context, user *session, ids []string) (b bill, err error) {
	ids = once(ids)
	if len(ids) > mostTogether {
		return b, errManyBills
	}
	if len(ids) == 0 || slices.ContainsFunc(ids, func(id string) bool { return !isID(id) }) {
		return b, errNoPage
	}
	all, gone, err := user.loadAll(ctx, ids)
	if err != nil {
		return b, err
	}
	if len(all) == 0 {
		return b, gone
	}
	b.Asked = ids
	var prices []price
	for _, one := range all {
		if one.Over != nil {
			b.Over = append(b.Over, one)
			continue
		}
		b.IDs = append(b.IDs, one.ID)
		switch one.State {
		case confirmed:
			b.Paid = append(b.Paid, one)
			continue
		case pending:
			b.Pending = append(b.Pending, one)
			continue
		}
		b.Due, prices = append(b.Due, one), append(prices, one.Journey.Price)
		if b.Until.IsZero() || one.Until.Before(b.Until) {
			b.Until = one.Until
		}
		if one.Latest != nil && one.Latest.Status == "failed" {
			b.Latest, b.LastTry = one.Latest, b.LastTry || one.LastTry
		}
	}
	b.Total, b.Gone = sum(prices), len(ids)-len(b.IDs)
	return b, nil
}

// once returns IDs in lower case, each once.
func once(ids []string) (all []string) {
	for _, id := range ids {
		if id = strings.ToLower(id); !slices.Contains(all, id) {
			all = append(all, id)
		}
	}
	return all
}

// loadAll loads bookings at the same time, in order. It leaves out those that are gone, and
// returns what the API says of them.
func (s *session) loadAll(ctx context.Context, ids []string) (all []stub, gone, err error) {
	stubs, errs := make([]stub, len(ids)), make([]error, len(ids))
	var wg sync.WaitGroup
	for i, id := range ids {
		wg.Go(func() { stubs[i], errs[i] = s.load(ctx, id) })
	}
	wg.Wait()
	for i, e := range errs {
		p, refused := errors.AsType[*problem](e)
		switch {
		case e == nil:
			all = append(all, stubs[i])
		case refused && p.Status == http.StatusNotFound:
			gone = e
		default:
			err = e
		}
	}
	return all, gone, err
}

// pay pays what the bookings cost, one after the other with the same card, if that is what
// the form showed. It stops at the first that is not paid. The page that follows shows what
// became of them.
func (s *site) pay(w http.ResponseWriter, r *http.Request, user *session) error {
	form, source := postedCard(r)
	if len(r.PostForm["booking"]) == 0 {
		return errIncomplete
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), orderTime)
	defer cancel()
	b, err := s.billOf(ctx, user, r.PostForm["booking"])
	if err != nil {
		return err
	}
	if !b.asSeen(r.PostForm["charge"]) {
		return s.showBill(w, r, user, b.Asked, form, errOtherCharge)
	}
	if source.ExpMonth == 0 && source.ExpYear == 0 {
		return s.showBill(w, r, user, b.Asked, form, errExpiry)
	}
	for _, paid := range b.Paid {
		s.rememberPaid(user, paid)
	}
	for _, due := range b.Due {
		if due.Journey.Price.Amount == "" {
			return s.afterPaying(user, b.IDs, errNoPrice)
		}
		made, err := user.api.pay(ctx, due.ID, newPayment{amount(due.Journey.Price), source}, r.PostFormValue("key"))
		if err = s.afterPaying(user, b.IDs, err); correctable(err) {
			return s.showBill(w, r, user, b.IDs, form, err)
		}
		if err != nil {
			return err
		}
		if made.Status == "succeeded" {
			s.rememberPaid(user, due)
		}
		if made.Status == "failed" {
			return s.declined(ctx, w, r, user, b, due, form)
		}
	}
	s.redirect(w, r, payPath(b.Asked...))
	return nil
}

// declined shows what is left to pay after a declined payment. If that has ended the booking,
// it says so, because the booking itself may no longer be found.
func (s *site) declined(ctx context.Context, w http.ResponseWriter, r *http.Request, user *session, b bill, due stub, form payForm) error {
	_, err := user.load(ctx, due.ID)
	if !missing(err) {
		s.redirect(w, r, payPath(b.Asked...))
		return nil
	}
	if errors.Is(err, errNoBooking) {
		err = errReleased // by another limit, or its time ran out
	}
	if err = s.afterPaying(user, b.IDs, err); len(b.Due)+len(b.Pending) > 1 {
		return s.showBill(w, r, user, b.Asked, form, err)
	}
	return err
}

// mostDeclines is the number of declined payments that ends a booking, by default of the API.
const mostDeclines = 5

// whyMissing adds to an error that a booking was not found whether declined payments have
// ended it.
func (s *session) whyMissing(ctx context.Context, id string, err error) error {
	if declined, e := s.api.attempts(ctx, id, "failed"); e == nil && len(declined) >= mostDeclines {
		return fmt.Errorf("%w: %w", errDeclines, err)
	}
	return fmt.Errorf("%w: %w", errNoBooking, err)
}
