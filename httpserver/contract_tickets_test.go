package httpserver_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/ticket"
)

// newIssuer makes an issuer of tickets, and what verifies them.
func newIssuer(t testing.TB) (*ticket.Issuer, ticket.Keys) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	issuer, err := ticket.NewIssuer(key)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := ticket.NewKeys(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	return issuer, keys
}

// paid books and pays as anna, and returns the ticket.
func (w *world) paid() traintravel.Ticket {
	w.t.Helper()
	b := w.book()
	w.pay(b)
	anna := traintravel.Caller{Subject: traintravel.Subject{Issuer: "test", ID: "anna"}, Client: "app"}
	t, err := w.service.Ticket(w.t.Context(), anna, uuid.MustParse(b.ID))
	if err != nil {
		w.t.Fatal(err)
	}
	return t
}

func container(t testing.TB, i *ticket.Issuer, of traintravel.Ticket) string {
	t.Helper()
	code, err := i.Container(of, 0)
	if err != nil {
		t.Fatal(err)
	}
	return string(code)
}

// octets sends bytes.
func octets(content string) part {
	return func(r *http.Request) {
		header("Content-Type", "application/octet-stream")(r)
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(content)), int64(len(content))
	}
}

func (c *contract) tickets(t *testing.T) {
	issuer, keys := newIssuer(t)
	stranger, _ := newIssuer(t)
	store := &failingStore{}
	w := newWorld(t, func(w *world) {
		w.options.TicketKeys = keys
		store.Store = w.store
		w.store = store
	})
	k := c.asker(t, w)

	published := k.ask(200, "get-ticket-keys", "/.well-known/ticket-keys")
	if got, err := ticket.ParseKeys([]byte(published.body)); err != nil || len(got.IDs()) != 1 || got.IDs()[0] != keys.IDs()[0] {
		t.Errorf("%v %v", got.IDs(), err)
	}
	k.ask(304, "get-ticket-keys", "/.well-known/ticket-keys", header("If-None-Match", published.header.Get("Etag")))
	k.ask(412, "get-ticket-keys", "/.well-known/ticket-keys", header("If-Match", `"x"`))

	verify := func(status int, content string, parts ...part) answer {
		t.Helper()
		return k.ask(status, "verify-ticket", "/tickets/verify", append([]part{octets(content)}, parts...)...)
	}
	worth := func(want, content string) {
		t.Helper()
		var got struct{ Status string }
		a := verify(200, content)
		if a.into(&got); got.Status != want || want == "invalid" && a.body != `{"status":"invalid"}` {
			t.Errorf("%s, want %s", a.body, want)
		}
	}
	of := w.paid()
	code := container(t, issuer, of)
	worth("valid", code)
	var got map[string]any
	verify(200, code).into(&got)
	leg := of.Booking.Legs[0]
	if d := cmp.Diff(map[string]any{
		"status": "valid", "booking_id": of.Booking.ID.String(), "leg": json.Number("1"), "legs": json.Number("1"), "issued": "2024-02-01T00:00:00Z",
		"passenger_name": "Anna Example", "has_bicycle": false, "has_dog": false,
		"origin": leg.Origin.Name, "departure_time": leg.Origin.Time.Format(time.RFC3339),
		"destination": leg.Destination.Name, "arrival_time": leg.Destination.Time.Format(time.RFC3339),
		"operator": leg.Operator, "train": leg.Number, "coach": leg.Coach, "seat": json.Number(strconv.Itoa(leg.Seat)),
	}, got); d != "" {
		t.Error(d)
	}
	worth("invalid", container(t, stranger, of))
	worth("invalid", code[:100]+"\x00"+code[101:])
	elsewhere := of
	elsewhere.Booking.ID = uuid.New()
	worth("unknown", container(t, issuer, elsewhere))
	w.do("DELETE", "/bookings/"+of.Booking.ID.String(), writing).want(204)
	worth("voided", code)

	for _, bad := range []string{"", "ticket", code[:40], code + "\n", strings.Repeat("x", 10_000)} {
		verify(400, bad)
	}
	verify(406, code, header("Accept", "text/html"))
	verify(413, strings.Repeat("x", 64<<10+1))
	verify(408, code, header(stalls, "yes"))
	verify(415, code, header("Content-Type", "application/json"))
	verify(415, code, header("Content-Encoding", "gzip"))
	store.fail = func() error { return errors.New("the store is broken") }
	verify(500, code)
	store.fail = func() error { return traintravel.ErrUnavailable }
	verify(503, code)
	worth("invalid", container(t, stranger, of)) // nothing is looked up for it
	store.fail = nil

	limited := c.asker(t, newWorld(t, withLimit(1)))
	limited.send("POST", "/tickets/verify", []part{octets(code)}).want(200)
	limited.ask(429, "verify-ticket", "/tickets/verify", octets(code))
}
