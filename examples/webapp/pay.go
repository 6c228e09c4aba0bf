package main

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"
)

// A bill is what is to be paid together: bookings that are held, and beside them those
// whose payment is settled or under way.
type bill struct {
	IDs     []string
	Due     []stub // held
	Pending []stub
	Paid    []stub
	Total   *price // of those that are due
	Left    int    // seconds until the first hold ends
	Until   time.Time
	HeldTo  string // the same, by the clock at the origin
	Latest  *payment
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

// paidPath is where to go on when all is paid: to the ticket, or to several.
func paidPath(ids []string) string {
	if len(ids) == 1 {
		return "/bookings/" + ids[0]
	}
	return receiptPath(ids...)
}

func (s *site) payPage(w http.ResponseWriter, r *http.Request, user *session) error {
	return s.showBill(w, r, user, r.URL.Query()["booking"], payForm{}, nil)
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
		http.Redirect(w, r, paidPath(b.IDs), http.StatusSeeOther)
		return nil
	}
	status, title := http.StatusOK, "Your payment is under way"
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

// billOf sorts bookings by how they stand. Those that are gone are left out, unless all are.
func (s *site) billOf(ctx context.Context, user *session, ids []string) (b bill, err error) {
	if len(ids) == 0 || len(ids) > mostTogether || slices.ContainsFunc(ids, func(id string) bool { return !isID(id) }) {
		return b, errNoPage
	}
	all, gone, err := user.loadAll(ctx, ids)
	if err != nil {
		return b, err
	}
	if len(all) == 0 {
		return b, gone
	}
	var prices []price
	for _, one := range all {
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
			b.Latest = one.Latest
		}
	}
	b.Total = sum(prices)
	return b, nil
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
		case e == nil && stubs[i].Over != nil: // nothing can be paid for it any more
			gone = &problem{Status: http.StatusNotFound}
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

// pay pays what the bookings cost, whatever a form may say, one after the other with the
// same card. It stops at the first that is not paid. The page that follows shows what became
// of them.
func (s *site) pay(w http.ResponseWriter, r *http.Request, user *session) error {
	form, source := postedCard(r)
	ids := r.PostForm["booking"]
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), orderTime)
	defer cancel()
	b, err := s.billOf(ctx, user, ids)
	if err != nil {
		return err
	}
	for _, due := range b.Due {
		if due.Journey.Price.Amount == "" {
			return errNoPrice
		}
		made, err := user.api.pay(ctx, due.ID, newPayment{Amount: due.Journey.Price.Amount, Currency: due.Journey.Price.Currency, Source: source}, r.PostFormValue("key"))
		if correctable(err) {
			return s.showBill(w, r, user, b.IDs, form, err)
		}
		if err != nil {
			return err
		}
		if made.Status == "failed" {
			break
		}
	}
	http.Redirect(w, r, payPath(b.IDs...), http.StatusSeeOther)
	return nil
}
