package httpserver_test

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
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
	"github.com/traintravel/traintravel/httpserver/authserver"
	"github.com/traintravel/traintravel/internal/keys"
	"github.com/traintravel/traintravel/internal/need"
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

	b.do(chromedp.Navigate(proxy.URL+"/rail/"), chromedp.Click(css(`a[href="docs"]`), chromedp.NodeVisible), chromedp.WaitVisible(css(".opblock")))
	if at := run(b, chromedp.Evaluate[string](`location.href`)); at != proxy.URL+"/rail/docs" {
		t.Errorf("the page at the server's own address leads to %s", at)
	}
	b.screenshot("docs.png")
	shown := run(b, chromedp.Evaluate[[]string](`[...document.querySelectorAll(".opblock")].map(e => e.id.replace(/^operations-[^-]*-/, ""))`))
	want := operationIDs(t)
	for _, hook := range described(t).Webhooks {
		var op struct{ OperationID string }
		if err := json.Unmarshal(hook["post"], &op); err != nil {
			t.Fatal(err)
		}
		want = append(want, op.OperationID)
	}
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
	for _, operation := range []string{"Trips-get-trips", "Trips-get-trip"} { // with the examples as they are
		if body := b.try(operation, proxy.URL+"/rail/trips"); !strings.Contains(body, `"departure_time"`) {
			t.Errorf("%s answers %s", operation, body)
		}
	}
	b.quiet(strings.TrimPrefix(proxy.URL, "http://"))
}

// A browser shows what went wrong at an address that it opens.
func TestProblemInBrowser(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	server := httptest.NewServer(newWorld(t).server)
	t.Cleanup(server.Close)
	for target, title := range map[string]string{"/nope": "Not found", "/stations": "An access token is required"} {
		b.do(chromedp.Navigate(server.URL + target))
		if shown := run(b, chromedp.Evaluate[string](`document.body.innerText`)); !strings.Contains(shown, title) {
			t.Errorf("at %s the browser shows %q", target, shown)
		}
	}
}

// A user without a token signs in with the built-in authorization server, under whichever name of
// the server the page was opened: its own, with a path that a proxy strips, or localhost.
func TestDocsSignIn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ base, opened string }{
		"by address":      {"http://127.0.0.1", "http://127.0.0.1"},
		"as localhost":    {"http://127.0.0.1", "http://localhost"},
		"by its own name": {"http://Trains.Example/rail", "http://trains.example/rail"},
	} {
		t.Run(name, func(t *testing.T) {
			if name != "by its own name" { // in which a path has to be kept too
				need.All(t, "more browsers")
			}
			t.Parallel()
			b := newBrowser(t)
			var handler http.Handler
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) }))
			t.Cleanup(server.Close)
			port := server.Listener.Addr().(*net.TCPAddr).Port
			at := func(address string) *url.URL {
				u, err := url.Parse(address)
				if err != nil {
					t.Fatal(err)
				}
				u.Host += ":" + strconv.Itoa(port)
				return u
			}
			own, opened := at(c.base), at(c.opened)
			handler = http.StripPrefix(own.Path, withSignIn(t, own.String(), []string{own.String(), "http://localhost:" + strconv.Itoa(port)}, nil))

			b.do(chromedp.Navigate(opened.String()+"/docs"), chromedp.Click(css(".btn.authorize"), chromedp.NodeVisible))
			popup := b.window(func() {
				b.do(chromedp.Click(css(".dialog-ux .auth-container .btn.authorize"), chromedp.NodeVisible))
			})
			popup.allow("anna")
			b.do(chromedp.WaitVisible(chromedp.Search(`//button[text()="Logout"]`)))
			b.tryStations(opened.String())
			b.quiet(opened.Host)
		})
	}
}

// withSignIn is a server with an authorization server beside it, as the command
// has them. The page may be opened below these bases.
func withSignIn(t *testing.T, base string, bases, origins []string) http.Handler {
	t.Helper()
	ring, err := keys.New()
	if err != nil {
		t.Fatal(err)
	}
	shared, err := httpserver.CrossOrigin(origins)
	if err != nil {
		t.Fatal(err)
	}
	o := authserver.Options{Issuer: base, Keys: ring.Signing(), CrossOrigin: shared}
	for _, b := range bases {
		uri, err := httpserver.DocsRedirectURI(b)
		if err != nil {
			t.Fatal(err)
		}
		o.DemoRedirectURIs = append(o.DemoRedirectURIs, uri)
	}
	issuer, err := authserver.New(o)
	if err != nil {
		t.Fatal(err)
	}
	var both http.ServeMux
	both.Handle("/oauth/", issuer)
	both.Handle("/.well-known/oauth-authorization-server", issuer)
	both.Handle("/", newWorld(t, func(w *world) {
		w.options.BaseURL, w.options.CORSOrigins, w.options.SignIn = base, origins, true
		w.options.Auth = newVerifier(t, func(o *httpserver.VerifierOptions) {
			o.Issuer, o.Audience, o.Keys = base, base, httpserver.StaticKeys(keySet(t, issuer.JWKS()))
		})
	}).server)
	return &both
}

// window is the one that opens when something is done.
func (b *browser) window(open func()) *browser {
	b.t.Helper()
	window := chromedp.WaitNewTarget(b.ctx, func(*target.Info) bool { return true })
	open()
	select {
	case id := <-window:
		ctx, stop := chromedp.NewContext(b.ctx, chromedp.WithTargetID(id))
		b.t.Cleanup(stop)
		return &browser{t: b.t, ctx: ctx}
	case <-time.After(20 * time.Second):
		b.screenshot("failed.png")
		b.t.Fatalf("no window opens: %v", b.errors)
		return nil
	}
}

// allow signs a user in and consents.
func (b *browser) allow(user string) {
	b.t.Helper()
	b.do(
		chromedp.SendKeys(css("#user"), user, chromedp.NodeVisible),
		chromedp.Click(css("button[type=submit]")),
		chromedp.Click(css("button[value=allow]"), chromedp.NodeVisible),
	)
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
	b.do(chromedp.Click(css(".dialog-ux .close-modal"), chromedp.NodeVisible))
	b.try("Stations-get-stations", server+"/stations")
	b.screenshot("tried.png")
}

// try tries an operation out, as the page has filled it in, and returns the body of
// the answer.
func (b *browser) try(operation, address string) string {
	b.t.Helper()
	at := "#operations-" + operation + " "
	b.do(
		chromedp.Click(css(at+".opblock-summary-control"), chromedp.NodeVisible),
		chromedp.Click(css(at+".try-out__btn"), chromedp.NodeVisible),
		chromedp.Click(css(at+".execute"), chromedp.NodeVisible),
		chromedp.WaitVisible(css(at+".live-responses-table .response-col_status")),
	)
	asked := run(b, chromedp.Text(css(at+".request-url")))
	status := run(b, chromedp.Text(css(at+".live-responses-table .response .response-col_status")))
	if !strings.Contains(asked, address) || !strings.HasPrefix(status, "200") {
		b.t.Errorf("what was tried out, %s, answered %q", asked, status)
	}
	return run(b, chromedp.Text(css(at+".live-responses-table .response .response-col_description")))
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
	at := need.Program(t, "chromium", "chromium", "chromium-browser", "google-chrome")
	ctx, stop := chromedp.NewExecAllocator(context.Background(), append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(at), chromedp.NoSandbox, chromedp.WindowSize(1280, 1400), chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("host-resolver-rules", "MAP trains.example 127.0.0.1"))...)
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
	ctx, stop := context.WithTimeout(b.ctx, 2*time.Minute)
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
