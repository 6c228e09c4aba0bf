package traintravel

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// oddly draws a value within bounds, often at one of them and, if the timetable
// may be bad, sometimes beyond.
func oddly(t *rapid.T, what string, bad bool, least, most int64) int64 {
	switch n := rapid.IntRange(0, 19).Draw(t, what); {
	case n == 19 && bad:
		return rapid.SampledFrom([]int64{least - 1, most + 1, math.MinInt64, math.MaxInt64}).Draw(t, what)
	case n > 15:
		return least
	case n > 12:
		return most
	}
	return rapid.Int64Range(least, most).Draw(t, what)
}

func drawOddTimetable(t *rapid.T) *Timetable {
	tt := &Timetable{}
	bad := rapid.Bool().Draw(t, "bad")
	for _, name := range drawnStations {
		s := Station{
			ID: stationNamed(name), Name: rapid.StringMatching(`\PC{1,4}`).Draw(t, "name"),
			Zone:      rapid.SampledFrom(append(drawnZones, "Pacific/Apia", "America/Havana", "Etc/GMT-14")).Draw(t, "zone"),
			Latitude:  rapid.SampledFrom([]float64{0, 90, -90, 45.5}).Draw(t, "lat"),
			Longitude: rapid.SampledFrom([]float64{0, 180, -180, 7}).Draw(t, "lon"),
		}
		if bad && rapid.IntRange(0, 9).Draw(t, "bad") == 9 {
			s.Zone, s.Latitude = "Local", math.NaN()
		}
		tt.Stations = append(tt.Stations, s)
	}
	for range rapid.IntRange(1, 4).Draw(t, "trains") {
		tr := drawTrain(t, drawnDays[0])
		tr.Bicycles, tr.Hooks = Allowance(oddly(t, "bicycles", bad, 0, 2)), int(oddly(t, "hooks", bad, 0, maxHooks))
		if tr.Prices == nil {
			tr.Fare.PerKm, tr.Fare.Base = oddly(t, "per km", bad, 0, maxPerKm), oddly(t, "base", bad, 0, maxFare)
		} else {
			tr.Prices.Amounts[0][1] = oddly(t, "price", bad, 0, maxFare)
		}
		from, to := oddly(t, "from", bad, int64(FirstDate), int64(LastDate)), oddly(t, "to", bad, int64(FirstDate), int64(LastDate))
		tr.Days.From, tr.Days.To = Date(min(from, to)), Date(max(from, to))
		for i := range tr.Calls {
			tr.Calls[i].Metres = int32(oddly(t, "metres", bad, 0, math.MaxInt32/6))
			if i > 0 {
				tr.Calls[i].Metres += tr.Calls[i-1].Metres
			}
		}
		for _, number := range []string{"1", "Ä"}[:rapid.IntRange(0, 2).Draw(t, "coaches")] {
			tr.Coaches = append(tr.Coaches, Coach{number, int(oddly(t, "seats", bad, 1, maxPlaces/2))})
		}
		if rapid.IntRange(0, 4).Draw(t, "late") == 4 {
			tr.Calls[len(tr.Calls)-1].Arrive = ServiceTime(oddly(t, "arrive", bad, 5*86400, int64(MaxServiceTime)))
		}
		tt.Trains = append(tt.Trains, tr)
	}
	return tt
}

// Whatever Check lets through can be registered, written, read, compiled,
// searched, priced and booked.
func soundTimetablesWork(t *rapid.T) bool {
	tt := drawOddTimetable(t)
	if tt.Check() != nil {
		return false
	}
	ids, reg, err := register(context.Background(), registry{}, tt.Trains, calendarCache{}.get, drawnDays[0], drawnDays[0])
	if err != nil {
		t.Fatal(err)
	}
	checkRegistry(t, tt.Trains, ids, reg)
	read, readIDs, err := decodeNumbered(encodeNumbered(tt, ids))
	if diff := cmp.Diff(tt, read, cmpopts.EquateEmpty()); err != nil || diff != "" {
		t.Fatalf("%v: -written +read\n%s", err, diff)
	}
	readReg, err := decodeRegistry(reg.encode())
	if err != nil {
		t.Fatal(err)
	}
	z := &zones{}
	if err := read.check(z); err != nil {
		t.Fatal("sound before it was written:", err)
	}
	sn, err := compile(context.Background(), read, readIDs, readReg, compiling{zones: z})
	if err != nil {
		t.Fatal(err)
	}
	days := []Date{drawnDays[0], FirstDate, LastDate, Date(rapid.Int32Range(int32(FirstDate), int32(LastDate)).Draw(t, "day"))}
	for _, origin := range sn.stationAt {
		for _, destination := range sn.stationAt {
			for _, d := range days {
				loc := sn.locations[origin]
				if origin == destination {
					continue
				}
				a := ask{origin: origin, destination: destination, date: d, from: d.Start(loc).Unix(), to: (d + 1).Start(loc).Unix()}
				for _, r := range sn.direct(a) {
					rides := []ride{r}
					checkRides(t, sn, tt, rides)
					checkResolve(t, sn, tt, tripID(rides))
					checkSale(t, sn, rides)
				}
			}
		}
	}
	return true
}

// checkSale prices and books a ride.
func checkSale(t *rapid.T, sn *snapshot, rides []ride) {
	r := rides[0]
	if price, ok := farePrice([]ride{r, r, r, r}); !ok || price.Amount < 0 || price.Amount > 1<<53 {
		t.Fatalf("%s costs %v", sn.describe(r), price)
	}
	v := sn.newInventory(r.train)
	if v.free(r.board, r.alight, noon) != r.train.places {
		t.Fatalf("%d of %d places are free", v.free(r.board, r.alight, noon), r.train.places)
	}
	v.take(taken{place: v.choose(r.board, r.alight, noon), from: uint8(r.board), to: uint8(r.alight), until: forGood})
	again, err := decodeInventory(v.encode())
	if err != nil || !again.fits(r.train.list, r.train.coaches) || again.free(r.board, r.alight, noon) != max(0, r.train.places-1) {
		t.Fatalf("booked: %+v, %v", again, err)
	}
	departs := r.departs()
	if !fromNanos(nanos(departs)).Equal(departs) || r.arrives().Before(departs) || departs.After(time.Date(2179, 7, 1, 0, 0, 0, 0, time.UTC)) {
		t.Fatalf("departs at %v, arrives at %v", departs, r.arrives())
	}
}

func TestSoundTimetablesWork(t *testing.T) {
	t.Parallel()
	good := 0
	DrawUntil(t, func() bool { return good >= 30 }, func(t *rapid.T) {
		if soundTimetablesWork(t) {
			good++
		}
	})
}

func FuzzSoundTimetablesWork(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) { soundTimetablesWork(t) }))
}
