package timetable

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/traintravel/traintravel/internal/codec"
	"github.com/traintravel/traintravel/internal/railtest"
	"github.com/traintravel/traintravel/internal/seats"
	"github.com/traintravel/traintravel/internal/trains"
	"github.com/traintravel/traintravel/internal/tz"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/schedule"
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

func drawOddTimetable(t *rapid.T) *schedule.Timetable {
	tt := &schedule.Timetable{}
	bad := rapid.Bool().Draw(t, "bad")
	for _, name := range railtest.DrawnStations() {
		s := rail.Station{
			ID: railtest.StationNamed(name), Name: rapid.StringMatching(`\PC{1,4}`).Draw(t, "name"),
			Zone:      rapid.SampledFrom(append(railtest.DrawnZones(), "Pacific/Apia", "America/Havana", "Etc/GMT-14")).Draw(t, "zone"),
			Latitude:  rapid.SampledFrom([]float64{0, 90, -90, 45.5}).Draw(t, "lat"),
			Longitude: rapid.SampledFrom([]float64{0, 180, -180, 7}).Draw(t, "lon"),
		}
		if bad && rapid.IntRange(0, 9).Draw(t, "bad") == 9 {
			s.Zone, s.Latitude = "Local", math.NaN()
		}
		tt.Stations = append(tt.Stations, s)
	}
	for range rapid.IntRange(1, 4).Draw(t, "trains") {
		tr := railtest.DrawTrain(t, railtest.DrawnDays()[0])
		tr.Bicycles, tr.Hooks = rail.Allowance(oddly(t, "bicycles", bad, 0, 2)), int(oddly(t, "hooks", bad, 0, schedule.MaxHooks))
		if tr.Prices == nil {
			tr.Fare.PerKm, tr.Fare.Base = oddly(t, "per km", bad, 0, schedule.MaxPerKm), oddly(t, "base", bad, 0, schedule.MaxFare)
		} else {
			tr.Prices.Amounts[0][1] = oddly(t, "price", bad, 0, schedule.MaxFare)
		}
		from, to := oddly(t, "from", bad, int64(rail.FirstDate), int64(rail.LastDate)), oddly(t, "to", bad, int64(rail.FirstDate), int64(rail.LastDate))
		tr.Days.From, tr.Days.To = rail.Date(min(from, to)), rail.Date(max(from, to))
		for i := range tr.Calls {
			tr.Calls[i].Metres = int32(oddly(t, "metres", bad, 0, math.MaxInt32/6))
			if i > 0 {
				tr.Calls[i].Metres += tr.Calls[i-1].Metres
			}
		}
		for _, number := range []string{"1", "Ä"}[:rapid.IntRange(0, 2).Draw(t, "coaches")] {
			tr.Coaches = append(tr.Coaches, rail.Coach{Number: number, Seats: int(oddly(t, "seats", bad, 1, schedule.MaxPlaces/2))})
		}
		if rapid.IntRange(0, 4).Draw(t, "late") == 4 {
			tr.Calls[len(tr.Calls)-1].Arrive = rail.ServiceTime(oddly(t, "arrive", bad, 5*86400, int64(rail.MaxServiceTime)))
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
	ids, reg, err := trains.Registry{}.Register(context.Background(), tt.Trains, trains.CalendarCache{}.Get, railtest.DrawnDays()[0], railtest.DrawnDays()[0])
	if err != nil {
		t.Fatal(err)
	}
	checkRegistry(t, tt.Trains, ids, reg)
	read, readIDs, err := trains.DecodeNumbered(trains.EncodeNumbered(tt, ids))
	if diff := cmp.Diff(tt, read, cmpopts.EquateEmpty()); err != nil || diff != "" {
		t.Fatalf("%v: -written +read\n%s", err, diff)
	}
	readReg, err := trains.DecodeRegistry(reg.Encode())
	if err != nil {
		t.Fatal(err)
	}
	z := &tz.Zones{}
	if err := read.CheckIn(z); err != nil {
		t.Fatal("sound before it was written:", err)
	}
	sn, err := Compile(context.Background(), read, readIDs, readReg, compiling{zones: z})
	if err != nil {
		t.Fatal(err)
	}
	days := []rail.Date{railtest.DrawnDays()[0], rail.FirstDate, rail.LastDate, rail.Date(rapid.Int32Range(int32(rail.FirstDate), int32(rail.LastDate)).Draw(t, "day"))}
	for _, origin := range sn.StationAt {
		for _, destination := range sn.StationAt {
			for _, d := range days {
				loc := sn.Locations[origin]
				if origin == destination {
					continue
				}
				a := Ask{Origin: origin, Destination: destination, Date: d, From: d.Start(loc).Unix(), To: (d + 1).Start(loc).Unix()}
				for _, r := range sn.Direct(a) {
					rides := []Ride{r}
					checkRides(t, sn, tt, rides)
					checkResolve(t, sn, tt, TripID(rides))
					checkSale(t, sn, rides)
				}
			}
		}
	}
	return true
}

// checkSale prices and books a ride.
func checkSale(t *rapid.T, sn *Snapshot, rides []Ride) {
	r := rides[0]
	if price, ok := FarePrice([]Ride{r, r, r, r}); !ok || price.Amount < 0 || price.Amount > 1<<53 {
		t.Fatalf("%s costs %v", sn.describe(r), price)
	}
	v := sn.NewInventory(r.Train)
	if v.Free(r.Board, r.Alight, railtest.Noon()) != r.Train.Places {
		t.Fatalf("%d of %d places are free", v.Free(r.Board, r.Alight, railtest.Noon()), r.Train.Places)
	}
	v.Take(seats.Taken{Place: v.Choose(r.Board, r.Alight, railtest.Noon()), From: uint8(r.Board), To: uint8(r.Alight), Until: seats.ForGood})
	again, err := seats.DecodeInventory(v.Encode())
	if err != nil || !again.Fits(r.Train.list, r.Train.Coaches) || again.Free(r.Board, r.Alight, railtest.Noon()) != max(0, r.Train.Places-1) {
		t.Fatalf("booked: %+v, %v", again, err)
	}
	departs := r.departs()
	if !codec.FromNanos(codec.Nanos(departs)).Equal(departs) || r.arrives().Before(departs) || departs.After(time.Date(2179, 7, 1, 0, 0, 0, 0, time.UTC)) {
		t.Fatalf("departs at %v, arrives at %v", departs, r.arrives())
	}
}

func TestSoundTimetablesWork(t *testing.T) {
	t.Parallel()
	good := 0
	railtest.DrawUntil(t, func() bool { return good >= 30 }, func(t *rapid.T) {
		if soundTimetablesWork(t) {
			good++
		}
	})
}

func FuzzSoundTimetablesWork(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) { soundTimetablesWork(t) }))
}
