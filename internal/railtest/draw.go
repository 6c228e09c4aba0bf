package railtest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/schedule"
)

// How properties draw networks: few stations, so that trains meet and loop;
// zones and dates on which clocks change; trains that run over midnights.

// DrawnStations are the names of the stations of drawn trains.
func DrawnStations() []string { return []string{"Alt", "Bro", "Cau", "Dom"} }

// DrawnZones are the zones of drawn trains, and in order those of the stations.
func DrawnZones() []string {
	return []string{"Europe/Berlin", "Europe/Lisbon", "Europe/Istanbul", "UTC", "Australia/Lord_Howe"}
}

// DrawnDays are the first days of drawn timetables.
func DrawnDays() []rail.Date {
	return []rail.Date{rail.NewDate(2021, 3, 26), rail.NewDate(2021, 10, 29), rail.NewDate(2021, 6, 14)}
}

// drawCalendar is a week at most, from a day on.
func drawCalendar(t *rapid.T, first rail.Date) *schedule.Calendar {
	day := rapid.Map(rapid.Int32Range(0, 6), func(n int32) rail.Date { return first + rail.Date(n) })
	c := &schedule.Calendar{
		From: day.Draw(t, "from"), To: day.Draw(t, "to"),
		Added:   rapid.SliceOfN(day, 0, 3).Draw(t, "added"),
		Removed: rapid.SliceOfN(day, 0, 3).Draw(t, "removed"),
	}
	if c.To < c.From {
		c.From, c.To = c.To, c.From
	}
	for i := range c.Weekdays {
		c.Weekdays[i] = rapid.IntRange(0, 3).Draw(t, "weekday") < 3
	}
	return c
}

// DrawTrain draws a train that runs in the week from a day on.
func DrawTrain(t *rapid.T, first rail.Date) schedule.Train {
	tr := schedule.Train{
		Operator: "Rail", Number: rapid.SampledFrom([]string{"1", "2", ""}).Draw(t, "number"),
		ID: rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "id"), Zone: rapid.SampledFrom(DrawnZones()).Draw(t, "zone"),
		Days: drawCalendar(t, first), Fare: schedule.Fare{Currency: "eur", PerKm: 10},
	}
	at := rail.ServiceTime(rapid.IntRange(0, 30*4).Draw(t, "start") * 900)
	for range rapid.IntRange(2, 6).Draw(t, "calls") {
		c := schedule.Call{Station: StationNamed(rapid.SampledFrom(DrawnStations()).Draw(t, "station")), Arrive: at}
		c.Depart = at + rail.ServiceTime(rapid.SampledFrom([]int{0, 0, 120, 300, 3600}).Draw(t, "stay"))
		at = c.Depart + rail.ServiceTime(rapid.SampledFrom([]int{0, 900, 3600, 30000}).Draw(t, "ride"))
		c.NoBoarding = rapid.IntRange(0, 7).Draw(t, "no boarding") == 7
		c.NoAlighting = rapid.IntRange(0, 7).Draw(t, "no alighting") == 7
		tr.Calls = append(tr.Calls, c)
	}
	if rapid.IntRange(0, 2).Draw(t, "priced") == 2 {
		tr.Fare, tr.Prices = schedule.Fare{}, drawPrices(t, len(tr.Calls))
	}
	return tr
}

// drawPrices are those of a train of so many calls, of which some rides have none.
func drawPrices(t *rapid.T, calls int) *schedule.Prices {
	p := &schedule.Prices{Currency: "eur", Amounts: make([][]int64, calls)}
	for i := range p.Amounts {
		p.Amounts[i] = make([]int64, calls)
		for j := i + 1; j < calls; j++ {
			p.Amounts[i][j] = rapid.SampledFrom([]int64{100, schedule.MaxFare, 0}).Draw(t, "price")
		}
	}
	return p
}

// SlowSells says whether a ride on a drawn train is for sale.
func SlowSells(tr *schedule.Train, from, to int) bool {
	return tr.Prices == nil || tr.Prices.Amounts[from][to] > 0
}

// DrawTrains is of trains that run in one week, from a day on.
func DrawTrains(t *rapid.T, trains int) (tt *schedule.Timetable, first rail.Date) {
	tt, first = &schedule.Timetable{}, rapid.SampledFrom(DrawnDays()).Draw(t, "first")
	for i, name := range DrawnStations() {
		tt.Stations = append(tt.Stations, rail.Station{ID: StationNamed(name), Name: name, Zone: DrawnZones()[i], Latitude: float64(40 + i)})
	}
	for range rapid.IntRange(1, trains).Draw(t, "trains") {
		tt.Trains = append(tt.Trains, DrawTrain(t, first))
	}
	return tt, first
}

// DrawUntil checks a property with what is drawn, again and again until enough came up of
// what the property is about. The flag -short draws a fifth at a time, so it takes more times
// then. It fails the test if there is never enough.
func DrawUntil(t *testing.T, enough func() bool, property func(*rapid.T)) {
	t.Helper()
	for range 20 {
		if rapid.Check(t, property); t.Failed() || enough() {
			return
		}
	}
	t.Error("too little came up of what the property is about")
}

// Records keep every value there can be, to the bit: what follows draws such values.

// DrawID draws any ID, often the nil UUID.
func DrawID(t *rapid.T) uuid.UUID {
	if rapid.IntRange(0, 3).Draw(t, "nil") == 3 {
		return uuid.Nil
	}
	return uuid.UUID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id"))
}

// DrawText draws any text.
func DrawText(t *rapid.T) string { return rapid.String().Draw(t, "text") }

// DrawMoney draws any amount of any currency.
func DrawMoney(t *rapid.T) rail.Money {
	return rail.Money{Amount: rapid.Int64().Draw(t, "amount"), Currency: DrawText(t)}
}

// DrawTime is an instant that nanoseconds since 1970 can tell, or the zero time.
func DrawTime(t *rapid.T) time.Time {
	n := rapid.Int64Range(-1<<63, 1<<63-1).Draw(t, "ns")
	if n == -1<<63 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}

// DrawStop draws a stop whose time shows in one of DrawnZones.
func DrawStop(t *rapid.T) rail.Stop {
	loc, err := time.LoadLocation(rapid.SampledFrom(DrawnZones()).Draw(t, "zone"))
	if err != nil {
		t.Fatal(err)
	}
	return rail.Stop{Station: DrawID(t), Name: DrawText(t), Time: DrawTime(t).In(loc)}
}

// SameInZone compares times to the nanosecond and by the zone they show in.
func SameInZone() cmp.Option {
	return cmp.Comparer(func(a, b time.Time) bool {
		return a.Equal(b) && a.Location().String() == b.Location().String()
	})
}
