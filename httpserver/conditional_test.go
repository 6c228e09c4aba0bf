package httpserver_test

import (
	"testing"
	"time"
)

func TestConditional(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.book()
	targets := []string{"/stations?limit=2", "/stations/" + berlin, "/bookings", "/bookings/" + b.ID}
	seen := map[string]bool{}
	for _, target := range targets {
		for _, accept := range []string{"application/json", "application/xml"} {
			form := header("Accept", accept)
			first := w.do("GET", target, as("anna-r"), form).want(200)
			tag := first.header.Get("Etag")
			if len(tag) < 10 || tag[0] != '"' || seen[tag] {
				t.Errorf("%s as %s: the tag is %s", target, accept, tag)
			}
			seen[tag] = true
			if again := w.do("GET", target, as("anna-r"), form).header.Get("Etag"); again != tag {
				t.Errorf("%s: the tag was %s and is %s", target, tag, again)
			}
			for value, status := range map[string]int{
				tag: 304, "W/" + tag: 304, "*": 304, `"x", ` + tag + ` , "y"`: 304,
				`"x"`: 200, tag[:len(tag)-1]: 200, "": 200, `"x" "y"`: 200,
			} {
				a := w.do("GET", target, as("anna-r"), form, header("If-None-Match", value)).want(status)
				for _, name := range []string{"Etag", "Cache-Control", "Vary", "Sunset"} {
					if a.header.Get(name) != first.header.Get(name) {
						t.Errorf("%s, %q: %s is %q, was %q", target, value, name, a.header.Get(name), first.header.Get(name))
					}
				}
			}
			w.do("GET", target, as("anna-r"), form, header("If-None-Match", `"x"`, tag)).want(304)
			w.do("HEAD", target, as("anna-r"), form, header("If-None-Match", tag)).want(304)
			w.do("GET", target, as("berta-"), form, header("If-None-Match", tag)).want(403)
		}
	}
	// What else is seen of a booking is part of its tag.
	held := w.get("/bookings/" + b.ID).header.Get("Etag")
	w.post("/bookings/"+b.ID+"/payment", payment(w.get("/trips/"+b.TripID).resource().Price, goodCard)).want(200)
	w.do("GET", "/bookings/"+b.ID, as("anna-r"), header("If-None-Match", held)).want(200)

	tag := w.get("/bookings").header.Get("Etag")
	w.later(time.Minute)
	w.do("GET", "/bookings", as("anna-r"), header("If-None-Match", tag)).want(304)
	w.book()
	w.do("GET", "/bookings", as("anna-r"), header("If-None-Match", tag)).want(200)
	for _, target := range []string{search, "/trips/" + b.TripID, "/bookings/" + b.ID + "/payments", "/healthz"} {
		if a := w.get(target); a.header.Get("Etag") != "" {
			t.Errorf("%s has a tag, and what it shows changes with every booking", target)
		}
	}
}

// HEAD answers as GET does, without the body.
func TestHead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.book()
	for _, target := range []string{
		"/stations", "/stations/" + berlin, "/stations/" + nobody, search, "/trips/" + b.TripID, "/trips", "/bookings",
		"/bookings/" + b.ID, "/bookings/" + b.ID + "/payment", "/bookings/" + b.ID + "/payments", "/healthz", "/readyz", "/nothing",
	} {
		get, head := w.get(target), w.do("HEAD", target, as("anna-r"))
		if get.status < 400 && head.header.Get("Content-Length") == "" {
			t.Errorf("%s: no length", target)
		}
		for _, name := range []string{"Content-Type", "Etag", "Cache-Control", "Vary", "Sunset"} {
			if get.header.Get(name) != head.header.Get(name) {
				t.Errorf("%s: %s is %q, and %q to HEAD", target, name, get.header.Get(name), head.header.Get(name))
			}
		}
		if get.status != head.status {
			t.Errorf("%s: %d, and %d to HEAD", target, get.status, head.status)
		}
	}
	w.do("HEAD", "/bookings").want(401)
	w.do("HEAD", "/bookings", as("anna-w")).want(403)
}

// If-Match is honoured (RFC 9110, section 13.1.1).
func TestIfMatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.book()
	for _, target := range []string{"/stations?limit=2", "/stations/" + berlin, "/bookings", "/bookings/" + b.ID} {
		tag := w.get(target).header.Get("Etag")
		for value, status := range map[string]int{
			tag: 200, "*": 200, " * ": 200, `"x", ` + tag + ` , "y"`: 200, "W/\"x\"," + tag: 200, `"x,y",` + tag: 200,
			`"x"`: 412, "W/" + tag: 412, "": 412, `"x, *, y"`: 412, `*, "x"`: 412, `"x,` + tag + `,y"`: 412, `"x" ` + tag: 412, tag[1:]: 412, "W/": 412,
		} {
			for _, method := range []string{"GET", "HEAD"} {
				a := w.do(method, target, as("anna-r"), header("If-Match", value)).want(status)
				if status == 412 && (a.header.Get("Etag") != "" || a.header.Get("Sunset") != "") {
					t.Errorf("%s, %q: the problem has the headers %v", target, value, a.header)
				}
				if status == 412 && method == "GET" {
					a.problem(412, "precondition-failed")
				}
			}
		}
		w.do("GET", target, as("anna-r"), header("If-Match", `"x"`, tag)).want(200)
		w.do("GET", target, as("anna-r"), header("If-Match", tag), header("If-None-Match", tag)).want(304)
		w.do("GET", target, as("anna-r"), header("If-Match", `"x"`), header("If-None-Match", tag)).want(412)
		w.do("GET", target, header("If-Match", `"x"`)).want(401)
		w.do("GET", target, as("anna-r"), header("If-Match", `"x"`), header("Accept", "text/html")).want(406)
	}
	w.do("GET", "/bookings/"+nobody, as("anna-r"), header("If-Match", "*")).want(404)
	w.do("GET", "/bookings?page=0", as("anna-r"), header("If-Match", `"x"`)).want(400)
}

// A cancellation with If-Match cancels the booking only in the state that the client has read.
func TestCancelIfMatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	trip := w.trip()
	cancel := func(id string, parts ...part) answer {
		t.Helper()
		return w.do("DELETE", "/bookings/"+id, append([]part{as("anna-w")}, parts...)...)
	}
	tag := func(id, mediaType string) string {
		t.Helper()
		return w.do("GET", "/bookings/"+id, as("anna-r"), header("Accept", mediaType)).want(200).header.Get("Etag")
	}
	book := func() string {
		t.Helper()
		return w.post("/bookings", newBooking(trip.ID)).want(201).resource().ID
	}

	paid := book()
	stale := tag(paid, "application/json")
	w.post("/bookings/"+paid+"/payment", payment(trip.Price, goodCard)).want(200)
	now := tag(paid, "application/json")
	for _, value := range []string{stale, "W/" + now, `"x"`, ""} {
		a := cancel(paid, header("If-Match", value))
		if a.problem(412, "precondition-failed"); a.header.Get("Etag") != "" || a.header.Get("Sunset") != "" {
			t.Errorf("the headers are %v", a.header)
		}
	}
	for _, value := range []string{"*", now, "W/" + now, `"x", ` + now} {
		cancel(paid, header("If-None-Match", value)).problem(412, "precondition-failed")
	}
	cancel(paid, header("If-Match", now), header("If-None-Match", now)).problem(412, "precondition-failed")
	if again := tag(paid, "application/json"); again != now {
		t.Errorf("the booking was %s and is %s", now, again)
	}
	if all := w.get("/bookings/" + paid + "/payments").collection(); len(all.Data) != 1 {
		t.Errorf("the payments are %v", all)
	}
	cancel(paid, header("If-Match", stale, now), header("If-None-Match", stale)).want(204)

	// What is asked for and what the booking was read as may differ.
	for _, parts := range [][]part{
		{header("If-Match", "*")}, {header("If-None-Match", `"x"`)}, {header("If-None-Match", "")}, nil,
	} {
		cancel(book(), parts...).want(204)
	}
	for _, mediaType := range []string{"application/json", "application/xml"} {
		for _, accept := range []string{"application/json", "application/xml", "*/*"} {
			id := book()
			if a := cancel(id, header("If-Match", tag(id, mediaType)), header("Accept", accept)).want(204); len(a.header["Sunset"])+len(a.header["Etag"]) > 0 {
				t.Errorf("the headers are %v", a.header)
			}
		}
	}

	// All else comes first.
	id := book()
	cancel(nobody, header("If-Match", "*")).want(404)
	cancel(nobody, header("If-None-Match", "*")).want(404)
	cancel("x", header("If-Match", `"x"`)).want(400)
	w.do("DELETE", "/bookings/"+id, as("berta-w"), header("If-Match", `"x"`)).want(404)
	w.do("DELETE", "/bookings/"+id, as("anna-r"), header("If-Match", `"x"`)).want(403)
	w.later(time.Hour)
	cancel(id, header("If-Match", `"x"`)).want(404)

	// What a POST makes has no state yet.
	for _, h := range []part{header("If-Match", `"x"`), header("If-None-Match", "*")} {
		made := w.do("POST", "/bookings", as("anna-w"), body(newBooking(trip.ID)), h).want(201).resource()
		w.do("POST", "/bookings/"+made.ID+"/payment", as("anna-w"), body(payment(trip.Price, goodCard)), h).want(200)
	}
}
