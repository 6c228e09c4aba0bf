package main

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/traintravel/traintravel/internal/need"
)

// Every page on every screen, light and dark.
func TestPages(t *testing.T) {
	t.Parallel()
	axe := need.Axe(t)
	rw := newRailway(t, time.Hour)
	site, _ := rw.open(t)
	b := newBrowser(t, site)

	b.open("/")
	b.look("home", axe)
	b.click(".search .primary", ".trips")
	b.look("trips", axe)
	b.do(chromedp.Click(css(".trip details summary"), chromedp.NodeVisible))
	b.do(chromedp.Click(css(".refine summary"), chromedp.NodeVisible))
	b.look("trips-open", axe)
	b.open("/")
	b.write("#to", "par")
	b.wait("#to-stations:not([aria-busy]) [role=option]")
	b.do(chromedp.SendKeys(css("#to"), kb.ArrowDown))
	b.look("suggestions", axe)
	b.open("/trips?from=Berlin+Hauptbahnhof&to=paris&date=" + tomorrow(rw))
	b.look("choice", axe)
	b.open("/trips?from=nowhere&to=paris&date=" + tomorrow(rw))
	b.look("unknown", axe)
	b.open("/trips?from=London+St+Pancras+International&to=Roma+Termini&date=" + tomorrow(rw))
	b.do(chromedp.Click(css(".trip details summary"), chromedp.NodeVisible))
	b.look("changes", axe)
	b.open("/trips?from=Berlin+Hauptbahnhof&to=Paris+Gare+du+Nord&date=" + tomorrow(rw))
	b.click(".trip .button", `a[href$="/book"]`)
	b.look("trip", axe)
	b.click(`a[href$="/book"]`, "#user")
	b.look("sign-in", axe)
	b.allow("anna")
	b.open("/trips?from=Berlin+Hauptbahnhof&to=Paris+Gare+du+Nord&date=" + tomorrow(rw))
	b.click(".trip .button", "#passenger")
	b.write("#passenger", "4242 4242 4242 4242")
	b.click("[value=add]", "#passenger-2")
	b.write("#passenger-2", "Bert Example")
	b.click("form .primary", ".fault")
	b.look("trip-wrong", axe)
	b.write("#passenger", "Anna Example")
	b.click("[value=remove]", "#passenger")
	b.do(chromedp.Click(css(".calls summary"), chromedp.NodeVisible))
	b.click("form .primary", "#number")
	b.look("held", axe)
	b.pay("4000000000000002", ".fault")
	b.look("declined", axe)
	b.open("/bookings")
	b.look("bookings", axe)
	b.click(".trip .button", "#number")
	b.pay("4242424242424242", ".ticket img")
	b.look("ticket", axe)
	b.click(`a[href^="/receipt"]`, ".receipt")
	b.look("receipt", axe)
	b.click(".receipt .button", ".ticket")
	b.click(`a[href$="/cancel"]`, "button.danger")
	b.look("cancel", axe)
	b.click("button.danger", ".notice")
	b.look("cancelled", axe)
	b.open("/nowhere")
	b.look("no-page", axe)
}
