package traintravel

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"
	"pgregory.net/rapid"
)

func TestMatch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want []int
	}{
		{"", "", []int{}}, {"AB", "", []int{-1, -1}}, {"", "AB", []int{}},
		{"ABC", "ABC", []int{0, 1, 2}},
		{"ABC", "AXBC", []int{0, 2, 3}},
		{"AXBC", "ABC", []int{0, -1, 1, 2}},
		{"ABC", "ABD", []int{0, 1, -1}},
		{"ABAB", "ABAB", []int{0, 1, 2, 3}},
		{"ABCA", "ABCXA", []int{0, 1, 2, 4}},
		{"ABC", "DEF", []int{-1, -1, -1}},
	} {
		if got := match(marksOf(c.a), marksOf(c.b)); !slices.Equal(got, c.want) {
			t.Errorf("%s in %s: %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

// longestCommon is the length of the longest common subsequence, by trying all.
func longestCommon(a, b []uint64) int {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	n := max(longestCommon(a[1:], b), longestCommon(a, b[1:]))
	if a[0] == b[0] {
		n = max(n, 1+longestCommon(a[1:], b[1:]))
	}
	return n
}

func TestMatchIsInOrderAndGreatest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.Uint64Range(1, 4), 0, 7)
		a, b := list.Draw(t, "a"), list.Draw(t, "b")
		last, n := -1, 0
		for i, j := range match(a, b) {
			if j < 0 {
				continue
			}
			if j <= last || a[i] != b[j] {
				t.Fatalf("%v in %v: %v", a, b, match(a, b))
			}
			last = j
			n++
		}
		if want := longestCommon(a, b); n != want {
			t.Fatalf("%v in %v: %d pairs, want %d", a, b, n, want)
		}
	})
}

// refit makes an inventory count on another list of stations and coaches.
func refit(v *inventory, stations string, seats ...int) *inventory {
	w := inventoryOf(stations, seats...)
	return v.fit(w.list, w.calls, w.coaches)
}

func TestFit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		stations string // booked: place 0 from call 1 to 2, place 3 (seat 2 of coach 2) from 0 to 3
		seats    []int
		want     []taken
		stranded []int
	}{
		{"a call inserted", "AXBCD", []int{2, 2}, []taken{paid(1, 0, 2, 3), paid(2, 3, 0, 4)}, nil},
		{"a call dropped that nobody uses", "ABC", []int{2, 2}, []taken{paid(1, 0, 1, 2)}, []int{2}},
		{"the first coach longer", "ABCD", []int{5, 2}, []taken{paid(1, 0, 1, 2), paid(2, 6, 0, 3)}, nil},
		{"the second coach shorter", "ABCD", []int{2, 1}, []taken{paid(1, 0, 1, 2)}, []int{2}},
		{"no coaches", "ABCD", nil, nil, []int{1, 2}},
		{"other stations", "WXYZ", []int{2, 2}, nil, []int{1, 2}},
		{"a station called at once more", "ABCBD", []int{2, 2}, []taken{paid(2, 3, 0, 4)}, []int{1}},
		{"the terminus called at before", "ADBCD", []int{2, 2}, []taken{paid(1, 0, 2, 3)}, []int{2}},
		{"two calls exchanged", "ACBD", []int{2, 2}, []taken{paid(2, 3, 0, 3)}, []int{1}},
	} {
		v := inventoryOf("ABCD", 2, 2)
		v.revision, v.taken = 7, []taken{paid(1, 0, 1, 2), paid(2, 3, 0, 3)}
		before := v.encode()
		w := refit(v, c.stations, c.seats...)
		if diff := cmp.Diff(c.want, w.taken, cmp.AllowUnexported(taken{})); diff != "" {
			t.Errorf("%s: -want +got\n%s", c.name, diff)
		}
		var lost []int
		for _, s := range w.stranded {
			lost = append(lost, int(s.booking[1]))
		}
		if !slices.Equal(lost, c.stranded) || w.revision != 7 || w.list != textMark(c.stations) {
			t.Errorf("%s: stranded %v, want %v; revision %d", c.name, lost, c.stranded, w.revision)
		}
		if !slices.Equal(v.encode(), before) {
			t.Errorf("%s: the inventory that is fitted has changed", c.name)
		}
		back := refit(w, "ABCD", 2, 2)
		slices.SortFunc(back.taken, func(a, b taken) int { return slices.Compare(a.booking[:], b.booking[:]) })
		if diff := cmp.Diff(v.taken, back.taken, cmp.AllowUnexported(taken{})); diff != "" || len(back.stranded) > 0 {
			t.Errorf("%s, and back: -want +got\n%s", c.name, diff)
		}
	}
}

func TestStrandedPlacesAreNobodyElses(t *testing.T) {
	t.Parallel()
	v := inventoryOf("ABCD", 2)
	v.take(taken{booking: nth(1), place: 0, from: 2, to: 3, until: later.UnixNano(), hook: true})
	w := refit(v, "ABC", 2)
	if w.free(0, 1, noon) != 1 || w.isFree(0, 0, 1, noon) || w.choose(0, 2, noon) != 1 || w.hookFree(1, 0, 1, noon) {
		t.Error("the place of a stranded booking is for sale")
	}
	if w.free(0, 1, later) != 2 || !w.hookFree(1, 0, 1, later) || len(w.inTheWay(taken{place: 0, to: 1}, later)) != 1 {
		t.Error("a stranded hold that has lapsed keeps its place")
	}
	if w = refit(v, "ABC", 1); w.free(0, 2, noon) != 0 {
		t.Error("a place is free in a coach of one seat")
	}
	if w = refit(v, "ABCD"); w.free(0, 1, noon) != 0 || len(w.stranded) != 1 {
		t.Error("a booking with a place rides on a train without any")
	}
}

// Where calls have changed places, two who had a place one after the other may
// now ride at once: one of them is stranded.
func TestStrandedOnAPlaceThatIsTaken(t *testing.T) {
	t.Parallel()
	v := inventoryOf("ABCD", 1)
	v.taken = []taken{paid(1, 0, 0, 1), paid(2, 0, 2, 3)} // A to B, C to D
	w := refit(v, "CABD", 1)
	if len(w.taken) != 1 || w.taken[0] != paid(1, 0, 1, 2) || len(w.stranded) != 1 || w.stranded[0].booking != nth(2) {
		t.Errorf("%+v, stranded %+v", w.taken, w.stranded)
	}
}

// On a train that calls twice at a station a guess might free the place on the
// sections where its passenger rides.
func TestStrandedOnALoopIsNotGuessedAt(t *testing.T) {
	t.Parallel()
	v := inventoryOf("ABAB", 1)
	v.take(paid(1, 0, 2, 3)) // the second ride from A to B
	for _, change := range []string{"AC", "AB", "ABXAB", "XABAB"} {
		w := refit(refit(v, change, 1), "ABAB", 1)
		if w.isFree(0, 2, 3, noon) {
			t.Errorf("after %s the place is free where its passenger rides", change)
		}
		if len(w.stranded) > 0 || len(w.taken) != 1 || w.taken[0] != v.taken[0] {
			t.Errorf("after %s: %+v, stranded %+v", change, w.taken, w.stranded)
		}
	}
	for _, change := range []string{"AB", "ACAC"} {
		if w := refit(v, change, 1); len(w.taken) > 0 || len(w.stranded) != 1 {
			t.Errorf("%s: %+v, stranded %+v", change, w.taken, w.stranded)
		}
	}
}

// Bookings outlive any change of calls and coaches: each has its seat between
// its stations or is stranded, and once the old train is back so is everybody.
func TestFitLosesNobody(t *testing.T) {
	t.Parallel()
	moved, lost := 0, 0
	letters := rapid.SampledFrom([]byte("ABCDEFG"))
	DrawUntil(t, func() bool { return moved >= 100 && lost >= 100 }, func(t *rapid.T) {
		loops := rapid.Bool().Draw(t, "loops")
		list := rapid.Map(rapid.SliceOfNDistinct(letters, 2, 6, rapid.ID), func(b []byte) string { return string(b) })
		if loops {
			list = rapid.Map(rapid.SliceOfN(letters, 2, 6), func(b []byte) string { return string(b) })
		}
		coaches := rapid.SliceOfN(rapid.IntRange(1, 3), 0, 3)
		stations, seats := list.Draw(t, "stations"), coaches.Draw(t, "seats")
		v := inventoryOf(stations, seats...)
		v.revision = rapid.Uint64().Draw(t, "revision")
		for n := range rapid.IntRange(1, 8).Draw(t, "bookings") {
			from := rapid.IntRange(0, len(stations)-2).Draw(t, "from")
			to := rapid.IntRange(from+1, len(stations)-1).Draw(t, "to")
			x := paid(n, v.choose(from, to, noon), uint8(from), uint8(to))
			x.hook = rapid.Bool().Draw(t, "hook")
			v.take(x)
		}
		w := v
		for range rapid.IntRange(1, 3).Draw(t, "changes") {
			others, seats := changed(t, stations), seats
			if rapid.IntRange(0, 3).Draw(t, "train") == 3 {
				others, seats = list.Draw(t, "stations"), coaches.Draw(t, "seats")
			}
			w = refit(w, others, seats...)
			checkFitted(t, v, w)
			again, err := decodeInventory(w.encode())
			if err != nil || !cmp.Equal(w, again, cmp.AllowUnexported(inventory{}, taken{}, strandedPlace{}), cmpopts.EquateEmpty()) {
				t.Fatalf("%+v is read as %+v, %v", w, again, err)
			}
			lost += len(w.stranded)
			moved += len(w.taken)
		}
		w = refit(w, stations, seats...)
		checkFitted(t, v, w)
		if loops {
			return
		}
		slices.SortFunc(w.taken, func(a, b taken) int { return slices.Compare(a.booking[:], b.booking[:]) })
		if len(w.stranded) > 0 || !slices.Equal(w.taken, v.taken) {
			t.Fatalf("the train is as it was, but the bookings are\n%+v, stranded %+v, not\n%+v", w.taken, w.stranded, v.taken)
		}
	})
}

// changed is a list of stations with one dropped or another, H, inserted.
func changed(t *rapid.T, stations string) string {
	at := rapid.IntRange(0, len(stations)-1).Draw(t, "at")
	if len(stations) > 2 && rapid.Bool().Draw(t, "drop") {
		return stations[:at] + stations[at+1:]
	}
	return stations[:at] + "H" + stations[at:]
}

// checkFitted compares an inventory with what was booked in another.
func checkFitted(t *rapid.T, booked, fitted *inventory) {
	t.Helper()
	if fitted.revision != booked.revision || len(fitted.taken)+len(fitted.stranded) != len(booked.taken) {
		t.Fatalf("%d bookings, %d and %d stranded", len(booked.taken), len(fitted.taken), len(fitted.stranded))
	}
	was := map[uuid.UUID]taken{}
	for _, x := range booked.taken {
		was[x.booking] = x
	}
	m := &model{places: fitted.places(), sections: len(fitted.calls) - 1, have: map[uuid.UUID]taken{}}
	for _, x := range fitted.taken {
		b := was[x.booking]
		coach, seat := booked.label(b.place)
		nowCoach, nowSeat := fitted.label(x.place)
		if coach != nowCoach || seat != nowSeat || x.hook != b.hook || x.until != b.until ||
			booked.calls[b.from] != fitted.calls[x.from] || booked.calls[b.to] != fitted.calls[x.to] || x.from >= x.to {
			t.Fatalf("%+v has become %+v", b, x)
		}
		m.have[x.booking] = x
	}
	m.grid(t, noon) // fails if two have one place
	for _, s := range fitted.stranded {
		b := was[s.booking]
		coach, seat := booked.label(b.place)
		if s.board != booked.calls[b.from] || s.alight != booked.calls[b.to] || s.coach != coach || s.seat != seat {
			t.Fatalf("%+v is stranded as %+v", b, s)
		}
		if p := fitted.place(s.coach, s.seat); p != noPlace && fitted.isFree(p, 0, m.sections, noon) {
			t.Fatalf("the place of %+v is for sale", s)
		}
	}
}

// However timetables come and go, what is stranded and counts on the calls in force is
// on no section of a place that another has: Check may take it for a place sold twice.
func TestStrandedOnItsOwnCallsIsAlone(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v, n := inventoryOf("ABCD", 1, 2), 0
		for range rapid.IntRange(2, 10).Draw(t, "timetables") {
			calls := rapid.SampledFrom([]string{"ABCD", "ACBD", "ABD", "BCD", "ABCBD", "DCBA", "AXD", "ABC"}).Draw(t, "calls")
			w := inventoryOf(calls, rapid.SliceOfN(rapid.IntRange(1, 2), 1, 2).Draw(t, "coaches")...)
			v = v.fit(w.list, w.calls, w.coaches)
			for range rapid.IntRange(0, 4).Draw(t, "bookings") {
				from := rapid.IntRange(0, len(calls)-2).Draw(t, "from")
				to := rapid.IntRange(from+1, len(calls)-1).Draw(t, "to")
				if p := v.choose(from, to, noon); p != noPlace {
					n++
					v.take(taken{booking: nth(n), place: p, from: uint8(from), to: uint8(to), until: forGood})
				}
			}
			v.eachStrandedTwice(func(x, o *taken) {
				t.Fatalf("%v and %v both have place %d of %s", x.booking, o.booking, x.place, calls)
			})
		}
	})
}
