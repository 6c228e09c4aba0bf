package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Below a path of its host the site has its scripts and styles, completes stations, signs people in
// and takes a payment without leaving the page.
func TestBelowPathInBrowser(t *testing.T) {
	t.Parallel()
	rw := newRailway(t, time.Hour)
	site, _ := rw.openBelow(t, "/shop")
	b := newBrowser(t, site)
	b.open("/")
	b.write("#to", "paris gare")
	b.wait("#to-stations:not([aria-busy]) [role=option]")
	b.do(chromedp.SendKeys(css("#to"), kb.Escape))
	b.open(tripsTomorrow(rw))
	b.click(".trip .button", `a[href$="/book"]`)
	b.click(`a[href$="/book"]`, "#user")
	b.allow("anna")
	b.write("#passenger", "Anna Example")
	b.click("form .primary", "#number")
	b.pay("4000 0000 0000 0002", ".fault")
	b.pay("4242 4242 4242 4242", ".ticket img")
	if width := b.eval(`document.querySelector(".ticket img").naturalWidth > 50`); width != "true" {
		t.Error("the page does not show the picture of the ticket")
	}
	if path := b.eval("location.pathname"); !strings.HasPrefix(path, "/shop/bookings/") {
		t.Errorf("the ticket is at %s", path)
	}
	b.quiet()
}

// What a proxy passes on is read with the root and without it, also escaped.
func TestBelow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ root, target, want string }{
		{"", "/bookings?a=b", "/bookings?a=b"}, {"/shop", "/shop/bookings?a=b", "/bookings?a=b"}, {"/shop", "/bookings", "/bookings"},
		{"/shop", "/shop", "/"}, {"/shop", "/shop/", "/"}, {"/shop", "/shopping", "/shopping"}, {"/a/b", "/a/b/trips/x", "/trips/x"},
		{"/shop", "/shop/trips/..%2fx", "/trips/..%2fx"}, {"/shop", "/shop//evil.example", "/evil.example"},
	} {
		if got := pathOf(below(c.root, httptest.NewRequest(http.MethodGet, c.target, nil))); got != c.want {
			t.Errorf("%s below %q is %s, want %s", c.target, c.root, got, c.want)
		}
	}
	for path, want := range map[string]bool{
		"": true, "/shop": true, "/a/b.c_d-e~f": true, "/bookings": false, "/pay/x": false, "/a//b": false, "/..": false, "/a%20b": false, `/a"b`: false, "/a;b": false,
	} {
		if isRoot(path) != want {
			t.Errorf("%q can be a root: %t", path, !want)
		}
	}
}
