package main

import (
	"context"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/traintravel/traintravel/httpserver/authserver"
	"github.com/traintravel/traintravel/internal/need"
	"github.com/traintravel/traintravel/store/memstore"
	"github.com/traintravel/traintravel/trainserver"
)

// A proxy has the booking site below one path of a host and the API below another, whether it takes
// the paths away or not, or the API is mounted in the program that has the paths: people find trips, sign in, book, pay, and see their ticket.
func TestSiteAndServerBelowPaths(t *testing.T) {
	t.Parallel()
	need.Short(t, "builds the site, and starts it")
	program := filepath.Join(t.TempDir(), "webapp")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../../examples/webapp").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range []string{"kept", "taken away", "mounted"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			strips := name == "taken away"
			mux := http.NewServeMux()
			host := httptest.NewServer(mux)
			t.Cleanup(host.Close)
			site := startSite(t, program, "--base-url", host.URL+"/shop/", "--api", host.URL+"/api", "--client-id", "shop")

			forward := func(path, to string) {
				target, err := url.Parse(to)
				if err != nil {
					t.Fatal(err)
				}
				var h http.Handler = &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
					r.SetURL(target)
					r.Out.Host = r.In.Host
					r.SetXForwarded()
				}}
				if prefix := strings.TrimSuffix(path, "/"); strips && !strings.HasPrefix(path, "/.") {
					h = http.StripPrefix(prefix, h)
				}
				mux.Handle(path, h)
			}
			forward("/shop/", site)
			if name == "mounted" {
				mountBelow(t, mux, host.URL)
			} else {
				server := serveBelow(t, host.URL)
				forward("/api/", server)
				forward("/.well-known/oauth-protected-resource/api", server)
				forward("/.well-known/oauth-authorization-server/api", server)
			}
			bookBelow(t, host.URL)
		})
	}
}

// serveBelow starts a server whose API a host has below /api, and returns where it listens.
func serveBelow(t *testing.T, host string) string {
	t.Helper()
	data, accounts := filepath.Join(t.TempDir(), "t.db"), filepath.Join(t.TempDir(), "accounts.yaml")
	replace(t, accounts, []byte("anyone: true\nclients:\n  - id: shop\n    secret: "+siteSecret+"\n    redirect_uris: ["+host+"/shop/callback]\n"+
		"    grants: [authorization_code, refresh_token, client_credentials]\n"))
	return start(t, "serve", "--data", data, "--accounts", accounts, "--base-url", host+"/api", "--site-url", host+"/shop").base
}

// mountBelow mounts the API in a program of its own.
func mountBelow(t *testing.T, mux *http.ServeMux, host string) {
	t.Helper()
	s, err := trainserver.New(t.Context(), memstore.New(), trainserver.Options{
		BaseURL: host + "/api", SiteURL: host + "/shop",
		SignIn: &trainserver.SignIn{Clients: []authserver.Client{{
			ID: "shop", Secret: siteSecret, RedirectURIs: []string{host + "/shop/callback"}, Scopes: authserver.Scopes(), Grants: authserver.Grants(),
		}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := loadDemo(t.Context(), s.Service); err != nil {
		t.Fatal(err)
	}
	s.Mount(mux)
}

// startSite starts the booking site, and returns where it listens.
func startSite(t *testing.T, program string, args ...string) string {
	t.Helper()
	addr := unused(t)
	c := exec.CommandContext(t.Context(), program, append(args, "--addr", addr)...)
	c.Env = append(os.Environ(), "WEBAPP_CLIENT_SECRET="+siteSecret)
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	var said output
	c.Stdout, c.Stderr = &said, &said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = c.Wait()
	}()
	t.Cleanup(func() {
		_ = c.Process.Kill()
		<-ended
	})
	for !strings.Contains(said.String(), "The booking site is at") {
		select {
		case <-ended:
			t.Fatalf("the site ended: %s", &said)
		case <-time.After(5 * time.Millisecond):
		}
	}
	return "http://" + addr
}

// A shopper is somebody with a browser without scripts.
type shopper struct {
	t      *testing.T
	client *http.Client
}

// A shopPage is a page that came, and where it is.
type shopPage struct {
	at   *url.URL
	text string
}

func (s *shopper) send(method, target string, form url.Values) shopPage {
	s.t.Helper()
	req, err := http.NewRequestWithContext(context.WithoutCancel(s.t.Context()), method, target, strings.NewReader(form.Encode()))
	if err != nil {
		s.t.Fatal(err)
	}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	resp, err := s.client.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != 200 {
		s.t.Fatalf("%s %s: %d, %v\n%s", method, target, resp.StatusCode, err, text)
	}
	p := shopPage{resp.Request.URL, string(text)}
	if strings.HasPrefix(p.at.Path, "/shop/") && strings.Contains(p.text, "<main") {
		for _, m := range shopLinks.FindAllStringSubmatch(p.text, -1) {
			if to := html.UnescapeString(m[1]); !strings.HasPrefix(to, "/shop/") {
				s.t.Errorf("%s leads to %s", p.at, to)
			}
		}
	}
	return p
}

var (
	shopLinks  = regexp.MustCompile(` (?:href|src|action)="(/[^"]*)"`)
	shopForms  = regexp.MustCompile(`(?s)<form[^>]* action="([^"]*)"[^>]*>(.*?)</form>`)
	shopHidden = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)">`)
)

// follow opens what a page leads to, by what the address has in it.
func (s *shopper) follow(p shopPage, part string) shopPage {
	s.t.Helper()
	for _, m := range shopLinks.FindAllStringSubmatch(p.text, -1) {
		if to := html.UnescapeString(m[1]); strings.Contains(to, part) {
			u, err := p.at.Parse(to)
			if err != nil {
				s.t.Fatal(err)
			}
			return s.send("GET", u.String(), nil)
		}
	}
	s.t.Fatalf("%s has no link to %s:\n%s", p.at, part, p.text)
	return p
}

// fill sends a form of a page, found by the end of its address, with these fields.
func (s *shopper) fill(p shopPage, action string, fields ...string) shopPage {
	s.t.Helper()
	for _, m := range shopForms.FindAllStringSubmatch(p.text, -1) {
		to, err := p.at.Parse(html.UnescapeString(m[1]))
		if err != nil || !strings.HasSuffix(to.Path, action) {
			continue
		}
		form := url.Values{}
		for _, in := range shopHidden.FindAllStringSubmatch(m[2], -1) {
			form.Add(html.UnescapeString(in[1]), html.UnescapeString(in[2]))
		}
		for i := 0; i < len(fields); i += 2 {
			form.Set(fields[i], fields[i+1])
		}
		return s.send("POST", to.String(), form)
	}
	s.t.Fatalf("%s has no form to %s:\n%s", p.at, action, p.text)
	return p
}

// bookBelow goes the whole way of a user at the site below /shop of a host.
func bookBelow(t *testing.T, host string) {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &shopper{t, &http.Client{Jar: jar}}
	s.follow(s.send("GET", host+"/shop/", nil), "/static/")
	s.send("GET", host+"/shop/stations?q=paris", nil)
	trips := s.send("GET", host+"/shop/trips?from=Berlin+Hauptbahnhof&to=Paris+Gare+du+Nord&date="+soon(), nil)
	trip := s.follow(trips, "/shop/trips/")
	signIn := s.follow(trip, "/book")
	if !strings.HasPrefix(signIn.at.Path, "/api/oauth/") {
		t.Fatalf("people sign in at %s", signIn.at)
	}
	trip = s.fill(s.fill(signIn, "/oauth/sign-in", "user", "anna"), "/oauth/consent", "decision", "allow")
	pay := s.fill(trip, "/bookings", "passenger", "Anna Example")
	if pay.at.Path != "/shop/pay" {
		t.Fatalf("a booking leads to %s", pay.at)
	}
	ticket := s.fill(pay, "/pay", "number", "4242 4242 4242 4242", "expiry", "12/40", "cvc", "123", "name", "Anna Example", "country", "DE")
	if !strings.HasPrefix(ticket.at.Path, "/shop/bookings/") || !strings.Contains(ticket.text, "Your ticket") {
		t.Fatalf("%s:\n%s", ticket.at, ticket.text)
	}
	s.follow(ticket, "/ticket.png")
	s.follow(ticket, "/receipt")
	if home := s.fill(s.follow(ticket, "/shop/bookings"), "/sign-out"); home.at.Path != "/shop/" || !strings.Contains(home.text, "Sign in") {
		t.Errorf("signing out leads to %s", home.at)
	}
}
