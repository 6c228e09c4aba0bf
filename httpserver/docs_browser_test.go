package httpserver_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"github.com/traintravel/traintravel/httpserver"
	"github.com/traintravel/traintravel/internal/keys"
)

// A browser shows all operations, on a server that it knows by another name
// than the server itself, below a path that a proxy strips; it asks nobody
// else; and requests can be tried out with a token.
func TestDocsInBrowser(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	w := newWorld(t)
	proxy := httptest.NewServer(http.StripPrefix("/rail", w.server))
	t.Cleanup(proxy.Close)

	b.do(chromedp.Navigate(proxy.URL+"/rail/docs"), chromedp.WaitVisible(css(".opblock")))
	b.screenshot("docs.png")
	shown := run(b, chromedp.Evaluate[[]string](`[...document.querySelectorAll(".opblock")].map(e => e.id.replace(/^.*-/, ""))`))
	want := append(operationIDs(t), "newBooking")
	slices.Sort(want)
	if slices.Sort(shown); !slices.Equal(shown, want) {
		t.Errorf("the page shows %v\nwant %v", shown, want)
	}
	if server := run(b, chromedp.Text(css(".servers"))); !strings.Contains(server, proxy.URL+"/rail") {
		t.Errorf("the server is %q", server)
	}

	b.do(
		chromedp.Click(css(".btn.authorize"), chromedp.NodeVisible),
		chromedp.SendKeys(css("#auth-bearer-value"), "anna-r", chromedp.NodeVisible),
		chromedp.Click(css(".auth-container:has(#auth-bearer-value) button[type=submit]")),
	)
	b.tryStations(proxy.URL + "/rail")
	b.quiet(strings.TrimPrefix(proxy.URL, "http://"))
}

// Who has no token signs in, with the authorization server that is built in.
func TestDocsSignIn(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	var both http.ServeMux
	server := httptest.NewServer(&both)
	t.Cleanup(server.Close)
	ring, err := keys.New()
	if err != nil {
		t.Fatal(err)
	}
	if err := ring.RecordIssuer(server.URL); err != nil {
		t.Fatal(err)
	}
	issuer := builtin(t, ring)
	both.Handle("/oauth/", issuer)
	both.Handle("/", newWorld(t, func(w *world) {
		w.options.BaseURL = server.URL
		w.options.Auth = newVerifier(t, func(o *httpserver.VerifierOptions) {
			o.Issuer, o.Audience, o.Keys = server.URL, server.URL, httpserver.StaticKeys(keySet(t, issuer.JWKS()))
		})
	}).server)

	window := chromedp.WaitNewTarget(b.ctx, func(*target.Info) bool { return true })
	b.do(
		chromedp.Navigate(server.URL+"/docs"),
		chromedp.Click(css(".btn.authorize"), chromedp.NodeVisible),
		chromedp.Click(css(".dialog-ux .auth-container .btn.authorize"), chromedp.NodeVisible),
	)
	var id target.ID
	select {
	case id = <-window:
	case <-time.After(20 * time.Second):
		b.screenshot("failed.png")
		t.Fatalf("no window opens to sign in: %v", b.errors)
	}
	ctx, stop := chromedp.NewContext(b.ctx, chromedp.WithTargetID(id))
	defer stop()
	popup := &browser{t: t, ctx: ctx}
	popup.do(
		chromedp.SendKeys(css("#user"), "anna", chromedp.NodeVisible),
		chromedp.Click(css("button[type=submit]")),
		chromedp.Click(css("button[value=allow]"), chromedp.NodeVisible),
	)
	b.do(chromedp.WaitVisible(chromedp.Search(`//button[text()="Logout"]`)))
	b.tryStations(server.URL)
	b.quiet(strings.TrimPrefix(server.URL, "http://"))
}

// A page about a problem is whole without a script.
func TestProblemPageInBrowser(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	server := httptest.NewServer(newWorld(t).server)
	t.Cleanup(server.Close)
	b.do(chromedp.Navigate(server.URL + "/problems/rate-limited"))
	b.screenshot("problem.png")
	if style := run(b, chromedp.Evaluate[string](`getComputedStyle(document.querySelector("main")).borderTopStyle`)); style != "solid" {
		t.Errorf("the page's own policy forbids its style: %q", style)
	}
	b.quiet(strings.TrimPrefix(server.URL, "http://"))
}

type css = chromedp.CSS

// tryStations closes the dialog about tokens and tries out the list of stations.
func (b *browser) tryStations(server string) {
	b.t.Helper()
	const stations = "#operations-Stations-getStations "
	b.do(
		chromedp.Click(css(".dialog-ux .close-modal"), chromedp.NodeVisible),
		chromedp.Click(css(stations+".opblock-summary-control"), chromedp.NodeVisible),
		chromedp.Click(css(stations+".try-out__btn"), chromedp.NodeVisible),
		chromedp.Click(css(stations+".execute"), chromedp.NodeVisible),
		chromedp.WaitVisible(css(stations+".live-responses-table .response-col_status")),
	)
	b.screenshot("tried.png")
	asked := run(b, chromedp.Text(css(stations+".request-url")))
	status := run(b, chromedp.Text(css(stations+".live-responses-table .response .response-col_status")))
	if !strings.Contains(asked, server+"/stations") || !strings.HasPrefix(status, "200") {
		b.t.Errorf("what was tried out, %s, answered %q", asked, status)
	}
}

// A browser is one tab of Chromium, and what it did.
type browser struct {
	t      *testing.T
	ctx    context.Context
	mu     sync.Mutex
	errors []string
	hosts  []string
}

// newBrowser starts one, or skips the test.
func newBrowser(t *testing.T) *browser {
	t.Helper()
	at := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			at = path
			break
		}
	}
	if at == "" {
		const missing = "there is no Chromium here: apt-get install -y --no-install-recommends chromium"
		if os.Getenv("TRAINTRAVEL_REQUIRE_ALL") == "1" {
			t.Fatal(missing)
		}
		t.Skip(missing)
	}
	ctx, stop := chromedp.NewExecAllocator(context.Background(), append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(at), chromedp.NoSandbox, chromedp.WindowSize(1280, 1400), chromedp.UserDataDir(t.TempDir()))...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	b := &browser{t: t, ctx: ctx}
	if err := chromedp.Listen(ctx, b.hear); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *browser) hear(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		b.errors = append(b.errors, e.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError {
			for _, arg := range e.Args {
				b.errors = append(b.errors, string(arg.Value)+arg.Description)
			}
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError {
			b.errors = append(b.errors, e.Entry.Text+" "+e.Entry.URL)
		}
	case *network.EventRequestWillBeSent:
		if u, err := url.Parse(e.Request.URL); err == nil && u.Scheme != "data" && !slices.Contains(b.hosts, u.Host) {
			b.hosts = append(b.hosts, u.Host)
		}
	}
}

// quiet fails if the browser found fault, or asked anybody but the host.
func (b *browser) quiet(host string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.errors) > 0 {
		b.t.Errorf("the browser complains:\n%s", strings.Join(b.errors, "\n"))
	}
	if !slices.Equal(b.hosts, []string{host}) {
		b.t.Errorf("the browser asked %v, want %s alone", b.hosts, host)
	}
}

func (b *browser) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	run(b, chromedp.Steps(steps...))
}

func run[T any](b *browser, a chromedp.Action[T]) T {
	b.t.Helper()
	ctx, stop := context.WithTimeout(b.ctx, 30*time.Second)
	defer stop()
	v, err := chromedp.Run(ctx, a)
	if err != nil {
		b.screenshot("failed.png")
		b.mu.Lock()
		defer b.mu.Unlock()
		b.t.Fatalf("%v\n%s", err, strings.Join(b.errors, "\n"))
	}
	return v
}

// screenshot keeps a picture in the folder that TRAINTRAVEL_SCREENSHOTS names,
// if it does, for people to look at.
func (b *browser) screenshot(name string) {
	b.t.Helper()
	dir := os.Getenv("TRAINTRAVEL_SCREENSHOTS")
	if dir == "" {
		return
	}
	png, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name), png, 0o600)
	}
	if err != nil {
		b.t.Error(err)
	}
}
