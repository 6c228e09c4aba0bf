package main

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// newGroup opens the form that books a trip for several passengers, as a visitor who is
// signed in.
func newGroup(t *testing.T, passengers string) (rw *railway, v *visitor, to string, form url.Values) {
	t.Helper()
	rw = newRailway(t, time.Hour)
	site, _ := rw.open(t)
	v = newVisitor(t, site)
	v.signIn("anna", "/bookings")
	to, form = v.form(v.get(v.chooseTrip(v.get(tripsTomorrow(rw))).at.Path+"?passengers="+passengers), "/bookings")
	return rw, v, to, form
}

// refuseName has the API refuse to book for somebody.
func (rw *railway) refuseName(name string) {
	rw.answering(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPost || r.URL.Path != "/bookings" {
			return false
		}
		body := peek(r)
		return strings.Contains(body, `"`+name+`"`) && refuse(w, 400, "invalid-request", "")
	})
}

// A form that is sent again with another name keeps what is paid.
func TestFormSentAgainKeepsPaidBookings(t *testing.T) {
	t.Parallel()
	rw, v, to, form := newGroup(t, "2")
	v.pay(v.post(to, names(form, "Ann", "Bob")), "4242 4242 4242 4242").want(t, 200, "Your tickets and receipt")

	rw.refuseName("Bobby")
	refused := v.post(to, names(form, "Ann", "Bobby"))
	refused.want(t, 400, "Nothing new was booked", "stays as it is")
	if strings.Contains(refused.text, "Nothing was booked for anybody") {
		t.Error("the page says that nothing was booked, but Ann and Bob have tickets")
	}
	if n := v.get("/bookings?over=true"); strings.Contains(n.text, "Ann") {
		t.Error("a paid booking was cancelled")
	}
	rw.refuseName("nobody")
	v.post(to, names(form, "Ann", "Bobby")).want(t, 200, "Already paid", "Ann", "Pay €113.58")
}

// A form that is sent again after a passenger was refused books for all passengers.
func TestFormSentAgainBooksForAll(t *testing.T) {
	t.Parallel()
	rw, v, to, form := newGroup(t, "3")
	for range 2 { // the second time Ann's first booking is over
		rw.refuseName("Bob?")
		v.post(to, names(form, "Ann", "Bob?", "Ann")).want(t, 400, "Nothing was booked for anybody")
		rw.refuseName("nobody")
	}
	pay := v.post(to, names(form, "Ann", "Bob", "Ann"))
	pay.want(t, 200, "your statement will have 3 entries")
	if again := v.post(to, names(form, "Ann", "Bob", "Ann")); again.at.String() != pay.at.String() {
		t.Errorf("sent twice it leads to %s and %s", pay.at, again.at)
	}
}

// A form that is sent again after the booking was cancelled books anew.
func TestFormSentAgainAfterCancelling(t *testing.T) {
	t.Parallel()
	_, v, to, form := newGroup(t, "1")
	first := v.post(to, names(form, "Ann"))
	v.fill(v.get(first.booking()+"/cancel"), "/cancel").want(t, 200, "The booking is cancelled")
	second := v.post(to, names(form, "Ann"))
	second.want(t, 200, "Pay for your trip", "Ann")
	if first.booking() == second.booking() {
		t.Error("the cancelled booking came back")
	}
}

// peek reads the body of a request and leaves it there.
func peek(r *http.Request) string {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	return string(body)
}
