package published_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/cmd/traintravel/internal/published"
	"github.com/traintravel/traintravel/gtfs"
	"github.com/traintravel/traintravel/httpserver"
	"github.com/traintravel/traintravel/internal/demo"
	"github.com/traintravel/traintravel/sandbox"
	"github.com/traintravel/traintravel/store/memstore"
)

// A world is an API with the examples, whose clock stands still until it is moved.
type world struct {
	t       *testing.T
	handler http.Handler

	mu  sync.Mutex
	now time.Time
}

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) wait(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

const ahead = 1000 * time.Hour

var began = time.Date(2023, 2, 1, 8, 0, 0, 0, time.UTC)

func newWorld(t *testing.T) *world {
	w := &world{t: t, now: began}
	service, err := traintravel.New(memstore.New(), traintravel.Options{Gateway: sandbox.New(), Now: w.clock, AnyAmount: true, Horizon: math.MaxInt64})
	if err != nil {
		t.Fatal(err)
	}
	timetable, _, err := gtfs.Read(t.Context(), demo.Feed(), gtfs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	published.Timetable(timetable)
	if _, err := service.LoadTimetable(t.Context(), timetable); err != nil {
		t.Fatal(err)
	}
	api, err := httpserver.New(service, httpserver.Options{BaseURL: base, Auth: anyone{}, RateLimit: -1})
	if err != nil {
		t.Fatal(err)
	}
	examples := published.Examples{Ahead: ahead}
	if err := examples.Find(t.Context(), service); err != nil {
		t.Fatal(err)
	}
	w.handler = examples.Handler(api, func(r *http.Request) (traintravel.Caller, bool) {
		token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		return caller(token), ok
	})
	return w
}

const base = "http://mock.example"

type anyone struct{}

func (anyone) Authenticate(_ context.Context, token string) (httpserver.Identity, error) {
	return httpserver.Identity{Caller: caller(token), Read: true, Write: true, Expires: time.Now().Add(time.Hour)}, nil
}

func caller(token string) traintravel.Caller {
	sum := sha256.Sum256([]byte(token))
	return traintravel.Caller{Subject: traintravel.Subject{Issuer: "test", ID: hex.EncodeToString(sum[:])}}
}

// ask sends a request and returns the answer's header and document.
func (w *world) ask(status int, user, method, path, body string, headers ...string) (http.Header, map[string]any) {
	w.t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+user)
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	a := httptest.NewRecorder()
	w.handler.ServeHTTP(a, r)
	text, _ := io.ReadAll(a.Result().Body)
	if a.Code != status {
		w.t.Fatalf("%s %s: %d, want %d: %s", method, path, a.Code, status, text)
	}
	var doc map[string]any
	if len(text) > 0 && strings.Contains(a.Header().Get("Content-Type"), "json") {
		if err := json.Unmarshal(text, &doc); err != nil {
			w.t.Fatalf("%s %s: %v: %s", method, path, err, text)
		}
	}
	return a.Header(), doc
}

const (
	tripID    = "ea399ba1-6d95-433f-92d1-83f67b775594"
	bookingID = "1725ff48-ab45-4bb5-9d02-88745177dedb"
	booking   = "/bookings/" + bookingID
	card      = `{"amount":49.99,"currency":"gbp","source":{"object":"card","name":"J. Doe","number":"4242424242424242","cvc":123,"exp_month":12,"exp_year":2025,` +
		`"address_line1":"123 Fake Street","address_line2":"4th Floor","address_city":"London","address_country":"gb","address_post_code":"N12 9XX"}}`
	account = `{"amount":100.5,"currency":"gbp","source":{"object":"bank_account","name":"J. Doe","number":"00012345","sort_code":"000123",` +
		`"account_type":"individual","bank_name":"Starling Bank","country":"gb"}}`
	search = "/trips?origin=efdbb9d1-02c2-4bc3-afb7-6788d8782b1e&destination=b2e783e1-c824-4d63-b37a-d8d698862f1d&date="
)

// The published requests succeed in the order in which they are published, and in any
// other, and again.
func TestExamplesInAnyOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	requests := []func(user string){
		func(user string) {
			_, found := w.ask(200, user, "GET", search+"2024-02-01T09:00:00Z", "")
			first := found["data"].([]any)[0].(map[string]any)
			depart, _ := time.Parse(time.RFC3339, first["departure_time"].(string))
			arrive, _ := time.Parse(time.RFC3339, first["arrival_time"].(string))
			if first["id"] != tripID || first["operator"] != "Deutsche Bahn" || first["price"] != 50.0 || first["bicycles_allowed"] != true || first["dogs_allowed"] != true ||
				!depart.Equal(time.Date(2024, 2, 1, 10, 0, 0, 0, time.UTC)) || !arrive.Equal(time.Date(2024, 2, 1, 16, 0, 0, 0, time.UTC)) {
				t.Errorf("the first trip is %v", first)
			}
		},
		func(user string) {
			_, made := w.ask(201, user, "POST", "/bookings", `{"trip_id":"`+tripID+`","passenger_name":"John Doe","has_bicycle":true,"has_dog":true}`)
			if made["trip_id"] != tripID || made["id"] == bookingID {
				t.Errorf("booked: %v", made)
			}
		},
		func(user string) {
			_, b := w.ask(200, user, "GET", booking, "")
			if b["id"] != bookingID || b["trip_id"] != tripID || b["passenger_name"] != "John Doe" || b["has_bicycle"] != true || b["has_dog"] != true ||
				b["links"].(map[string]any)["self"] != base+booking {
				t.Errorf("the booking is %v", b)
			}
		},
		func(user string) { w.ask(204, user, "DELETE", booking, "") },
		func(user string) { w.paid(user, card) },
		func(user string) { w.paid(user, account) },
	}
	for _, user := range []string{"anna", "bert"} {
		for range 2 {
			for _, ask := range requests {
				ask(user)
			}
		}
		for i := range requests {
			requests[len(requests)-1-i](user)
		}
	}
}

func (w *world) paid(user, payment string) {
	w.t.Helper()
	_, p := w.ask(200, user, "POST", booking+"/payment", payment)
	if p["status"] != "succeeded" || p["links"].(map[string]any)["booking"] != base+booking {
		w.t.Errorf("the payment is %v", p)
	}
}

// Each user has the published booking, and sees of it what that user did. It keeps its
// payment, and its ID is that of one booking at a time.
func TestPublishedBookingIsTheUsersOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	links := func(user string) map[string]any {
		_, b := w.ask(200, user, "GET", booking, "")
		return b["links"].(map[string]any)
	}
	if _, list := w.ask(200, "anna", "GET", "/bookings", ""); len(list["data"].([]any)) != 0 {
		t.Errorf("a user who has asked for nothing has %v", list["data"])
	}
	w.paid("anna", card)
	if l := links("anna"); l["payment"] != nil || l["payments"] != base+booking+"/payments" {
		t.Errorf("paid, its links are %v", l)
	}
	if l := links("bert"); l["payment"] == nil {
		t.Errorf("it was paid by another user: %v", l)
	}
	w.ask(400, "anna", "POST", booking+"/payment", `{}`)
	if l := links("anna"); l["payment"] != nil {
		t.Errorf("after a payment that is wrong, its links are %v", l)
	}
	w.paid("anna", account) // for another
	_, list := w.ask(200, "anna", "GET", "/bookings", "")
	var ids []any
	for _, b := range list["data"].([]any) {
		ids = append(ids, b.(map[string]any)["id"])
	}
	if len(ids) != 2 || ids[0] != bookingID || ids[1] == bookingID {
		t.Errorf("the bookings are %v", ids)
	}
	w.ask(200, "anna", "GET", fmt.Sprintf("/bookings/%v/payments", ids[1]), "")

	// Who says that it may be a repetition gets the first answer, and pays once.
	_, first := w.ask(200, "bert", "POST", booking+"/payment", card, "Idempotency-Key", "k")
	h, again := w.ask(200, "bert", "POST", booking+"/payment", card, "Idempotency-Key", "k")
	if first["id"] != again["id"] || h.Get("Idempotency-Replayed") != "true" {
		t.Errorf("%v, then %v", first, again)
	}
	w.ask(409, "bert", "POST", booking+"/payment", card, "Idempotency-Key", "another")
	r := httptest.NewRequest("GET", booking, nil)
	a := httptest.NewRecorder()
	if w.handler.ServeHTTP(a, r); a.Code != 401 {
		t.Errorf("without a token: %d", a.Code)
	}
}

// A hold of the published booking ends as any other. It is there anew then, for the trips
// of the examples can be booked through most of a year.
func TestExamplesLast(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	header, _ := w.ask(200, "anna", "GET", booking, "")
	if got, want := header.Get("Sunset"), began.Add(time.Hour+ahead).Format(http.TimeFormat); got != want {
		t.Errorf("the hold ends at %s, by the client's clock at %s", got, want)
	}
	w.wait(time.Hour)
	if _, list := w.ask(200, "anna", "GET", "/bookings", ""); len(list["data"].([]any)) != 0 {
		t.Errorf("after an hour there is %v", list["data"])
	}
	w.wait(300 * 24 * time.Hour)
	w.paid("anna", card)
	w.ask(200, "anna", "GET", "/trips/"+strings.ToUpper(tripID), "")
	for _, day := range []string{"2024-02-01", "2026-12-06", "2031-07-14", "2104-02-29"} {
		if _, found := w.ask(200, "anna", "GET", search+day, ""); len(found["data"].([]any)) < 5 {
			t.Errorf("on %s there are %d trips", day, len(found["data"].([]any)))
		}
	}
}

// Published IDs come and go in XML too, and other bodies are as they were.
func TestExamplesInXML(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	text := `<booking><trip_id>` + tripID + `</trip_id><passenger_name>John Doe</passenger_name></booking>`
	r := httptest.NewRequest("POST", "/bookings", strings.NewReader(text))
	r.Header = http.Header{"Authorization": {"Bearer anna"}, "Content-Type": {"application/xml"}, "Accept": {"application/xml"}}
	a := httptest.NewRecorder()
	w.handler.ServeHTTP(a, r)
	if a.Code != 201 || !strings.Contains(a.Body.String(), "<trip_id>"+tripID+"</trip_id>") {
		t.Errorf("%d %s", a.Code, a.Body)
	}
	w.ask(413, "anna", "POST", "/bookings", `{"trip_id":"`+tripID+`","passenger_name":"`+strings.Repeat("n", 100_000)+`"}`)
	w.ask(400, "anna", "POST", "/bookings", `{"trip_id":"`+tripID+`"`)
}
