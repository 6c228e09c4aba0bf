package httpserver_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/httpserver"
)

const nobody = "00000000-0000-4000-8000-000000000000"

// tiny is a timetable with one train for each refusal.
func tiny() *traintravel.Timetable {
	station := func(b byte) uuid.UUID { return uuid.UUID{0: b, 6: 0x40, 8: 0x80} }
	train := func(number string, at int, change func(*traintravel.Train)) traintravel.Train {
		t := traintravel.Train{
			ID: number, Operator: "Rail", Number: number, Zone: "Europe/Berlin",
			Days: traintravel.Daily(traintravel.NewDate(2024, 1, 1), traintravel.NewDate(2024, 12, 31)),
			Fare: traintravel.Fare{Currency: "eur", Base: 4990}, Bicycles: traintravel.Allowed, Dogs: traintravel.Allowed,
			Calls: []traintravel.Call{
				{Station: station(1), Arrive: traintravel.Clock(at, 0), Depart: traintravel.Clock(at, 0)},
				{Station: station(2), Arrive: traintravel.Clock(at+1, 0), Depart: traintravel.Clock(at+1, 0), Metres: 50_000},
			},
		}
		change(&t)
		return t
	}
	return &traintravel.Timetable{
		Stations: []traintravel.Station{
			{ID: station(1), Name: "A", Zone: "Europe/Berlin", Latitude: 50, Longitude: 10},
			{ID: station(2), Name: "B", Zone: "Europe/London", Latitude: 51, Longitude: 10},
		},
		Trains: []traintravel.Train{
			train("one-seat", 8, func(t *traintravel.Train) { t.Coaches = []traintravel.Coach{{Number: "1", Seats: 1}} }),
			train("one-hook", 9, func(t *traintravel.Train) { t.Hooks = 1 }),
			train("neither", 10, func(t *traintravel.Train) { t.Bicycles, t.Dogs = traintravel.Unknown, traintravel.NotAllowed }),
		},
	}
}

func withTiny(w *world) { w.timetable = tiny() }

// tinyTrips are the IDs of tiny's trips on the first day, by train.
func (w *world) tinyTrips() map[string]string {
	w.t.Helper()
	var list struct {
		Data []struct {
			ID   string
			Legs []struct{ Train string }
		}
	}
	w.get("/trips?origin=01000000-0000-4000-8000-000000000000&destination=02000000-0000-4000-8000-000000000000&date=2024-02-01").want(200).into(&list)
	ids := map[string]string{}
	for _, t := range list.Data {
		ids[t.Legs[0].Train] = t.ID
	}
	return ids
}

// Each refusal has its own problem, and none is a failure of the server.
func TestRefusals(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withTiny)
	trips := w.tinyTrips()
	ask := func(train, more string) answer {
		return w.post("/bookings", `{"trip_id":"`+trips[train]+`","passenger_name":"Anna"`+more+`}`)
	}
	first := ask("one-seat", "").want(201).resource()
	ask("one-seat", "").problem(409, "sold-out")
	ask("one-hook", `,"has_bicycle":true`).want(201)
	ask("one-hook", `,"has_bicycle":true`).problem(409, "no-bicycle-space")
	ask("neither", `,"has_bicycle":true`).problem(409, "bicycles-not-allowed")
	ask("neither", `,"has_dog":true`).problem(409, "dogs-not-allowed")
	if shown := w.get("/trips/" + trips["one-seat"]).want(200).body; !strings.Contains(shown, `"seats_available":0`) {
		t.Errorf("a sold-out trip: %s", shown)
	}
	shown := w.get("/trips/" + trips["neither"]).want(200).body
	if strings.Contains(shown, "bicycles_allowed") || strings.Contains(shown, "seats_available") || !strings.Contains(shown, `"dogs_allowed":false`) {
		t.Errorf("what is not known is not absent, or no is not false: %s", shown)
	}
	if !strings.Contains(shown, `"departure_time":"2024-02-01T10:00:00+01:00","arrival_time":"2024-02-01T10:00:00Z"`) {
		t.Errorf("times are not in the zones of the stations: %s", shown)
	}
	if !strings.Contains(shown, `"price":49.9,`) {
		t.Errorf("the price is not 49.9: %s", shown)
	}

	pay := "/bookings/" + first.ID + "/payment"
	for _, amount := range []string{"49.91", "4990", "0.01"} {
		p := w.post(pay, strings.Replace(payment("49.9", goodCard), "49.9", amount, 1)).problem(400, "amount-mismatch")
		if p.names() != "/amount" || !strings.Contains(p.Detail, "49.9 eur") {
			t.Errorf("the problem does not name what is due: %+v", p)
		}
	}
	if p := w.post(pay, strings.Replace(payment("49.9", goodCard), "eur", "gbp", 1)).problem(400, "amount-mismatch"); p.names() != "/currency" {
		t.Errorf("the problem does not name the currency: %+v", p)
	}
	w.post(pay, payment("49.90", goodCard)).want(200)
	w.later(8 * time.Hour)
	ask("one-seat", "").problem(409, "departed")
	w.do("DELETE", "/bookings/"+first.ID, as("anna-w")).problem(409, "departed")
	for _, form := range []part{body(newBooking(nobody)), xmlBody("<booking><trip_id>" + nobody + "</trip_id><passenger_name>Anna</passenger_name></booking>")} {
		if p := w.do("POST", "/bookings", as("anna-w"), form).problem(404, "not-found"); p.names() != "/trip_id" {
			t.Errorf("it is not said that there is no such trip: %+v", p)
		}
	}
}

// A service that takes no payments says so; it has not failed.
func TestNoGateway(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world) { w.service_.Gateway = nil })
	w.post("/bookings/"+w.book().ID+"/payment", payment("113.58", goodCard)).problem(409, "payments-not-accepted")
}

// unready says that no token can be verified.
type unready struct{ tokens }

func (unready) Ready(context.Context) error { return errors.New("secret: no keys") }

// A server that cannot verify tokens lives and is not ready; whether it can is
// what its issuer says.
func TestReadyToVerify(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world) { w.options.Auth = unready{} })
	if p := w.do("GET", "/readyz").problem(503, "unavailable"); strings.Contains(p.Detail, "secret") {
		t.Errorf("the problem tells too much: %s", p.Detail)
	}
	w.do("GET", "/healthz").want(200)

	issuer := newForeignIssuer(t)
	issuer.put("/keys", "down")
	clock := &testClock{}
	source, err := httpserver.RemoteKeys(httpserver.RemoteOptions{Issuer: issuer.URL, Now: clock.now})
	if err != nil {
		t.Fatal(err)
	}
	w = newWorld(t, func(w *world) { w.options.Auth = newVerifier(t, withKeys(source)) })
	w.do("GET", "/readyz").problem(503, "unavailable")
	issuer.serve(signingKeys()["ec"])
	clock.pass(time.Minute)
	w.do("GET", "/readyz").want(200)
	clock.pass(2 * time.Hour)
	issuer.Close()
	w.do("GET", "/readyz").problem(503, "unavailable")
}

// heldReadiness says that tokens can be verified when it is told to.
type heldReadiness struct {
	tokens
	asked  *atomic.Int64
	answer chan error
}

func (h heldReadiness) Ready(context.Context) error {
	h.asked.Add(1)
	err := <-h.answer
	if errors.Is(err, errOops) {
		panic(err)
	}
	return err
}

var errOops = errors.New("oops")

// However many ask whether the server is ready, it looks once at a time, and goes on when
// whoever asked first has left. A look that panics is not a readiness.
func TestReadinessIsLookedAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		auth := heldReadiness{asked: &atomic.Int64{}, answer: make(chan error)}
		w := newWorld(t, func(w *world) { w.options.Auth = auth })
		for _, c := range []struct {
			say           error
			first, others int
		}{{nil, 200, 200}, {errors.New("no keys"), 503, 503}, {errOops, 500, 503}, {nil, 200, 200}} {
			auth.asked.Store(0)
			ctx, leave := context.WithCancel(t.Context())
			first := w.begin("GET", "/readyz", func(r *http.Request) { *r = *r.WithContext(ctx) })
			var ends []<-chan answer
			for range 20 {
				ends = append(ends, w.begin("GET", "/readyz"))
			}
			leave()
			impatient, stop := context.WithCancel(t.Context())
			gone := w.begin("GET", "/readyz", func(r *http.Request) { *r = *r.WithContext(impatient) })
			stop()
			if a := <-gone; a.status != 503 {
				t.Errorf("a check whose client has left is answered %d", a.status)
			}
			auth.answer <- c.say
			if a := <-first; a.status != c.first {
				t.Errorf("the check that looks is answered %d, want %d", a.status, c.first)
			}
			for _, end := range ends {
				if a := <-end; a.status != c.others {
					t.Errorf("a check that comes meanwhile is answered %d, want %d", a.status, c.others)
				}
			}
			if n := auth.asked.Load(); n != 1 {
				t.Errorf("for 21 checks at once the server looked %d times", n)
			}
		}
	})
}

// Before there is a timetable the server lives and is not ready.
func TestNoTimetable(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world) { w.timetable = &traintravel.Timetable{} })
	w.do("GET", "/healthz").want(200)
	w.do("GET", "/readyz").problem(503, "unavailable")
	w.get("/stations").problem(503, "unavailable")
	if a := w.get(search); !strings.Contains(a.problem(503, "unavailable").Detail, "No timetable is loaded") {
		t.Errorf("it says %s", a.body)
	}
	w.post("/bookings", newBooking(nobody)).problem(503, "unavailable")
	w.get("/bookings").want(200)
}

// Of several things that are wrong, the first in the documented order counts.
func TestOrderOfChecks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.book().ID
	badAccept, badType := header("Accept", "text/html"), header("Content-Type", "text/plain")
	big := body(strings.Repeat(" ", 64<<10+1))
	for _, c := range []struct {
		method, target string
		parts          []part
		status         int
		slug           string
	}{
		{"GET", "/nothing", []part{as("forged"), badAccept}, 404, "not-found"},
		{"PATCH", "/bookings", []part{as("forged"), badAccept}, 405, "method-not-allowed"},
		{"POST", "/bookings", []part{as("forged"), badAccept, big, badType}, 401, "unauthorized"},
		{"POST", "/bookings", []part{badAccept, big, badType}, 401, "unauthorized"},
		{"POST", "/bookings", []part{as("anna-r"), badAccept, big, badType}, 403, "forbidden"},
		{"GET", "/bookings?page=x", []part{as("anna-w"), badAccept}, 403, "forbidden"},
		{"DELETE", "/bookings/x", []part{as("anna-r"), badAccept}, 403, "forbidden"},
		{"POST", "/bookings", []part{as("anna-w"), badAccept, big, badType}, 406, "not-acceptable"},
		{"GET", "/bookings?page=x", []part{as("anna-r"), badAccept}, 406, "not-acceptable"},
		{"POST", "/bookings", []part{as("anna-w"), big, badType}, 415, "unsupported-media-type"},
		{"POST", "/bookings/x/payment", []part{as("anna-w"), big}, 413, "content-too-large"},
		{"POST", "/bookings/x/payment", []part{as("anna-w"), slowBody}, 408, "body-too-slow"},
		{"POST", "/bookings/x/payment", []part{as("anna-w"), body(`{}`)}, 400, "invalid-request"},
		{"POST", "/bookings/" + nobody + "/payment", []part{as("anna-w"), body(`{}`)}, 400, "invalid-request"},
		{"POST", "/bookings/" + nobody + "/payment", []part{as("anna-w"), body(payment("1", goodCard))}, 404, "not-found"},
		{"GET", "/bookings/" + nobody + "/payments?page=0", []part{as("anna-r")}, 400, "invalid-request"},
		{"GET", "/bookings/" + nobody, []part{as("anna-r")}, 404, "not-found"},
		{"POST", "/bookings/" + b + "/payment", []part{as("anna-w"), body(payment("1", goodCard))}, 400, "amount-mismatch"},
	} {
		a := w.do(c.method, c.target, c.parts...)
		if a.status != c.status {
			t.Errorf("%s %s: status %d, want %d: %s", c.method, c.target, a.status, c.status, a.body)
			continue
		}
		a.problem(c.status, c.slug)
	}
}

func TestMethods(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, c := range []struct{ method, target, allow string }{
		{"POST", "/stations", "GET, HEAD, OPTIONS"},
		{"PUT", "/trips/" + nobody, "GET, HEAD, OPTIONS"},
		{"DELETE", "/bookings", "GET, HEAD, OPTIONS, POST"},
		{"PATCH", "/bookings/" + nobody, "DELETE, GET, HEAD, OPTIONS"},
		{"DELETE", "/bookings/" + nobody + "/payment", "GET, HEAD, OPTIONS, POST"},
		{"POST", "/healthz", "GET, HEAD, OPTIONS"},
		{"BREW", "/bookings", "GET, HEAD, OPTIONS, POST"},
		{"CONNECT", "/bookings", "GET, HEAD, OPTIONS, POST"},
	} {
		a := w.do(c.method, c.target)
		a.problem(405, "method-not-allowed")
		if got := a.header.Get("Allow"); got != c.allow {
			t.Errorf("%s %s: Allow is %q, want %q", c.method, c.target, got, c.allow)
		}
	}
	if a := w.do("OPTIONS", "/bookings"); a.status != http.StatusNoContent || a.header.Get("Allow") != "GET, HEAD, OPTIONS, POST" {
		t.Errorf("OPTIONS: %d, Allow %q", a.status, a.header.Get("Allow"))
	}
	for _, target := range []string{"/bookings/", "//bookings", "/Bookings", "/bookings/a/b", "/bookings/" + nobody + "/ticket/x", "/trips/%2e%2e/stations", "/favicon.ico"} {
		w.do("GET", target, as("anna-r")).problem(404, "not-found")
	}
}

func TestCacheHeaders(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.book()
	for target, want := range map[string]string{
		"/stations":                       "private, max-age=3600",
		"/stations/" + berlin:             "private, max-age=3600",
		search:                            "private, no-cache",
		"/trips/" + b.TripID:              "private, no-cache",
		"/bookings":                       "no-store",
		"/bookings/" + b.ID:               "no-store",
		"/bookings/" + b.ID + "/payments": "no-store",
	} {
		a := w.get(target).want(200)
		if got := a.header.Get("Cache-Control"); got != want {
			t.Errorf("%s: Cache-Control is %q, want %q", target, got, want)
		}
		if got := a.header.Get("Vary"); got != "Accept, Authorization" {
			t.Errorf("%s: Vary is %q", target, got)
		}
	}
}
