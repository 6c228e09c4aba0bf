package main

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"html"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/gtfs"
	"github.com/traintravel/traintravel/httpserver"
	"github.com/traintravel/traintravel/httpserver/authserver"
	"github.com/traintravel/traintravel/internal/demo"
	"github.com/traintravel/traintravel/internal/keys"
	"github.com/traintravel/traintravel/sandbox"
	"github.com/traintravel/traintravel/store/memstore"
	tickets "github.com/traintravel/traintravel/ticket"
)

// A railway is the API and its authorization server, as traintravel serve has them.
type railway struct {
	*httptest.Server
	service *traintravel.Service
	ahead   atomic.Int64 // how far its clock, and that of the site, is
	answer  atomic.Pointer[func(http.ResponseWriter, *http.Request) bool]

	mu    sync.Mutex
	calls []string // method and path of what was asked
	forms []string // what was posted to the authorization server
}

func (rw *railway) now() time.Time { return time.Now().Add(time.Duration(rw.ahead.Load())) }

// answering has a function answer in place of the API, if it says that it has.
func (rw *railway) answering(do func(http.ResponseWriter, *http.Request) bool) { rw.answer.Store(&do) }

func (rw *railway) count(call string) (n int) {
	rw.mu.Lock()
	defer rw.mu.Unlock()
	for _, c := range rw.calls {
		if c == call {
			n++
		}
	}
	return n
}

const (
	clientID     = "booking-site"
	clientSecret = "a secret of the site"
)

func newRailway(t *testing.T, tokenLife time.Duration) *railway {
	t.Helper()
	rw := &railway{}
	mux := http.NewServeMux()
	rw.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rw.mu.Lock()
		rw.calls = append(rw.calls, r.Method+" "+r.URL.Path)
		if strings.HasPrefix(r.URL.Path, "/oauth/") && r.Method == http.MethodPost {
			body, _ := io.ReadAll(r.Body)
			rw.forms = append(rw.forms, r.URL.Path+" "+string(body))
			r.Body = io.NopCloser(bytes.NewReader(body))
		}
		rw.mu.Unlock()
		if do := rw.answer.Load(); do != nil && (*do)(w, r) {
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(rw.Close)

	ring, err := keys.New()
	if err != nil {
		t.Fatal(err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	auth, err := authserver.New(authserver.Options{
		Issuer: rw.URL, Keys: []crypto.Signer{key}, TokenLife: tokenLife,
		Clients: []authserver.Client{{
			ID: clientID, Name: "Overland", Secret: clientSecret, RedirectURIs: []string{"http://127.0.0.1/callback", "http://127.0.0.1/shop/callback"},
			Grants: authserver.Grants(),
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	set, err := httpserver.ParseKeySet(auth.JWKS())
	if err != nil {
		t.Fatal(err)
	}
	verifier, err := httpserver.NewVerifier(httpserver.VerifierOptions{Issuer: rw.URL, Audience: rw.URL, Keys: httpserver.StaticKeys(set)})
	if err != nil {
		t.Fatal(err)
	}
	rw.service, err = traintravel.New(memstore.New(), traintravel.Options{Gateway: sandbox.New(), Now: rw.now, Holds: traintravel.HoldLimits{User: -1, Train: -1}})
	if err != nil {
		t.Fatal(err)
	}
	timetable, _, err := gtfs.Read(t.Context(), demo.Feed(), gtfs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := rw.service.LoadTimetable(t.Context(), timetable); err != nil {
		t.Fatal(err)
	}
	issuer, err := tickets.NewIssuer(ring.Tickets()[0])
	if err != nil {
		t.Fatal(err)
	}
	api, err := httpserver.New(rw.service, httpserver.Options{BaseURL: rw.URL, Issuer: rw.URL, Auth: verifier, Tickets: issuer, RateLimit: -1})
	if err != nil {
		t.Fatal(err)
	}
	mux.Handle("/", api)
	mux.Handle("/.well-known/oauth-authorization-server", auth)
	mux.Handle("/oauth/", auth)
	return rw
}

// open starts the site, which asks the railway.
func (rw *railway) open(t *testing.T) (address string, log *safeBuffer) {
	t.Helper()
	return rw.openBelow(t, "")
}

// openBelow starts the site below a path of its host.
func (rw *railway) openBelow(t *testing.T, path string) (address string, log *safeBuffer) {
	t.Helper()
	var s *site
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.ServeHTTP(w, r) }))
	t.Cleanup(server.Close)
	log = &safeBuffer{}
	var err error
	s, err = newSite(options{
		API: rw.URL, ClientID: clientID, Secret: clientSecret, URL: server.URL + path, Now: rw.now,
		Log: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	if err != nil {
		t.Fatal(err)
	}
	return server.URL + path, log
}

// A safeBuffer takes what several write at once.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// A visitor is a browser without scripts.
type visitor struct {
	t      *testing.T
	site   string
	client *http.Client
}

func newVisitor(t *testing.T, site string) *visitor {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &visitor{t, site, &http.Client{Jar: jar}}
}

// A reply is a page that came.
type reply struct {
	status int
	header http.Header
	text   string
	at     *url.URL
}

func (v *visitor) send(req *http.Request, err error) reply {
	v.t.Helper()
	if err != nil {
		v.t.Fatal(err)
	}
	resp, err := v.client.Do(req)
	if err != nil {
		v.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	return reply{resp.StatusCode, resp.Header, string(text), resp.Request.URL}
}

func (v *visitor) address(path string) string {
	if strings.HasPrefix(path, "/") {
		return v.site + path
	}
	return path
}

func (v *visitor) get(path string) reply {
	v.t.Helper()
	return v.send(http.NewRequestWithContext(v.t.Context(), http.MethodGet, v.address(path), nil))
}

func (v *visitor) post(path string, form url.Values) reply {
	v.t.Helper()
	req, err := http.NewRequestWithContext(v.t.Context(), http.MethodPost, v.address(path), strings.NewReader(form.Encode()))
	if err == nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return v.send(req, err)
}

var (
	formTag  = regexp.MustCompile(`(?s)<form[^>]* action="([^"]*)"[^>]*>(.*?)</form>`)
	inputTag = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)">`)
)

// form finds the form of a page that leads to an address, and its hidden fields.
func (v *visitor) form(page reply, action string) (string, url.Values) {
	v.t.Helper()
	for _, m := range formTag.FindAllStringSubmatch(page.text, -1) {
		to, err := page.at.Parse(html.UnescapeString(m[1]))
		if err != nil || !strings.HasSuffix(to.Path, action) {
			continue
		}
		form := url.Values{}
		for _, in := range inputTag.FindAllStringSubmatch(m[2], -1) {
			form.Add(html.UnescapeString(in[1]), html.UnescapeString(in[2]))
		}
		return to.String(), form
	}
	v.t.Fatalf("no form leads to %s at %s, %d:\n%s", action, page.at, page.status, page.text)
	return "", nil
}

// fill sends the form of a page with these fields filled in.
func (v *visitor) fill(page reply, action string, fields ...string) reply {
	v.t.Helper()
	to, form := v.form(page, action)
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	return v.post(to, form)
}

// signIn becomes a user, and opens a page.
func (v *visitor) signIn(user, path string) reply {
	v.t.Helper()
	bookings := v.fill(v.fill(v.get("/bookings"), "/oauth/sign-in", "user", user), "/oauth/consent", "decision", "allow")
	if path == "/bookings" {
		return bookings
	}
	return v.get(path)
}

var tripLink = regexp.MustCompile(`href="(/trips/[^"]+)"`)

// chooseTrip opens the page of the first trip that is listed.
func (v *visitor) chooseTrip(trips reply) reply {
	v.t.Helper()
	m := tripLink.FindStringSubmatch(trips.text)
	if m == nil {
		v.t.Fatalf("no trip is listed: %d\n%s", trips.status, trips.text)
	}
	return v.get(html.UnescapeString(m[1]))
}

// book books the first trip, and returns the page that pays for the booking.
func (v *visitor) book(rw *railway, name string) reply {
	v.t.Helper()
	return v.fill(v.chooseTrip(v.get(tripsTomorrow(rw))), "/bookings", "passenger", name)
}

// booking is the address of the booking that a page pays for.
func (r reply) booking() string { return "/bookings/" + r.at.Query().Get("booking") }

// pay pays at the page of a booking.
func (v *visitor) pay(booking reply, number string) reply {
	v.t.Helper()
	return v.fill(booking, "/pay", "number", number, "expiry", "12/40", "cvc", "7391", "name", "Anna", "country", "DE")
}

func tripsTomorrow(rw *railway) string {
	return "/trips?from=Berlin+Hauptbahnhof&to=Paris+Gare+du+Nord&date=" + tomorrow(rw)
}

func tomorrow(rw *railway) string { return rw.now().AddDate(0, 0, 1).Format(time.DateOnly) }

// want fails unless a page has a status and says all that.
func (r reply) want(t *testing.T, status int, says ...string) {
	t.Helper()
	text := html.UnescapeString(r.text)
	_, shown, _ := strings.Cut(text, "<main")
	if r.status != status {
		t.Errorf("%s: status %d, want %d\n%.1500s", r.at, r.status, status, shown)
	}
	for _, s := range says {
		if !strings.Contains(text, s) {
			t.Errorf("%s does not say %q:\n%.1500s", r.at, s, shown)
		}
	}
}
