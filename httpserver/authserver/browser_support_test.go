package authserver

import (
	"context"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/chromedp"
	"golang.org/x/oauth2"

	"github.com/traintravel/traintravel/internal/need"
)

// A tab is one of a real browser, which signs in to an application.
type tab struct {
	t   *testing.T
	a   *authority
	ctx context.Context
	app *httptest.Server // shows the query that it was sent back with

	mu       sync.Mutex
	complain []string
}

type css = chromedp.CSS

// demoUsers are some that the sign-in page offers.
func demoUsers() []User {
	return []User{{"anna", "Anna Lindqvist"}, {"ben", "Ben Okafor"}, {Name: "chiara"}}
}

// newTab starts a browser, or skips the test.
func newTab(t *testing.T, change ...func(*Options)) *tab {
	t.Helper()
	at := need.Program(t, "chromium", "chromium", "chromium-browser", "google-chrome")
	b := &tab{t: t}
	b.app = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, "<!DOCTYPE html><html lang=en><title>Shop</title><link rel=icon href=data:,><p id=back>%s", html.EscapeString(r.URL.RawQuery))
	}))
	t.Cleanup(b.app.Close)
	b.a = newAuthority(t, append([]func(*Options){func(o *Options) {
		o.Users = demoUsers()
		o.Clients = append(o.Clients, Client{ID: "shop", Name: "Traintravel demo shop", RedirectURIs: []string{"http://127.0.0.1/callback"}})
	}}, change...)...)
	ctx, stop := chromedp.NewExecAllocator(context.Background(), append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(at), chromedp.NoSandbox, chromedp.UserDataDir(t.TempDir()))...)
	t.Cleanup(stop)
	b.ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	err := chromedp.Listen(b.ctx, func(event any) {
		if e, ok := event.(*log.EventEntryAdded); ok && e.Entry.Level == log.EntryLevelError {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.complain = append(b.complain, e.Entry.Text+" "+e.Entry.URL)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// address is what the shop has people sent to.
func (b *tab) address() string {
	return b.a.config("shop", "", b.app.URL+"/callback").AuthCodeURL("the state", oauth2.S256ChallengeOption(oauth2.GenerateVerifier()))
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	for i, step := range steps {
		if _, err := within(b, step); err != nil {
			b.screenshot("failed.png")
			b.mu.Lock()
			defer b.mu.Unlock()
			b.t.Fatalf("step %d: %v\n%s", i+1, err, strings.Join(b.complain, "\n"))
		}
	}
}

func within[T any](b *tab, a chromedp.Action[T]) (T, error) {
	ctx, stop := context.WithTimeout(b.ctx, 2*time.Minute)
	defer stop()
	return chromedp.Run(ctx, a)
}

func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	v, err := within(b, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatal(err)
	}
	return v
}

// sentBack waits until the shop shows the query, and returns it.
func (b *tab) sentBack() url.Values {
	b.t.Helper()
	text, err := within(b, chromedp.Text(css("#back"), chromedp.NodeVisible))
	if err != nil {
		b.screenshot("failed.png")
		b.t.Fatal(err)
	}
	q, err := url.ParseQuery(text)
	if err != nil || q.Get("state") != "the state" || q.Get("iss") != b.a.url {
		b.t.Errorf("sent back with %q", text)
	}
	return q
}

// quiet fails if the browser found fault with a page.
func (b *tab) quiet() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.complain) > 0 {
		b.t.Errorf("the browser complains:\n%s", strings.Join(b.complain, "\n"))
	}
}

func colours(scheme string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
		})
		return err
	})
}

func withoutScripts() chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return err
	})
}

// back goes back, and presses a button there. The page may be one that the browser
// kept, of which chromedp does not learn.
func (b *tab) back(button string) {
	b.t.Helper()
	for i := range 300 {
		// The script may end before it has answered, and a busy browser take no notice of
		// it: then the page that was to be left is there still.
		if i%60 == 0 {
			_, _ = within(b, chromedp.Evaluate[bool](fmt.Sprintf(`(%t || window.leaving) && (window.leaving = true, history.back()), true`, i == 0)))
		}
		// It answers before the button leads elsewhere.
		pressed, err := within(b, chromedp.Evaluate[bool](fmt.Sprintf(`(e => { e && setTimeout(() => e.click()); return !!e; })(window.leaving ? null : document.querySelector(%q))`, button)))
		if err == nil && pressed {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	b.screenshot("failed.png")
	b.t.Fatalf("there is no %s where back leads", button)
}

// screenshot keeps a picture of the whole page in the folder that
// TRAINTRAVEL_SCREENSHOTS names, if it does, for people to look at.
func (b *tab) screenshot(name string) {
	b.t.Helper()
	dir := os.Getenv("TRAINTRAVEL_SCREENSHOTS")
	if dir == "" {
		return
	}
	png, err := within(b, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name), png, 0o600)
	}
	if err != nil {
		b.t.Error(err)
	}
}
