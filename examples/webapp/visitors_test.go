package main

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"
)

// One visitor who asks for too much does not shut the search for others.
func TestVisitorLimit(t *testing.T) {
	t.Parallel()
	rw := newRailway(t, time.Hour)
	s, err := newSite(options{API: rw.URL, ClientID: clientID, Secret: clientSecret, URL: "http://site.example", Now: rw.now, VisitorRate: 5})
	if err != nil {
		t.Fatal(err)
	}
	from := func(addr, forwarded, words string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, "http://site.example/stations?q="+words, nil)
		r.RemoteAddr = addr
		r.Header.Set("X-Forwarded-For", forwarded)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		return w
	}
	limited := 0
	for i := range 20 { // the header would make them others
		if w := from("192.0.2.1:1", "198.51.100."+strconv.Itoa(i), "b"+strconv.Itoa(i)); w.Code == http.StatusTooManyRequests {
			limited++
		}
	}
	if limited < 10 {
		t.Errorf("of 20 searches %d were limited", limited)
	}
	if w := from("192.0.2.2:1", "", "berlin"); w.Code != http.StatusOK {
		t.Errorf("another visitor has %d", w.Code)
	}
	if w := from("192.0.2.1:1", "", "berlin"); w.Code != http.StatusOK {
		t.Errorf("what is known already has %d", w.Code)
	}
	rw.ahead.Add(int64(2 * time.Minute))
	if w := from("192.0.2.1:1", "", "hannover"); w.Code != http.StatusOK {
		t.Errorf("two minutes later the first visitor has %d", w.Code)
	}
}

// Suggestions are asked for once a minute.
func TestSuggestionsAreKept(t *testing.T) {
	t.Parallel()
	rw := newRailway(t, time.Hour)
	site, _ := rw.open(t)
	v := newVisitor(t, site)
	for range 3 {
		v.get("/stations?q=berl").want(t, 200, "Berlin Hauptbahnhof")
	}
	if n := rw.count("GET /stations"); n != 1 {
		t.Errorf("the API was asked %d times", n)
	}
	rw.ahead.Add(int64(2 * time.Minute))
	v.get("/stations?q=berl").want(t, 200, "Berlin Hauptbahnhof")
	if n := rw.count("GET /stations"); n != 2 {
		t.Errorf("two minutes later the API was asked %d times", n)
	}
}

func TestVisitorAddress(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ proxies, remote, forwarded, want string }{
		{"", "192.0.2.1:5", "198.51.100.1", "192.0.2.1"},
		{"10.0.0.0/8", "192.0.2.1:5", "198.51.100.1", "192.0.2.1"},
		{"10.0.0.0/8, ::1/128", "10.1.1.1:5", "203.0.113.9, 198.51.100.1, 10.2.2.2", "198.51.100.1"},
		{"10.0.0.0/8", "10.1.1.1:5", "x", "10.1.1.1"},
		{"10.0.0.0/8", "10.1.1.1:5", "", "10.1.1.1"},
		{"", "[2001:db8::1]:5", "", "2001:db8::/64"},
		{"", "[::ffff:192.0.2.1]:5", "", "192.0.2.1"},
	} {
		v, err := newVisitors(1, tt.proxies, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.RemoteAddr = tt.remote
		r.Header.Set("X-Forwarded-For", tt.forwarded)
		if got := v.of(r); got != tt.want {
			t.Errorf("%+v: %q", tt, got)
		}
	}
	if _, err := newVisitors(1, "10.0.0.1", time.Now); err == nil {
		t.Error("an address is taken as a network")
	}
	if _, err := newVisitors(0, "", time.Now); err == nil {
		t.Error("a rate of nothing is taken")
	}
}
