package main

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// A name that would run as a script, or end an attribute, if it were taken for markup.
const hostile = `"><img src=x onerror="document.title='taken'">`

// The whole way of a user on a phone: finds stations by typing, signs in, books, pays and
// cancels. TestByKeyboard goes it on a large screen.
func TestBookInBrowser(t *testing.T) {
	t.Parallel()
	for _, s := range []screen{screens[3]} {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			rw := newRailway(t, time.Hour)
			site, log := rw.open(t)
			b := newBrowser(t, site)
			b.on(s)

			b.open("/")
			b.chooseStation()
			b.click(".search .primary", ".trips")
			b.says("h1", "Berlin Hauptbahnhof to Paris Gare de Lyon")
			b.says(".trips", "€", "seats left")
			b.open("/trips?from=Berlin+Hauptbahnhof&to=Paris+Gare+du+Nord&date=" + tomorrow(rw))
			b.says(".trips", "07:00", "08:36\n+1", "7 h 46 min", "direct", "€113.58")

			b.click(".trip .button", `a[href$="/book"]`)
			b.click(`a[href$="/book"]`, "#user")
			b.says("main", "Sign in to Overland")
			b.allow("anna")
			b.write("#passenger", hostile)
			b.do(chromedp.DoubleClick(css("form .primary"), chromedp.NodeVisible))
			b.wait("#number")
			if n := rw.count("POST /bookings"); n != 1 {
				t.Errorf("two clicks posted %d bookings", n)
			}
			b.says(".facts-list", hostile)
			if count := b.text("[data-count]"); !regexp.MustCompile(`^59:\d\d$`).MatchString(count) {
				t.Errorf("an hour is left, and the page says %q", count)
			}

			b.pay("4242 4242 4242 4241", "#number:invalid") // is not sent
			b.pay("4000 0000 0000 0002", ".fault")
			b.says(".fault", "declined", "Nothing was charged")
			if kept := b.eval(`[...document.querySelectorAll("#number, #expiry, #cvc, #name")].map(e => e.value).join()`); kept != "4000 0000 0000 0002,12/40,123,Anna Example" {
				t.Errorf("after a decline the form has %q", kept)
			}
			if n := rw.count("POST " + b.eval(`"/bookings/" + new URLSearchParams(location.search).get("booking") + "/payment"`)); n != 1 {
				t.Errorf("%d payments were tried", n)
			}
			b.pay("4242 4242 4242 4242", ".ticket img")
			b.says(".ticket", hostile, "coach 1, seat 1", "€113.58")
			if width := b.eval(`document.querySelector(".ticket img").naturalWidth > 50`); width != "true" {
				t.Error("the page does not show the picture of the ticket")
			}
			if title := b.eval(`document.title`); !strings.HasPrefix(title, "Your ticket") {
				t.Errorf("the title is %q", title)
			}
			b.open("/bookings")
			b.says(".trips", hostile, "paid")
			b.click(".trip .button", ".ticket")
			b.click(`a[href$="/cancel"]`, "button.danger")
			b.click("button.danger", ".notice")
			b.says("main", "is cancelled", "Nothing booked yet")
			b.quiet()

			b.click("header form button", ".hero")
			b.says("header", "Sign in")
			for _, secret := range []string{"4242", "0002", "123\"", hostile} {
				if strings.Contains(log.String(), secret) {
					t.Errorf("the log has %q", secret)
				}
			}
		})
	}
}

// chooseStation chooses a station by typing and with the keys alone.
func (b *browser) chooseStation() {
	b.t.Helper()
	state := func() string {
		return b.eval(`[...document.querySelectorAll("#to, #to + * + [role=listbox]")].map(e => [e.getAttribute("aria-expanded"), e.getAttribute("aria-activedescendant"), e.hidden]).flat().join()`)
	}
	const closed = "false,,false,,,true"
	if got := state(); got != closed {
		b.t.Errorf("at first the list is %s", got)
	}
	b.write("#to", "gare")
	b.wait("#to-stations:not([aria-busy]) [role=option]")
	b.do(chromedp.SendKeys(css("#to"), kb.Escape), chromedp.WaitNotVisible(css("#to-stations")))
	if got := state(); got != closed {
		b.t.Errorf("after Escape the list is %s", got)
	}
	b.write("#to", "paris gare")
	b.wait("#to-stations:not([aria-busy]) [role=option]")
	for range 9 { // until it is chosen: the order is the server's
		b.do(chromedp.SendKeys(css("#to"), kb.ArrowDown))
		if b.text(`#to-stations [aria-selected=true] strong`) == "Paris Gare de Lyon" {
			break
		}
	}
	if got := state(); !strings.HasPrefix(got, "true,to-stations-") {
		b.t.Errorf("with an option chosen the list is %s", got)
	}
	b.do(enter, chromedp.WaitNotVisible(css("#to-stations")))
	if said := b.eval(`location.pathname + document.querySelector("#to").value + ", " + document.querySelector("[data-status]").textContent`); said != "/Paris Gare de Lyon, Paris Gare de Lyon chosen" {
		b.t.Errorf("the page has %q", said)
	}
	ends := func() string {
		return b.eval(`[...document.querySelectorAll("[data-stations]")].map(e => e.value).join(" to ")`)
	}
	b.do(chromedp.Click(css(".swap"), chromedp.NodeVisible))
	if got := ends(); got != "Paris Gare de Lyon to Berlin Hauptbahnhof" {
		b.t.Errorf("swapped it is %s", got)
	}
	b.do(chromedp.Click(css(".swap")))
	if got := ends(); got != "Berlin Hauptbahnhof to Paris Gare de Lyon" {
		b.t.Errorf("swapped back it is %s", got)
	}
}

// enter presses Enter, as one event: one that is split in two may send the form though the
// page has forbidden that.
var enter = chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
	_, err := cdp.Call(ctx, t, input.DispatchKeyEvent, input.DispatchKeyEventParams{
		Type: kb.KeyDown, Key: "Enter", Code: "Enter", Text: kb.Enter, WindowsVirtualKeyCode: 13,
	})
	return err
})

// The same way without any script: what was typed may be several stations, and the
// time that is left is told in words.
func TestBookWithoutScripts(t *testing.T) {
	t.Parallel()
	rw := newRailway(t, time.Hour)
	site, _ := rw.open(t)
	b := newBrowser(t, site)
	b.withoutScripts()

	b.open("/")
	b.write("#from", "berlin")
	b.write("#to", "paris")
	b.click(".search .primary", ".choices")
	b.says("h1", "Which station do you want to go to?")
	b.do(chromedp.Click(chromedp.Search(`//a[contains(., "Paris Gare du Nord")]`), chromedp.NodeVisible))
	b.wait(".trips")
	b.says("h1", "Berlin Hauptbahnhof to Paris Gare du Nord")
	b.click(`.days a[rel=next]`, ".trips")
	b.says(".lead", rw.now().AddDate(0, 0, 2).Format("Mon 2 January 2006"))
	b.click(".trip .button", `a[href$="/book"]`)
	b.click(`a[href$="/book"]`, "#user")
	b.allow("anna")
	b.write("#passenger", "Anna Example")
	b.click("form .primary", "#number")
	b.says(".hold", "Your seat is kept until", "Berlin Hauptbahnhof time")
	b.pay("4242 4242 4242 4243", ".fault")
	b.says(".fault", "The card number")
	b.forgive("status of 400")
	if shown := b.eval(`document.querySelector("[data-count]").hidden`); shown != "true" {
		t.Error("a countdown that does not count is shown")
	}
	b.pay("4000000000009995", ".fault")
	b.says(".fault", "declined")
	b.pay("4242424242424242", ".ticket img")
	b.click(`a[href$="/cancel"]`, "button.danger")
	b.click(".actions .quiet", ".ticket") // no, it is kept
	b.click(`a[href$="/cancel"]`, "button.danger")
	b.click("button.danger", ".notice")
	b.says("main", "Nothing booked yet")
	b.quiet()
}

// A hold that ends while its page is open is gone from it.
func TestHoldEndsInBrowser(t *testing.T) {
	t.Parallel()
	rw := newRailway(t, time.Hour)
	site, _ := rw.open(t)
	b := newBrowser(t, site)
	b.open("/bookings")
	b.allow("anna")
	b.open("/trips?from=Berlin+Hauptbahnhof&to=Paris+Gare+du+Nord&date=" + tomorrow(rw))
	b.click(".trip .button", "#passenger")
	b.write("#passenger", "Anna Example")
	b.click("form .primary", "#number")
	rw.ahead.Store(int64(time.Hour - 3*time.Second))
	b.do(chromedp.Reload())
	b.wait(".soon [data-count]")
	b.wait(".fault-page")
	b.says("main", "We cannot find that", "not paid in time")
}
