package timetable

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/traintravel/traintravel/internal/railtest"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/schedule"
)

// Cases that other searches got wrong, each with the right answer. A want is
// the whole of a calendar day at the origin.
func TestDirect(t *testing.T) {
	t.Parallel()
	const berlin = "Europe/Berlin"
	monday := rail.NewDate(2021, 6, 14)
	for _, c := range []struct {
		name        string
		trains      []schedule.Train
		origin      string
		destination string
		day         rail.Date
		want        []string
	}{
		{
			name:   "24:30 of yesterday's service is 00:30 today",
			trains: []schedule.Train{railtest.TrainOf("N", berlin, railtest.On(monday), "Köln 24:30", "Bonn 24:50")},
			origin: "Köln", destination: "Bonn", day: monday + 1,
			want: []string{"N of 2021-06-14: Köln 2021-06-15T00:30:00+02:00 - Bonn 2021-06-15T00:50:00+02:00"},
		},
		{
			name:   "24:30 of yesterday's service is not found yesterday",
			trains: []schedule.Train{railtest.TrainOf("N", berlin, railtest.On(monday), "Köln 24:30", "Bonn 24:50")},
			origin: "Köln", destination: "Bonn", day: monday,
			want: []string{},
		},
		{
			name: "Monday's 27:35 and Tuesday's 02:35, by instant",
			trains: []schedule.Train{
				railtest.TrainOf("late", berlin, railtest.On(monday), "Köln 27:35", "Bonn 28:00"),
				railtest.TrainOf("early", berlin, railtest.On(monday+1), "Köln 2:35", "Bonn 3:00"),
			},
			origin: "Köln", destination: "Bonn", day: monday + 1,
			want: []string{
				"early of 2021-06-15: Köln 2021-06-15T02:35:00+02:00 - Bonn 2021-06-15T03:00:00+02:00",
				"late of 2021-06-14: Köln 2021-06-15T03:35:00+02:00 - Bonn 2021-06-15T04:00:00+02:00",
			},
		},
		{
			name:   "58:53 is on the third day",
			trains: []schedule.Train{railtest.TrainOf("L", berlin, railtest.On(monday), "Köln 9:00", "Wien 58:53", "Graz 60:00")},
			origin: "Wien", destination: "Graz", day: monday + 2,
			want: []string{"L of 2021-06-14: Wien 2021-06-16T10:53:00+02:00 - Graz 2021-06-16T12:00:00+02:00"},
		},
		{
			name:   "149:09 is on the seventh day",
			trains: []schedule.Train{railtest.TrainOf("L", berlin, railtest.On(monday), "Köln 9:00", "Wien 149:09", "Graz 150:00")},
			origin: "Wien", destination: "Graz", day: monday + 6,
			want: []string{"L of 2021-06-14: Wien 2021-06-20T05:09:00+02:00 - Graz 2021-06-20T06:00:00+02:00"},
		},
		{
			name:   "23:49, then 00:01 the day after",
			trains: []schedule.Train{railtest.TrainOf("S", berlin, railtest.On(monday), "Köln 23:49", "Bonn 24:01")},
			origin: "Köln", destination: "Bonn", day: monday,
			want: []string{"S of 2021-06-14: Köln 2021-06-14T23:49:00+02:00 - Bonn 2021-06-15T00:01:00+02:00"},
		},
		{
			name: "one number twice on a calendar day",
			trains: []schedule.Train{
				railtest.TrainOf("1031", berlin, railtest.On(monday), "Köln 24:05", "Bonn 24:30"),
				railtest.TrainOf("1031", berlin, railtest.On(monday+1), "Köln 23:50", "Bonn 24:15"),
			},
			origin: "Köln", destination: "Bonn", day: monday + 1,
			want: []string{
				"1031 of 2021-06-14: Köln 2021-06-15T00:05:00+02:00 - Bonn 2021-06-15T00:30:00+02:00",
				"1031 of 2021-06-15: Köln 2021-06-15T23:50:00+02:00 - Bonn 2021-06-16T00:15:00+02:00",
			},
		},
		{
			name: "and not on the next",
			trains: []schedule.Train{
				railtest.TrainOf("1031", berlin, railtest.On(monday), "Köln 24:05", "Bonn 24:30"),
				railtest.TrainOf("1031", berlin, railtest.On(monday+1), "Köln 23:50", "Bonn 24:15"),
			},
			origin: "Köln", destination: "Bonn", day: monday + 2,
			want: []string{},
		},
		{
			name:   "a sleeper of Saturday night does not run: nothing on Sunday morning",
			trains: []schedule.Train{railtest.TrainOf("EN", berlin, exceptSaturdays(), "Köln 22:00", "Wien 30:00", "Graz 32:00")},
			origin: "Wien", destination: "Graz", day: rail.NewDate(2021, 6, 20),
			want: []string{},
		},
		{
			name:   "a sleeper of Sunday night is there on Monday morning",
			trains: []schedule.Train{railtest.TrainOf("EN", berlin, exceptSaturdays(), "Köln 22:00", "Wien 30:00", "Graz 32:00")},
			origin: "Wien", destination: "Graz", day: rail.NewDate(2021, 6, 21),
			want: []string{"EN of 2021-06-20: Wien 2021-06-21T06:00:00+02:00 - Graz 2021-06-21T08:00:00+02:00"},
		},
		{
			name:   "over UTC midnight in Lisbon, in winter",
			trains: []schedule.Train{railtest.TrainOf("AP", "Europe/Lisbon", railtest.On(rail.NewDate(2021, 1, 10)), "Faro 23:30", "Beja 24:30")},
			origin: "Faro", destination: "Beja", day: rail.NewDate(2021, 1, 10),
			want: []string{"AP of 2021-01-10: Faro 2021-01-10T23:30:00Z - Beja 2021-01-11T00:30:00Z"},
		},
		{
			name:   "over UTC midnight in Lisbon, in summer",
			trains: []schedule.Train{railtest.TrainOf("AP", "Europe/Lisbon", railtest.On(monday), "Faro 0:30", "Beja 1:30")},
			origin: "Faro", destination: "Beja", day: monday,
			want: []string{"AP of 2021-06-14: Faro 2021-06-14T00:30:00+01:00 - Beja 2021-06-14T01:30:00+01:00"},
		},
		{
			name:   "over UTC midnight in Berlin",
			trains: []schedule.Train{railtest.TrainOf("RE", berlin, railtest.On(monday), "Köln 1:30", "Bonn 2:30")},
			origin: "Köln", destination: "Bonn", day: monday,
			want: []string{"RE of 2021-06-14: Köln 2021-06-14T01:30:00+02:00 - Bonn 2021-06-14T02:30:00+02:00"},
		},
		{
			name:   "over UTC midnight in Istanbul",
			trains: []schedule.Train{railtest.TrainOf("YHT", "Europe/Istanbul", railtest.On(monday), "Izmit 2:30", "Ankara 5:30")},
			origin: "Izmit", destination: "Ankara", day: monday,
			want: []string{"YHT of 2021-06-14: Izmit 2021-06-14T02:30:00+03:00 - Ankara 2021-06-14T05:30:00+03:00"},
		},
		{
			name:   "06:30 on the morning of the clock change",
			trains: []schedule.Train{railtest.TrainOf("1", berlin, railtest.AllYear(), "Köln 6:30", "Bonn 7:00")},
			origin: "Köln", destination: "Bonn", day: rail.NewDate(2021, 3, 28),
			want: []string{"1 of 2021-03-28: Köln 2021-03-28T06:30:00+02:00 - Bonn 2021-03-28T07:00:00+02:00"},
		},
		{
			name:   "00:30 of that service day is on the evening before, beside the day's own",
			trains: []schedule.Train{railtest.TrainOf("1", berlin, railtest.AllYear(), "Köln 0:30", "Bonn 3:00")},
			origin: "Köln", destination: "Bonn", day: rail.NewDate(2021, 3, 27),
			want: []string{
				"1 of 2021-03-27: Köln 2021-03-27T00:30:00+01:00 - Bonn 2021-03-27T03:00:00+01:00",
				"1 of 2021-03-28: Köln 2021-03-27T23:30:00+01:00 - Bonn 2021-03-28T03:00:00+02:00",
			},
		},
		{
			name:   "in autumn 00:30 is half past one, and the day has 25 hours",
			trains: []schedule.Train{railtest.TrainOf("1", berlin, railtest.AllYear(), "Köln 0:30", "Bonn 3:00"), railtest.TrainOf("2", berlin, railtest.AllYear(), "Köln 24:59", "Bonn 25:30")},
			origin: "Köln", destination: "Bonn", day: rail.NewDate(2021, 10, 31),
			want: []string{
				"2 of 2021-10-30: Köln 2021-10-31T00:59:00+02:00 - Bonn 2021-10-31T01:30:00+02:00",
				"1 of 2021-10-31: Köln 2021-10-31T01:30:00+02:00 - Bonn 2021-10-31T03:00:00+01:00",
			},
		},
		{
			name:   "times show in the station's zone, not the train's",
			trains: []schedule.Train{railtest.TrainOf("DLR", "Europe/London", railtest.On(monday), "London 9:00", "Poplar 9:10"), railtest.TrainOf("ES", berlin, railtest.On(monday), "Paris 9:00", "London 11:20")},
			origin: "Paris", destination: "London", day: monday,
			want: []string{"ES of 2021-06-14: Paris 2021-06-14T09:00:00+02:00 - London 2021-06-14T10:20:00+01:00"},
		},
		{
			name:   "a loop line starts and ends at one station",
			trains: []schedule.Train{railtest.TrainOf("S41", berlin, railtest.On(monday), "Köln 8:00", "Bonn 8:20-8:21", "Unna 8:40-8:41", "Köln 9:00")},
			origin: "Köln", destination: "Unna", day: monday,
			want: []string{"S41 of 2021-06-14: Köln 2021-06-14T08:00:00+02:00 - Unna 2021-06-14T08:40:00+02:00"},
		},
		{
			name:   "and is ridden to its end",
			trains: []schedule.Train{railtest.TrainOf("S41", berlin, railtest.On(monday), "Köln 8:00", "Bonn 8:20-8:21", "Unna 8:40-8:41", "Köln 9:00")},
			origin: "Bonn", destination: "Köln", day: monday,
			want: []string{"S41 of 2021-06-14: Bonn 2021-06-14T08:21:00+02:00 - Köln 2021-06-14T09:00:00+02:00"},
		},
		{
			name:   "not against its direction",
			trains: []schedule.Train{railtest.TrainOf("S41", berlin, railtest.On(monday), "Köln 8:00", "Bonn 8:20-8:21", "Unna 8:40-8:41", "Köln 9:00")},
			origin: "Unna", destination: "Bonn", day: monday,
			want: []string{},
		},
		{
			name:   "twice at the origin: from the later call",
			trains: []schedule.Train{railtest.TrainOf("P", berlin, railtest.On(monday), "Köln 8:00", "Bonn 8:20", "Köln 8:40", "Unna 9:00")},
			origin: "Köln", destination: "Unna", day: monday,
			want: []string{"P of 2021-06-14: Köln 2021-06-14T08:40:00+02:00 - Unna 2021-06-14T09:00:00+02:00"},
		},
		{
			name:   "twice at the origin, the later call not for boarding: from the earlier",
			trains: []schedule.Train{railtest.TrainOf("P", berlin, railtest.On(monday), "Köln 8:00", "Bonn 8:20", "Köln 8:40 no-boarding", "Unna 9:00")},
			origin: "Köln", destination: "Unna", day: monday,
			want: []string{"P of 2021-06-14: Köln 2021-06-14T08:00:00+02:00 - Unna 2021-06-14T09:00:00+02:00"},
		},
		{
			name:   "twice at the destination: to the earlier call",
			trains: []schedule.Train{railtest.TrainOf("P", berlin, railtest.On(monday), "Köln 8:00", "Unna 8:20", "Bonn 8:40", "Unna 9:00")},
			origin: "Köln", destination: "Unna", day: monday,
			want: []string{"P of 2021-06-14: Köln 2021-06-14T08:00:00+02:00 - Unna 2021-06-14T08:20:00+02:00"},
		},
		{
			name:   "twice at the destination, the earlier call not for alighting: to the later",
			trains: []schedule.Train{railtest.TrainOf("P", berlin, railtest.On(monday), "Köln 8:00", "Unna 8:20 no-alighting", "Bonn 8:40", "Unna 9:00")},
			origin: "Köln", destination: "Unna", day: monday,
			want: []string{"P of 2021-06-14: Köln 2021-06-14T08:00:00+02:00 - Unna 2021-06-14T09:00:00+02:00"},
		},
		{
			name:   "twice at both: two rides",
			trains: []schedule.Train{railtest.TrainOf("P", berlin, railtest.On(monday), "Köln 8:00", "Unna 8:20", "Köln 8:40", "Unna 9:00")},
			origin: "Köln", destination: "Unna", day: monday,
			want: []string{
				"P of 2021-06-14: Köln 2021-06-14T08:00:00+02:00 - Unna 2021-06-14T08:20:00+02:00",
				"P of 2021-06-14: Köln 2021-06-14T08:40:00+02:00 - Unna 2021-06-14T09:00:00+02:00",
			},
		},
		{
			name:   "nobody rides past the origin again",
			trains: []schedule.Train{railtest.TrainOf("P", berlin, railtest.On(monday), "Köln 8:00", "Unna 8:20 no-alighting", "Köln 8:40", "Unna 9:00")},
			origin: "Köln", destination: "Unna", day: monday,
			want: []string{"P of 2021-06-14: Köln 2021-06-14T08:40:00+02:00 - Unna 2021-06-14T09:00:00+02:00"},
		},
		{
			name:   "three times at the origin: from the last that takes passengers",
			trains: []schedule.Train{railtest.TrainOf("P", berlin, railtest.On(monday), "Köln 8:00", "Köln 8:10 no-boarding", "Köln 8:20", "Unna 9:00")},
			origin: "Köln", destination: "Unna", day: monday,
			want: []string{"P of 2021-06-14: Köln 2021-06-14T08:20:00+02:00 - Unna 2021-06-14T09:00:00+02:00"},
		},
		{
			name:   "no boarding, no alighting",
			trains: []schedule.Train{railtest.TrainOf("A", berlin, railtest.On(monday), "Köln 8:00 no-boarding", "Unna 8:20"), railtest.TrainOf("B", berlin, railtest.On(monday), "Köln 8:00", "Unna 8:20 no-alighting")},
			origin: "Köln", destination: "Unna", day: monday,
			want: []string{},
		},
		{
			name:   "a train without days",
			trains: []schedule.Train{railtest.TrainOf("0", berlin, nil, "Köln 8:00", "Unna 8:20"), railtest.TrainOf("1", berlin, &schedule.Calendar{}, "Köln 8:00", "Unna 8:20")},
			origin: "Köln", destination: "Unna", day: monday,
			want: []string{},
		},
		{
			name:   "at the last instant of the day and not at the first of the next",
			trains: []schedule.Train{railtest.TrainOf("1", berlin, railtest.On(monday), "Köln 23:59", "Unna 24:20"), railtest.TrainOf("2", berlin, railtest.On(monday), "Köln 24:00", "Unna 24:20")},
			origin: "Köln", destination: "Unna", day: monday,
			want: []string{"1 of 2021-06-14: Köln 2021-06-14T23:59:00+02:00 - Unna 2021-06-15T00:20:00+02:00"},
		},
	} {
		got := compiled(t, railtest.NetworkOf(c.trains...)).ridesOn(c.origin, c.destination, c.day)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", c.name, diff)
		}
	}
}

func exceptSaturdays() *schedule.Calendar {
	c := *railtest.AllYear()
	c.Weekdays[time.Saturday] = false
	return &c
}

// If a timetable does not say whether bicycles are allowed, the allowance is unknown.
func TestAllowancesOfATrip(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		first, second, want rail.Allowance
	}{
		{rail.Unknown, rail.Unknown, rail.Unknown}, {rail.Unknown, rail.Allowed, rail.Unknown}, {rail.Allowed, rail.Unknown, rail.Unknown}, {rail.Allowed, rail.Allowed, rail.Allowed},
		{rail.NotAllowed, rail.Unknown, rail.NotAllowed}, {rail.Unknown, rail.NotAllowed, rail.NotAllowed}, {rail.Allowed, rail.NotAllowed, rail.NotAllowed},
	} {
		if got := bothAllow(c.first, c.second); got != c.want {
			t.Errorf("%d and %d make %d, want %d", c.first, c.second, got, c.want)
		}
		a := railtest.TrainOf("1", "Europe/Berlin", railtest.AllYear(), "Köln 8:00", "Bonn 9:00")
		b := railtest.TrainOf("2", "Europe/Berlin", railtest.AllYear(), "Bonn 9:10", "Unna 10:00")
		a.Bicycles, b.Dogs = c.first, c.second
		a.Dogs, b.Bicycles = c.first, c.second
		sn := compiled(t, railtest.NetworkOf(a, b))
		d := rail.NewDate(2021, 6, 14)
		trip := sn.Trip([]Ride{{&sn.Trains[0], d, 0, 1}, {&sn.Trains[1], d, 0, 1}})
		if trip.Bicycles != c.want || trip.Dogs != c.want {
			t.Errorf("legs with %d and %d make a trip with %d and %d, want %d", c.first, c.second, trip.Bicycles, trip.Dogs, c.want)
		}
	}
}
