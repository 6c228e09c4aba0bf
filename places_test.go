package traintravel

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
)

// An instant of the tests, and an hour later.
var (
	noon  = time.Date(2021, 6, 14, 12, 0, 0, 0, time.UTC)
	later = noon.Add(time.Hour)
)

// nth is the ID of the nth booking of a test.
func nth(n int) uuid.UUID { return uuid.UUID{0: byte(n >> 8), 1: byte(n), 15: 1} }

// inventoryOf counts on calls at stations, one for each letter, and on coaches
// numbered from 1 with so many seats.
func inventoryOf(stations string, seats ...int) *inventory {
	v := &inventory{list: textMark(stations), calls: marksOf(stations)}
	for i, n := range seats {
		v.coaches = append(v.coaches, Coach{Number: string(rune('1' + i)), Seats: n})
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
func paid(n int, place int32, from, to uint8) taken {
	return taken{booking: nth(n), place: place, from: from, to: to, until: forGood}
}

func TestSectionsAreHalfOpen(t *testing.T) {
	t.Parallel()
	v := inventoryOf("ABCD", 1)
	v.take(paid(1, 0, 0, 2)) // A to C
	for _, c := range []struct {
		from, to int
		free     bool
	}{
		{0, 1, false}, {0, 2, false}, {0, 3, false}, {1, 2, false},
		{1, 3, false}, // B to D: C is on the way
		{2, 3, true},  // C to D
	} {
		if got := v.isFree(0, c.from, c.to, noon); got != c.free {
			t.Errorf("from call %d to %d: free is %t, want %t", c.from, c.to, got, c.free)
		}
		if got := v.free(c.from, c.to, noon) == 1; got != c.free {
			t.Errorf("from call %d to %d: counted as free is %t, want %t", c.from, c.to, got, c.free)
		}
		if got := v.choose(c.from, c.to, noon) == 0; got != c.free {
			t.Errorf("from call %d to %d: chosen is %t, want %t", c.from, c.to, got, c.free)
		}
	}
}

func TestChooseTheSmallestGap(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		have     []taken
		from, to int
		want     int32
	}{
		{"an empty train: the first place", nil, 1, 3, 0},
		{"after who gets off, not on an empty place", []taken{paid(1, 2, 0, 2)}, 2, 4, 2},
		{"before who gets on", []taken{paid(1, 2, 4, 6)}, 2, 4, 2},
		{"in the exact gap", []taken{paid(1, 1, 0, 2), paid(2, 2, 0, 2), paid(3, 2, 4, 6)}, 2, 4, 2},
		{"the first of equal gaps", []taken{paid(1, 1, 0, 2), paid(2, 2, 0, 2)}, 2, 4, 1},
		{"the neighbours count, not who got off before", []taken{paid(1, 2, 1, 2), paid(2, 2, 0, 1), paid(3, 1, 0, 1)}, 3, 4, 2},
		{"nor who gets on later", []taken{paid(1, 2, 4, 5), paid(2, 2, 5, 6), paid(3, 1, 5, 6)}, 2, 3, 2},
		{"no place", []taken{paid(1, 0, 0, 6), paid(2, 1, 2, 3), paid(3, 2, 0, 3)}, 2, 3, noPlace},
		{"a lapsed hold leaves no gap", []taken{{booking: nth(1), place: 2, from: 0, to: 2, until: noon.UnixNano()}}, 2, 4, 0},
		{"a hold does", []taken{{booking: nth(1), place: 2, from: 0, to: 2, until: noon.UnixNano() + 1}}, 2, 4, 2},
		{"who has only a hook takes no place", []taken{{booking: nth(1), place: noPlace, to: 6, hook: true, until: forGood}}, 0, 6, 0},
	} {
		v := inventoryOf("ABCDEFG", 2, 1)
		v.taken = c.have
		if got := v.choose(c.from, c.to, noon); got != c.want {
			t.Errorf("%s: place %d, want %d", c.name, got, c.want)
		}
	}
}

// A run of the greatest length has sections up to the last.
func TestLongestRun(t *testing.T) {
	t.Parallel()
	v := &inventory{calls: make([]uint64, MaxCalls), coaches: []Coach{{"1", 1}}}
	if got := v.choose(0, MaxCalls-1, noon); got != 0 {
		t.Fatalf("the whole way: place %d", got)
	}
	v.take(paid(1, 0, 254, 255))
	if v.isFree(0, 0, 255, noon) || !v.isFree(0, 0, 254, noon) {
		t.Error("the last section is not taken, or more than that")
	}
}

func TestHoldsLapseAtTheirInstant(t *testing.T) {
	t.Parallel()
	v := inventoryOf("AB", 1)
	v.take(taken{booking: nth(1), place: 0, from: 0, to: 1, until: noon.UnixNano()})
	for _, c := range []struct {
		now  time.Time
		free int
	}{
		{noon.Add(-1), 0}, {noon, 1}, {noon.Add(1), 1},
	} {
		if got := v.free(0, 1, c.now); got != c.free {
			t.Errorf("at %s %d places are free, want %d", c.now.Format(time.RFC3339Nano), got, c.free)
		}
	}
	if !v.has(nth(1)) {
		t.Error("the lapsed hold has lost its place to nobody")
	}
	if !v.hold(nth(1), forGood) || v.free(0, 1, later) != 0 {
		t.Error("a place that nobody took is not kept")
	}
}

func TestInTheWay(t *testing.T) {
	t.Parallel()
	v := inventoryOf("ABCD", 2)
	gone, still := noon.UnixNano(), noon.UnixNano()+1
	v.taken = []taken{
		{booking: nth(1), place: 0, from: 0, to: 2, until: gone},
		{booking: nth(2), place: 0, from: 2, to: 3, until: gone, hook: true},
		{booking: nth(3), place: 1, from: 0, to: 1, until: still, hook: true},
		{booking: nth(4), place: noPlace, from: 1, to: 3, until: gone, hook: true},
		{booking: nth(5), place: noPlace, from: 0, to: 3, until: gone},
	}
	v.stranded = []strandedPlace{
		{taken: taken{booking: nth(6), until: gone, hook: true}, coach: "9", seat: 1},
		{taken: taken{booking: nth(7), until: gone}, coach: "1", seat: 2},
		{taken: taken{booking: nth(8), until: still}, coach: "1", seat: 1},
	}
	for _, c := range []struct {
		name  string
		taker taken
		want  []int
	}{
		{"the place on common sections", taken{place: 0, from: 1, to: 2}, []int{1}},
		{"the place on two others'", taken{place: 0, from: 1, to: 3}, []int{1, 2}},
		{"who travels on does not meet who got off", taken{place: 0, from: 2, to: 3}, []int{2}},
		{"a stranded hold on any section", taken{place: 1, from: 2, to: 3}, []int{7}},
		{"hooks", taken{place: noPlace, from: 0, to: 3, hook: true}, []int{2, 4, 6}},
		{"hooks on a section", taken{place: noPlace, from: 0, to: 1, hook: true}, []int{6}},
		{"place and hook", taken{place: 0, from: 0, to: 2, hook: true}, []int{1, 4, 6}},
		{"nothing wanted", taken{place: noPlace, from: 0, to: 3}, nil},
	} {
		var got []int
		for _, id := range v.inTheWay(c.taker, noon) {
			got = append(got, int(id[1]))
		}
		if slices.Sort(got); !slices.Equal(got, c.want) {
			t.Errorf("%s: bookings %v, want %v", c.name, got, c.want)
		}
	}
	if got := v.inTheWay(taken{place: 0, from: 0, to: 3, hook: true}, noon.Add(-1)); len(got) > 0 {
		t.Errorf("an instant earlier %v are in the way", got)
	}
}

func TestHooksAreCountedBySection(t *testing.T) {
	t.Parallel()
	v := inventoryOf("ABCD", 9)
	v.taken = []taken{
		{booking: nth(1), place: 0, from: 0, to: 2, hook: true, until: forGood},
		{booking: nth(2), place: 1, from: 1, to: 3, hook: true, until: later.UnixNano()},
		{booking: nth(3), place: 2, from: 0, to: 3, until: forGood}, // without a bicycle
	}
	for _, c := range []struct {
		hooks, from, to int
		now             time.Time
		want            bool
	}{
		{2, 0, 1, noon, true}, {2, 2, 3, noon, true},
		{2, 1, 2, noon, false}, {2, 0, 3, noon, false}, {3, 0, 3, noon, true},
		{1, 0, 1, noon, false}, {1, 2, 3, noon, false},
		{2, 0, 3, later, true}, {1, 2, 3, later, true}, {1, 1, 2, later, false}, // the hold has lapsed
		{0, 2, 3, later, false},
	} {
		if got := v.hookFree(c.hooks, c.from, c.to, c.now); got != c.want {
			t.Errorf("of %d hooks one is free from call %d to %d at %s: %t, want %t", c.hooks, c.from, c.to, c.now.Format("15:04"), got, c.want)
		}
	}
	v.stranded = []strandedPlace{{taken: taken{booking: nth(4), hook: true, until: later.UnixNano()}, coach: "9", seat: 1}}
	if v.hookFree(2, 0, 1, noon) || !v.hookFree(2, 0, 1, later) {
		t.Error("a stranded booking does not keep its hook until its hold lapses")
	}
}

func TestUnreserved(t *testing.T) {
	t.Parallel()
	v := inventoryOf("ABCD")
	if v.places() != 0 || v.free(0, 3, noon) != 0 || v.choose(0, 3, noon) != noPlace || v.isFree(noPlace, 0, 3, noon) {
		t.Error("a train without coaches has places")
	}
	v.take(taken{booking: nth(1), place: noPlace, from: 0, to: 3, hook: true, until: forGood})
	if v.hookFree(1, 2, 3, noon) || !v.has(nth(1)) || !v.release(nth(1)) || !v.hookFree(1, 2, 3, noon) {
		t.Error("hooks are not counted on a train without coaches")
	}
}

func TestReleaseAndHoldTellWhetherThereWasAnything(t *testing.T) {
	t.Parallel()
	v := inventoryOf("AB", 3)
	v.take(paid(1, 0, 0, 1))
	v.take(paid(2, 1, 0, 1))
	v.stranded = []strandedPlace{{taken: paid(3, 0, 0, 1), coach: "9", seat: 9}}
	if v.release(nth(4)) || v.hold(nth(4), 5) || v.has(nth(4)) {
		t.Error("a booking has something that was never given it")
	}
	if !v.hold(nth(3), 5) || v.stranded[0].until != 5 || !v.hold(nth(2), 6) || v.taken[1].until != 6 || v.taken[0].until != forGood {
		t.Errorf("not the holds asked for have changed: %+v %+v", v.taken, v.stranded)
	}
	if !v.release(nth(1)) || !v.release(nth(3)) || v.has(nth(1)) || v.has(nth(3)) || !v.has(nth(2)) {
		t.Errorf("not the bookings asked for are released: %+v %+v", v.taken, v.stranded)
	}
}

func TestPlaceLabels(t *testing.T) {
	t.Parallel()
	v := inventoryOf("AB", 2, 1, 3)
	want := []Leg{{Coach: "1", Seat: 1}, {Coach: "1", Seat: 2}, {Coach: "2", Seat: 1}, {Coach: "3", Seat: 1}, {Coach: "3", Seat: 2}, {Coach: "3", Seat: 3}}
	var got []Leg
	for p := range int32(v.places()) {
		coach, seat := v.label(p)
		got = append(got, Leg{Coach: coach, Seat: seat})
		if back := v.place(coach, seat); back != p {
			t.Errorf("place %d is seat %d of coach %s, which is place %d", p, seat, coach, back)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("-want +got\n" + diff)
	}
	for _, p := range []int32{noPlace, -2, 6, 1 << 30} {
		if coach, seat := v.label(p); coach != "" || seat != 0 {
			t.Errorf("place %d is seat %d of coach %q", p, seat, coach)
		}
	}
	for _, l := range []Leg{{}, {Coach: "1"}, {Coach: "1", Seat: 3}, {Coach: "1", Seat: -1}, {Coach: "4", Seat: 1}, {Seat: 1}} {
		if p := v.place(l.Coach, l.Seat); p != noPlace {
			t.Errorf("seat %d of coach %q is place %d", l.Seat, l.Coach, p)
		}
	}
}
