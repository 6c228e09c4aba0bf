package traintravel

import (
	"testing"

	"github.com/google/uuid"
	"pgregory.net/rapid"
)

func drawTripCode(t *rapid.T) tripCode {
	c := tripCode{
		date:  FirstDate + Date(rapid.Int32Range(0, int32((LastDate+1)-FirstDate)-1).Draw(t, "date")),
		board: rapid.IntRange(0, MaxCalls-1).Draw(t, "board"), alight: rapid.IntRange(0, MaxCalls-1).Draw(t, "alight"),
		legs: rapid.IntRange(1, maxLegs).Draw(t, "legs"),
	}
	for i := range c.legs {
		c.numbers[i] = rapid.Uint32Range(1, maxNumber).Draw(t, "number")
	}
	return c
}

func checkTripID(t tester, c tripCode) {
	t.Helper()
	id := c.id()
	if id.Version() != 8 || id.Variant() != uuid.RFC4122 {
		t.Fatalf("%v has version %d and variant %v", id, id.Version(), id.Variant())
	}
	if got, ok := parseTripID(id); !ok || got != c {
		t.Fatalf("%+v is %v, which reads as %+v, %t", c, id, got, ok)
	}
}

func TestTripIDRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) { checkTripID(t, drawTripCode(t)) })
}

func TestTripIDBounds(t *testing.T) {
	t.Parallel()
	for _, date := range []Date{FirstDate, LastDate} {
		for _, call := range []int{0, 1, MaxCalls - 1} {
			for _, number := range []uint32{1, 1<<18 - 1, 1 << 18, maxNumber} {
				for legs := 1; legs <= maxLegs; legs++ {
					c := tripCode{date: date, board: MaxCalls - 1 - call, alight: call, legs: legs}
					for i := range legs {
						c.numbers[i] = number
					}
					checkTripID(t, c)
				}
			}
		}
	}
	if FirstDate.String() != "2000-01-01" || (LastDate+1).String() != "2179-06-07" {
		t.Errorf("IDs reach from %s to before %s", FirstDate, (LastDate + 1))
	}
}

// Each field has its bits to itself: two codes that differ in one differ as IDs.
func TestTripIDsAreDistinct(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawTripCode(t), drawTripCode(t)
		if rapid.Bool().Draw(t, "alike") {
			b = a
			switch i := rapid.IntRange(0, b.legs-1).Draw(t, "leg"); rapid.IntRange(0, 3).Draw(t, "field") {
			case 0:
				b.date = FirstDate + (b.date-FirstDate+1)%((LastDate+1)-FirstDate)
			case 1:
				b.board ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
			case 2:
				b.alight ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
			case 3:
				b.numbers[i] = b.numbers[i]%maxNumber + 1
			}
		}
		if (a.id() == b.id()) != (a == b) {
			t.Fatalf("%+v and %+v are %v and %v", a, b, a.id(), b.id())
		}
	})
}

// Published IDs keep their meaning for ever.
func TestTripIDLayout(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]tripCode{
		"096500c2-0000-8020-8000-000000000000": {date: NewDate(2026, 5, 4), board: 3, alight: 8, legs: 1, numbers: [4]uint32{1}},
		"c965003f-c000-8020-8000-800006000040": {date: NewDate(2026, 5, 4), alight: 255, legs: 4, numbers: [4]uint32{1, 2, 3, 4}},
	} {
		if got := want.id().String(); got != id {
			t.Errorf("%+v is %s, want %s", want, got, id)
		}
	}
}

func TestParseTripIDRefuses(t *testing.T) {
	t.Parallel()
	good := tripCode{date: NewDate(2021, 6, 14), board: 1, alight: 2, legs: 2, numbers: [4]uint32{7, 8}}
	with := func(change func(*uuid.UUID)) uuid.UUID {
		id := good.id()
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
		"a number too few":      tripCode{date: good.date, legs: 3, numbers: good.numbers}.id(),
		"a number too many":     tripCode{date: good.date, legs: 1, numbers: good.numbers}.id(),
		"a gap in the numbers":  tripCode{date: good.date, legs: 3, numbers: [4]uint32{1, 0, 3}}.id(),
		"no number at all":      tripCode{date: good.date, legs: 1}.id(),
		"the last number alone": tripCode{date: good.date, legs: 4, numbers: [4]uint32{0, 0, 0, 4}}.id(),
	} {
		if c, ok := parseTripID(id); ok {
			t.Errorf("%s: %v reads as %+v", name, id, c)
		}
	}
}

func FuzzParseTripID(f *testing.F) {
	id := tripCode{date: NewDate(2021, 6, 14), board: 1, alight: 2, legs: 2, numbers: [4]uint32{7, 8}}.id()
	f.Add(id[:])
	f.Add(uuid.Max[:])
	f.Fuzz(func(t *testing.T, b []byte) {
		id, err := uuid.FromBytes(b)
		if err != nil {
			return
		}
		if c, ok := parseTripID(id); ok && c.id() != id {
			t.Errorf("%v reads as %+v, which is %v", id, c, c.id())
		}
	})
}
