package seats

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/traintravel/traintravel/internal/railtest"
	"github.com/traintravel/traintravel/internal/trains"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/schedule"
)

// inventoryOf counts on calls at stations, one for each letter, and on coaches
// numbered from 1 with so many seats.
func inventoryOf(stations string, seats ...int) *Inventory {
	v := &Inventory{List: trains.TextMark(stations), Calls: marksOf(stations)}
	for i, n := range seats {
		v.Coaches = append(v.Coaches, rail.Coach{Number: string(rune('1' + i)), Seats: n})
	}
	return v
}

func marksOf(stations string) []uint64 {
	marks := []uint64{}
	for _, s := range stations {
		marks = append(marks, uint64(s))
	}
	return marks
}

// ride is what somebody has for good: a place from one call to another.
func paid(n int, place int32, from, to uint8) Taken {
	return Taken{Booking: railtest.Nth(n), Place: place, From: from, To: to, Until: ForGood}
}

func TestSectionsAreHalfOpen(t *testing.T) {
	t.Parallel()
	v := inventoryOf("ABCD", 1)
	v.Take(paid(1, 0, 0, 2)) // A to C
	for _, c := range []struct {
		from, to int
		free     bool
	}{
		{0, 1, false}, {0, 2, false}, {0, 3, false}, {1, 2, false},
		{1, 3, false}, // B to D: C is on the way
		{2, 3, true},  // C to D
	} {
		if got := v.IsFree(0, c.from, c.to, railtest.Noon()); got != c.free {
			t.Errorf("from call %d to %d: free is %t, want %t", c.from, c.to, got, c.free)
		}
		if got := v.Free(c.from, c.to, railtest.Noon()) == 1; got != c.free {
			t.Errorf("from call %d to %d: counted as free is %t, want %t", c.from, c.to, got, c.free)
		}
		if got := v.Choose(c.from, c.to, railtest.Noon()) == 0; got != c.free {
			t.Errorf("from call %d to %d: chosen is %t, want %t", c.from, c.to, got, c.free)
		}
	}
}

func TestChooseTheSmallestGap(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		have     []Taken
		from, to int
		want     int32
	}{
		{"an empty train: the first place", nil, 1, 3, 0},
		{"after who gets off, not on an empty place", []Taken{paid(1, 2, 0, 2)}, 2, 4, 2},
		{"before who gets on", []Taken{paid(1, 2, 4, 6)}, 2, 4, 2},
		{"in the exact gap", []Taken{paid(1, 1, 0, 2), paid(2, 2, 0, 2), paid(3, 2, 4, 6)}, 2, 4, 2},
		{"the first of equal gaps", []Taken{paid(1, 1, 0, 2), paid(2, 2, 0, 2)}, 2, 4, 1},
		{"the neighbours count, not who got off before", []Taken{paid(1, 2, 1, 2), paid(2, 2, 0, 1), paid(3, 1, 0, 1)}, 3, 4, 2},
		{"nor who gets on later", []Taken{paid(1, 2, 4, 5), paid(2, 2, 5, 6), paid(3, 1, 5, 6)}, 2, 3, 2},
		{"no place", []Taken{paid(1, 0, 0, 6), paid(2, 1, 2, 3), paid(3, 2, 0, 3)}, 2, 3, NoPlace},
		{"a lapsed hold leaves no gap", []Taken{{Booking: railtest.Nth(1), Place: 2, From: 0, To: 2, Until: railtest.Noon().UnixNano()}}, 2, 4, 0},
		{"a hold does", []Taken{{Booking: railtest.Nth(1), Place: 2, From: 0, To: 2, Until: railtest.Noon().UnixNano() + 1}}, 2, 4, 2},
		{"who has only a hook takes no place", []Taken{{Booking: railtest.Nth(1), Place: NoPlace, To: 6, Hook: true, Until: ForGood}}, 0, 6, 0},
	} {
		v := inventoryOf("ABCDEFG", 2, 1)
		v.Taken = c.have
		if got := v.Choose(c.from, c.to, railtest.Noon()); got != c.want {
			t.Errorf("%s: place %d, want %d", c.name, got, c.want)
		}
	}
}

// A run of the greatest length has sections up to the last.
func TestLongestRun(t *testing.T) {
	t.Parallel()
	v := &Inventory{Calls: make([]uint64, schedule.MaxCalls), Coaches: []rail.Coach{{Number: "1", Seats: 1}}}
	if got := v.Choose(0, schedule.MaxCalls-1, railtest.Noon()); got != 0 {
		t.Fatalf("the whole way: place %d", got)
	}
	v.Take(paid(1, 0, 254, 255))
	if v.IsFree(0, 0, 255, railtest.Noon()) || !v.IsFree(0, 0, 254, railtest.Noon()) {
		t.Error("the last section is not taken, or more than that")
	}
}

func TestHoldsLapseAtTheirInstant(t *testing.T) {
	t.Parallel()
	v := inventoryOf("AB", 1)
	v.Take(Taken{Booking: railtest.Nth(1), Place: 0, From: 0, To: 1, Until: railtest.Noon().UnixNano()})
	for _, c := range []struct {
		now  time.Time
		free int
	}{
		{railtest.Noon().Add(-1), 0}, {railtest.Noon(), 1}, {railtest.Noon().Add(1), 1},
	} {
		if got := v.Free(0, 1, c.now); got != c.free {
			t.Errorf("at %s %d places are free, want %d", c.now.Format(time.RFC3339Nano), got, c.free)
		}
	}
	if !v.Has(railtest.Nth(1)) {
		t.Error("the lapsed hold has lost its place to nobody")
	}
	if !v.Hold(railtest.Nth(1), ForGood) || v.Free(0, 1, railtest.Later()) != 0 {
		t.Error("a place that nobody took is not kept")
	}
}

func TestInTheWay(t *testing.T) {
	t.Parallel()
	v := inventoryOf("ABCD", 2)
	gone, still := railtest.Noon().UnixNano(), railtest.Noon().UnixNano()+1
	v.Taken = []Taken{
		{Booking: railtest.Nth(1), Place: 0, From: 0, To: 2, Until: gone},
		{Booking: railtest.Nth(2), Place: 0, From: 2, To: 3, Until: gone, Hook: true},
		{Booking: railtest.Nth(3), Place: 1, From: 0, To: 1, Until: still, Hook: true},
		{Booking: railtest.Nth(4), Place: NoPlace, From: 1, To: 3, Until: gone, Hook: true},
		{Booking: railtest.Nth(5), Place: NoPlace, From: 0, To: 3, Until: gone},
	}
	v.Stranded = []StrandedPlace{
		{Taken: Taken{Booking: railtest.Nth(6), Until: gone, Hook: true}, Coach: "9", Seat: 1},
		{Taken: Taken{Booking: railtest.Nth(7), Until: gone}, Coach: "1", Seat: 2},
		{Taken: Taken{Booking: railtest.Nth(8), Until: still}, Coach: "1", Seat: 1},
	}
	for _, c := range []struct {
		name  string
		taker Taken
		want  []int
	}{
		{"the place on common sections", Taken{Place: 0, From: 1, To: 2}, []int{1}},
		{"the place on two others'", Taken{Place: 0, From: 1, To: 3}, []int{1, 2}},
		{"who travels on does not meet who got off", Taken{Place: 0, From: 2, To: 3}, []int{2}},
		{"a stranded hold on any section", Taken{Place: 1, From: 2, To: 3}, []int{7}},
		{"hooks", Taken{Place: NoPlace, From: 0, To: 3, Hook: true}, []int{2, 4, 6}},
		{"hooks on a section", Taken{Place: NoPlace, From: 0, To: 1, Hook: true}, []int{6}},
		{"place and hook", Taken{Place: 0, From: 0, To: 2, Hook: true}, []int{1, 4, 6}},
		{"nothing wanted", Taken{Place: NoPlace, From: 0, To: 3}, nil},
	} {
		var got []int
		for _, id := range v.InTheWay(c.taker, railtest.Noon()) {
			got = append(got, int(id[1]))
		}
		if slices.Sort(got); !slices.Equal(got, c.want) {
			t.Errorf("%s: bookings %v, want %v", c.name, got, c.want)
		}
	}
	if got := v.InTheWay(Taken{Place: 0, From: 0, To: 3, Hook: true}, railtest.Noon().Add(-1)); len(got) > 0 {
		t.Errorf("an instant earlier %v are in the way", got)
	}
}

func TestHooksAreCountedBySection(t *testing.T) {
	t.Parallel()
	v := inventoryOf("ABCD", 9)
	v.Taken = []Taken{
		{Booking: railtest.Nth(1), Place: 0, From: 0, To: 2, Hook: true, Until: ForGood},
		{Booking: railtest.Nth(2), Place: 1, From: 1, To: 3, Hook: true, Until: railtest.Later().UnixNano()},
		{Booking: railtest.Nth(3), Place: 2, From: 0, To: 3, Until: ForGood}, // without a bicycle
	}
	for _, c := range []struct {
		hooks, from, to int
		now             time.Time
		want            bool
	}{
		{2, 0, 1, railtest.Noon(), true}, {2, 2, 3, railtest.Noon(), true},
		{2, 1, 2, railtest.Noon(), false}, {2, 0, 3, railtest.Noon(), false}, {3, 0, 3, railtest.Noon(), true},
		{1, 0, 1, railtest.Noon(), false}, {1, 2, 3, railtest.Noon(), false},
		{2, 0, 3, railtest.Later(), true}, {1, 2, 3, railtest.Later(), true}, {1, 1, 2, railtest.Later(), false}, // the hold has lapsed
		{0, 2, 3, railtest.Later(), false},
	} {
		if got := v.HookFree(c.hooks, c.from, c.to, c.now); got != c.want {
			t.Errorf("of %d hooks one is free from call %d to %d at %s: %t, want %t", c.hooks, c.from, c.to, c.now.Format("15:04"), got, c.want)
		}
	}
	v.Stranded = []StrandedPlace{{Taken: Taken{Booking: railtest.Nth(4), Hook: true, Until: railtest.Later().UnixNano()}, Coach: "9", Seat: 1}}
	if v.HookFree(2, 0, 1, railtest.Noon()) || !v.HookFree(2, 0, 1, railtest.Later()) {
		t.Error("a stranded booking does not keep its hook until its hold lapses")
	}
}

func TestUnreserved(t *testing.T) {
	t.Parallel()
	v := inventoryOf("ABCD")
	if v.Places() != 0 || v.Free(0, 3, railtest.Noon()) != 0 || v.Choose(0, 3, railtest.Noon()) != NoPlace || v.IsFree(NoPlace, 0, 3, railtest.Noon()) {
		t.Error("a train without coaches has places")
	}
	v.Take(Taken{Booking: railtest.Nth(1), Place: NoPlace, From: 0, To: 3, Hook: true, Until: ForGood})
	if v.HookFree(1, 2, 3, railtest.Noon()) || !v.Has(railtest.Nth(1)) || !v.Release(railtest.Nth(1)) || !v.HookFree(1, 2, 3, railtest.Noon()) {
		t.Error("hooks are not counted on a train without coaches")
	}
}

func TestReleaseAndHoldReportChanges(t *testing.T) {
	t.Parallel()
	v := inventoryOf("AB", 3)
	v.Take(paid(1, 0, 0, 1))
	v.Take(paid(2, 1, 0, 1))
	v.Stranded = []StrandedPlace{{Taken: paid(3, 0, 0, 1), Coach: "9", Seat: 9}}
	if v.Release(railtest.Nth(4)) || v.Hold(railtest.Nth(4), 5) || v.Has(railtest.Nth(4)) {
		t.Error("a booking has something that was never given it")
	}
	if !v.Hold(railtest.Nth(3), 5) || v.Stranded[0].Until != 5 || !v.Hold(railtest.Nth(2), 6) || v.Taken[1].Until != 6 || v.Taken[0].Until != ForGood {
		t.Errorf("not the holds asked for have changed: %+v %+v", v.Taken, v.Stranded)
	}
	if !v.Release(railtest.Nth(1)) || !v.Release(railtest.Nth(3)) || v.Has(railtest.Nth(1)) || v.Has(railtest.Nth(3)) || !v.Has(railtest.Nth(2)) {
		t.Errorf("not the bookings asked for are released: %+v %+v", v.Taken, v.Stranded)
	}
}

func TestPlaceLabels(t *testing.T) {
	t.Parallel()
	v := inventoryOf("AB", 2, 1, 3)
	want := []rail.Leg{{Coach: "1", Seat: 1}, {Coach: "1", Seat: 2}, {Coach: "2", Seat: 1}, {Coach: "3", Seat: 1}, {Coach: "3", Seat: 2}, {Coach: "3", Seat: 3}}
	var got []rail.Leg
	for p := range int32(v.Places()) {
		coach, seat := v.Label(p)
		got = append(got, rail.Leg{Coach: coach, Seat: seat})
		if back := v.Place(coach, seat); back != p {
			t.Errorf("place %d is seat %d of coach %s, which is place %d", p, seat, coach, back)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("-want +got\n" + diff)
	}
	for _, p := range []int32{NoPlace, -2, 6, 1 << 30} {
		if coach, seat := v.Label(p); coach != "" || seat != 0 {
			t.Errorf("place %d is seat %d of coach %q", p, seat, coach)
		}
	}
	for _, l := range []rail.Leg{{}, {Coach: "1"}, {Coach: "1", Seat: 3}, {Coach: "1", Seat: -1}, {Coach: "4", Seat: 1}, {Seat: 1}} {
		if p := v.Place(l.Coach, l.Seat); p != NoPlace {
			t.Errorf("seat %d of coach %q is place %d", l.Seat, l.Coach, p)
		}
	}
}
