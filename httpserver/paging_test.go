package httpserver_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"
)

// walk follows next from a first page until it is absent, and returns the IDs.
func (w *world) walk(target string, between func()) []string {
	w.t.Helper()
	var ids []string
	for page := 1; ; page++ {
		a := w.get(target)
		c := a.collection()
		for _, r := range c.Data {
			ids = append(ids, r.ID)
		}
		if (page > 1) != (c.Links["prev"] != "") {
			w.t.Fatalf("page %d: links.prev is %q", page, c.Links["prev"])
		}
		next := c.Links["next"]
		if next == "" {
			return ids
		}
		u, err := url.Parse(next)
		if err != nil || u.Query().Get("page") != fmt.Sprint(page+1) {
			w.t.Fatalf("page %d: links.next is %q", page, next)
		}
		target = a.local(next)
		between()
	}
}

// Following next meets everything that was there once, while bookings are made,
// are cancelled and expire.
func TestPagingWhileThingsChange(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	trip := w.trip().ID
	stay := map[string]bool{}
	var leave []string
	const all, expire = 60, 30
	for i := range all {
		w.later(time.Second)
		id := w.post("/bookings", newBooking(trip)).want(201).resource().ID
		switch {
		case i%6 == 0:
			leave = append(leave, id)
		case i >= expire:
			stay[id] = true
		}
	}
	w.later(time.Hour - all*time.Second) // from now on they expire one by one
	ids := w.walk("/bookings?limit=3", func() {
		w.later(time.Second)
		w.post("/bookings", newBooking(trip)).want(201)
		if len(leave) > 0 {
			w.do("DELETE", "/bookings/"+leave[len(leave)-1], as("anna-w")) // may have expired
			leave = leave[:len(leave)-1]
		}
	})
	seen := map[string]bool{}
	for _, id := range ids {
		if seen[id] {
			t.Errorf("%s came twice", id)
		}
		seen[id] = true
	}
	for id := range stay {
		if !seen[id] {
			t.Errorf("%s is missing", id)
		}
	}
	if len(ids) == len(stay)+all/6 || len(ids) > all-all/6 {
		t.Errorf("%d were met: none has expired on the way, or all have", len(ids))
	}
	w.later(time.Hour)
	if ids := w.walk("/bookings", func() {}); len(ids) != 0 {
		t.Errorf("%d bookings are left after their holds", len(ids))
	}
}

// Links keep every filter, and only what the operation knows.
func TestPageLinks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, c := range []struct{ target, self, next, prev string }{
		{"/bookings", "/bookings", "", ""},
		{"/bookings?page=3&x=y", "/bookings?page=3", "", "/bookings?page=2"},
		{"/stations?limit=5&country=de&search=b&foo=bar&&", "/stations?search=b&country=de&limit=5", "", ""},
		{"/stations?limit=1&search=&page=2", "/stations?search=&page=2&limit=1", "/stations?search=&page=3&limit=1&after=", "/stations?search=&page=1&limit=1"},
		{"/stations?coordinates=52.5,%2013.4&limit=1", "/stations?coordinates=52.5%2C+13.4&limit=1", "", ""},
		{"/stations?search=%C3%BC%26page%3D7", "/stations?search=%C3%BC%26page%3D7", "", ""},
		{search + "&limit=1&bicycles=false&dogs=false&direct=true", search + "&bicycles=false&dogs=false&direct=true&limit=1",
			search + "&bicycles=false&dogs=false&direct=true&page=2&limit=1&after=", ""},
	} {
		links := w.get(c.target).collection().Links
		want := func(path string) string {
			if path == "" {
				return ""
			}
			return base + path
		}
		next, _, _ := strings.Cut(links["next"], "&after=")
		wantNext, _, _ := strings.Cut(want(c.next), "&after=")
		if links["self"] != want(c.self) || next != wantNext || links["prev"] != want(c.prev) {
			t.Errorf("%s: %v, want %+v", c.target, links, c)
		}
	}
	if all, pages := w.walk("/stations?limit=100", func() {}), w.walk("/stations?limit=7", func() {}); len(all) < 60 || fmt.Sprint(all) != fmt.Sprint(pages) {
		t.Errorf("%d stations in big pages, %d in small ones", len(all), len(pages))
	}
	if all, pages := w.walk(search, func() {}), w.walk(search+"&limit=1", func() {}); len(all) < 3 || fmt.Sprint(all) != fmt.Sprint(pages) {
		t.Errorf("%d trips in big pages, %d in small ones", len(all), len(pages))
	}
}

// Pages go on beyond the highest number that one may have: the cursor counts.
func TestLastPageNumber(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.get("/stations?limit=1").collection()
	link := first.Links["next"]
	for _, page := range []string{"999999", "1000000"} {
		target := strings.Replace(w.get("/stations").local(link), "page=2", "page="+page, 1)
		for range 3 {
			a := w.get(target)
			c := a.collection()
			if len(c.Data) != 1 || c.Links["next"] == "" || c.Links["next"] == c.Links["self"] {
				t.Fatalf("%s: %s", target, a.body)
			}
			target = a.local(c.Links["next"])
		}
	}
}

// The payments of a booking have pages too.
func TestPagesOfPayments(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.book()
	for range 5 {
		w.later(time.Second)
		w.post("/bookings/"+b.ID+"/payment", payment("113.58", "4000000000000002")).want(200)
	}
	path := "/bookings/" + b.ID + "/payments"
	if all, pages := w.walk(path, func() {}), w.walk(path+"?limit=2", func() {}); len(all) != 5 || fmt.Sprint(all) != fmt.Sprint(pages) {
		t.Errorf("payments %v, by pages %v", all, pages)
	}
}
