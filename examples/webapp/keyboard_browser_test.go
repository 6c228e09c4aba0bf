package main

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// tabTo presses Tab until something has the focus, and fails if that cannot be seen.
func (b *browser) tabTo(what string) {
	b.t.Helper()
	for range 80 {
		b.do(chromedp.KeyEvent(kb.Tab))
		if b.eval(`document.activeElement.matches("`+what+`")`) != "true" {
			continue
		}
		if b.eval(`getComputedStyle(document.activeElement).outlineStyle`) == "none" {
			b.t.Errorf("nothing shows that the focus is on %s", what)
		}
		return
	}
	b.t.Fatalf("Tab does not lead to %s at %s", what, b.eval("location.href"))
}

// press presses Enter on what has the focus, and waits for the page that follows.
func (b *browser) press(then string) {
	b.t.Helper()
	b.eval(`window.left = true`)
	b.do(enter)
	b.wait(then)
}

// The whole way by the keys alone, on a large screen and on a small one.
func TestByKeyboard(t *testing.T) {
	t.Parallel()
	for _, s := range []screen{screens[0], screens[3]} {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			rw := newRailway(t, time.Hour)
			site, _ := rw.open(t)
			b := newBrowser(t, site)
			b.on(s)
			b.open("/")
			b.tabTo("#to") // it is filled in
			b.press(".trips")
			b.tabTo("[href*='sort=price']")
			b.press(".trips")
			b.tabTo(".trip .button")
			b.press(".terms")
			b.tabTo(".calls summary")
			b.do(enter)
			b.says(".calls", "Hannover Hauptbahnhof")
			b.tabTo("a[href*='/book']")
			b.press("#user")
			b.tabTo("#user")
			b.do(chromedp.KeyEvent("anna"))
			b.press("button[value=allow]")
			b.tabTo("button[value=allow]")
			b.press("#passenger")
			b.tabTo("#passenger")
			b.do(chromedp.KeyEvent("Anna Example"))
			b.tabTo("[value=add]")
			b.press("#passenger-2")
			b.tabTo("#passenger-2")
			b.do(chromedp.KeyEvent("Bert Example"))
			b.press("#number")
			for _, field := range []struct{ what, value string }{
				{"#number", "4242-4242-4242-4242"}, {"#expiry", "1240"}, {"#cvc", "123"}, {"#name", "Anna Example"},
			} {
				b.tabTo(field.what)
				b.do(chromedp.KeyEvent(field.value))
			}
			b.press(".receipt")
			b.says(".receipt", "Anna Example", "Bert Example", "************4242", "Total paid")
			b.tabTo(".receipt .button")
			b.press(".ticket img")
			b.quiet()
		})
	}
}
