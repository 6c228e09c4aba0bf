package traintravel

import "pgregory.net/rapid"

// How properties draw networks: few stations, so that trains meet and loop;
// zones and dates on which clocks change; trains that run over midnights.

var (
	drawnStations = []string{"Alt", "Bro", "Cau", "Dom"}
	drawnZones    = []string{"Europe/Berlin", "Europe/Lisbon", "Europe/Istanbul", "UTC", "Australia/Lord_Howe"}
	drawnDays     = []Date{NewDate(2021, 3, 26), NewDate(2021, 10, 29), NewDate(2021, 6, 14)}
)

// drawCalendar is a week at most, from a day on.
func drawCalendar(t *rapid.T, first Date) *Calendar {
	day := rapid.Map(rapid.Int32Range(0, 6), func(n int32) Date { return first + Date(n) })
	c := &Calendar{
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

func drawTrain(t *rapid.T, first Date) Train {
	tr := Train{
		Operator: "Rail", Number: rapid.SampledFrom([]string{"1", "2", ""}).Draw(t, "number"),
		ID: rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "id"), Zone: rapid.SampledFrom(drawnZones).Draw(t, "zone"),
		Days: drawCalendar(t, first), Fare: Fare{Currency: "eur", PerKm: 10},
	}
	at := ServiceTime(rapid.IntRange(0, 30*4).Draw(t, "start") * 900)
	for range rapid.IntRange(2, 6).Draw(t, "calls") {
		c := Call{Station: stationNamed(rapid.SampledFrom(drawnStations).Draw(t, "station")), Arrive: at}
		c.Depart = at + ServiceTime(rapid.SampledFrom([]int{0, 0, 120, 300, 3600}).Draw(t, "stay"))
		at = c.Depart + ServiceTime(rapid.SampledFrom([]int{0, 900, 3600, 30000}).Draw(t, "ride"))
		c.NoBoarding = rapid.IntRange(0, 7).Draw(t, "no boarding") == 7
		c.NoAlighting = rapid.IntRange(0, 7).Draw(t, "no alighting") == 7
		tr.Calls = append(tr.Calls, c)
	}
	if rapid.IntRange(0, 2).Draw(t, "priced") == 2 {
		tr.Fare, tr.Prices = Fare{}, drawPrices(t, len(tr.Calls))
	}
	return tr
}

// drawPrices are those of a train of so many calls, of which some rides have none.
func drawPrices(t *rapid.T, calls int) *Prices {
	p := &Prices{Currency: "eur", Amounts: make([][]int64, calls)}
	for i := range p.Amounts {
		p.Amounts[i] = make([]int64, calls)
		for j := i + 1; j < calls; j++ {
			p.Amounts[i][j] = rapid.SampledFrom([]int64{100, maxFare, 0}).Draw(t, "price")
		}
	}
	return p
}

// slowSells says whether a ride on a drawn train is for sale.
func slowSells(tr *Train, from, to int) bool {
	return tr.Prices == nil || tr.Prices.Amounts[from][to] > 0
}

// drawTimetable is of trains that run in one week, from a day on.
func drawTimetable(t *rapid.T, trains int) (tt *Timetable, first Date) {
	tt, first = &Timetable{}, rapid.SampledFrom(drawnDays).Draw(t, "first")
	for i, name := range drawnStations {
		tt.Stations = append(tt.Stations, Station{ID: stationNamed(name), Name: name, Zone: drawnZones[i], Latitude: float64(40 + i)})
	}
	for range rapid.IntRange(1, trains).Draw(t, "trains") {
		tt.Trains = append(tt.Trains, drawTrain(t, first))
	}
	return tt, first
}
