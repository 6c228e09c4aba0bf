package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// What the API cannot do is a page that says so, and that may be tried again.
func TestAPIIsDown(t *testing.T) {
	t.Parallel()
	rw := newRailway(t, time.Hour)
	site, log := rw.open(t)
	v := newVisitor(t, site)
	trip := v.chooseTrip(v.signIn("anna", tripsTomorrow(rw)))

	for status, says := range map[int]string{429: "Too many requests", 503: "is not available", 500: "Something went wrong at the railway"} {
		slug := map[int]string{429: "rate-limited", 503: "unavailable", 500: "internal-error"}[status]
		rw.answering(func(w http.ResponseWriter, _ *http.Request) bool { return refuse(w, status, slug, "") })
		for _, path := range []string{"/bookings", tripsTomorrow(rw), trip.at.Path} {
			page := v.get(path)
			page.want(t, status, says)
			if page.header.Get("Retry-After") != "7" {
				t.Errorf("%s: Retry-After is %q", path, page.header.Get("Retry-After"))
			}
		}
		v.fill(trip, "/bookings", "passenger", "Anna").want(t, status, says)
		v.get("/stations?q=ber").want(t, status, says)
	}
	rw.answering(func(w http.ResponseWriter, _ *http.Request) bool { // a proxy, say
		w.WriteHeader(http.StatusBadGateway)
		fmt.Fprint(w, "<html>bad gateway</html>")
		return true
	})
	v.get("/bookings").want(t, 502, "Bad Gateway")
	rw.answering(func(w http.ResponseWriter, _ *http.Request) bool {
		fmt.Fprint(w, "this is not JSON")
		return true
	})
	v.get("/bookings").want(t, 502, "We cannot reach the railway")

	rw.Close()
	v.get("/bookings").want(t, 502, "We cannot reach the railway")
	v.fill(trip, "/bookings", "passenger", "Anna").want(t, 502, "check your bookings")
	v.get("/stations?q=ber").want(t, 502, "We cannot reach the railway")
	v.get("/").want(t, 200, "Find trains")
	if !strings.Contains(log.String(), "a page failed") {
		t.Error("the log says nothing")
	}
}

// Before the API has ever answered, nobody can sign in, and the first page is there.
func TestAPIStartsLater(t *testing.T) {
	t.Parallel()
	rw := newRailway(t, time.Hour)
	site, _ := rw.open(t)
	rw.answering(func(w http.ResponseWriter, _ *http.Request) bool { return refuse(w, 503, "unavailable", "") })
	v := newVisitor(t, site)
	v.get("/").want(t, 200, "Find trains")
	v.get("/bookings").want(t, 503, "is not available")
	v.get("/stations?q=ber").want(t, 503, "is not available")
	rw.answering(func(http.ResponseWriter, *http.Request) bool { return false })
	v.signIn("anna", "/bookings").want(t, 200, "My bookings")
}

// refuse answers with a problem.
func refuse(w http.ResponseWriter, status int, slug, detail string) bool {
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Retry-After", "7")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"type": "http://127.0.0.1/problems/" + slug, "title": "The title", "status": status, "detail": detail})
	return true
}

// Every problem of the API is told to people in words.
func TestProblems(t *testing.T) {
	t.Parallel()
	rw := newRailway(t, time.Hour)
	site, _ := rw.open(t)
	v := newVisitor(t, site)
	trip := v.chooseTrip(v.signIn("anna", tripsTomorrow(rw)))
	held := v.book(rw, "Anna")
	post := func(slug string, status int) {
		rw.answering(func(w http.ResponseWriter, r *http.Request) bool {
			return r.Method == http.MethodPost && refuse(w, status, slug, "The detail.")
		})
	}
	for slug, says := range map[string]string{
		"sold-out": "sold out", "departed": "has left", "bicycles-not-allowed": "No bicycles", "no-bicycle-space": "bicycle spaces are taken",
		"dogs-not-allowed": "No dogs", "something-new": "The title",
	} {
		post(slug, 409)
		v.fill(trip, "/bookings", "passenger", "Anna", "bicycle", "1").want(t, 409, says, `role="alert"`, `value="Anna"`)
	}
	for slug, says := range map[string]string{
		"already-paid": "already paid", "payment-in-progress": "in progress", "payments-not-accepted": "Payments are not available", "hold-expired": "Your seat was released", "too-many-declines": "Too many payments", "paid-too-late": "too late", "cancelled-by-operator": "has cancelled this train",
	} {
		post(slug, 409)
		v.pay(held, "4242424242424242").want(t, 409, says, `role="alert"`)
	}
	post("amount-mismatch", 400)
	v.pay(held, "4242424242424242").want(t, 400, "The price has changed", "The detail.")
	post("forbidden", 403)
	v.pay(held, "4242424242424242").want(t, 403, "not allowed")
	for slug, f := range theirs {
		if f.Title == "" || strings.ContainsAny(f.Title+f.Text, "{}<>") || (f.Link == "") != (f.Next == "") {
			t.Errorf("%s: %+v", slug, f)
		}
	}
}

// A payment whose outcome is not known yet is waited for.
func TestPending(t *testing.T) {
	t.Parallel()
	rw := newRailway(t, time.Hour)
	site, _ := rw.open(t)
	v := newVisitor(t, site)
	v.signIn("anna", "/bookings")
	held := v.book(rw, "Anna")
	status := "pending"
	rw.answering(func(w http.ResponseWriter, r *http.Request) bool {
		id := strings.TrimPrefix(held.booking(), "/bookings/")
		switch r.URL.Path {
		case held.booking():
			fmt.Fprintf(w, `{"id":%q,"trip_id":"09a94001-0002-82a0-8000-000000000000","passenger_name":"Anna","links":{"payments":"/x"}}`, id)
		case held.booking() + "/payment":
			fmt.Fprintf(w, `{"status":%q}`, status)
		default:
			return false
		}
		return true
	})
	v.get(held.booking()).want(t, 200, "We are waiting for the bank", "do not pay again", `data-state="pending"`)
	v.get(held.at.RequestURI()).want(t, 200, "We are waiting for the bank", "do not pay again", `data-state="pending"`)
	status = "succeeded" // at a server without tickets
	v.get(held.booking()).want(t, 200, "This booking is paid")
}

// A booking that was paid after its page was opened is not cancelled by that page.
func TestCancelsOnlyUnchangedBooking(t *testing.T) {
	t.Parallel()
	rw := newRailway(t, time.Hour)
	site, _ := rw.open(t)
	v := newVisitor(t, site)
	v.signIn("anna", "/bookings")
	held := v.book(rw, "Anna")
	cancel := v.get(held.booking() + "/cancel")
	cancel.want(t, 200, "Nothing was charged")
	v.pay(held, "4242424242424242").want(t, 200, "Your ticket")
	v.fill(cancel, "/cancel").want(t, 412, "The booking has changed")
	v.get(held.booking()).want(t, 200, "Your ticket")
}
