package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// The operator lists and settles stuck payments, with and without a running server.
func TestPaymentStuckAndSettled(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "trains.db")
	day := time.Now().AddDate(0, 0, 2).Format(time.DateOnly)
	desk := func(wantCode int, args ...string) string {
		t.Helper()
		code, out, errs := once(t, nil, append(append([]string{"payment"}, args...), "--data", data)...)
		if code != wantCode || wantCode != 0 && errs == "" {
			t.Fatalf("%v: %d, %s%s", args, code, out, errs)
		}
		return out + errs
	}
	has := func(text string, parts ...string) {
		t.Helper()
		for _, p := range parts {
			if !strings.Contains(text, p) {
				t.Errorf("%q is not in\n%s", p, text)
			}
		}
	}
	r := start(t, "serve", "--data", data)
	_, token, _ := once(t, nil, "token", "--user", "anna", "--data", data)
	token = strings.TrimSpace(token)
	has(desk(0, "stuck"), "No payment or refund needs")
	cancelled := func() (booking, refund string) {
		t.Helper()
		b := r.bookWith(token, day, "4000000000005126")
		r.call(token, "DELETE", "/bookings/"+b, "", 204)
		// The server may have been told already that the refund is impossible.
		m := regexp.MustCompile(`(?:pending|failed, impossible) +(\S+) +` + b).FindStringSubmatch(desk(0, "stuck", "--older", "0s"))
		if m == nil {
			t.Fatal("the refund is not listed")
		}
		return b, m[1]
	}
	first, refund := cancelled()
	second, other := cancelled()
	for _, c := range []struct{ booking, refund string }{{first, refund}, {second, other}} {
		b, id := c.booking, c.refund
		has(desk(2, "settle", id, "--as", "lost", "--reason", "why not"), "invalid --as \"lost\"", "made-elsewhere")
		has(desk(2, "settle", id, "--as", "failed", "--reason", "why not"), "invalid --as: a refund can be settled as", "made-elsewhere")
		has(desk(2, "settle", id, "--as", "impossible"), "missing --reason")
		has(desk(2, "settle", "4711", "--as", "impossible", "--reason", "x"), "invalid ID ")
		has(desk(1, "settle", first, "--as", "impossible", "--reason", "x"), "no payment or refund found with the ID")
		has(desk(0, "settle", id, "--as", "made-elsewhere", "--reason", "paid back in cash", "--by", "carla"), id, "succeeded, made elsewhere", b+" is cancelled")
		has(desk(1, "settle", id, "--as", "impossible", "--reason", "x"), "already settled: succeeded, made elsewhere since", "traintravel booking "+b)
		_, shown, _ := once(t, nil, "booking", b, "--data", data)
		has(shown, `settled as made elsewhere by "carla": "paid back in cash"`, "succeeded, made elsewhere")
		if b == first {
			r.stop()
		}
	}
	has(desk(0, "stuck", "--older", "0s"), "No payment or refund needs")
	has(desk(2, "stuck", "--older", "-1s"), "want 0s or more")
	if code, out, errs := once(t, nil, "check", "--data", data); code != 0 {
		t.Errorf("check: %d, %s%s", code, out, errs)
	}
}

// bookWith books and pays a trip with a card.
func (r *running) bookWith(token, date, number string) string {
	r.t.Helper()
	trip := r.call(token, "GET", "/trips?origin="+berlin+"&destination="+paris+"&date="+date, "", 200)["data"].([]any)[0].(map[string]any)
	return r.book(token, date, fmt.Sprintf(`{"amount": %v, "currency": %q, "source": {"object": "card", "name": "J. Doe", "number": %q,
		"cvc": "123", "exp_month": 12, "exp_year": %d, "address_country": "gb"}}`, trip["price"], trip["currency"], number, time.Now().Year()+2))
}
