package traintravel

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// connected changes from train to train, from the first call of the first to
// the last call of the last, and checks that the trip's ID means the same.
func connected(t *testing.T, sn *snapshot, d Date, names ...string) []string {
	t.Helper()
	code := tripCode{date: d, legs: len(names)}
	for i, name := range names {
		for k := range sn.trains {
			if tr := &sn.trains[k]; tr.name == name {
				code.numbers[i], code.alight = tr.number, len(tr.stops)-1
			}
		}
	}
	first, ok := sn.numbered(code.numbers[0], d)
	if !ok {
		t.Fatalf("%s does not run on %s", names[0], d)
	}
	rides := sn.connect(ride{train: first, date: d}, code.numbers[1:len(names)], code.alight)
	again, err := sn.resolve(code.id())
	if diff := cmp.Diff(sn.describeAll(rides), sn.describeAll(again)); diff != "" || (rides == nil) != (err != nil) {
		t.Errorf("%v: the ID means something else, %v: -want +got\n%s", names, err, diff)
	}
	if rides != nil && tripID(rides) != code.id() {
		t.Errorf("%v: the ID is %v, not %v", names, tripID(rides), code.id())
	}
	return sn.describeAll(rides)
}

func TestConnect(t *testing.T) {
	t.Parallel()
	const berlin = "Europe/Berlin"
	monday := NewDate(2021, 6, 14)
	weekdays := *allYear
	weekdays.Weekdays[time.Saturday], weekdays.Weekdays[time.Sunday] = false, false
	none := []string{}
	for _, c := range []struct {
		name   string
		day    Date
		trains []Train
		trip   []string
		want   []string
	}{
		{
			"two legs", monday,
			[]Train{trainOf("1", berlin, allYear, "A 8:00", "B 9:00"), trainOf("2", berlin, allYear, "B 9:10", "C 10:00")},
			[]string{"1", "2"},
			[]string{
				"1 of 2021-06-14: A 2021-06-14T08:00:00+02:00 - B 2021-06-14T09:00:00+02:00",
				"2 of 2021-06-14: B 2021-06-14T09:10:00+02:00 - C 2021-06-14T10:00:00+02:00",
			},
		},
		{
			"the least time to change is enough", monday,
			[]Train{trainOf("1", berlin, on(monday), "A 8:00", "B 9:00"), trainOf("2", berlin, on(monday), "B 9:05", "C 10:00")},
			[]string{"1", "2"},
			[]string{
				"1 of 2021-06-14: A 2021-06-14T08:00:00+02:00 - B 2021-06-14T09:00:00+02:00",
				"2 of 2021-06-14: B 2021-06-14T09:05:00+02:00 - C 2021-06-14T10:00:00+02:00",
			},
		},
		{
			"a minute less is not", monday,
			[]Train{trainOf("1", berlin, on(monday), "A 8:00", "B 9:00"), trainOf("2", berlin, on(monday), "B 9:04", "C 10:00")},
			[]string{"1", "2"}, none,
		},
		{
			"where there is most time", monday,
			[]Train{
				trainOf("1", berlin, allYear, "A 8:00", "B 9:00-9:01", "C 9:30-9:31", "D 10:00"),
				trainOf("2", berlin, allYear, "B 9:20", "C 9:55", "D 10:10", "E 11:00"),
			},
			[]string{"1", "2"},
			[]string{
				"1 of 2021-06-14: A 2021-06-14T08:00:00+02:00 - C 2021-06-14T09:30:00+02:00",
				"2 of 2021-06-14: C 2021-06-14T09:55:00+02:00 - E 2021-06-14T11:00:00+02:00",
			},
		},
		{
			"of equals the earliest", monday,
			[]Train{
				trainOf("1", berlin, allYear, "A 8:00", "B 9:00", "C 9:30", "D 10:00"),
				trainOf("2", berlin, allYear, "B 9:20", "C 9:50", "D 10:20", "E 11:00"),
			},
			[]string{"1", "2"},
			[]string{
				"1 of 2021-06-14: A 2021-06-14T08:00:00+02:00 - B 2021-06-14T09:00:00+02:00",
				"2 of 2021-06-14: B 2021-06-14T09:20:00+02:00 - E 2021-06-14T11:00:00+02:00",
			},
		},
		{
			"not where one may not get off, nor on", monday,
			[]Train{
				trainOf("1", berlin, allYear, "A 8:00", "B 9:00 no-alighting", "C 9:30", "D 10:00"),
				trainOf("2", berlin, allYear, "B 9:20", "C 9:50 no-boarding", "D 10:06", "E 11:00"),
			},
			[]string{"1", "2"},
			[]string{
				"1 of 2021-06-14: A 2021-06-14T08:00:00+02:00 - D 2021-06-14T10:00:00+02:00",
				"2 of 2021-06-14: D 2021-06-14T10:06:00+02:00 - E 2021-06-14T11:00:00+02:00",
			},
		},
		{
			"the earliest run, not the longest wait", monday,
			[]Train{
				trainOf("1", berlin, allYear, "A 8:00", "B 9:00", "C 9:30"),
				trainOf("2", berlin, allYear, "C 8:00", "B 9:10", "E 10:00"), // at C it can be caught the day after only
			},
			[]string{"1", "2"},
			[]string{
				"1 of 2021-06-14: A 2021-06-14T08:00:00+02:00 - B 2021-06-14T09:00:00+02:00",
				"2 of 2021-06-14: B 2021-06-14T09:10:00+02:00 - E 2021-06-14T10:00:00+02:00",
			},
		},
		{
			"the next run, after midnight", monday,
			[]Train{trainOf("1", berlin, on(monday), "A 22:00", "B 23:58"), trainOf("2", berlin, allYear, "B 0:02", "C 1:00")},
			[]string{"1", "2"}, // two minutes past midnight is too soon: the day after, within a day
			[]string{
				"1 of 2021-06-14: A 2021-06-14T22:00:00+02:00 - B 2021-06-14T23:58:00+02:00",
				"2 of 2021-06-16: B 2021-06-16T00:02:00+02:00 - C 2021-06-16T01:00:00+02:00",
			},
		},
		{
			"just after midnight", monday,
			[]Train{trainOf("1", berlin, on(monday), "A 22:00", "B 23:58"), trainOf("2", berlin, allYear, "B 0:03", "C 1:00")},
			[]string{"1", "2"},
			[]string{
				"1 of 2021-06-14: A 2021-06-14T22:00:00+02:00 - B 2021-06-14T23:58:00+02:00",
				"2 of 2021-06-15: B 2021-06-15T00:03:00+02:00 - C 2021-06-15T01:00:00+02:00",
			},
		},
		{
			"into yesterday's run of a train that has been under way for a day", monday,
			[]Train{trainOf("1", berlin, on(monday), "A 8:00", "B 9:00"), trainOf("2", berlin, allYear, "Z 7:00", "B 33:10", "C 34:00")},
			[]string{"1", "2"},
			[]string{
				"1 of 2021-06-14: A 2021-06-14T08:00:00+02:00 - B 2021-06-14T09:00:00+02:00",
				"2 of 2021-06-13: B 2021-06-14T09:10:00+02:00 - C 2021-06-14T10:00:00+02:00",
			},
		},
		{
			"from a train that has been under way for two days", monday,
			[]Train{trainOf("1", berlin, on(monday), "A 8:00", "B 57:00"), trainOf("2", berlin, allYear, "B 9:10", "C 10:00")},
			[]string{"1", "2"},
			[]string{
				"1 of 2021-06-14: A 2021-06-14T08:00:00+02:00 - B 2021-06-16T09:00:00+02:00",
				"2 of 2021-06-16: B 2021-06-16T09:10:00+02:00 - C 2021-06-16T10:00:00+02:00",
			},
		},
		{
			"on Friday evening into a train of weekdays: not on Saturday", NewDate(2021, 6, 18),
			[]Train{trainOf("1", berlin, allYear, "A 20:00", "B 22:00"), trainOf("2", berlin, &weekdays, "B 21:00", "C 23:00")},
			[]string{"1", "2"}, none, // Monday is too far away
		},
		{
			"on Thursday evening", NewDate(2021, 6, 17),
			[]Train{trainOf("1", berlin, allYear, "A 20:00", "B 22:00"), trainOf("2", berlin, &weekdays, "B 21:00", "C 23:00")},
			[]string{"1", "2"},
			[]string{
				"1 of 2021-06-17: A 2021-06-17T20:00:00+02:00 - B 2021-06-17T22:00:00+02:00",
				"2 of 2021-06-18: B 2021-06-18T21:00:00+02:00 - C 2021-06-18T23:00:00+02:00",
			},
		},
		{
			"three days after the departure", monday,
			[]Train{trainOf("1", berlin, on(monday), "A 8:00", "B 9:00"), trainOf("2", berlin, on(monday+3), "B 8:00", "C 10:00")},
			[]string{"1", "2"},
			[]string{
				"1 of 2021-06-14: A 2021-06-14T08:00:00+02:00 - B 2021-06-14T09:00:00+02:00",
				"2 of 2021-06-17: B 2021-06-17T08:00:00+02:00 - C 2021-06-17T10:00:00+02:00",
			},
		},
		{
			"a minute more", monday,
			[]Train{trainOf("1", berlin, on(monday), "A 8:00", "B 9:00"), trainOf("2", berlin, on(monday+3), "B 8:01", "C 10:00")},
			[]string{"1", "2"}, none,
		},
		{
			"over the clock change in spring", NewDate(2021, 3, 27),
			[]Train{trainOf("1", berlin, on(NewDate(2021, 3, 27)), "A 22:00", "B 25:50"), trainOf("2", berlin, on(NewDate(2021, 3, 28)), "B 3:00", "C 5:00")},
			[]string{"1", "2"}, // arrives at 01:50, ten minutes before it is three
			[]string{
				"1 of 2021-03-27: A 2021-03-27T22:00:00+01:00 - B 2021-03-28T01:50:00+01:00",
				"2 of 2021-03-28: B 2021-03-28T03:00:00+02:00 - C 2021-03-28T05:00:00+02:00",
			},
		},
		{
			"over the clock change in autumn", NewDate(2021, 10, 30),
			[]Train{trainOf("1", berlin, on(NewDate(2021, 10, 30)), "A 22:00", "B 26:50"), trainOf("2", berlin, allYear, "B 2:00", "C 5:00")},
			[]string{"1", "2"}, // arrives at 02:50 for the first time, ten minutes before it is two again
			[]string{
				"1 of 2021-10-30: A 2021-10-30T22:00:00+02:00 - B 2021-10-31T02:50:00+02:00",
				"2 of 2021-10-31: B 2021-10-31T02:00:00+01:00 - C 2021-10-31T05:00:00+01:00",
			},
		},
		{
			"hours are counted, not days", NewDate(2021, 10, 30),
			[]Train{trainOf("1", berlin, on(NewDate(2021, 10, 30)), "A 8:00", "B 9:00"), trainOf("2", berlin, on(NewDate(2021, 11, 2)), "B 7:01", "C 10:00")},
			[]string{"1", "2"}, none,
		},
		{
			"between trains of two zones", monday,
			[]Train{trainOf("1", "Europe/London", allYear, "A 8:00", "B 9:00"), trainOf("2", berlin, allYear, "B 10:10", "C 11:00")},
			[]string{"1", "2"},
			[]string{
				"1 of 2021-06-14: A 2021-06-14T08:00:00+01:00 - B 2021-06-14T09:00:00+01:00",
				"2 of 2021-06-14: B 2021-06-14T09:10:00+01:00 - C 2021-06-14T11:00:00+02:00",
			},
		},
		{
			"three legs, where the best first change makes the second impossible", monday,
			[]Train{
				trainOf("1", berlin, on(monday), "A 8:00", "B 9:00", "C 10:00"),
				trainOf("2", berlin, on(monday), "B 9:10", "D 9:30", "C 10:30", "E 11:00"), // most time at C, but D lies before
				trainOf("3", berlin, on(monday), "D 9:40", "F 12:00"),
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
			[]Train{
				trainOf("1", berlin, allYear, "A 18:00", "B 19:00"), trainOf("2", berlin, allYear, "B 19:30", "C 23:00"),
				trainOf("3", berlin, allYear, "C 23:30", "D 31:00"), trainOf("4", berlin, allYear, "D 7:30", "E 9:00"),
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
			[]Train{
				trainOf("1", berlin, on(monday), "A 18:00", "B 19:00"), trainOf("2", berlin, on(monday), "B 19:30", "C 23:00"),
				trainOf("3", berlin, on(monday), "C 23:30", "D 31:00"), trainOf("4", berlin, on(monday), "D 7:30", "E 9:00"),
			},
			[]string{"1", "2", "3", "4"}, none,
		},
		{
			"out of a run and into the same again", monday,
			[]Train{trainOf("1", berlin, on(monday), "A 8:00", "B 9:00-9:30", "C 10:00")},
			[]string{"1", "1"}, none,
		},
		{
			"and back into it later", monday,
			[]Train{
				trainOf("1", berlin, on(monday), "A 8:00", "B 9:00-10:00", "C 11:00-12:00", "D 13:00"),
				trainOf("2", berlin, on(monday), "B 9:30", "C 10:30"),
			},
			[]string{"1", "2", "1"}, none,
		},
		{
			"the next day's run of the same train", monday,
			[]Train{trainOf("1", berlin, allYear, "A 8:00", "B 9:00", "A 18:00", "C 31:00")},
			[]string{"1", "1"},
			[]string{
				"1 of 2021-06-14: A 2021-06-14T08:00:00+02:00 - B 2021-06-14T09:00:00+02:00",
				"1 of 2021-06-15: B 2021-06-15T09:00:00+02:00 - C 2021-06-16T07:00:00+02:00",
			},
		},
	} {
		sn := compiled(t, networkOf(c.trains...))
		if diff := cmp.Diff(c.want, connected(t, sn, c.day, c.trip...)); diff != "" {
			t.Errorf("%s: -want +got\n%s", c.name, diff)
		}
	}
}

// A number that has been given to another train does not mean this one on the
// days before, as a connection no less than as the first train.
func TestConnectOnlySinceTheNumberMeansTheTrain(t *testing.T) {
	t.Parallel()
	sn := compiled(t, networkOf(
		trainOf("1", "Europe/Berlin", allYear, "A 8:00", "B 9:00"),
		trainOf("2", "Europe/Berlin", allYear, "B 9:10", "C 10:00"),
	))
	monday := NewDate(2021, 6, 14)
	sn.trains[1].since = monday
	for d, legs := range map[Date]int{monday - 1: 0, monday: 2} {
		if got := connected(t, sn, d, "1", "2"); len(got) != legs {
			t.Errorf("on %s: %q", d, got)
		}
	}
}

// Trains that share all their stations can be changed in 256 ways each: the
// search ends all the same.
func TestConnectManyWays(t *testing.T) {
	t.Parallel()
	monday := NewDate(2021, 6, 14)
	days := on(monday, monday+1, monday+2)
	line := func(number string, start, from, to int) Train {
		tr := trainOf(number, "Europe/Berlin", days, "A 8:00", "B 9:00")
		tr.Calls = nil
		for i := from; i < to; i++ {
			at := ServiceTime(start*3600 + i*60)
			tr.Calls = append(tr.Calls, Call{Station: manyStations[i].ID, Arrive: at, Depart: at})
		}
		return tr
	}
	network := networkOf(trainOf("4", "Europe/Berlin", days, "A 20:00", "B 21:00"))
	network.Stations = append(network.Stations, manyStations[:]...)
	network.Trains = append(network.Trains, line("1", 8, 0, MaxCalls), line("2", 9, 0, MaxCalls), line("3", 10, 0, MaxCalls))
	sn := compiled(t, network)
	if got := connected(t, sn, monday, "1", "2", "3", "4"); len(got) > 0 {
		t.Errorf("no way leads to A: %q", got)
	}
	network.Trains[0] = line("4", 20, MaxCalls-1, MaxCalls+1)
	if got := connected(t, compiled(t, network), monday, "1", "2", "3", "4"); len(got) != 4 {
		t.Errorf("there is a way: %q", got)
	}
}

var manyStations = func() (all [MaxCalls + 1]Station) {
	for i := range all {
		all[i] = Station{ID: nth(i), Name: "S", Country: "DE", Zone: "Europe/Berlin", Latitude: 50, Longitude: float64(i) / 10}
	}
	return all
}()
