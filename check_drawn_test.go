package traintravel

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// oddly draws a value that is mostly within bounds, often at one of them, and
// sometimes beyond.
func oddly(t *rapid.T, what string, least, most int64) int64 {
	switch rapid.IntRange(0, 24).Draw(t, what) {
	case 24:
		return rapid.SampledFrom([]int64{least - 1, most + 1, math.MinInt64, math.MaxInt64, -1}).Draw(t, what)
	case 23, 22:
		return least
	case 21, 20:
		return most
	}
	return rapid.Int64Range(least, most).Draw(t, what)
}

func drawOddTimetable(t *rapid.T) *Timetable {
	tt := &Timetable{}
	for i := range rapid.IntRange(1, 4).Draw(t, "stations") {
		tt.Stations = append(tt.Stations, Station{
			ID: stationNamed(drawnStations[i]), Name: rapid.StringN(1, 4, -1).Draw(t, "name"),
			Zone:      rapid.SampledFrom(append(drawnZones, "Pacific/Apia", "America/Havana", "Etc/GMT-14", "Local", "?")[:8+rapid.IntRange(0, 1).Draw(t, "bad")]).Draw(t, "zone"),
			Latitude:  rapid.SampledFrom([]float64{0, 90, -90, 45.5, math.NaN()}[:4+rapid.IntRange(0, 24).Draw(t, "bad")/24]).Draw(t, "lat"),
			Longitude: rapid.SampledFrom([]float64{0, 180, -180, 7}).Draw(t, "lon"),
		})
	}
	for range rapid.IntRange(0, 4).Draw(t, "trains") {
		tr := drawTrain(t, drawnDays[0])
		tr.Bicycles = Allowance(oddly(t, "bicycles", 0, 2))
		tr.Hooks, tr.Fare.PerKm, tr.Fare.Base = int(oddly(t, "hooks", 0, maxHooks)), oddly(t, "per km", 0, maxPerKm), oddly(t, "base", 0, maxFare)
		tr.Days.From, tr.Days.To = Date(oddly(t, "from", int64(FirstDate), int64(LastDate))), Date(oddly(t, "to", int64(FirstDate), int64(LastDate)))
		tr.Days.From, tr.Days.To = min(tr.Days.From, tr.Days.To), max(tr.Days.From, tr.Days.To)
		for i := range tr.Calls {
			tr.Calls[i].Metres = int32(oddly(t, "metres", 0, 3)) * int32(i) * 100_000_000
		}
		for range rapid.IntRange(0, 2).Draw(t, "coaches") {
			tr.Coaches = append(tr.Coaches, Coach{rapid.StringN(1, 2, -1).Draw(t, "coach"), int(oddly(t, "seats", 1, maxPlaces/2))})
		}
		if rapid.IntRange(0, 4).Draw(t, "late") == 4 {
			tr.Calls[len(tr.Calls)-1].Arrive = ServiceTime(oddly(t, "arrive", 0, int64(MaxServiceTime)))
		}
		tt.Trains = append(tt.Trains, tr)
	}
	return tt
}

// Whatever Check lets through can be registered, written, read, compiled,
// searched, priced and booked.
func soundTimetablesWork(t *rapid.T) {
	tt := drawOddTimetable(t)
	if tt.Check() != nil {
		return
	}
	ids, reg, err := register(registry{}, tt.Trains, calendarCache{}.get, drawnDays[0])
	if err != nil {
		t.Fatal(err)
	}
	checkRegistry(t, tt.Trains, ids, reg)
	read, readIDs, err := decodeTimetable(encodeTimetable(tt, ids))
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
	sn := compile(read, readIDs, readReg, z)
	days := []Date{drawnDays[0], FirstDate, LastDate, Date(rapid.Int32Range(int32(FirstDate), int32(LastDate)).Draw(t, "day"))}
	for _, origin := range sn.stationAt {
		for _, destination := range sn.stationAt {
			for _, d := range days {
				loc := sn.locations[origin]
				for _, rides := range sn.direct(origin, destination, d.Start(loc), (d + 1).Start(loc)) {
					checkRides(t, sn, tt, rides)
					checkResolve(t, sn, tt, tripID(rides))
					checkSale(t, sn, rides)
				}
			}
		}
	}
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
	if err != nil || !again.fits(r.train) || again.free(r.board, r.alight, noon) != max(0, r.train.places-1) {
		t.Fatalf("booked: %+v, %v", again, err)
	}
	departs := r.departs()
	if !fromNanos(nanos(departs)).Equal(departs) || r.arrives().Before(departs) || departs.After(time.Date(2179, 7, 1, 0, 0, 0, 0, time.UTC)) {
		t.Fatalf("departs at %v, arrives at %v", departs, r.arrives())
	}
}

func TestSoundTimetablesWork(t *testing.T) {
	t.Parallel()
	rapid.Check(t, soundTimetablesWork)
}

func FuzzSoundTimetablesWork(f *testing.F) { f.Fuzz(rapid.MakeFuzz(soundTimetablesWork)) }
