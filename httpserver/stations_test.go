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
