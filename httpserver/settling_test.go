package httpserver_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/sandbox"
)

// An eventLog is a notifier that keeps the types of the events of each booking.
type eventLog struct {
	mu     sync.Mutex
	events map[string][]traintravel.EventType
}

func (l *eventLog) Notify(_ context.Context, e traintravel.Event) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	id := e.Booking.ID.String()
	l.events[id] = append(l.events[id], e.Type)
	return nil
}

// The bank accounts of the sandbox settle at once, later, not at all, and fail
// later: as the payment says, as the booking's links tell, and by events. A
// service whose clock was set, as by serve --clock, waits no longer.
func TestAccountsOfTheSandbox(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		events := &eventLog{events: map[string][]traintravel.EventType{}}
		w := newWorld(t, func(w *world) {
			w.service_.Now = func() time.Time { return morning.Add(time.Since(began)) }
			w.options.Now, w.service_.Notifier = w.service_.Now, events
		})
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { _ = w.service.Run(ctx) })
		defer running.Wait()
		defer stop()

		trip := w.trip()
		for _, c := range []struct {
			number      string
			first, last string // statuses
			code        string
			events      []traintravel.EventType
		}{
			{"AT61 1904 3002 3457 3201", "succeeded", "succeeded", "", []traintravel.EventType{traintravel.BookingCreated, traintravel.BookingConfirmed}},
			{"AT32 1904 3002 3547 3204", "pending", "succeeded", "", []traintravel.EventType{traintravel.BookingCreated, traintravel.BookingConfirmed}},
			{"AT86 1904 3002 3547 3202", "failed", "failed", "debit_not_authorized", []traintravel.EventType{traintravel.BookingCreated, traintravel.PaymentFailed}},
			{"AT05 1904 3002 3547 3205", "pending", "failed", "debit_not_authorized", []traintravel.EventType{traintravel.BookingCreated, traintravel.PaymentFailed}},
		} {
			id := w.post("/bookings", newBooking(trip.ID)).want(201).resource().ID
			at := "/bookings/" + id
			pay := `{"amount":` + trip.Price.String() + `,"currency":"eur","source":{"object":"bank_account","name":"Anna","number":"` + c.number +
				`","account_type":"individual","bank_name":"Bank","country":"AT"}}`
			var made, later struct {
				ID, Status string
				Failure    struct{ Code, Message string }
			}
			w.post(at+"/payment", pay).want(200).into(&made)
			if made.Status != c.first {
				t.Errorf("%s: %+v at first", c.number, made)
			}
			if made.Status == "pending" {
				w.post(at+"/payment", pay).problem(409, "payment-in-progress")
				w.do("DELETE", at, as("anna-w")).problem(409, "payment-in-progress")
				if links := w.get(at).resource().Links; links["payment"] != "" || links["payments"] == "" {
					t.Errorf("%s: the links while it is pending: %v", c.number, links)
				}
			}
			time.Sleep(sandbox.SettleAfter + 10*time.Second)
			w.get(at + "/payment").want(200).into(&later)
			if later.ID != made.ID || later.Status != c.last || later.Failure.Code != c.code || (later.Failure.Message == "") != (c.code == "") {
				t.Errorf("%s: %+v in the end", c.number, later)
			}
			if links := w.get(at).resource().Links; (links["payment"] == "") != (c.last == "succeeded") {
				t.Errorf("%s: the links in the end: %v", c.number, links)
			}
			synctest.Wait()
			events.mu.Lock()
			slices.Sort(c.events) // they come in no promised order
			slices.Sort(events.events[id])
			if d := cmp.Diff(c.events, events.events[id]); d != "" {
				t.Errorf("%s: events (-want +got):\n%s", c.number, d)
			}
			events.mu.Unlock()
			if xml := w.do("GET", at+"/payments", as("anna-r"), header("Accept", "application/xml")).want(200).body; !strings.Contains(xml,
				"<number>****************"+c.number[len(c.number)-4:]+"</number>") || !strings.Contains(xml, "<status>"+c.last+"</status>") {
				t.Errorf("%s: %s", c.number, xml)
			}
		}
	})
}

// The history of a booking that is over: attempts, the payment, and its refund
// with a negative amount, newest first, in JSON and in XML, page by page.
func TestHistory(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.book()
	at := "/bookings/" + b.ID
	var ids []string // newest first
	for _, number := range []string{"4000000000000002", "4000000000009995", goodCard} {
		w.later(time.Second)
		ids = append([]string{w.post(at+"/payment", payment("113.58", number)).want(200).resource().ID}, ids...)
	}
	w.later(time.Second)
	w.do("DELETE", at, as("anna-w")).want(204)
	w.get(at).problem(404, "not-found")

	first := w.get(at + "/payments?limit=1").collection()
	refund := first.Data[0].ID
	ids = append([]string{refund}, ids...)
	if got := w.walk(at+"/payments?limit=1", func() {}); !slices.Equal(got, ids) {
		t.Errorf("payments %v, want %v", got, ids)
	}
	paid := ids[1]
	if latest := w.get(at + "/payment").want(200).resource(); latest.ID != paid {
		t.Errorf("the latest attempt is %v", latest)
	}
	history := w.get(at + "/payments").want(200).body
	if want := `{"data":[{"id":"` + refund + `","amount":-113.58,"currency":"eur","status":"pending","refund_of":"` + paid + `"},{"id":"` + paid + `","amount":113.58,`; !strings.HasPrefix(history, want) {
		t.Errorf("%s, want it to begin with %s", history, want)
	}
	xml := w.do("GET", at+"/payments?limit=2", as("anna-r"), header("Accept", "application/xml")).want(200).body
	for _, want := range []string{
		"<data><payments><payment><id>" + refund + "</id><amount>-113.58</amount><currency>eur</currency><status>pending</status><refund_of>" + paid + "</refund_of></payment>",
		"<payment><id>" + paid + "</id><amount>113.58</amount>", "</payments><links>", "<next>",
	} {
		if !strings.Contains(xml, want) {
			t.Errorf("%s has no %s", xml, want)
		}
	}
}
