package httpserver_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/traintravel/traintravel/httpserver"
	"github.com/traintravel/traintravel/internal/need"
)

// On wide and narrow screens, the pages pass axe and need no horizontal scrolling.
func TestPagesForPeople(t *testing.T) {
	t.Parallel()
	checker := need.Axe(t)
	b := newBrowser(t)
	server := httptest.NewServer(newWorld(t, func(w *world) {
		w.options.SignIn = true
		w.options.Try = func(*http.Request) httpserver.Try {
			return httpserver.Try{Token: strings.Repeat("eyJ0.", 150), User: "anna", Command: "traintravel token --user anna",
				Links: []httpserver.Link{{Title: "Booking site", URL: "http://127.0.0.1:8090", Note: "for travellers"}}}
		}
	}).server)
	t.Cleanup(server.Close)
	look := func(name string, width int64) {
		t.Helper()
		b.screenshot(fmt.Sprintf("%s-%d.png", name, width))
		if wide := run(b, chromedp.Evaluate[int64](`document.documentElement.scrollWidth`)); wide > width {
			t.Errorf("%s at %d: %d wide", name, width, wide)
		}
		run(b, chromedp.Evaluate[bool](checker+`; true`))
		for _, fault := range run(b, chromedp.Evaluate[[]string](need.AxeFaults, chromedp.EvalAwaitPromise)) {
			t.Errorf("%s at %d: %.3000s", name, width, fault)
		}
	}
	for _, width := range []int64{390, 1280} {
		b.do(chromedp.EmulateViewport(width, 900), chromedp.Navigate(server.URL+"/"), chromedp.WaitVisible(css("pre")))
		look("front", width)
		b.do(chromedp.Navigate(server.URL+"/docs"), chromedp.WaitVisible(css(".opblock")))
		look("docs", width)
		first := run(b, chromedp.Evaluate[bool](`!!(document.querySelector(".opblock").compareDocumentPosition(document.querySelector("#about h2")) & Node.DOCUMENT_POSITION_FOLLOWING)`))
		if !first {
			t.Error("the prose comes before the operations")
		}
		squeezed := run(b, chromedp.Evaluate[[]string](`[...document.querySelectorAll(".opblock-tag small")]
			.filter(e => e.textContent && e.clientWidth < Math.min(300, innerWidth - 60)).map(e => e.clientWidth + " px: " + e.textContent.slice(0, 40))`))
		if len(squeezed) > 0 {
			t.Errorf("at %d px descriptions of groups are narrow: %q", width, squeezed)
		}
		b.do(chromedp.Click(css(".opblock-summary-control"), chromedp.NodeVisible), chromedp.WaitVisible(css(".try-out__btn")))
		look("docs-open", width)
		b.do(chromedp.Navigate(server.URL+"/problems/sold-out"), chromedp.WaitVisible(css("h1")))
		look("problem", width)
		b.do(chromedp.Navigate(server.URL+"/"), chromedp.Click(css(`a[href="docs#sign-in"]`), chromedp.NodeVisible), chromedp.WaitVisible(css(".dialog-ux .modal-ux-content")))
		look("sign-in", width)
	}
	b.quiet(strings.TrimPrefix(server.URL, "http://"))
}
