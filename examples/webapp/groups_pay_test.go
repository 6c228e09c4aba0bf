package main

import (
	"net/http"
	"strings"
	"testing"
)

// Each booking is on a bill and a receipt once, however often the address names it.
func TestRepeatedBookings(t *testing.T) {
	t.Parallel()
	_, v, to, form := newGroup(t, "1")
	pay := v.post(to, names(form, "Ann"))
	id := pay.at.Query().Get("booking")
	v.get(payPath(id, strings.ToUpper(id))).want(t, 200, "Pay €113.58")
	v.pay(pay, "4242 4242 4242 4242").want(t, 200, "Your ticket")
	receipt := v.get(receiptPath(id, id, strings.ToUpper(id)))
	receipt.want(t, 200, "Receipt")
	if n := strings.Count(receipt.text, ">Ticket<"); n != 1 {
		t.Errorf("the receipt of one booking has %d tickets", n)
	}
}

// Nothing is charged if a booking is gone since the page showed the total.
func TestTotalHasChanged(t *testing.T) {
	t.Parallel()
	rw, v, to, form := newGroup(t, "2")
	pay := v.post(to, names(form, "Ann", "Bob"))
	pay.want(t, 200, "Pay €227.16")
	v.fill(v.get(pay.booking()+"/cancel"), "/cancel").want(t, 200, "The booking is cancelled")

	changed := v.pay(pay, "4242 4242 4242 4242")
	changed.want(t, 409, "What you pay for has changed", "Nothing was charged", "Pay €113.58")
	if n := len(rw.payments()); n != 0 {
		t.Errorf("%d payments were made", n)
	}
	v.get(pay.at.RequestURI()).want(t, 200, "One booking has ended")
	v.pay(changed, "4242 4242 4242 4242").want(t, 200, "Bob")
	v.get(pay.at.RequestURI()).want(t, 200, "One booking has ended", "Receipt")
}

// Whoever has paid learns that, even if the pages that follow cannot be shown.
func TestPaidAndThenLimited(t *testing.T) {
	t.Parallel()
	rw, v, to, form := newGroup(t, "2")
	pay := v.post(to, names(form, "Ann", "Bob"))
	paid := 0
	rw.answering(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPost {
			paid++
			return false
		}
		return paid == 2 && refuse(w, 429, "rate-limited", "")
	})
	done := v.pay(pay, "4242 4242 4242 4242")
	done.want(t, 429, "Your payment went through", "Ann, Berlin Hauptbahnhof", "Bob, Berlin Hauptbahnhof", `href="`+pay.booking()+`"`)
	if done.header.Get("Retry-After") == "" {
		t.Error("the page does not say when to try again")
	}
}

// If the API does not answer after the first of two payments, the page says what is paid.
func TestPaidInPart(t *testing.T) {
	t.Parallel()
	rw, v, to, form := newGroup(t, "2")
	pay := v.post(to, names(form, "Ann", "Bob"))
	paid := 0
	rw.answering(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPost {
			paid++
			return paid == 2 && refuse(w, 429, "rate-limited", "")
		}
		return false
	})
	v.pay(pay, "4242 4242 4242 4242").want(t, 429, "Some of your bookings are paid", "1 of 2 bookings are paid", "Ann, Berlin")
}
