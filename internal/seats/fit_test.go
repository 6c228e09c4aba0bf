package seats

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/traintravel/traintravel/internal/railtest"
	"github.com/traintravel/traintravel/internal/trains"
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
func refit(v *Inventory, stations string, seats ...int) *Inventory {
	w := inventoryOf(stations, seats...)
	return v.Fit(w.List, w.Calls, w.Coaches)
}

func TestFit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		stations string // booked: place 0 from call 1 to 2, place 3 (seat 2 of coach 2) from 0 to 3
		seats    []int
		want     []Taken
		stranded []int
	}{
		{"a call inserted", "AXBCD", []int{2, 2}, []Taken{paid(1, 0, 2, 3), paid(2, 3, 0, 4)}, nil},
		{"a call dropped that nobody uses", "ABC", []int{2, 2}, []Taken{paid(1, 0, 1, 2)}, []int{2}},
		{"the first coach longer", "ABCD", []int{5, 2}, []Taken{paid(1, 0, 1, 2), paid(2, 6, 0, 3)}, nil},
		{"the second coach shorter", "ABCD", []int{2, 1}, []Taken{paid(1, 0, 1, 2)}, []int{2}},
		{"no coaches", "ABCD", nil, nil, []int{1, 2}},
		{"other stations", "WXYZ", []int{2, 2}, nil, []int{1, 2}},
		{"a station called at once more", "ABCBD", []int{2, 2}, []Taken{paid(2, 3, 0, 4)}, []int{1}},
		{"the terminus called at before", "ADBCD", []int{2, 2}, []Taken{paid(1, 0, 2, 3)}, []int{2}},
		{"two calls exchanged", "ACBD", []int{2, 2}, []Taken{paid(2, 3, 0, 3)}, []int{1}},
	} {
		v := inventoryOf("ABCD", 2, 2)
		v.Revision, v.Taken = 7, []Taken{paid(1, 0, 1, 2), paid(2, 3, 0, 3)}
		before := v.Encode()
		w := refit(v, c.stations, c.seats...)
		if diff := cmp.Diff(c.want, w.Taken, cmp.AllowUnexported(Taken{})); diff != "" {
			t.Errorf("%s: -want +got\n%s", c.name, diff)
		}
		var lost []int
		for _, s := range w.Stranded {
			lost = append(lost, int(s.Booking[1]))
		}
		if !slices.Equal(lost, c.stranded) || w.Revision != 7 || w.List != trains.TextMark(c.stations) {
			t.Errorf("%s: stranded %v, want %v; revision %d", c.name, lost, c.stranded, w.Revision)
		}
		if !slices.Equal(v.Encode(), before) {
			t.Errorf("%s: the inventory that is fitted has changed", c.name)
		}
		back := refit(w, "ABCD", 2, 2)
		slices.SortFunc(back.Taken, func(a, b Taken) int { return slices.Compare(a.Booking[:], b.Booking[:]) })
		if diff := cmp.Diff(v.Taken, back.Taken, cmp.AllowUnexported(Taken{})); diff != "" || len(back.Stranded) > 0 {
			t.Errorf("%s, and back: -want +got\n%s", c.name, diff)
		}
	}
}

func TestStrandedPlacesAreNotSold(t *testing.T) {
	t.Parallel()
	v := inventoryOf("ABCD", 2)
	v.Take(Taken{Booking: railtest.Nth(1), Place: 0, From: 2, To: 3, Until: railtest.Later().UnixNano(), Hook: true})
	w := refit(v, "ABC", 2)
	if w.Free(0, 1, railtest.Noon()) != 1 || w.IsFree(0, 0, 1, railtest.Noon()) || w.Choose(0, 2, railtest.Noon()) != 1 || w.HookFree(1, 0, 1, railtest.Noon()) {
		t.Error("the place of a stranded booking is for sale")
	}
	if w.Free(0, 1, railtest.Later()) != 2 || !w.HookFree(1, 0, 1, railtest.Later()) || len(w.InTheWay(Taken{Place: 0, To: 1}, railtest.Later())) != 1 {
		t.Error("a stranded hold that has lapsed keeps its place")
	}
	if w = refit(v, "ABC", 1); w.Free(0, 2, railtest.Noon()) != 0 {
		t.Error("a place is free in a coach of one seat")
	}
	if w = refit(v, "ABCD"); w.Free(0, 1, railtest.Noon()) != 0 || len(w.Stranded) != 1 {
		t.Error("a booking with a place rides on a train without any")
	}
}

// Where calls have changed places, two who had a place one after the other may
// now ride at once: one of them is stranded.
func TestStrandedOnAPlaceThatIsTaken(t *testing.T) {
	t.Parallel()
	v := inventoryOf("ABCD", 1)
	v.Taken = []Taken{paid(1, 0, 0, 1), paid(2, 0, 2, 3)} // A to B, C to D
	w := refit(v, "CABD", 1)
	if len(w.Taken) != 1 || w.Taken[0] != paid(1, 0, 1, 2) || len(w.Stranded) != 1 || w.Stranded[0].Booking != railtest.Nth(2) {
		t.Errorf("%+v, stranded %+v", w.Taken, w.Stranded)
	}
}

// On a train that calls twice at a station a guess might free the place on the
// sections where its passenger rides.
func TestStrandedOnALoopIsNotGuessedAt(t *testing.T) {
	t.Parallel()
	v := inventoryOf("ABAB", 1)
	v.Take(paid(1, 0, 2, 3)) // the second ride from A to B
	for _, change := range []string{"AC", "AB", "ABXAB", "XABAB"} {
		w := refit(refit(v, change, 1), "ABAB", 1)
		if w.IsFree(0, 2, 3, railtest.Noon()) {
			t.Errorf("after %s the place is free where its passenger rides", change)
		}
		if len(w.Stranded) > 0 || len(w.Taken) != 1 || w.Taken[0] != v.Taken[0] {
			t.Errorf("after %s: %+v, stranded %+v", change, w.Taken, w.Stranded)
		}
	}
	for _, change := range []string{"AB", "ACAC"} {
		if w := refit(v, change, 1); len(w.Taken) > 0 || len(w.Stranded) != 1 {
			t.Errorf("%s: %+v, stranded %+v", change, w.Taken, w.Stranded)
		}
	}
}

// Bookings outlive any change of calls and coaches: each has its seat between
// its stations or is stranded, and once the old train is back so is everybody.
func TestFitLosesNobody(t *testing.T) {
	t.Parallel()
	moved, lost := 0, 0
	letters := rapid.SampledFrom([]byte("ABCDEFG"))
	railtest.DrawUntil(t, func() bool { return moved >= 100 && lost >= 100 }, func(t *rapid.T) {
		loops := rapid.Bool().Draw(t, "loops")
		list := rapid.Map(rapid.SliceOfNDistinct(letters, 2, 6, rapid.ID), func(b []byte) string { return string(b) })
		if loops {
			list = rapid.Map(rapid.SliceOfN(letters, 2, 6), func(b []byte) string { return string(b) })
		}
		coaches := rapid.SliceOfN(rapid.IntRange(1, 3), 0, 3)
		stations, seats := list.Draw(t, "stations"), coaches.Draw(t, "seats")
		v := inventoryOf(stations, seats...)
		v.Revision = rapid.Uint64().Draw(t, "revision")
		for n := range rapid.IntRange(1, 8).Draw(t, "bookings") {
			from := rapid.IntRange(0, len(stations)-2).Draw(t, "from")
			to := rapid.IntRange(from+1, len(stations)-1).Draw(t, "to")
			x := paid(n, v.Choose(from, to, railtest.Noon()), uint8(from), uint8(to))
			x.Hook = rapid.Bool().Draw(t, "hook")
			v.Take(x)
		}
		w := v
		for range rapid.IntRange(1, 3).Draw(t, "changes") {
			others, seats := changed(t, stations), seats
			if rapid.IntRange(0, 3).Draw(t, "train") == 3 {
				others, seats = list.Draw(t, "stations"), coaches.Draw(t, "seats")
			}
			w = refit(w, others, seats...)
			checkFitted(t, v, w)
			again, err := DecodeInventory(w.Encode())
			if err != nil || !cmp.Equal(w, again, cmp.AllowUnexported(Inventory{}, Taken{}, StrandedPlace{}), cmpopts.EquateEmpty()) {
				t.Fatalf("%+v is read as %+v, %v", w, again, err)
			}
			lost += len(w.Stranded)
			moved += len(w.Taken)
		}
		w = refit(w, stations, seats...)
		checkFitted(t, v, w)
		if loops {
			return
		}
		slices.SortFunc(w.Taken, func(a, b Taken) int { return slices.Compare(a.Booking[:], b.Booking[:]) })
		if len(w.Stranded) > 0 || !slices.Equal(w.Taken, v.Taken) {
			t.Fatalf("the train is as it was, but the bookings are\n%+v, stranded %+v, not\n%+v", w.Taken, w.Stranded, v.Taken)
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
func checkFitted(t *rapid.T, booked, fitted *Inventory) {
	t.Helper()
	if fitted.Revision != booked.Revision || len(fitted.Taken)+len(fitted.Stranded) != len(booked.Taken) {
		t.Fatalf("%d bookings, %d and %d stranded", len(booked.Taken), len(fitted.Taken), len(fitted.Stranded))
	}
	was := map[uuid.UUID]Taken{}
	for _, x := range booked.Taken {
		was[x.Booking] = x
	}
	m := &model{places: fitted.Places(), sections: len(fitted.Calls) - 1, have: map[uuid.UUID]Taken{}}
	for _, x := range fitted.Taken {
		b := was[x.Booking]
		coach, seat := booked.Label(b.Place)
		nowCoach, nowSeat := fitted.Label(x.Place)
		if coach != nowCoach || seat != nowSeat || x.Hook != b.Hook || x.Until != b.Until ||
			booked.Calls[b.From] != fitted.Calls[x.From] || booked.Calls[b.To] != fitted.Calls[x.To] || x.From >= x.To {
			t.Fatalf("%+v has become %+v", b, x)
		}
		m.have[x.Booking] = x
	}
	m.grid(t, railtest.Noon()) // fails if two have one place
	for _, s := range fitted.Stranded {
		b := was[s.Booking]
		coach, seat := booked.Label(b.Place)
		if s.Board != booked.Calls[b.From] || s.Alight != booked.Calls[b.To] || s.Coach != coach || s.Seat != seat {
			t.Fatalf("%+v is stranded as %+v", b, s)
		}
		if p := fitted.Place(s.Coach, s.Seat); p != NoPlace && fitted.IsFree(p, 0, m.sections, railtest.Noon()) {
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
			v = v.Fit(w.List, w.Calls, w.Coaches)
			for range rapid.IntRange(0, 4).Draw(t, "bookings") {
				from := rapid.IntRange(0, len(calls)-2).Draw(t, "from")
				to := rapid.IntRange(from+1, len(calls)-1).Draw(t, "to")
				if p := v.Choose(from, to, railtest.Noon()); p != NoPlace {
					n++
					v.Take(Taken{Booking: railtest.Nth(n), Place: p, From: uint8(from), To: uint8(to), Until: ForGood})
				}
			}
			v.EachStrandedTwice(func(x, o *Taken) {
				t.Fatalf("%v and %v both have place %d of %s", x.Booking, o.Booking, x.Place, calls)
			})
		}
	})
}
