package httpserver_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/httpserver"
	"github.com/traintravel/traintravel/sandbox"
)

// begin sends a request, and returns where its answer comes.
func (w *world) begin(method, target string, parts ...part) <-chan answer {
	done := make(chan answer, 1)
	go func() { done <- w.do(method, target, parts...) }()
	synctest.Wait()
	return done
}

// hang has the store answer nothing until what is returned is called.
func (s *failingStore) hang() (answer func()) {
	c := make(chan struct{})
	s.fail = func() error {
		<-c
		return nil
	}
	return func() {
		s.fail = nil
		close(c)
	}
}

// Beyond so many requests at a time the server refuses more, and there is room again
// when they are answered. Health is told all the same.
func TestMaxRequests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &failingStore{}
		w := newWorld(t, func(w *world) {
			store.Store, w.options.MaxRequests = w.store, 4
			w.store = store
		})
		answerAll := store.hang()
		var ends []<-chan answer
		for i := range 4 {
			ends = append(ends, w.begin("GET", "/bookings", as(fmt.Sprintf("user%d-r", i)), from(fmt.Sprintf("198.51.100.%d:1", i))))
		}
		a := w.do("GET", "/bookings", as("anna-r"))
		if a.problem(503, "overloaded"); a.header.Get("Retry-After") != "1" {
			t.Errorf("Retry-After is %q", a.header["Retry-After"])
		}
		w.do("GET", "/bookings", as("user0-r")).problem(429, "rate-limited") // who has one already
		for _, target := range []string{"/healthz", "/problems/overloaded", "/nothing"} {
			if a := w.serve("GET", target); a.status == 503 {
				t.Errorf("%s: %s", target, a.body)
			}
		}
		if n := strings.Count(w.log.String(), "level=WARN"); n != 1 {
			t.Errorf("the log has %d warnings in a second: %s", n, w.log.String())
		}
		answerAll()
		for _, end := range ends {
			(<-end).want(200)
		}
		// The operator learns of it, and who had how much, from the readiness check.
		refusals := regexp.MustCompile(`^\{"status":"ready","refusing":\[\{"work":"read","last_refused_at":"2000-01-01T00:00:00Z","most_by":"[0-9a-f]{1,8}","most":1,"of":4\}\]\}$`)
		if got := w.do("GET", "/readyz").want(200).body; !refusals.MatchString(got) {
			t.Errorf("after refusals readiness is %s", got)
		}
		for _, work := range w.server.Work() {
			if work.Slots < 1 || work.Slots > 4 {
				t.Errorf("of 4 requests at a time, %d slots are told for the work %s", work.Slots, work.Kind)
			}
		}
		time.Sleep(time.Minute)
		if got := w.do("GET", "/readyz").want(200).body; got != `{"status":"ready"}` {
			t.Errorf("a minute after refusals readiness is %s", got)
		}
		for range 5 { // whatever ends a request
			w.get("/bookings").want(200)
			w.do("GET", "/bookings").want(401)
			w.do("GET", "/bookings", as("panic")).want(500)
		}
	})
}

// worked is what a server has in hand of a kind of work.
func worked(w *world, kind string) httpserver.Work {
	w.t.Helper()
	for _, work := range w.server.Work() {
		if work.Kind == kind {
			return work
		}
	}
	w.t.Fatalf("there is no work of the kind %s", kind)
	panic("unreachable")
}

// A heldGateway answers no charge before it is told to.
type heldGateway struct {
	traintravel.PaymentGateway
	release chan struct{}
}

func (g *heldGateway) Charge(ctx context.Context, c traintravel.Charge) (traintravel.Outcome, error) {
	<-g.release
	return g.PaymentGateway.Charge(ctx, c)
}

// A gateway that hangs holds up payments alone, and no user has all of them.
func TestHangingGatewayDelaysOnlyPayments(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gateway := &heldGateway{sandbox.New(), make(chan struct{})}
		w := newWorld(t, func(w *world) { w.service_.Gateway = gateway })
		var ends []<-chan answer
		for range 18 {
			b := w.book()
			ends = append(ends, w.begin("POST", "/bookings/"+b.ID+"/payment", as("anna-w"), body(payment("113.58", goodCard))))
		}
		if got := worked(w, "pay"); got.Busy != 16 || got.Waiting != 2 {
			t.Errorf("one user pays for 18 bookings at a gateway that hangs: %+v, want 16 at a time", got)
		}
		w.get(search).want(200)
		w.get("/bookings").want(200)
		w.book()
		close(gateway.release)
		for _, end := range ends {
			(<-end).want(200)
		}
		if got := worked(w, "pay"); got.Busy != 0 || got.Waiting != 0 || got.Refused != 0 {
			t.Errorf("in the end there is %+v", got)
		}
	})
}

// Bodies that are large are parsed when it is their callers' turn, and hold no slot of what
// is then done with them. Whoever sends a small one does not wait for them.
func TestLargeBodiesAreParsedInTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &failingStore{}
		w := newWorld(t, func(w *world) { store.Store, w.store = w.store, store })
		b, trip, padding := w.book(), w.trip().ID, strings.Repeat(" ", 5<<10)
		inXML := "<booking><trip_id>" + trip + "</trip_id><passenger_name>Anna Example</passenger_name>" + padding + "</booking>"
		for _, c := range []struct {
			target, kind string
			send         part
			status       int
		}{
			{"/bookings", "write", body(`{"trip_id": "x"` + padding + `}`), 400},
			{"/bookings", "write", xmlBody("<booking>" + padding + "</booking>"), 400},
			{"/bookings", "write", body(newBooking(trip) + padding), 201},
			{"/bookings", "write", xmlBody(inXML), 201},
			{"/bookings/" + b.ID + "/payment", "pay", body(payment("113.58", goodCard) + padding), 200},
		} {
			release := w.server.HoldParsing(t)
			end := w.begin("POST", c.target, as("anna-w"), c.send)
			if got := worked(w, "parse"); got.Waiting != 1 {
				t.Errorf("%s: of large bodies %d wait, want 1", c.target, got.Waiting)
			}
			if got := worked(w, c.kind); got.Busy != 0 {
				t.Errorf("%s: a body that waits has a slot of the kind %s", c.target, c.kind)
			}
			w.book()
			answerAll := store.hang()
			release()
			synctest.Wait()
			if parse, then := worked(w, "parse"), worked(w, c.kind); parse.Busy != 0 || c.status < 400 && then.Busy != 1 {
				t.Errorf("%s: while what the body asks for is done there is %+v and %+v", c.target, parse, then)
			}
			answerAll()
			(<-end).want(c.status)
			for _, kind := range []string{"parse", c.kind} {
				if got := worked(w, kind); got.Busy != 0 || got.Waiting != 0 {
					t.Errorf("%s: in the end there is %+v", c.target, got)
				}
			}
		}
	})
}

// While a body is on its way no slot is taken: not by one who is asked for no token, not
// by a user, and not beside the API.
func TestSlowBodiesDelayNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(w *world) { w.options.MaxRequests = 8 })
		beside := w.server.Beside("/oauth/*", http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			done := w.server.Admit(r)
			defer done()
			_, _ = io.ReadAll(r.Body)
		}))
		r, sent := io.Pipe()
		slow := func(req *http.Request) { req.Body, req.ContentLength = io.NopCloser(r), 50 }
		var all sync.WaitGroup
		for i := range 8 {
			address := from(fmt.Sprintf("198.51.100.%d:1", i))
			w.begin("POST", "/bookings", as(fmt.Sprintf("user%d-w", i)), body("{}"), slow, address)
			w.begin("POST", "/tickets/verify", octets("x"), slow, from(fmt.Sprintf("198.51.101.%d:1", i)))
			all.Go(func() {
				req := httptest.NewRequest("POST", "/oauth/token", r)
				req.RemoteAddr = fmt.Sprintf("198.51.102.%d:1", i)
				beside.ServeHTTP(httptest.NewRecorder(), req)
			})
		}
		synctest.Wait()
		for _, work := range w.server.Work() {
			if work.Busy+work.Waiting > 0 {
				t.Errorf("bodies that do not come have slots: %+v", work)
			}
		}
		w.book()
		w.get("/bookings").want(200)
		sent.Close()
		all.Wait()
		synctest.Wait()
	})
}

// Of one caller only so many bytes are on their way to the server, and others do not
// notice.
func TestUnfinishedBodiesAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		r, sent := io.Pipe()
		large := func(req *http.Request) {
			req.Body, req.ContentLength = io.NopCloser(io.MultiReader(strings.NewReader(strings.Repeat(" ", 60<<10)), r)), 64<<10
		}
		refused := 0
		for range 40 {
			end := w.begin("POST", "/bookings", as("anna-w"), body("{}"), large)
			synctest.Wait()
			select {
			case a := <-end:
				a.problem(429, "rate-limited")
				refused++
			default:
			}
		}
		if refused < 20 {
			t.Errorf("of 40 bodies of 60 KiB that do not end %d are refused, want most: one caller has 1 MiB", refused)
		}
		w.do("POST", "/bookings", as("bert-w"), body(newBooking(w.trip().ID))).want(201)
		sent.Close()
		synctest.Wait()
		w.post("/bookings", newBooking(w.trip().ID)).want(201)
	})
}

// A stalledWriter takes no body before it is told to.
type stalledWriter struct {
	*httptest.ResponseRecorder
	go_ chan struct{}
}

func (w *stalledWriter) Write(b []byte) (int, error) {
	<-w.go_
	return w.ResponseRecorder.Write(b)
}

// An answer that is not read has no slot. Who does not read many is refused, and nobody
// else.
func TestUnreadResponsesDelayNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		stalled := &stalledWriter{go_: make(chan struct{})}
		answered := make(chan int, 1000)
		for range 300 {
			go func() {
				rec := httptest.NewRecorder()
				r := httptest.NewRequest("GET", "/stations?limit=100", nil)
				as("anna-r")(r)
				w.server.ServeHTTP(&stalledWriter{rec, stalled.go_}, r)
				answered <- rec.Code
			}()
			synctest.Wait()
		}
		if got := worked(w, "read"); got.Busy != 0 || got.Waiting != 0 {
			t.Errorf("answers that are not read have slots: %+v", got)
		}
		w.do("GET", "/stations?limit=100", as("bert-r")).want(200)
		close(stalled.go_)
		codes := map[int]int{}
		for range 300 {
			codes[<-answered]++
		}
		if codes[200] < 20 || codes[429] < 20 || codes[200]+codes[429] != 300 {
			t.Errorf("of 300 answers that are not read there were, by status, %v; want many of 200, and 429 beyond 2 MiB", codes)
		}
		w.do("GET", "/stations?limit=100", as("anna-r")).want(200)
	})
}
