package httpserver_test

import (
	"slices"
	"strings"
	"testing"
)

// Stations are written once and kept, in either form, until the timetable says
// otherwise.
func TestStationsAsTheyAre(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	both := func(target string) (answers [2]string) {
		for i, accept := range []string{"application/json", "application/xml"} {
			answers[i] = w.do("GET", target, as("anna-rw"), header("Accept", accept)).want(200).body
		}
		return answers
	}
	one := "/stations/" + berlin
	all := "/stations?search=berlin"
	first, listed := both(one), both(all)
	for i := range first {
		if again := both(one); again[i] != first[i] {
			t.Errorf("the second time it is %s, not %s", again[i], first[i])
		}
		if again := both(all); again[i] != listed[i] {
			t.Errorf("the second time it is %s, not %s", again[i], listed[i])
		}
	}
	changed := *w.timetable
	changed.Stations = slices.Clone(changed.Stations)
	for i := range changed.Stations {
		if st := &changed.Stations[i]; st.ID.String() == berlin {
			st.Address = "Europaplatz <1>"
		}
	}
	if _, err := w.service.LoadTimetable(t.Context(), &changed); err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{one, all} {
		for i, want := range []string{`"address":"Europaplatz <1>"`, "<address>Europaplatz &lt;1&gt;</address>"} {
			if got := both(target)[i]; !strings.Contains(got, want) {
				t.Errorf("%s after the station changed: %s", target, got)
			}
		}
	}
}

// A station always has a country code, in both forms and on tickets too: ZZ if its
// timetable knows none, by which it is found.
func TestStationsWithoutCountry(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	atSea := *w.timetable
	atSea.Stations = slices.Clone(atSea.Stations)
	for i := range atSea.Stations {
		if st := &atSea.Stations[i]; st.ID.String() == berlin {
			st.Country = ""
		}
	}
	if _, err := w.service.LoadTimetable(t.Context(), &atSea); err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{"/stations/" + berlin, "/stations?search=berlin%20hauptbahnhof&limit=1", "/stations?country=ZZ", "/stations?country=zz"} {
		for accept, want := range map[string]string{"application/json": `"country_code":"ZZ"`, "application/xml": "<country_code>ZZ</country_code>"} {
			if a := w.do("GET", target, as("anna-r"), header("Accept", accept)).want(200); strings.Count(a.body, berlin) == 0 || strings.Count(a.body, want) != 1 {
				t.Errorf("%s: %s", target, a.body)
			}
		}
	}
	for _, page := range []string{"1", "2"} {
		list := w.get("/stations?limit=50&page=" + page).want(200).body
		if ids, codes := strings.Count(list, `"timezone":`), strings.Count(list, `"country_code":"`); ids == 0 || ids != codes {
			t.Errorf("%d stations have %d country codes: %s", ids, codes, list)
		}
	}
	b := w.book()
	w.pay(b)
	if ld := w.ticketOf(b, "", header("Accept", "application/ld+json")).want(200).body; strings.Contains(ld, `"ZZ"`) || !strings.Contains(ld, `"addressCountry":"FR"`) {
		t.Errorf("the ticket names a country that is none: %s", ld)
	}
}
