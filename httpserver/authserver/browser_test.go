package authserver

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/traintravel/traintravel/internal/need"
)

// On wide and narrow screens, light and dark, the pages pass axe (WCAG 2.2, AA), need no
// horizontal scrolling, and do not violate their own content security policy.
func TestPagesPassAxe(t *testing.T) {
	t.Parallel()
	checker := need.Axe(t)
	b := newTab(t)
	for _, screen := range []struct {
		name          string
		width, height int64
	}{{"desktop", 1280, 800}, {"phone", 390, 844}, {"narrow", 320, 568}} {
		for _, scheme := range []string{"light", "dark"} {
			look := func(page, title string) {
				t.Helper()
				b.screenshot(fmt.Sprintf("%s-%s-%s.png", page, screen.name, scheme))
				if got := eval[string](b, `document.title`); got != title+" – Train Travel" {
					t.Errorf("%s: the title is %q", page, got)
				}
				if wide := eval[int64](b, `document.documentElement.scrollWidth`); wide > screen.width {
					t.Errorf("%s on %s: %d wide", page, screen.name, wide)
				}
				if phone := screen.name == "phone"; phone != (scheme == "dark") || !phone && need.Sample(true, false) {
					return // it takes seconds, and finds the same
				}
				_ = eval[bool](b, checker+`; true`)
				for _, fault := range eval[[]string](b, need.AxeFaults) {
					t.Errorf("%s on %s, %s: %s", page, screen.name, scheme, fault)
				}
			}
			b.do(chromedp.EmulateViewport(screen.width, screen.height), colours(scheme), chromedp.Navigate(b.address()))
			look("sign-in", "Sign in to Traintravel demo shop")
			b.do(chromedp.SendKeys(css("#user"), "Anna Maria"), chromedp.Click(css("button")), chromedp.WaitVisible(css(".summary")))
			look("wrong", "Error: Sign in to Traintravel demo shop")
			b.do(chromedp.Click(css("button[value=anna]")), chromedp.WaitVisible(css("button[value=allow]")))
			look("consent", "Allow Traintravel demo shop?")
			b.do(chromedp.Click(css("button.link")), chromedp.WaitVisible(css("#user")))
			b.do(chromedp.Navigate(b.a.url + "/oauth/authorize"))
			look("fault", "This request failed")
		}
	}
	b.mu.Lock()
	b.complain = slices.DeleteFunc(b.complain, func(s string) bool { // statuses of pages that are meant to be errors
		return strings.Contains(s, "status of 422") || strings.Contains(s, "status of 400")
	})
	b.mu.Unlock()
	b.quiet()
}

// The pages need no scripts.
func TestWithoutScripts(t *testing.T) {
	t.Parallel()
	b := newTab(t)
	b.do(withoutScripts(), chromedp.Navigate(b.address()),
		chromedp.SendKeys(css("#user"), "Dora"), chromedp.Click(css("button[type=submit]")),
		chromedp.Click(css("button[value=allow]"), chromedp.NodeVisible))
	if q := b.sentBack(); !q.Has("code") {
		t.Errorf("sent back with %v", q)
	}
	b.do(chromedp.Navigate(b.address()), chromedp.Click(css("button[value=deny]"), chromedp.NodeVisible))
	if q := b.sentBack(); q.Get("error") != "access_denied" || q.Has("code") {
		t.Errorf("sent back with %v", q)
	}
	b.quiet()
}

// The pages need no pointer: the order of the keys is that of the page, focus can be
// seen, a mistake takes it to what is said of it, right before the field.
func TestByKeyboard(t *testing.T) {
	t.Parallel()
	b := newTab(t)
	focus := func(want string) {
		t.Helper()
		got := eval[string](b, `(e => e.id || e.value || e.textContent)(document.activeElement)`)
		if got != want {
			t.Fatalf("focus is on %q, want %q", got, want)
		}
		if want != "" && eval[string](b, `getComputedStyle(document.activeElement).outlineStyle`) == "none" {
			t.Errorf("nothing shows that focus is on %q", want)
		}
	}
	tab := func(want string) {
		t.Helper()
		b.do(chromedp.KeyEvent(kb.Tab))
		focus(want)
	}
	b.do(chromedp.Navigate(b.address()), chromedp.WaitVisible(css("#user")))
	tab("user")
	b.do(chromedp.KeyEvent("a b"+kb.Enter), chromedp.WaitVisible(css(".summary")))
	if !eval[bool](b, `document.activeElement.matches(".summary[role=alert]")`) {
		t.Error("focus is not on what is wrong")
	}
	tab("user")
	if eval[string](b, `document.activeElement.value`) != "a b" {
		t.Error("what was typed is gone")
	}
	tab("Sign in")
	for _, u := range demoUsers() {
		tab(u.Name)
	}
	b.do(chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible(css("button[value=allow]")))
	if shown := eval[string](b, `document.querySelector(".signed-in").innerText`); !strings.Contains(shown, "chiara") {
		t.Errorf("signed in as %q", shown)
	}
	tab("Not you? Sign in under another name")
	tab("allow")
	tab("deny")
	b.do(chromedp.KeyEvent(kb.Shift+kb.Tab, chromedp.KeyModifiers(8)), chromedp.KeyEvent(" "))
	if q := b.sentBack(); !q.Has("code") {
		t.Errorf("sent back with %v", q)
	}
}

// Users who go back, have the page open twice, or leave it open for long can continue, and
// nothing happens that they did not intend.
func TestBackButtonAndStalePages(t *testing.T) {
	t.Parallel()
	b := newTab(t)
	address := b.address()
	b.do(chromedp.Navigate(address), chromedp.Click(css("button[value=anna]"), chromedp.NodeVisible), chromedp.WaitVisible(css("button[value=allow]")))

	// Back leads to a page that is asked for anew: who is signed in sees consent.
	b.back("button[value=deny]")
	if q := b.sentBack(); q.Get("error") != "access_denied" {
		t.Errorf("sent back with %v", q)
	}
	b.back("button[value=allow]")
	first := b.sentBack().Get("code")
	b.back("button[value=allow]")
	if second := b.sentBack().Get("code"); first == "" || second == "" || first == second {
		t.Errorf("codes %q and %q", first, second)
	}

	// The sign-in ends while the page is open.
	b.do(chromedp.Navigate(address), chromedp.WaitVisible(css("button[value=allow]")))
	b.a.pass(sessionLife)
	b.do(chromedp.Click(css("button[value=allow]")), chromedp.WaitVisible(css("a.button")))
	b.screenshot("late.png")
	b.do(chromedp.Click(css("a.button")), chromedp.Click(css("button[value=ben]"), chromedp.NodeVisible), chromedp.WaitVisible(css("button[value=allow]")))
	if shown := eval[string](b, `document.querySelector("main").innerText`); !strings.Contains(shown, "Ben Okafor") {
		t.Error(shown)
	}

	// Cookies are out of reach of scripts.
	if cookies := eval[string](b, `document.cookie`); cookies != "" {
		t.Errorf("scripts see %q", cookies)
	}
}
