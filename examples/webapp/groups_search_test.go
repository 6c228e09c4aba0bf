package main

import (
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"
)

// Searches and trips for more passengers than can be booked together say so.
func TestTooManyPassengers(t *testing.T) {
	t.Parallel()
	rw := newRailway(t, time.Hour)
	site, _ := rw.open(t)
	v := newVisitor(t, site)
	back := "&return=" + rw.now().AddDate(0, 0, 3).Format(time.DateOnly)
	v.get(tripsTomorrow(rw)+"&passengers=9"+back).want(t, 400, "At most 4 passengers can be booked together for the outward and the return trip")
	v.get(tripsTomorrow(rw)+"&passengers=4"+back).want(t, 200)
	v.get(tripsTomorrow(rw)+"&passengers=12").want(t, 400, "At most 9 passengers can be booked together")

	first := v.returnTrip(rw, "1")
	both := strings.Replace(first.at.RequestURI(), "?", "?passengers=9&", 1)
	v.get(both).want(t, 400, "At most 4 passengers can be booked together for the outward and the return trip", "4 passengers, outward and return")
	v.get(first.at.Path+"?passengers=12").want(t, 400, "At most 9 passengers can be booked together", "9 passengers")
}

// The redirect to the name of the site stays there, whatever the request line is.
func TestRedirectToOwnName(t *testing.T) {
	t.Parallel()
	rw := newRailway(t, time.Hour)
	site, _ := rw.open(t)
	base, err := url.Parse(site)
	if err != nil {
		t.Fatal(err)
	}
	for target, want := range map[string]string{
		"x:@evil.example/":               "/",
		"http://evil.example/trips?q=%2": "/trips?q=%2",
		"//evil.example/a%2Fb?c":         "//evil.example/a%2Fb?c",
		"/a%20b":                         "/a%20b",
	} {
		conn, err := net.Dial("tcp", base.Host)
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(time.Minute))
		fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: other.example\r\nConnection: close\r\n\r\n", target)
		answer, err := io.ReadAll(conn)
		conn.Close()
		if err != nil || !strings.Contains(string(answer), "\r\nLocation: "+site+want+"\r\n") {
			t.Errorf("%s: %v\n%.300s", target, err, answer)
		}
	}
}

// A date on which a card expires that cannot be read says how to write it.
func TestUnreadableExpiry(t *testing.T) {
	t.Parallel()
	rw, v, to, form := newGroup(t, "1")
	pay := v.post(to, names(form, "Ann"))
	for _, typed := range []string{"12/4", "12/204", "12", "soon", "12/40/1"} {
		v.fill(pay, "/pay", "number", "4242424242424242", "expiry", typed, "cvc", "123", "name", "Ann", "country", "DE").
			want(t, 400, "Write the year as two or four digits, MM/YY", `aria-invalid="true"`)
	}
	if n := len(rw.payments()); n != 0 {
		t.Errorf("%d payments were tried", n)
	}
	v.fill(pay, "/pay", "number", "4242424242424242", "expiry", "Dec 2040", "cvc", "123", "name", "Ann", "country", "DE").want(t, 200, "Your ticket")
}
