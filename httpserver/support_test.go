package httpserver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/gtfs"
	"github.com/traintravel/traintravel/httpserver"
	"github.com/traintravel/traintravel/internal/demo"
	"github.com/traintravel/traintravel/sandbox"
	"github.com/traintravel/traintravel/store/memstore"
)

const (
	base   = "https://trains.example/api"
	berlin = "efdbb9d1-02c2-4bc3-afb7-6788d8782b1e"
	paris  = "b2e783e1-c824-4d63-b37a-d8d698862f1d"
	search = "/trips?origin=" + berlin + "&destination=" + paris + "&date=2024-02-01"
)

// morning is when the worlds begin: the day of the public examples.
var morning = time.Date(2024, 2, 1, 0, 0, 0, 0, time.UTC)

// tokens are whom the tests' tokens stand for: a name and scopes, as anna-rw, and a
// client if it is another than app, as anna-rw-other.
// down, fault and panic are what they say.
type tokens struct{}

func (tokens) Authenticate(_ context.Context, token string) (httpserver.Identity, error) {
	switch token {
	case "down":
		return httpserver.Identity{}, fmt.Errorf("no keys: %w", httpserver.ErrUnavailable)
	case "fault":
		return httpserver.Identity{}, io.ErrNoProgress
	case "panic":
		panic("a fault of the authenticator's")
	}
	name, scopes, ok := strings.Cut(token, "-")
	if !ok {
		return httpserver.Identity{}, fmt.Errorf("%w: forged", httpserver.ErrInvalidToken)
	}
	scopes, client, ok := strings.Cut(scopes, "-")
	if !ok {
		client = "app"
	}
	return httpserver.Identity{
		Caller: traintravel.Caller{Subject: traintravel.Subject{Issuer: "test", ID: name}, Client: client, ForItself: name == "client:"+client},
		Read:   strings.Contains(scopes, "r"), Write: strings.Contains(scopes, "w"),
	}, nil
}

// demoTimetable reads the demo network once for all tests.
var demoTimetable = sync.OnceValues(func() (*traintravel.Timetable, error) {
	tt, _, err := gtfs.Read(context.Background(), demo.Feed(), gtfs.Options{})
	return tt, err
})

// A world is a server with all that is behind it.
type world struct {
	t       testing.TB
	clock   atomic.Int64 // nanoseconds after morning
	store   traintravel.Store
	service *traintravel.Service
	server  *httpserver.Server
	log     *lockedBuffer

	timetable *traintravel.Timetable
	service_  traintravel.Options
	options   httpserver.Options
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// newWorld makes a world with the demo network, or as the changes have it.
func newWorld(t testing.TB, changes ...func(*world)) *world {
	t.Helper()
	w := &world{t: t, store: memstore.New(), log: &lockedBuffer{}}
	w.service_ = traintravel.Options{
		Now:     func() time.Time { return morning.Add(time.Duration(w.clock.Load())) },
		Gateway: sandbox.New(),
		Holds:   traintravel.HoldLimits{User: 1000, Train: 1000},
	}
	w.options = httpserver.Options{
		BaseURL: base, Auth: tokens{}, RateLimit: 1_000_000, Now: w.service_.Now,
		Logger: slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	w.options.Tickets, w.options.TicketKeys = newIssuer(t)
	withWebhooks(newReceiver(200))(w)
	for _, c := range changes {
		c(w)
	}
	var err error
	if w.timetable == nil {
		if w.timetable, err = demoTimetable(); err != nil {
			t.Fatal(err)
		}
	}
	if w.service, err = traintravel.New(w.store, w.service_); err != nil {
		t.Fatal(err)
	}
	if len(w.timetable.Stations) > 0 {
		if _, err = w.service.LoadTimetable(context.Background(), w.timetable); err != nil {
			t.Fatal(err)
		}
	}
	if w.server, err = httpserver.New(w.service, w.options); err != nil {
		t.Fatal(err)
	}
	return w
}

// deliver has the service do all that is due, in a bubble of synctest: the service's
// clock stands still, and the seconds that Run has take no time.
func (w *world) deliver() {
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = w.service.Run(ctx) })
	time.Sleep(3 * time.Second)
	stop()
	running.Wait()
}

// runUntil has Run work until the answer at a path has a text.
func (w *world) runUntil(path, text string) {
	w.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = w.service.Run(ctx) })
	defer running.Wait()
	defer stop()
	for tries := 0; !strings.Contains(w.get(path).body, text); tries++ {
		if time.Sleep(5 * time.Millisecond); tries == 2000 {
			w.t.Fatalf("%s never has %s", path, text)
		}
	}
}

func (w *world) later(d time.Duration) { w.clock.Add(int64(d)) }

// A part changes a request before it is sent.
type part func(*http.Request)

func header(name string, values ...string) part {
	return func(r *http.Request) { r.Header[http.CanonicalHeaderKey(name)] = values }
}

func from(addr string) part { return func(r *http.Request) { r.RemoteAddr = addr } }

// as sends a token.
func as(token string) part { return header("Authorization", "Bearer "+token) }

func body(text string) part {
	return func(r *http.Request) {
		header("Content-Type", "application/json")(r)
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
	}
}

// unfinished has the time for the body run out.
func unfinished(r *http.Request) { r.Body = io.NopCloser(iotest.ErrReader(os.ErrDeadlineExceeded)) }

// slowBody is a body that does not come in time.
func slowBody(r *http.Request) {
	body("{}")(r)
	unfinished(r)
}

// An answer is what came back.
type answer struct {
	t      testing.TB
	status int
	header http.Header
	body   string
	head   bool // to HEAD
}

// do sends a request and checks what holds for every answer.
func (w *world) do(method, target string, parts ...part) answer {
	w.t.Helper()
	r := httptest.NewRequest(method, target, nil)
	for _, p := range parts {
		p(r)
	}
	rec := httptest.NewRecorder()
	w.server.ServeHTTP(rec, r)
	a := answer{w.t, rec.Code, rec.Result().Header, rec.Body.String(), method == http.MethodHead}
	if fault := a.fault(); fault != "" {
		w.t.Fatalf("%s %s: %s\n%d %v\n%s", method, target, fault, a.status, a.header, a.body)
	}
	return a
}

func (w *world) get(target string) answer {
	w.t.Helper()
	return w.do("GET", target, as("anna-r"))
}

func (w *world) post(target, text string) answer {
	w.t.Helper()
	return w.do("POST", target, as("anna-w"), body(text))
}

// fault says what no answer may be.
func (a answer) fault() string {
	switch {
	case len(a.header["Ratelimit"]) != 1:
		return "no RateLimit"
	case a.header.Get("X-Content-Type-Options") != "nosniff", a.header.Get("Cache-Control") == "":
		return "headers are missing"
	case a.status == http.StatusNoContent, a.status == http.StatusNotModified, a.status == http.StatusSeeOther, a.status == http.StatusTemporaryRedirect:
		if a.body != "" || a.header.Get("Content-Type") != "" {
			return "a body that should not be"
		}
		return ""
	case a.head:
		if a.body != "" || a.header.Get("Content-Length") == "" {
			return "an answer to HEAD without the length of a body, or with one"
		}
		return ""
	}
	var p problem
	mediaType := a.header.Get("Content-Type")
	if a.status < 400 && (strings.HasPrefix(mediaType, "text/") || mediaType == "application/yaml" || mediaType == "image/png") {
		return a.fileFault(mediaType)
	}
	if strings.HasSuffix(mediaType, "xml") {
		var any struct{}
		if err := xml.Unmarshal([]byte(a.body), &any); err != nil {
			return err.Error()
		}
		if err := xml.Unmarshal([]byte(a.body), &p); err != nil && a.status >= 400 {
			return err.Error()
		}
	} else if !jsontext.Value(a.body).IsValid() {
		return "the body is not strict JSON"
	} else if err := json.Unmarshal([]byte(a.body), &p); err != nil && a.status >= 400 {
		return err.Error()
	}
	if a.status < 400 {
		if !slices.Contains([]string{"application/json", "application/xml", "application/ld+json", "application/jwk-set+json"}, mediaType) {
			return "the body has another media type"
		}
		return ""
	}
	id, found := strings.CutPrefix(p.Instance, "urn:uuid:")
	inProgress := strings.HasSuffix(p.Type, "/problems/payment-in-progress")
	full := strings.HasSuffix(p.Type, "/problems/too-many-holds")
	switch _, err := uuid.Parse(id); {
	case mediaType != "application/problem+json" && mediaType != "application/problem+xml":
		return "a problem without its media type"
	case a.header.Get("Cache-Control") != "no-store":
		return "a problem that may be stored"
	case p.Status != a.status, p.Title == "", p.Detail == "", !found, err != nil, !strings.Contains(p.Type, "/problems/"):
		return "an incomplete problem"
	case (a.status == 429 || a.status == 503 || inProgress || full) != (a.header.Get("Retry-After") != ""):
		return "Retry-After"
	case inProgress && a.header.Get("Retry-After") != "5": // as a payment that is pending has it
		return "Retry-After while a payment is in progress"
	case (a.status == 401 || a.status == 403) != (a.header.Get("Www-Authenticate") != ""):
		return "WWW-Authenticate"
	case (a.status == 405) != (a.header.Get("Allow") != ""):
		return "Allow"
	}
	return ""
}

// fileFault is what is wrong with a page, a file that a page loads, or the
// description of the API: what the server answers besides documents and problems.
func (a answer) fileFault(mediaType string) string {
	switch media, params, err := mime.ParseMediaType(mediaType); {
	case err != nil:
		return err.Error()
	case a.body == "":
		return "an empty file"
	case a.header.Get("Content-Encoding") != "":
		return "" // it is compressed, as the client asked
	case media == "text/html" && !strings.HasPrefix(a.body, "<!DOCTYPE html>"):
		return "a page that does not begin with its document type"
	case strings.HasPrefix(media, "text/") && (params["charset"] != "utf-8" || !utf8.ValidString(a.body)):
		return "a text without its encoding"
	}
	return ""
}

// want fails unless the answer has this status.
func (a answer) want(status int) answer {
	a.t.Helper()
	if a.status != status {
		a.t.Fatalf("status %d, want %d: %s", a.status, status, a.body)
	}
	return a
}

// problem is what problem documents say.
type problem struct {
	Type     string  `xml:"type"`
	Title    string  `xml:"title"`
	Detail   string  `xml:"detail"`
	Instance string  `xml:"instance"`
	Status   int     `xml:"status"`
	Errors   []fault `xml:"errors>i"`
}

type fault struct {
	Parameter string `xml:"parameter"`
	Pointer   string `xml:"pointer"`
	Detail    string `xml:"detail"`
}

// problem fails unless the answer is a problem of this status and slug.
func (a answer) problem(status int, slug string) problem {
	a.t.Helper()
	var p problem
	if a.want(status); strings.HasSuffix(a.header.Get("Content-Type"), "xml") {
		if err := xml.Unmarshal([]byte(a.body), &p); err != nil {
			a.t.Fatal(err)
		}
	} else {
		a.into(&p)
	}
	if want := base + "/problems/" + slug; p.Type != want {
		a.t.Fatalf("the problem is %s, want %s: %s", p.Type, want, p.Detail)
	}
	return p
}

// names lists what a problem finds fault with: parameters, and pointers.
func (p problem) names() string {
	var names []string
	for _, f := range p.Errors {
		names = append(names, f.Parameter+f.Pointer)
	}
	return strings.Join(names, " ")
}

func (a answer) into(v any) {
	a.t.Helper()
	d := json.NewDecoder(strings.NewReader(a.body))
	d.UseNumber()
	if err := d.Decode(v); err != nil {
		a.t.Fatalf("%v: %s", err, a.body)
	}
}

// What documents say, as far as the tests follow it.
type (
	resource struct {
		ID     string
		TripID string `json:"trip_id"`
		Status string
		Price  json.Number
		Links  map[string]string

		Reference string
		Over      *ending
	}
	// An ending is what becomes of a booking.
	ending struct {
		Outcome, At, Reason, Train string
		CancelledBy                string `json:"cancelled_by"`
		Legs                       []struct {
			Train       string
			Departure   string `json:"departure_time"`
			Origin      string `json:"origin_name"`
			Destination string `json:"destination_name"`
		}
		Refunds []struct {
			Amount           json.Number
			Currency, Status string
			Requested        string `json:"requested_at"`
			Settled          string `json:"settled_at"`
		}
	}
	collection struct {
		Data  []resource
		Links map[string]string
	}
)

func (a answer) resource() (r resource) {
	a.t.Helper()
	a.into(&r)
	return r
}

func (a answer) collection() (c collection) {
	a.t.Helper()
	a.want(200).into(&c)
	return c
}

// local is where a link leads on this server.
func (a answer) local(link string) string {
	a.t.Helper()
	target, ok := strings.CutPrefix(link, base)
	if !ok {
		a.t.Fatalf("the link %q does not begin with %s", link, base)
	}
	return target
}

// trip finds a trip to book.
func (w *world) trip() resource {
	w.t.Helper()
	return w.get(search).collection().Data[0]
}

// book holds a trip for anna.
func (w *world) book() resource {
	w.t.Helper()
	return w.post("/bookings", newBooking(w.trip().ID)).want(201).resource()
}

func newBooking(trip string) string {
	return `{"trip_id":"` + trip + `","passenger_name":"Anna Example","has_bicycle":false,"has_dog":false}`
}

// payment is a body that pays by card.
func payment(amount json.Number, number string) string {
	return fmt.Sprintf(`{"amount":%s,"currency":"eur","source":{"object":"card","name":"Anna Example","number":%q,`+
		`"cvc":"123","exp_month":12,"exp_year":2025,"address_line1":"1 Secret Street","address_country":"de","address_city":"Berlin"}}`, amount, number)
}

const goodCard = "4242424242424242"
