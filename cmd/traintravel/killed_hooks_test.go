package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/keys"
)

// A hearing is who hears of bookings: the operator, and each customer at one or more
// addresses. It outlives the server, and knows what must come.
type hearing struct {
	*office
	url  string
	fair atomic.Bool // nobody fails any more

	mu    sync.Mutex
	ears  []*ear
	sales map[string]*sale // by booking
	told  map[string]news  // by webhook-id
	ids   map[news]string  // without the body
	again int              // how often an event came again
}

// An ear is an address to which events are posted.
type ear struct {
	name  string    // the path of its URL
	owner *customer // nil is the operator
	since int       // the round before which it was there
	hook  *standardwebhooks.Webhook
	heard map[news]bool // without the body: those that were acknowledged
	fails map[string]bool
}

// A sale is a booking and what is known to have happened to it.
type sale struct {
	owner           *customer
	round           int
	paid, cancelled bool
	raced           bool // it was paid and cancelled in the same moment
}

// A news is what is posted: an event about something with an ID. Of the body it has
// the hash, for there may be many.
type news struct{ event, id, body string }

// hear opens the addresses, before the first server is started.
func (o *office) hear() {
	h := &hearing{office: o, sales: map[string]*sale{}, told: map[string]news{}, ids: map[news]string{}}
	srv := httptest.NewServer(h)
	o.Cleanup(srv.Close)
	h.url, o.hearing = srv.URL, h
}

// events are those that the operator and the customers ask for.
func (h *hearing) events() (names []string) {
	for _, e := range traintravel.EventTypes() {
		names = append(names, string(e))
	}
	return names
}

// flags have the server tell the operator, and whoever subscribes.
func (h *hearing) flags() []string {
	return []string{"--webhook-allow-private", "--webhook", h.url + "/operator", "--webhook-event", strings.Join(h.events(), ",")}
}

// begin makes the first subscriptions.
func (h *hearing) begin() {
	ring, err := keys.Load(ownKeys(h.data()))
	if err != nil {
		h.Fatal(err)
	}
	h.listen("operator", nil, 0, ring.WebhookSecret())
	for _, u := range h.users {
		h.subscribe(u, -1)
	}
}

// subscribe has a customer hear of what is booked from a round on.
func (h *hearing) subscribe(u *customer, round int) {
	name := fmt.Sprintf("%s-since-%d", u.name, round)
	text, err := json.Marshal(map[string]any{"url": h.url + "/" + name, "events": h.events()})
	if err != nil {
		h.Fatal(err)
	}
	status, answer := u.ask("POST", "/webhooks", string(text))
	secret, _ := decode(answer)["secret"].(string)
	if status != http.StatusCreated {
		h.Fatalf("subscribing: %d: %s", status, answer)
	}
	h.listen(name, u, round, secret)
}

func (h *hearing) listen(name string, owner *customer, since int, secret string) {
	hook, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		h.Fatal(err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ears = append(h.ears, &ear{name: name, owner: owner, since: since, hook: hook, heard: map[news]bool{}, fails: map[string]bool{}})
}

// ServeHTTP takes what is posted, now and then not at the first try.
func (h *hearing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the server was killed
	}
	time.Sleep(rand.N(5 * time.Millisecond))
	if h.at(whenPosted) {
		h.listened(r, body, false)
		<-r.Context().Done() // when it is killed
		return
	}
	if !h.listened(r, body, true) {
		w.WriteHeader([]int{http.StatusAccepted, http.StatusInternalServerError, http.StatusServiceUnavailable}[rand.N(3)])
	}
}

// listened notes what came to an address, and whether it is acknowledged.
func (h *hearing) listened(r *http.Request, body []byte, answers bool) bool {
	id, event := r.Header.Get("Webhook-Id"), r.Header.Get("Webhook-Event")
	if event == "ping" { // which asks whether the URL is its owner's
		return true
	}
	var d struct {
		ID        string
		Passenger string `json:"passenger_name"`
		Type      string
		Data      struct{ ID string }
	}
	err := json.Unmarshal(body, &d)
	sum := sha256.Sum256(body)
	n := news{event, d.ID, string(sum[:])}
	if event != string(traintravel.BookingCreated) {
		n.id = d.Data.ID
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	i := slices.IndexFunc(h.ears, func(e *ear) bool { return "/"+e.name == r.URL.Path })
	if i < 0 {
		return false // its owner has not got the secret yet, and no booking was made
	}
	e := h.ears[i]
	if bad := e.hook.Verify(body, r.Header); bad != nil || err != nil || id == "" || n.id == "" || d.Type != "" && d.Type != event {
		h.Errorf("%s gets %v, %v: %v %s", e.name, bad, err, r.Header, body)
	}
	if e.owner != nil && d.Passenger != "" && !strings.HasPrefix(d.Passenger, e.owner.name+" ") {
		h.Errorf("%s hears of a booking for %s", e.name, d.Passenger)
	}
	if was, ok := h.told[id]; ok && was != n {
		h.Errorf("%s is the ID of %s of %s and of %s of %s, or of another body than\n%s", id, was.event, was.id, n.event, n.id, body)
	}
	h.told[id] = n
	n.body = ""
	if other, ok := h.ids[n]; ok && other != id {
		h.Errorf("%v has the IDs %s and %s", n, other, id)
	}
	h.ids[n] = id
	if e.heard[n] {
		h.again++
	}
	if !answers {
		return false
	}
	if !h.fair.Load() && !e.fails[id] && !e.heard[n] && rand.N(12) == 0 {
		e.fails[id] = true
		return false
	}
	e.heard[n] = true
	return true
}

// sold notes a booking.
func (h *hearing) sold(u *customer, id, passenger string) {
	var round int
	if _, err := fmt.Sscanf(strings.TrimPrefix(passenger, u.name), " round %d", &round); err != nil {
		h.Errorf("passenger %q: %v", passenger, err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sales[id] = &sale{owner: u, round: round}
}

// note notes what became of a booking.
func (h *hearing) note(id string, change func(*sale)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	change(h.sales[id])
}

// missing is how much has yet to come, and some of it.
func (h *hearing) missing() (n int, some string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for id, s := range h.sales {
		events := []traintravel.EventType{traintravel.BookingCreated}
		if s.paid && !s.raced {
			events = append(events, traintravel.BookingConfirmed)
		}
		if s.cancelled {
			events = append(events, traintravel.BookingCancelled)
		}
		for _, e := range h.ears {
			if s.round < e.since || e.owner != nil && e.owner != s.owner {
				continue
			}
			for _, event := range events {
				if !e.heard[news{event: string(event), id: id}] {
					n++
					some = fmt.Sprintf("%s of %s, round %d, at %s", event, id, s.round, e.name)
				}
			}
		}
	}
	return n, some
}

// end waits until everything has come, from a server that nobody else uses.
func (h *hearing) end() {
	h.fair.Store(true)
	last, at := 0, time.Now() // how many were missing, and since when
	for n, some := h.missing(); n > 0; n, some = h.missing() {
		if n != last {
			last, at = n, time.Now()
		}
		if time.Since(at) > time.Minute {
			h.Fatalf("%d events do not come, such as %s", n, some)
		}
		time.Sleep(10 * time.Millisecond)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.Logf("%d events of %d bookings came to %d addresses, %d times again", len(h.told), len(h.sales), len(h.ears), h.again)
}
