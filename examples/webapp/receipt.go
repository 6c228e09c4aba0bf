package main

import (
	"net/http"
	"slices"
)

// A receipt says what was paid, when and with what, and leads to the tickets.
type receipt struct {
	Items []stub
	Total *price
	Gone  int // bookings that were asked for and are gone
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
	if len(b.Paid) < len(b.IDs) {
		http.Redirect(w, r, payPath(b.Asked...), http.StatusSeeOther)
		return nil
	}
	body := receipt{Items: slices.Clone(b.Paid), Gone: b.Gone}
	var prices []price
	for _, one := range body.Items {
		prices = append(prices, one.Journey.Price)
	}
	body.Total = sum(prices)
	title := "Receipt"
	if len(body.Items) > 1 {
		title = "Your tickets and receipt"
	}
	return s.show(w, http.StatusOK, "receipt", user, page{Title: title, Body: body})
}
