package main

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/traintravel/traintravel/internal/need"
)

// buy books and pays the first trip of tomorrow.
func (b *browser) buy(rw *railway) (booking string) {
	b.t.Helper()
	b.open(tripsTomorrow(rw))
	b.click(".trip .button", "#passenger")
	b.write("#passenger", "Anna Example")
	b.click("form .primary", "#number")
	b.pay("4242424242424242", ".ticket img")
	return b.eval("location.pathname")
}

// By the keys alone, on a large screen and on a small one: from the list to a booking whose train
// the operator has cancelled, to its receipt, to what is over, and to a trip that was made.
func TestOverByKeyboard(t *testing.T) {
	t.Parallel()
	axe := need.Axe(t)
	for _, s := range []screen{screens[0], screens[3]} {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			rw := newRailway(t, time.Hour)
			site, _ := rw.open(t)
			b := newBrowser(t, site)
			b.on(s)
			b.open("/bookings")
			b.allow("anna")
			b.open(tripsTomorrow(rw)) // another train than those that follow
			b.do(chromedp.Evaluate[chromedp.Void](`[...document.querySelectorAll(".trip")].slice(0, 1).forEach(e => e.remove())`))
			b.click(".trip .button", "#passenger")
			b.write("#passenger", "Bert Example")
			b.click("form .primary", "#number")
			b.pay("4242424242424242", ".ticket img")
			made := b.eval("location.pathname")
			operators, owners := b.buy(rw), b.buy(rw)
			b.click(`a[href$="/cancel"]`, "button.danger")
			b.click("button.danger", ".notice")
			rw.withdraw(t, operators)

			look := func(name string) {
				t.Helper()
				b.look(name, axe)
				b.on(s)
			}
			b.open("/bookings")
			look("bookings-cancelled")
			b.tabTo("a[href='" + operators + "']")
			b.press("[data-state=cancelled]")
			b.says("main", "This booking is cancelled", "Berlin Hauptbahnhof to Paris Gare du Nord", "The railway cancelled train LA 21 on", "We sent €113.58 back to you on")
			look("cancelled-by-operator")
			rw.refund(t)
			b.do(chromedp.Reload())
			b.wait("[data-state=cancelled]")
			b.says("main", "€113.58 was refunded on")
			look("refunded")
			b.tabTo("a[href^='/receipt']")
			b.press(".receipt")
			b.says(".receipt", "Cancelled on", "€113.58 paid with the card ************4242", "was refunded on", "Total paid", "Refunded")
			look("receipt-refunded")
			b.tabTo(".receipt .button")
			b.press("[data-state=cancelled]")
			b.tabTo(".crumb a")
			b.press(".trips")
			b.tabTo("a[href='/bookings?over=true']")
			b.press(".trips")
			b.says("h1", "Past trips and cancellations")
			look("over")
			b.tabTo("a[href='" + owners + "']")
			b.press("[data-state=cancelled]")
			b.says("main", "You have cancelled this booking", "€113.58 was refunded on")
			look("cancelled-by-owner")

			rw.ahead.Store(int64(72 * time.Hour)) // the trip is made, and the session has ended
			b.open("/bookings?over=true")
			b.click("button[value=allow]", ".trips")
			b.says(".trips", "travelled")
			b.tabTo("a[href='" + made + "']")
			b.press("[data-state=travelled]")
			b.says("h1", "Your past trip")
			if text := b.text("main"); strings.Contains(text, "Cancel this booking") {
				t.Error("a trip that was made can be cancelled")
			}
			look("past-trip")
			b.tabTo("a[href^='/receipt']")
			b.press(".receipt")
			b.says(".receipt", "Bert Example", "Paid on")
			b.quiet()
		})
	}
}
