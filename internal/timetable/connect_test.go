package timetable

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/traintravel/traintravel/internal/railtest"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/schedule"
)

// connected changes from train to train, from the first call of the first to
// the last call of the last, and checks that the trip's ID means the same.
func connected(t *testing.T, sn *Snapshot, d rail.Date, names ...string) []string {
	t.Helper()
	code := TripCode{date: d, Legs: len(names)}
	for i, name := range names {
		for k := range sn.Trains {
			if tr := &sn.Trains[k]; tr.Name == name {
				code.Numbers[i], code.Alight = tr.number, len(tr.Stops)-1
			}
		}
	}
	first, ok := sn.numbered(code.Numbers[0], d)
	if !ok {
		t.Fatalf("%s does not run on %s", names[0], d)
	}
	rides := sn.connect(Ride{Train: first, Date: d}, code.Numbers[1:len(names)], code.Alight)
	again, err := sn.Resolve(code.ID())
	if diff := cmp.Diff(sn.describeAll(rides), sn.describeAll(again)); diff != "" || (rides == nil) != (err != nil) {
		t.Errorf("%v: the ID means something else, %v: -want +got\n%s", names, err, diff)
	}
	if rides != nil && TripID(rides) != code.ID() {
		t.Errorf("%v: the ID is %v, not %v", names, TripID(rides), code.ID())
	}
	return sn.describeAll(rides)
}

func TestConnect(t *testing.T) {
	t.Parallel()
	const berlin = "Europe/Berlin"
	monday := rail.NewDate(2021, 6, 14)
	weekdays := *railtest.AllYear()
	weekdays.Weekdays[time.Saturday], weekdays.Weekdays[time.Sunday] = false, false
	none := []string{}
	for _, c := range []struct {
		name   string
		day    rail.Date
		trains []schedule.Train
		trip   []string
		want   []string
	}{
		{
			"two legs", monday,
			[]schedule.Train{railtest.TrainOf("1", berlin, railtest.AllYear(), "A 8:00", "B 9:00"), railtest.TrainOf("2", berlin, railtest.AllYear(), "B 9:10", "C 10:00")},
			[]string{"1", "2"},
			[]string{
				"1 of 2021-06-14: A 2021-06-14T08:00:00+02:00 - B 2021-06-14T09:00:00+02:00",
				"2 of 2021-06-14: B 2021-06-14T09:10:00+02:00 - C 2021-06-14T10:00:00+02:00",
			},
		},
		{
			"the least time to change is enough", monday,
			[]schedule.Train{railtest.TrainOf("1", berlin, railtest.On(monday), "A 8:00", "B 9:00"), railtest.TrainOf("2", berlin, railtest.On(monday), "B 9:05", "C 10:00")},
			[]string{"1", "2"},
			[]string{
				"1 of 2021-06-14: A 2021-06-14T08:00:00+02:00 - B 2021-06-14T09:00:00+02:00",
				"2 of 2021-06-14: B 2021-06-14T09:05:00+02:00 - C 2021-06-14T10:00:00+02:00",
			},
		},
		{
			"a minute less is not", monday,
			[]schedule.Train{railtest.TrainOf("1", berlin, railtest.On(monday), "A 8:00", "B 9:00"), railtest.TrainOf("2", berlin, railtest.On(monday), "B 9:04", "C 10:00")},
			[]string{"1", "2"}, none,
		},
		{
			"where there is most time", monday,
			[]schedule.Train{
				railtest.TrainOf("1", berlin, railtest.AllYear(), "A 8:00", "B 9:00-9:01", "C 9:30-9:31", "D 10:00"),
				railtest.TrainOf("2", berlin, railtest.AllYear(), "B 9:20", "C 9:55", "D 10:10", "E 11:00"),
			},
			[]string{"1", "2"},
			[]string{
				"1 of 2021-06-14: A 2021-06-14T08:00:00+02:00 - C 2021-06-14T09:30:00+02:00",
				"2 of 2021-06-14: C 2021-06-14T09:55:00+02:00 - E 2021-06-14T11:00:00+02:00",
			},
		},
		{
			"of equals the earliest", monday,
			[]schedule.Train{
				railtest.TrainOf("1", berlin, railtest.AllYear(), "A 8:00", "B 9:00", "C 9:30", "D 10:00"),
				railtest.TrainOf("2", berlin, railtest.AllYear(), "B 9:20", "C 9:50", "D 10:20", "E 11:00"),
			},
			[]string{"1", "2"},
			[]string{
				"1 of 2021-06-14: A 2021-06-14T08:00:00+02:00 - B 2021-06-14T09:00:00+02:00",
				"2 of 2021-06-14: B 2021-06-14T09:20:00+02:00 - E 2021-06-14T11:00:00+02:00",
			},
		},
		{
			"not where one may not get off, nor on", monday,
			[]schedule.Train{
				railtest.TrainOf("1", berlin, railtest.AllYear(), "A 8:00", "B 9:00 no-alighting", "C 9:30", "D 10:00"),
				railtest.TrainOf("2", berlin, railtest.AllYear(), "B 9:20", "C 9:50 no-boarding", "D 10:06", "E 11:00"),
			},
			[]string{"1", "2"},
			[]string{
				"1 of 2021-06-14: A 2021-06-14T08:00:00+02:00 - D 2021-06-14T10:00:00+02:00",
				"2 of 2021-06-14: D 2021-06-14T10:06:00+02:00 - E 2021-06-14T11:00:00+02:00",
			},
		},
		{
			"the earliest run, not the longest wait", monday,
			[]schedule.Train{
				railtest.TrainOf("1", berlin, railtest.AllYear(), "A 8:00", "B 9:00", "C 9:30"),
				railtest.TrainOf("2", berlin, railtest.AllYear(), "C 8:00", "B 9:10", "E 10:00"), // at C it can be caught the day after only
			},
			[]string{"1", "2"},
			[]string{
				"1 of 2021-06-14: A 2021-06-14T08:00:00+02:00 - B 2021-06-14T09:00:00+02:00",
				"2 of 2021-06-14: B 2021-06-14T09:10:00+02:00 - E 2021-06-14T10:00:00+02:00",
			},
		},
		{
			"the next run, after midnight", monday,
			[]schedule.Train{railtest.TrainOf("1", berlin, railtest.On(monday), "A 22:00", "B 23:58"), railtest.TrainOf("2", berlin, railtest.AllYear(), "B 0:02", "C 1:00")},
			[]string{"1", "2"}, // two minutes past midnight is too soon: the day after, within a day
			[]string{
				"1 of 2021-06-14: A 2021-06-14T22:00:00+02:00 - B 2021-06-14T23:58:00+02:00",
				"2 of 2021-06-16: B 2021-06-16T00:02:00+02:00 - C 2021-06-16T01:00:00+02:00",
			},
		},
		{
			"just after midnight", monday,
			[]schedule.Train{railtest.TrainOf("1", berlin, railtest.On(monday), "A 22:00", "B 23:58"), railtest.TrainOf("2", berlin, railtest.AllYear(), "B 0:03", "C 1:00")},
			[]string{"1", "2"},
			[]string{
				"1 of 2021-06-14: A 2021-06-14T22:00:00+02:00 - B 2021-06-14T23:58:00+02:00",
				"2 of 2021-06-15: B 2021-06-15T00:03:00+02:00 - C 2021-06-15T01:00:00+02:00",
			},
		},
		{
			"into yesterday's run of a train that has been under way for a day", monday,
			[]schedule.Train{railtest.TrainOf("1", berlin, railtest.On(monday), "A 8:00", "B 9:00"), railtest.TrainOf("2", berlin, railtest.AllYear(), "Z 7:00", "B 33:10", "C 34:00")},
			[]string{"1", "2"},
			[]string{
				"1 of 2021-06-14: A 2021-06-14T08:00:00+02:00 - B 2021-06-14T09:00:00+02:00",
				"2 of 2021-06-13: B 2021-06-14T09:10:00+02:00 - C 2021-06-14T10:00:00+02:00",
			},
		},
		{
			"from a train that has been under way for two days", monday,
			[]schedule.Train{railtest.TrainOf("1", berlin, railtest.On(monday), "A 8:00", "B 57:00"), railtest.TrainOf("2", berlin, railtest.AllYear(), "B 9:10", "C 10:00")},
			[]string{"1", "2"},
			[]string{
				"1 of 2021-06-14: A 2021-06-14T08:00:00+02:00 - B 2021-06-16T09:00:00+02:00",
				"2 of 2021-06-16: B 2021-06-16T09:10:00+02:00 - C 2021-06-16T10:00:00+02:00",
			},
		},
		{
			"on Friday evening into a train of weekdays: not on Saturday", rail.NewDate(2021, 6, 18),
			[]schedule.Train{railtest.TrainOf("1", berlin, railtest.AllYear(), "A 20:00", "B 22:00"), railtest.TrainOf("2", berlin, &weekdays, "B 21:00", "C 23:00")},
			[]string{"1", "2"}, none, // Monday is too far away
		},
		{
			"on Thursday evening", rail.NewDate(2021, 6, 17),
			[]schedule.Train{railtest.TrainOf("1", berlin, railtest.AllYear(), "A 20:00", "B 22:00"), railtest.TrainOf("2", berlin, &weekdays, "B 21:00", "C 23:00")},
			[]string{"1", "2"},
			[]string{
				"1 of 2021-06-17: A 2021-06-17T20:00:00+02:00 - B 2021-06-17T22:00:00+02:00",
				"2 of 2021-06-18: B 2021-06-18T21:00:00+02:00 - C 2021-06-18T23:00:00+02:00",
			},
		},
		{
			"three days after the departure", monday,
			[]schedule.Train{railtest.TrainOf("1", berlin, railtest.On(monday), "A 8:00", "B 9:00"), railtest.TrainOf("2", berlin, railtest.On(monday+3), "B 8:00", "C 10:00")},
			[]string{"1", "2"},
			[]string{
				"1 of 2021-06-14: A 2021-06-14T08:00:00+02:00 - B 2021-06-14T09:00:00+02:00",
				"2 of 2021-06-17: B 2021-06-17T08:00:00+02:00 - C 2021-06-17T10:00:00+02:00",
			},
		},
		{
			"a minute more", monday,
			[]schedule.Train{railtest.TrainOf("1", berlin, railtest.On(monday), "A 8:00", "B 9:00"), railtest.TrainOf("2", berlin, railtest.On(monday+3), "B 8:01", "C 10:00")},
			[]string{"1", "2"}, none,
		},
		{
			"over the clock change in spring", rail.NewDate(2021, 3, 27),
			[]schedule.Train{railtest.TrainOf("1", berlin, railtest.On(rail.NewDate(2021, 3, 27)), "A 22:00", "B 25:50"), railtest.TrainOf("2", berlin, railtest.On(rail.NewDate(2021, 3, 28)), "B 3:00", "C 5:00")},
			[]string{"1", "2"}, // arrives at 01:50, ten minutes before it is three
			[]string{
				"1 of 2021-03-27: A 2021-03-27T22:00:00+01:00 - B 2021-03-28T01:50:00+01:00",
				"2 of 2021-03-28: B 2021-03-28T03:00:00+02:00 - C 2021-03-28T05:00:00+02:00",
			},
		},
		{
			"over the clock change in autumn", rail.NewDate(2021, 10, 30),
			[]schedule.Train{railtest.TrainOf("1", berlin, railtest.On(rail.NewDate(2021, 10, 30)), "A 22:00", "B 26:50"), railtest.TrainOf("2", berlin, railtest.AllYear(), "B 2:00", "C 5:00")},
			[]string{"1", "2"}, // arrives at 02:50 for the first time, ten minutes before it is two again
			[]string{
				"1 of 2021-10-30: A 2021-10-30T22:00:00+02:00 - B 2021-10-31T02:50:00+02:00",
				"2 of 2021-10-31: B 2021-10-31T02:00:00+01:00 - C 2021-10-31T05:00:00+01:00",
			},
		},
		{
			"hours are counted, not days", rail.NewDate(2021, 10, 30),
			[]schedule.Train{railtest.TrainOf("1", berlin, railtest.On(rail.NewDate(2021, 10, 30)), "A 8:00", "B 9:00"), railtest.TrainOf("2", berlin, railtest.On(rail.NewDate(2021, 11, 2)), "B 7:01", "C 10:00")},
			[]string{"1", "2"}, none,
		},
		{
			"between trains of two zones", monday,
			[]schedule.Train{railtest.TrainOf("1", "Europe/London", railtest.AllYear(), "A 8:00", "B 9:00"), railtest.TrainOf("2", berlin, railtest.AllYear(), "B 10:10", "C 11:00")},
			[]string{"1", "2"},
			[]string{
				"1 of 2021-06-14: A 2021-06-14T08:00:00+01:00 - B 2021-06-14T09:00:00+01:00",
				"2 of 2021-06-14: B 2021-06-14T09:10:00+01:00 - C 2021-06-14T11:00:00+02:00",
			},
		},
		{
			"three legs, where the best first change makes the second impossible", monday,
			[]schedule.Train{
				railtest.TrainOf("1", berlin, railtest.On(monday), "A 8:00", "B 9:00", "C 10:00"),
				railtest.TrainOf("2", berlin, railtest.On(monday), "B 9:10", "D 9:30", "C 10:30", "E 11:00"), // most time at C, but D lies before
				railtest.TrainOf("3", berlin, railtest.On(monday), "D 9:40", "F 12:00"),
			},
			[]string{"1", "2", "3"},
			[]string{
				"1 of 2021-06-14: A 2021-06-14T08:00:00+02:00 - B 2021-06-14T09:00:00+02:00",
				"2 of 2021-06-14: B 2021-06-14T09:10:00+02:00 - D 2021-06-14T09:30:00+02:00",
				"3 of 2021-06-14: D 2021-06-14T09:40:00+02:00 - F 2021-06-14T12:00:00+02:00",
			},
		},
		{
			"four legs through the night", monday,
			[]schedule.Train{
				railtest.TrainOf("1", berlin, railtest.AllYear(), "A 18:00", "B 19:00"), railtest.TrainOf("2", berlin, railtest.AllYear(), "B 19:30", "C 23:00"),
				railtest.TrainOf("3", berlin, railtest.AllYear(), "C 23:30", "D 31:00"), railtest.TrainOf("4", berlin, railtest.AllYear(), "D 7:30", "E 9:00"),
			},
			[]string{"1", "2", "3", "4"},
			[]string{
				"1 of 2021-06-14: A 2021-06-14T18:00:00+02:00 - B 2021-06-14T19:00:00+02:00",
				"2 of 2021-06-14: B 2021-06-14T19:30:00+02:00 - C 2021-06-14T23:00:00+02:00",
				"3 of 2021-06-14: C 2021-06-14T23:30:00+02:00 - D 2021-06-15T07:00:00+02:00",
				"4 of 2021-06-15: D 2021-06-15T07:30:00+02:00 - E 2021-06-15T09:00:00+02:00",
			},
		},
		{
			"four legs that do not meet", monday,
			[]schedule.Train{
				railtest.TrainOf("1", berlin, railtest.On(monday), "A 18:00", "B 19:00"), railtest.TrainOf("2", berlin, railtest.On(monday), "B 19:30", "C 23:00"),
				railtest.TrainOf("3", berlin, railtest.On(monday), "C 23:30", "D 31:00"), railtest.TrainOf("4", berlin, railtest.On(monday), "D 7:30", "E 9:00"),
			},
			[]string{"1", "2", "3", "4"}, none,
		},
		{
			"out of a run and into the same again", monday,
			[]schedule.Train{railtest.TrainOf("1", berlin, railtest.On(monday), "A 8:00", "B 9:00-9:30", "C 10:00")},
			[]string{"1", "1"}, none,
		},
		{
			"and back into it later", monday,
			[]schedule.Train{
				railtest.TrainOf("1", berlin, railtest.On(monday), "A 8:00", "B 9:00-10:00", "C 11:00-12:00", "D 13:00"),
				railtest.TrainOf("2", berlin, railtest.On(monday), "B 9:30", "C 10:30"),
			},
			[]string{"1", "2", "1"}, none,
		},
		{
			"the next day's run of the same train", monday,
			[]schedule.Train{railtest.TrainOf("1", berlin, railtest.AllYear(), "A 8:00", "B 9:00", "A 18:00", "C 31:00")},
			[]string{"1", "1"},
			[]string{
				"1 of 2021-06-14: A 2021-06-14T08:00:00+02:00 - B 2021-06-14T09:00:00+02:00",
				"1 of 2021-06-15: B 2021-06-15T09:00:00+02:00 - C 2021-06-16T07:00:00+02:00",
			},
		},
	} {
		sn := compiled(t, railtest.NetworkOf(c.trains...))
		if diff := cmp.Diff(c.want, connected(t, sn, c.day, c.trip...)); diff != "" {
			t.Errorf("%s: -want +got\n%s", c.name, diff)
		}
	}
}

// A number that was given to another train does not mean that train on earlier days, neither as
// the first train nor as a connection.
func TestConnectOnlySinceTheNumberMeansTheTrain(t *testing.T) {
	t.Parallel()
	sn := compiled(t, railtest.NetworkOf(
		railtest.TrainOf("1", "Europe/Berlin", railtest.AllYear(), "A 8:00", "B 9:00"),
		railtest.TrainOf("2", "Europe/Berlin", railtest.AllYear(), "B 9:10", "C 10:00"),
	))
	monday := rail.NewDate(2021, 6, 14)
	sn.Trains[1].since = monday
	for d, legs := range map[rail.Date]int{monday - 1: 0, monday: 2} {
		if got := connected(t, sn, d, "1", "2"); len(got) != legs {
			t.Errorf("on %s: %q", d, got)
		}
	}
}

// Trains that share all their stations can be changed in 256 ways each: the
// search ends all the same.
func TestConnectManyWays(t *testing.T) {
	t.Parallel()
	monday := rail.NewDate(2021, 6, 14)
	days := railtest.On(monday, monday+1, monday+2)
	line := func(number string, start, from, to int) schedule.Train {
		tr := railtest.TrainOf(number, "Europe/Berlin", days, "A 8:00", "B 9:00")
		tr.Calls = nil
		for i := from; i < to; i++ {
			at := rail.ServiceTime(start*3600 + i*60)
			tr.Calls = append(tr.Calls, schedule.Call{Station: manyStations[i].ID, Arrive: at, Depart: at})
		}
		return tr
	}
	network := railtest.NetworkOf(railtest.TrainOf("4", "Europe/Berlin", days, "A 20:00", "B 21:00"))
	network.Stations = append(network.Stations, manyStations[:]...)
	network.Trains = append(network.Trains, line("1", 8, 0, schedule.MaxCalls), line("2", 9, 0, schedule.MaxCalls), line("3", 10, 0, schedule.MaxCalls))
	sn := compiled(t, network)
	if got := connected(t, sn, monday, "1", "2", "3", "4"); len(got) > 0 {
		t.Errorf("no way leads to A: %q", got)
	}
	network.Trains[0] = line("4", 20, schedule.MaxCalls-1, schedule.MaxCalls+1)
	if got := connected(t, compiled(t, network), monday, "1", "2", "3", "4"); len(got) != 4 {
		t.Errorf("there is a way: %q", got)
	}
}

var manyStations = func() (all [schedule.MaxCalls + 1]rail.Station) {
	for i := range all {
		all[i] = rail.Station{ID: railtest.Nth(i), Name: "S", Country: "DE", Zone: "Europe/Berlin", Latitude: 50, Longitude: float64(i) / 10}
	}
	return all
}()
