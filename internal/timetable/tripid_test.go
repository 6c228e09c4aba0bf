package timetable

import (
	"testing"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/traintravel/traintravel/internal/railtest"
	"github.com/traintravel/traintravel/internal/trains"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/schedule"
)

func drawTripCode(t *rapid.T) TripCode {
	c := TripCode{
		date:  rail.FirstDate + rail.Date(rapid.Int32Range(0, int32((rail.LastDate+1)-rail.FirstDate)-1).Draw(t, "date")),
		board: rapid.IntRange(0, schedule.MaxCalls-1).Draw(t, "board"), Alight: rapid.IntRange(0, schedule.MaxCalls-1).Draw(t, "alight"),
		Legs: rapid.IntRange(1, rail.MaxLegs).Draw(t, "legs"),
	}
	for i := range c.Legs {
		c.Numbers[i] = rapid.Uint32Range(1, trains.MaxNumber).Draw(t, "number")
	}
	return c
}

func checkTripID(t railtest.Tester, c TripCode) {
	t.Helper()
	id := c.ID()
	if id.Version() != 8 || id.Variant() != uuid.RFC4122 {
		t.Fatalf("%v has version %d and variant %v", id, id.Version(), id.Variant())
	}
	if got, ok := ParseTripID(id); !ok || got != c {
		t.Fatalf("%+v is %v, which reads as %+v, %t", c, id, got, ok)
	}
}

func TestTripIDRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) { checkTripID(t, drawTripCode(t)) })
}

func TestTripIDBounds(t *testing.T) {
	t.Parallel()
	for _, date := range []rail.Date{rail.FirstDate, rail.LastDate} {
		for _, call := range []int{0, 1, schedule.MaxCalls - 1} {
			for _, number := range []uint32{1, 1<<18 - 1, 1 << 18, trains.MaxNumber} {
				for legs := 1; legs <= rail.MaxLegs; legs++ {
					c := TripCode{date: date, board: schedule.MaxCalls - 1 - call, Alight: call, Legs: legs}
					for i := range legs {
						c.Numbers[i] = number
					}
					checkTripID(t, c)
				}
			}
		}
	}
	if rail.FirstDate.String() != "2000-01-01" || (rail.LastDate+1).String() != "2179-06-07" {
		t.Errorf("IDs reach from %s to before %s", rail.FirstDate, (rail.LastDate + 1))
	}
}

// Each field has its bits to itself: two codes that differ in one differ as IDs.
func TestTripIDsAreDistinct(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawTripCode(t), drawTripCode(t)
		if rapid.Bool().Draw(t, "alike") {
			b = a
			switch i := rapid.IntRange(0, b.Legs-1).Draw(t, "leg"); rapid.IntRange(0, 3).Draw(t, "field") {
			case 0:
				b.date = rail.FirstDate + (b.date-rail.FirstDate+1)%((rail.LastDate+1)-rail.FirstDate)
			case 1:
				b.board ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
			case 2:
				b.Alight ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
			case 3:
				b.Numbers[i] = b.Numbers[i]%trains.MaxNumber + 1
			}
		}
		if (a.ID() == b.ID()) != (a == b) {
			t.Fatalf("%+v and %+v are %v and %v", a, b, a.ID(), b.ID())
		}
	})
}

// Published IDs keep their meaning for ever.
func TestTripIDLayout(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]TripCode{
		"096500c2-0000-8020-8000-000000000000": {date: rail.NewDate(2026, 5, 4), board: 3, Alight: 8, Legs: 1, Numbers: [4]uint32{1}},
		"c965003f-c000-8020-8000-800006000040": {date: rail.NewDate(2026, 5, 4), Alight: 255, Legs: 4, Numbers: [4]uint32{1, 2, 3, 4}},
	} {
		if got := want.ID().String(); got != id {
			t.Errorf("%+v is %s, want %s", want, got, id)
		}
	}
}

func TestParseTripIDRefuses(t *testing.T) {
	t.Parallel()
	good := TripCode{date: rail.NewDate(2021, 6, 14), board: 1, Alight: 2, Legs: 2, Numbers: [4]uint32{7, 8}}
	with := func(change func(*uuid.UUID)) uuid.UUID {
		id := good.ID()
		change(&id)
		return id
	}
	for name, id := range map[string]uuid.UUID{
		"the nil UUID":          uuid.Nil,
		"the max UUID":          uuid.Max,
		"a random one":          uuid.MustParse("a4c7e7f5-5a65-4f1b-9e0c-2f3a6a2b7d10"),
		"version 4":             with(func(id *uuid.UUID) { id[6] = id[6]&0x0f | 0x40 }),
		"another variant":       with(func(id *uuid.UUID) { id[8] |= 0xc0 }),
		"the low bits set":      with(func(id *uuid.UUID) { id[15] |= 1 }),
		"a number too few":      TripCode{date: good.date, Legs: 3, Numbers: good.Numbers}.ID(),
		"a number too many":     TripCode{date: good.date, Legs: 1, Numbers: good.Numbers}.ID(),
		"a gap in the numbers":  TripCode{date: good.date, Legs: 3, Numbers: [4]uint32{1, 0, 3}}.ID(),
		"no number at all":      TripCode{date: good.date, Legs: 1}.ID(),
		"the last number alone": TripCode{date: good.date, Legs: 4, Numbers: [4]uint32{0, 0, 0, 4}}.ID(),
	} {
		if c, ok := ParseTripID(id); ok {
			t.Errorf("%s: %v reads as %+v", name, id, c)
		}
	}
}

func FuzzParseTripID(f *testing.F) {
	id := TripCode{date: rail.NewDate(2021, 6, 14), board: 1, Alight: 2, Legs: 2, Numbers: [4]uint32{7, 8}}.ID()
	f.Add(id[:])
	f.Add(uuid.Max[:])
	f.Fuzz(func(t *testing.T, b []byte) {
		id, err := uuid.FromBytes(b)
		if err != nil {
			return
		}
		if c, ok := ParseTripID(id); ok && c.ID() != id {
			t.Errorf("%v reads as %+v, which is %v", id, c, c.ID())
		}
	})
}
