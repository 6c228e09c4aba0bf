package main

import "net/http"

// A receipt says what was paid, when and with what, what was given back, and leads to the
// tickets.
type receipt struct {
	Items []stub // paid
	Over  []stub // paid, and over since
	Total *price
	Back  *price // of the total; nil if nothing is
	OnWay bool   // a part of that is not settled yet
	Gone  int    // bookings that were asked for, and have nothing to be shown of
}

// Card is the number that is shown of a payment's card: all but its end is hidden.
func (p *payment) Card() string {
	if p == nil {
		return ""
	}
	return p.Source.Number
}

func (s *site) receiptPage(w http.ResponseWriter, r *http.Request, user *session) error {
	ids := r.URL.Query()["booking"]
	b, err := s.billOf(r.Context(), user, ids)
	if err != nil {
		return s.afterPaying(user, ids, err)
	}
	if len(b.Due)+len(b.Pending) > 0 {
		s.redirect(w, r, payPath(b.Asked...))
		return nil
	}
	body := receiptOf(b)
	if len(body.Items)+len(body.Over) == 0 { // nothing was ever paid
		s.redirect(w, r, overPath(b.Asked))
		return nil
	}
	title := "Receipt"
	if len(body.Items) > 1 {
		title = "Your tickets and receipt"
	}
	return s.show(w, http.StatusOK, "receipt", user, page{Title: title, Body: body})
}

// receiptOf lists what was paid for the bookings of a bill, and what comes back of it.
func receiptOf(b bill) receipt {
	body := receipt{Items: b.Paid}
	var paid, back []price
	for _, one := range body.Items {
		paid = append(paid, one.Journey.Price)
	}
	for _, one := range b.Over {
		if len(one.Charges) == 0 {
			continue
		}
		body.Over = append(body.Over, one)
		for _, p := range one.Charges {
			paid = append(paid, p.Money())
		}
		for _, r := range one.Over.Refunds {
			if r.Status != "failed" {
				back = append(back, r.Money())
				body.OnWay = body.OnWay || r.Status != "succeeded"
			}
		}
	}
	body.Total, body.Back = sum(paid), sum(back)
	body.Gone = len(b.Asked) - len(body.Items) - len(body.Over)
	return body
}

// overPath is where to go on if bookings are over and nothing was paid for them.
func overPath(ids []string) string {
	if len(ids) == 1 {
		return "/bookings/" + ids[0]
	}
	return "/bookings?over=true"
}
