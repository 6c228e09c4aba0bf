package railtest

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/schedule"
)

// A SlowTrip is when a trip departs and arrives, and on how many trains.
type SlowTrip struct {
	Departs, Arrives int64
	Legs             int
}

// SlowJourneys finds the best trips by trying every train of every day, one leg
// after the other, by what the timetable and its rules say.
// room says whether there is a place on a train of a day from call to call.
func SlowJourneys(tt *schedule.Timetable, origin, destination rail.Station, from, to time.Time, room func(train int, d rail.Date, from, to int) bool) []SlowTrip {
	type run struct {
		train *schedule.Train
		start time.Time // of the service day
		index int
		date  rail.Date
	}
	var runs []run
	for i := range tt.Trains {
		tr := &tt.Trains[i]
		loc, _ := time.LoadLocation(tr.Zone)
		for d := rail.DateOf(from.UTC()) - 17; d <= rail.DateOf(to.UTC())+4; d++ {
			if tr.Days.Runs(d) {
				runs = append(runs, run{tr, time.Date(1970, 1, 1+int(d), 12, 0, 0, 0, loc).Add(-12 * time.Hour), i, d})
			}
		}
	}
	at := func(r run, t rail.ServiceTime) time.Time { return r.start.Add(time.Duration(t) * time.Second) }
	departures := map[time.Time]bool{}
	for _, r := range runs {
		for _, c := range r.train.Calls[:len(r.train.Calls)-1] {
			if t := at(r, c.Depart).UTC(); c.Station == origin.ID && !c.NoBoarding && !t.Before(from) && t.Before(to) {
				departures[t] = true
			}
		}
	}
	type place struct {
		train *schedule.Train
		call  int
	}
	var all []SlowTrip
	for departure := range departures {
		reached := map[place]time.Time{}
		for legs := 1; legs <= rail.MaxLegs; legs++ {
			next := map[place]time.Time{}
			for _, r := range runs {
				calls := r.train.Calls
				for i := range calls[:len(calls)-1] {
					departs := at(r, calls[i].Depart)
					ok := legs == 1 && calls[i].Station == origin.ID && !calls[i].NoBoarding && departs.Equal(departure)
					for p, arrived := range reached {
						takes, possible := slowChangeTime(tt, p.train, p.call, r.train, i)
						ends := calls[i].Station == origin.ID || calls[i].Station == destination.ID || p.train.Calls[p.call].Station == origin.ID
						ok = ok || possible && !ends && !departs.Before(arrived.Add(takes))
					}
					for j := i + 1; ok && j < len(calls); j++ {
						arrives := at(r, calls[j].Arrive)
						if calls[j].NoAlighting || !SlowSells(r.train, i, j) || !room(r.index, r.date, i, j) || arrives.After(departure.Add(72*time.Hour)) {
							continue
						}
						if calls[j].Station == destination.ID {
							all = append(all, SlowTrip{departure.Unix(), arrives.Unix(), legs})
						} else if old, ok := next[place{r.train, j}]; !ok || arrives.Before(old) {
							next[place{r.train, j}] = arrives
						}
					}
				}
			}
			reached = next
		}
	}
	return slowPareto(all)
}

func slowPareto(all []SlowTrip) (best []SlowTrip) {
	for _, a := range all {
		beaten := slices.ContainsFunc(all, func(b SlowTrip) bool {
			return a != b && b.Departs >= a.Departs && b.Arrives <= a.Arrives && b.Legs <= a.Legs
		})
		if !beaten && !slices.Contains(best, a) {
			best = append(best, a)
		}
	}
	slices.SortFunc(best, func(a, b SlowTrip) int {
		return cmp.Or(cmp.Compare(a.Departs, b.Departs), cmp.Compare(a.Arrives, b.Arrives))
	})
	return best
}

// slowChangeTime is what the rules say of a change between two trains.
func slowChangeTime(tt *schedule.Timetable, a *schedule.Train, alight int, b *schedule.Train, board int) (time.Duration, bool) {
	x, y := a.Calls[alight].Station, b.Calls[board].Station
	var best *schedule.Change
	exact := 0
	for i := range tt.Changes {
		c := &tt.Changes[i]
		fits := func(line, train string, platform uint16, t *schedule.Train, call int) (n int, ok bool) {
			if line == "" && train == "" && platform == 0 {
				return 0, true
			}
			ok = t.Feed == c.Feed && (line == "" || line == t.Line) && (train == "" || train == t.ID) && (platform == 0 || platform == t.Calls[call].Platform)
			switch {
			case train != "":
				n = 100
			case line != "":
				n = 10
			}
			if platform != 0 {
				n++
			}
			return n, ok
		}
		from, ok1 := fits(c.FromLine, c.FromTrain, c.FromPlatform, a, alight)
		to, ok2 := fits(c.ToLine, c.ToTrain, c.ToPlatform, b, board)
		if c.From != x || c.To != y || !ok1 || !ok2 {
			continue
		}
		if c.Kind == schedule.StaySeated {
			if alight == len(a.Calls)-1 && board == 0 && slowGoesOn(tt, c) {
				return 0, true
			}
			continue
		}
		if best == nil || from+to >= exact {
			best, exact = c, from+to
		}
	}
	switch {
	case b.Calls[board].NoBoarding:
		return 0, false
	case best != nil:
		return best.Time, best.Kind == schedule.Takes
	case x == y:
		return 5 * time.Minute, true
	}
	var from, to rail.Station
	for _, s := range tt.Stations {
		if s.ID == x {
			from = s
		}
		if s.ID == y {
			to = s
		}
	}
	metres := from.Distance(to)
	whole := time.Duration(metres) * time.Second
	if float64(int64(metres)) < metres {
		whole += time.Second
	}
	return 5*time.Minute + whole, metres <= 500
}

// slowGoesOn says whether all trains that a rule means go on within an hour
// whenever they run.
func slowGoesOn(tt *schedule.Timetable, c *schedule.Change) bool {
	for _, a := range tt.Trains {
		for _, b := range tt.Trains {
			if a.ID != c.FromTrain || b.ID != c.ToTrain || a.Feed != c.Feed || b.Feed != c.Feed ||
				c.FromLine != "" && c.FromLine != a.Line || c.ToLine != "" && c.ToLine != b.Line {
				continue
			}
			zoneA, _ := time.LoadLocation(a.Zone)
			zoneB, _ := time.LoadLocation(b.Zone)
			runs := 0
			for d := rail.Date(18600); d < 18960; d++ { // 2020-12-04 to 2021-11-29
				if !a.Days.Runs(d) {
					continue
				}
				runs++
				ok := false
				for e := d - 17; e < d+17; e++ {
					wait := b.Calls[0].Depart.Instant(e, zoneB).Sub(a.Calls[len(a.Calls)-1].Arrive.Instant(d, zoneA))
					ok = ok || b.Days.Runs(e) && wait >= 0 && wait <= time.Hour
				}
				if !ok {
					return false
				}
			}
			if runs == 0 {
				return false
			}
		}
	}
	return true
}

// DrawChanges are rules between the stations and trains of a drawn timetable.
func DrawChanges(t *rapid.T, tt *schedule.Timetable) (changes []schedule.Change) {
	station := rapid.SampledFrom(tt.Stations)
	name := rapid.SampledFrom([]string{"", "", "x", "y"})
	for range rapid.IntRange(0, 4).Draw(t, "changes") {
		c := schedule.Change{From: station.Draw(t, "from").ID, To: station.Draw(t, "to").ID}
		if rapid.Bool().Draw(t, "at one station") {
			c.To = c.From
		}
		c.FromLine, c.ToLine = name.Draw(t, "from line"), name.Draw(t, "to line")
		c.FromTrain, c.ToTrain = name.Draw(t, "from train"), name.Draw(t, "to train")
		platform := rapid.SampledFrom([]uint16{0, 0, 1, 2})
		c.FromPlatform, c.ToPlatform = platform.Draw(t, "from platform"), platform.Draw(t, "to platform")
		switch c.Kind = rapid.SampledFrom([]schedule.ChangeKind{schedule.Takes, schedule.Takes, schedule.Impossible, schedule.StaySeated}).Draw(t, "kind"); c.Kind {
		case schedule.Takes:
			c.Time = time.Duration(rapid.SampledFrom([]int{0, 2, 5, 15, 90}).Draw(t, "minutes")) * time.Minute
		case schedule.StaySeated:
			c.FromTrain, c.ToTrain, c.FromPlatform, c.ToPlatform = "x", "y", 0, 0
		}
		changes = append(changes, c)
	}
	return changes
}

// DrawPlatforms gives the calls of a train platforms.
func DrawPlatforms(t *rapid.T, train *schedule.Train) {
	for j := range train.Calls {
		train.Calls[j].Platform = rapid.Uint16Range(0, 2).Draw(t, "platform")
	}
}

// DrawTimetable is a small and nasty timetable, with rules for changing and few
// places, that begins on a date.
func DrawTimetable(t *rapid.T) (*schedule.Timetable, rail.Date) {
	tt, first := DrawTrains(t, 9)
	for i := range tt.Trains {
		tt.Trains[i].Line = rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "line")
		tt.Trains[i].Number = fmt.Sprint(i)
		if tt.Trains[i].Prices == nil {
			tt.Trains[i].Fare.Base = 100
		}
		day := first + rail.Date(rapid.IntRange(0, 3).Draw(t, "day"))
		tt.Trains[i].Days = schedule.Daily(day, day) // an ID cannot pass by a full run to take the train on another day
		tt.Trains[i].Coaches = []rail.Coach{{Number: "1", Seats: rapid.IntRange(1, 2).Draw(t, "seats")}}
		for j := range tt.Trains[i].Calls[1:] { // no train is twice anywhere within a second
			c := &tt.Trains[i].Calls[j+1]
			c.Arrive += rail.ServiceTime(60 * (j + 1))
			c.Depart += rail.ServiceTime(60 * (j + 1))
		}
	}
	tt.Stations[1].Latitude = tt.Stations[0].Latitude + 0.003
	tt.Changes = DrawChanges(t, tt)
	return tt, first
}

// SlowTrips finds the best trips with changes, as departure and arrival in Unix
// seconds and how many legs they have.
func SlowTrips(tt *schedule.Timetable, origin, destination rail.Station, from, to time.Time, room func(train int, d rail.Date, from, to int) bool) (found [][3]int64) {
	for _, t := range SlowJourneys(tt, origin, destination, from, to, room) {
		if t.Legs > 1 {
			found = append(found, [3]int64{t.Departs, t.Arrives, int64(t.Legs)})
		}
	}
	return found
}
