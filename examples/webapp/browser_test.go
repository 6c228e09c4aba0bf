package main

import (
	"context"
	"errors"
	"fmt"
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
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/traintravel/traintravel/internal/need"
)

// A browser is one tab of Chromium, and what it complained of.
type browser struct {
	t    *testing.T
	ctx  context.Context
	site string

	mu     sync.Mutex
	errors []string
}

type css = chromedp.CSS

// newBrowser starts one that is to open a site, or skips the test.
func newBrowser(t *testing.T, site string) *browser {
	t.Helper()
	at := need.Program(t, "chromium", "chromium", "chromium-browser", "google-chrome")
	ctx, stop := chromedp.NewExecAllocator(context.Background(), append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(at), chromedp.NoSandbox, chromedp.WindowSize(1280, 800), chromedp.UserDataDir(t.TempDir()))...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	b := &browser{t: t, ctx: ctx, site: site}
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
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError {
			b.errors = append(b.errors, e.Entry.Text+" "+e.Entry.URL)
		}
	}
}

// quiet fails if the browser found fault with anything: a script, a policy, a file.
func (b *browser) quiet() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.errors) > 0 {
		b.t.Errorf("the browser complains:\n%s", strings.Join(b.errors, "\n"))
	}
}

// forgive drops complaints that were to be expected.
func (b *browser) forgive(part string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.errors = slices.DeleteFunc(b.errors, func(e string) bool { return strings.Contains(e, part) })
}

func (b *browser) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	act(b, chromedp.Steps(steps...))
}

func act[T any](b *browser, a chromedp.Action[T]) T {
	b.t.Helper()
	ctx, stop := context.WithTimeout(b.ctx, 2*time.Minute)
	defer stop()
	v, err := chromedp.Run(ctx, a)
	if err != nil {
		text, _ := chromedp.Run(b.ctx, chromedp.Evaluate[string](`location.href + "\n" + [...document.querySelectorAll("input:not([type=hidden])")].map(e => e.name + "=" + e.value).join(" ") + "\n" + document.body.innerText`))
		b.picture("failed")
		b.t.Fatalf("%v\nat %s\n%s", err, text, strings.Join(b.errors, "\n"))
	}
	return v
}

// open opens a page of the site.
func (b *browser) open(path string) {
	b.t.Helper()
	b.do(chromedp.Navigate(b.site + path))
	b.wait("main")
}

// wait waits until a page that is whole shows something. It asks the page and not the
// browser, whose names for what is in a page end with it.
func (b *browser) wait(what string) {
	b.t.Helper()
	const script = `!window.left && document.readyState === "complete" && [...document.querySelectorAll(%q)].some(e => e.checkVisibility())`
	act(b, chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		for {
			// While one page gives way to the next there is none to ask.
			if there, err := chromedp.Run(ctx, chromedp.Evaluate[bool](fmt.Sprintf(script, what))); there || ctx.Err() != nil {
				return errors.Join(err, ctx.Err())
			}
			time.Sleep(20 * time.Millisecond)
		}
	}))
}

// click clicks on what leads to another page, and waits until one with something in it
// has come.
func (b *browser) click(what, then string) {
	b.t.Helper()
	b.wait(what)
	b.eval(`window.left = true`)
	b.do(chromedp.Click(css(what), chromedp.NodeVisible))
	b.wait(then)
}

// write types something into a field, in place of what is there.
func (b *browser) write(field, text string) {
	b.t.Helper()
	b.wait(field)
	b.eval(`document.querySelector("` + field + `").value = ""`)
	b.do(chromedp.SendKeys(css(field), text))
}

// text is what a part of the page says.
func (b *browser) text(part string) string {
	b.t.Helper()
	b.wait(part)
	return b.eval(fmt.Sprintf(`document.querySelector(%q).innerText`, part))
}

// says fails unless a part of the page says all that.
func (b *browser) says(part string, want ...string) {
	b.t.Helper()
	text := b.text(part)
	for _, w := range want {
		if !strings.Contains(text, w) {
			b.t.Errorf("%s says %q, not %q", part, text, w)
		}
	}
}

func (b *browser) eval(script string) string {
	b.t.Helper()
	return act(b, chromedp.Evaluate[string]("String("+script+")"))
}

// allow signs a user in at the authorization server, and consents.
func (b *browser) allow(user string) {
	b.t.Helper()
	b.write("#user", user)
	b.click("button[type=submit]", "button[value=allow]")
	b.click("button[value=allow]", "header form button")
}

// withoutScripts switches the scripts of pages off.
func (b *browser) withoutScripts() {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return err
	}))
}

// A screen is how wide and high a device is, and what its user prefers.
type screen struct {
	name          string
	width, height int64
	scheme        string // light or dark
}

var screens = []screen{
	{"desktop-light", 1280, 800, "light"}, {"desktop-dark", 1280, 800, "dark"},
	{"phone-light", 390, 844, "light"}, {"phone-dark", 390, 844, "dark"},
}

func (b *browser) on(s screen) {
	b.t.Helper()
	viewport := chromedp.EmulateViewport(s.width, s.height)
	if s.width < 500 {
		viewport = chromedp.EmulateViewport(s.width, s.height, chromedp.EmulateMobile, chromedp.EmulateTouch, chromedp.EmulateScale(2))
	}
	b.do(viewport, chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: s.scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}},
		})
		return err
	}))
}

// picture keeps a picture of the whole page in the folder that TRAINTRAVEL_SCREENSHOTS
// names, if it does, for people to look at.
func (b *browser) picture(name string) {
	b.t.Helper()
	dir := os.Getenv("TRAINTRAVEL_SCREENSHOTS")
	if dir == "" {
		return
	}
	png, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "webapp-"+name+".png"), png, 0o600)
	}
	if err != nil {
		b.t.Error(err)
	}
}

// look examines the page that is open: on all screens for pictures, on two for what axe
// finds, and on the narrowest for what does not fit.
func (b *browser) look(name, axe string) {
	b.t.Helper()
	for i, s := range screens {
		examine := i == 3 || i == 0 && need.Sample(false, true) // which are as different as can be
		if !examine && os.Getenv("TRAINTRAVEL_SCREENSHOTS") == "" {
			continue
		}
		b.on(s)
		b.picture(name + "-" + s.name)
		if !examine {
			continue
		}
		if b.eval(`typeof axe`) == "undefined" { // it is half a megabyte
			b.eval("(() => {" + axe + "})()")
		}
		found := act(b, chromedp.Evaluate[[]string](`axe.run().then(r => r.violations.map(v => v.id + ": " + v.help + " " + v.nodes.map(n => n.html + " " + n.failureSummary).join("; ")))`, chromedp.EvalAwaitPromise))
		for _, f := range found {
			b.t.Errorf("%s on %s: %s", name, s.name, f)
		}
	}
	b.on(screen{"narrow", 320, 640, "light"})
	if wide := b.eval(`Math.max(document.documentElement.scrollWidth, innerWidth)`); wide != "320" {
		b.t.Errorf("%s is %s pixels wide on a screen of 320: %s", name, wide, b.eval(`[...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > 321).map(e => e.tagName + "." + e.className).join(" ")`))
	}
	if bytes := act(b, chromedp.Evaluate[int](`new Blob([document.documentElement.outerHTML]).size`)); bytes > 30_000 {
		b.t.Errorf("%s has %d bytes", name, bytes)
	}
	b.on(screens[0])
}

// pay fills in the form for a card, sends it, and waits for something in what follows: in
// another page, or in the same if a script has sent it.
func (b *browser) pay(number, then string) {
	b.t.Helper()
	b.write("#number", number)
	b.write("#expiry", "12/40")
	b.write("#cvc", "123")
	b.write("#name", "Anna Example")
	b.eval(`document.querySelectorAll(".fault").forEach(e => e.remove())`)
	b.do(chromedp.Click(css("form .primary"), chromedp.NodeVisible))
	b.wait(then)
}
