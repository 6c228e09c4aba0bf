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
