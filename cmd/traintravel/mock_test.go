package main

import (
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// The published examples as they are, each with its published ID, against the command.
func TestMockPublishedIDs(t *testing.T) {
	t.Parallel()
	const trip, booking = "ea399ba1-6d95-433f-92d1-83f67b775594", "/bookings/1725ff48-ab45-4bb5-9d02-88745177dedb"
	at, got := receive(t)
	r := start(t, "mock")
	secret := r.call("anna", "POST", "/webhooks", `{"url":"`+at+`"}`, 201)["secret"].(string)
	found := r.call("anna", "GET", "/trips?origin="+berlin+"&destination="+paris+"&date=2024-02-01T09:00:00Z&bicycles=true&dogs=true", "", 200)["data"].([]any)
	if id := found[0].(map[string]any)["id"]; id != trip {
		t.Errorf("the first trip is %v", id)
	}
	made := r.call("anna", "POST", "/bookings", `{"trip_id": "`+trip+`", "passenger_name": "John Doe", "has_bicycle": true, "has_dog": true}`, 201)
	if made["trip_id"] != trip {
		t.Errorf("booked: %v", made)
	}
	expect(t, got, secret, made["id"].(string))
	r.call("anna", "GET", booking, "", 200)
	if h := <-got; !strings.Contains(h.body, `"id":"1725ff48-ab45-4bb5-9d02-88745177dedb","trip_id":"`+trip+`"`) {
		t.Errorf("posted: %s", h.body)
	}
	r.call("anna", "DELETE", booking, "", 204)
	paid := r.call("anna", "POST", booking+"/payment", `{"amount": 100.5, "currency": "gbp", "source": {"object": "bank_account", "name": "J. Doe",
		"number": "00012345", "sort_code": "000123", "account_type": "individual", "bank_name": "Starling Bank", "country": "gb"}}`, 200)
	if paid["status"] != "succeeded" || paid["links"].(map[string]any)["booking"] != r.base+booking {
		t.Errorf("paid: %v", paid)
	}
	if list := r.call("anna", "GET", booking+"/payments", "", 200)["data"].([]any); len(list) != 1 {
		t.Errorf("payments: %v", list)
	}
}

// A client that goes by its own clock finds, books and pays, and has an hour for it.
func TestMockNextWeek(t *testing.T) {
	t.Parallel()
	r := start(t, "mock")
	for _, day := range []time.Time{time.Now(), time.Now().AddDate(0, 0, 7), time.Now().AddDate(3, 0, 0)} {
		id := r.book("anna", day.Format(time.DateOnly), "")
		if links := r.call("anna", "GET", "/bookings/"+id, "", 200)["links"].(map[string]any); links["ticket"] == nil {
			t.Errorf("on %v: %v", day, links)
		}
	}
	resp := r.ask("GET", "/bookings/"+r.hold("anna", soon()), "Authorization", "Bearer anna")
	date, _ := http.ParseTime(resp.Header.Get("Date"))
	until, err := http.ParseTime(resp.Header.Get("Sunset"))
	if left := until.Sub(date); err != nil || left <= 0 || left > time.Hour+time.Second {
		t.Errorf("at %v the hold ends at %v", date, until)
	}
}

// Links begin with the address that a client used: a port of a container, an address for a
// phone, or a proxy. --base-url takes precedence.
func TestMockLinks(t *testing.T) {
	t.Parallel()
	self := func(r *running, host string, headers ...string) string {
		req, err := http.NewRequest("GET", r.base+"/stations", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = host
		req.Header.Set("Authorization", "Bearer anna")
		for i := 0; i < len(headers); i += 2 {
			req.Header.Set(headers[i], headers[i+1])
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		var list struct{ Links struct{ Self string } }
		if err := json.NewDecoder(resp.Body).Decode(&list); err != nil {
			t.Fatal(err)
		}
		return list.Links.Self
	}
	plain, based := start(t, "mock"), start(t, "mock", "--base-url", "https://mock.example/api")
	for _, c := range []struct {
		host    string
		headers []string
		want    string
	}{
		{"192.0.2.7:4010", nil, "http://192.0.2.7:4010/stations"},
		{"traintravel:8080", nil, "http://traintravel:8080/stations"},
		{"[2001:db8::1]:8080", nil, "http://[2001:db8::1]:8080/stations"},
		{"10.0.0.9:8080", []string{"X-Forwarded-Proto", "https", "X-Forwarded-Host", "mock.example"}, "https://mock.example/stations"},
		{"10.0.0.9:8080", []string{"X-Forwarded-Proto", "https"}, "https://10.0.0.9:8080/stations"},
		{`x"y`, nil, plain.base + "/stations"},
	} {
		if got := self(plain, c.host, c.headers...); got != c.want {
			t.Errorf("asked at %s with %v, links begin %s, want %s", c.host, c.headers, got, c.want)
		}
		if got := self(based, c.host, c.headers...); got != "https://mock.example/api/stations" {
			t.Errorf("with --base-url, links begin %s", got)
		}
	}
}

// The addresses on which the mock listens, with and without --host.
func TestMockHost(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ addr, host, at string }{
		{"127.0.0.1:8080", "", "127.0.0.1:8080"},
		{"127.0.0.1:8080", "0.0.0.0", "0.0.0.0:8080"},
		{"127.0.0.1:9000", "0.0.0.0", "0.0.0.0:9000"},
		{"127.0.0.1:8080", "0.0.0.0:4010", "0.0.0.0:4010"},
		{"127.0.0.1:8080", ":4010", ":4010"},
		{"127.0.0.1:8080", "::", "[::]:8080"},
		{"127.0.0.1:8080", "[::]", "[::]:8080"},
		{"127.0.0.1:8080", "[::]:4010", "[::]:4010"},
		{"127.0.0.1:8080", "box.example", "box.example:8080"},
	} {
		m := mockServer{addr: c.addr, host: c.host}
		if err := m.check(); err != nil || m.at() != c.at {
			t.Errorf("%+v: %s, %v", c, m.at(), err)
		}
	}
	everybody := &net.TCPAddr{IP: net.IPv4zero, Port: 8080}
	for _, c := range []struct {
		m    mockServer
		addr net.Addr
		ok   bool
	}{
		{mockServer{addr: "0.0.0.0:8080"}, everybody, false},
		{mockServer{addr: "127.0.0.1:8080", host: "0.0.0.0"}, everybody, true},
		{mockServer{addr: "127.0.0.1:8080"}, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080}, true},
	} {
		if err := c.m.admit(c.addr); (err == nil) != c.ok || err != nil && !strings.Contains(err.Error(), "--host 0.0.0.0:8080") {
			t.Errorf("%+v on %v: %v", c.m, c.addr, err)
		}
	}
	for _, c := range []struct{ flag, value string }{
		{"--host", "0.0.0.0:99999"}, {"--host", "a:b:c"}, {"--host", "0.0.0.0:"}, {"--base-url", "mock.example"}, {"--base-url", "http://mock.example/"},
	} {
		m := mockServer{addr: "127.0.0.1:8080"}
		if c.flag == "--host" {
			m.host = c.value
		} else {
			m.baseURL = c.value
		}
		if err := m.check(); err == nil || !strings.HasPrefix(err.Error(), "invalid "+c.flag+" ") || !errors.As(err, new(usageError)) {
			t.Errorf("%s %s: %v", c.flag, c.value, err)
		} else if strings.HasSuffix(c.value, "/") && !strings.Contains(err.Error(), "without a slash at its end") {
			t.Errorf("%s %s does not say that the slash is wrong: %v", c.flag, c.value, err)
		}
	}
	if addrs := networkAddrs(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080}); addrs != nil {
		t.Errorf("others reach 127.0.0.1 at %v", addrs)
	}
}
