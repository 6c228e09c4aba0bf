package main

import (
	"strings"
	"testing"
	"time"
)

// In a browser with scripts, the last declined payment of a booking says that its seat was
// released. What is left of an order can then be paid without reloading the page.
func TestLastDeclineInBrowser(t *testing.T) {
	t.Parallel()
	rw := newRailway(t, time.Hour)
	site, _ := rw.open(t)
	b := newBrowser(t, site)
	b.open("/trips?from=Berlin+Hauptbahnhof&to=Paris+Gare+du+Nord&date=" + tomorrow(rw))
	b.click(".trip .button", `a[href$="/book"]`)
	b.click(`a[href$="/book"]`, "#user")
	b.allow("anna")
	b.write("#passenger", "Ann")
	b.click("[value=add]", "#passenger-2")
	b.write("#passenger-2", "Bob")
	b.click("form .primary", "#number")
	for range 5 {
		b.pay("4000 0000 0000 0002", ".fault")
	}
	b.says(".fault", "Your seat was released", "Too many payments for the booking were declined")
	for range 4 {
		b.pay("4000 0000 0000 0002", ".fault")
		b.says(".fault", "The payment was declined")
	}
	b.says(".fault", "If another payment is declined, your seat may be released.")
	b.pay("4000 0000 0000 0002", ".fault-page")
	b.says(".fault-page", "Your seat was released")
	if n := len(rw.payments()); n != 10 || !strings.Contains(b.text("main"), "Nothing was charged") {
		t.Errorf("%d payments were tried", n)
	}
}
