package schedule_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/railtest"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/schedule"
)

// sound is a timetable without a fault: two stations, three calls.
func sound() *traintravel.Timetable {
	tr := railtest.TrainOf("1", "Europe/Berlin", traintravel.Daily(traintravel.NewDate(2021, 1, 1), traintravel.NewDate(2021, 12, 31)), "A 8:00", "B 9:00-9:10", "A 10:00")
	tr.Coaches = []traintravel.Coach{{Number: "1", Seats: 10}, {Number: "2", Seats: 20}}
	return railtest.NetworkOf(tr)
}

// complaints are what Check says, as "field: reason".
func complaints(t *testing.T, tt *traintravel.Timetable) []string {
	t.Helper()
	out := []string{}
	err := tt.Check()
	if err == nil {
		return out
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		t.Fatalf("%v is not joined", err)
	}
	for _, e := range joined.Unwrap() {
		var invalid *traintravel.InvalidError
		if !errors.As(e, &invalid) {
			t.Fatalf("%v is not an InvalidError", e)
		}
		out = append(out, invalid.Error())
	}
	return out
}

func TestCheck(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", traintravel.MaxText)
	for _, c := range []struct {
		name   string
		change func(*traintravel.Timetable, *traintravel.Station, *traintravel.Train)
		want   []string // the beginnings of what is said
	}{
		{"sound", func(*traintravel.Timetable, *traintravel.Station, *traintravel.Train) {}, nil},
		{"empty", func(tt *traintravel.Timetable, _ *traintravel.Station, _ *traintravel.Train) {
			*tt = traintravel.Timetable{}
		}, nil},
		{"stations without trains", func(tt *traintravel.Timetable, _ *traintravel.Station, _ *traintravel.Train) { tt.Trains = nil }, nil},

		{"no ID", func(_ *traintravel.Timetable, s *traintravel.Station, tr *traintravel.Train) {
			s.ID, tr.Calls[0].Station, tr.Calls[2].Station = uuid.Nil, uuid.Nil, uuid.Nil
		},
			[]string{"stations[0].id: is missing"}},
		{"an ID twice", func(tt *traintravel.Timetable, s *traintravel.Station, _ *traintravel.Train) {
			tt.Stations = append(tt.Stations, *s)
		},
			[]string{"stations[2].id: 41000000-0000-0000-0000-000000000000 occurs twice"}},
		{"no name", func(_ *traintravel.Timetable, s *traintravel.Station, _ *traintravel.Train) { s.Name = "" }, []string{"stations[0].name: is empty"}},
		{"a name of 200 characters", func(_ *traintravel.Timetable, s *traintravel.Station, _ *traintravel.Train) { s.Name = long }, nil},
		{"a name of 201", func(_ *traintravel.Timetable, s *traintravel.Station, _ *traintravel.Train) { s.Name = long + "x" }, []string{"stations[0].name: has 201 characters"}},
		{"a name that is not text", func(_ *traintravel.Timetable, s *traintravel.Station, _ *traintravel.Train) { s.Name = "\xff" }, []string{"stations[0].name: is not valid UTF-8"}},
		{"reordered text", func(_ *traintravel.Timetable, s *traintravel.Station, _ *traintravel.Train) { s.Name = "\u202eniloC" }, []string{"stations[0].name: contains U+202E, which reorders text"}},
		{"a noncharacter", func(_ *traintravel.Timetable, s *traintravel.Station, _ *traintravel.Train) { s.Name = "A\ufffe" }, []string{"stations[0].name: contains the noncharacter U+FFFE"}},
		{"a name that nobody sees", func(_ *traintravel.Timetable, s *traintravel.Station, _ *traintravel.Train) { s.Name = "\u200b" }, []string{"stations[0].name: has only invisible"}},
		{"an address that nobody sees", func(_ *traintravel.Timetable, s *traintravel.Station, _ *traintravel.Train) { s.Address = "\u200b" }, nil},
		{"a line break", func(_ *traintravel.Timetable, s *traintravel.Station, _ *traintravel.Train) {
			s.Address = "1 Street\nTown"
		}, []string{"stations[0].address: contains the control character U+000A"}},
		{"no zone", func(_ *traintravel.Timetable, s *traintravel.Station, _ *traintravel.Train) { s.Zone = "" }, []string{`stations[0].zone: unknown time zone ""`}},
		{"the zone of this machine", func(_ *traintravel.Timetable, s *traintravel.Station, _ *traintravel.Train) { s.Zone = "Local" }, []string{`stations[0].zone: unknown time zone "Local"`}},
		{"a path for a zone", func(_ *traintravel.Timetable, s *traintravel.Station, _ *traintravel.Train) {
			s.Zone = "../../etc/passwd"
		}, []string{"stations[0].zone: "}},
		{"too far north", func(_ *traintravel.Timetable, s *traintravel.Station, _ *traintravel.Train) { s.Latitude = 90.001 }, []string{"stations[0]: invalid position 90.001, 10"}},
		{"the south pole", func(_ *traintravel.Timetable, s *traintravel.Station, _ *traintravel.Train) {
			s.Latitude, s.Longitude = -90, -180
		}, nil},
		{"too far south", func(_ *traintravel.Timetable, s *traintravel.Station, _ *traintravel.Train) { s.Latitude = -1e300 }, []string{"stations[0]: "}},
		{"too far west", func(_ *traintravel.Timetable, s *traintravel.Station, _ *traintravel.Train) { s.Longitude = -180.1 }, []string{"stations[0]: "}},
		{"too far east", func(_ *traintravel.Timetable, s *traintravel.Station, _ *traintravel.Train) {
			s.Longitude = math.Inf(1)
		}, []string{"stations[0]: "}},
		{"no number for a latitude", func(_ *traintravel.Timetable, s *traintravel.Station, _ *traintravel.Train) { s.Latitude = math.NaN() }, []string{"stations[0]: invalid position NaN"}},
		{"no number for a longitude", func(_ *traintravel.Timetable, s *traintravel.Station, _ *traintravel.Train) { s.Longitude = math.NaN() }, []string{"stations[0]: "}},
		{"a country in lower case", func(_ *traintravel.Timetable, s *traintravel.Station, _ *traintravel.Train) { s.Country = "de" }, []string{"stations[0].country: "}},
		{"a country of three letters", func(_ *traintravel.Timetable, s *traintravel.Station, _ *traintravel.Train) { s.Country = "DEU" }, []string{"stations[0].country: "}},
		{"no country", func(_ *traintravel.Timetable, s *traintravel.Station, _ *traintravel.Train) { s.Country = "" }, nil},

		{"no operator", func(_ *traintravel.Timetable, _ *traintravel.Station, tr *traintravel.Train) { tr.Operator = "" }, []string{"trains[0].operator: is empty"}},
		{"no number, feed or ID", func(_ *traintravel.Timetable, _ *traintravel.Station, tr *traintravel.Train) {
			tr.Number, tr.Feed, tr.ID = "", "", ""
		}, nil},
		{"bad texts", func(_ *traintravel.Timetable, _ *traintravel.Station, tr *traintravel.Train) {
			tr.Number, tr.Feed, tr.ID, tr.Operator = "\x00", "\x7f", "\xff", long+"x"
		},
			[]string{"trains[0].feed: contains", "trains[0].id: is not", "trains[0].operator: has 201", "trains[0].number: contains"}},
		{"an unknown zone", func(_ *traintravel.Timetable, _ *traintravel.Station, tr *traintravel.Train) {
			tr.Zone = "Europe/Atlantis"
		}, []string{`trains[0].zone: unknown time zone "Europe/Atlantis"`}},
		{"no allowance", func(_ *traintravel.Timetable, _ *traintravel.Station, tr *traintravel.Train) {
			tr.Bicycles, tr.Dogs = 3, 255
		}, []string{"trains[0]: bicycles or dogs"}},
		{"fewer hooks than none", func(_ *traintravel.Timetable, _ *traintravel.Station, tr *traintravel.Train) { tr.Hooks = -1 }, []string{"trains[0].hooks: invalid number -1"}},
		{"too many hooks", func(_ *traintravel.Timetable, _ *traintravel.Station, tr *traintravel.Train) {
			tr.Hooks = schedule.MaxHooks + 1
		}, []string{"trains[0].hooks: invalid number 10001"}},

		{"no days", func(_ *traintravel.Timetable, _ *traintravel.Station, tr *traintravel.Train) { tr.Days = nil }, nil},
		{"the zero calendar", func(_ *traintravel.Timetable, _ *traintravel.Station, tr *traintravel.Train) {
			tr.Days = &traintravel.Calendar{}
		}, nil},
		{"a period that is none", func(_ *traintravel.Timetable, _ *traintravel.Station, tr *traintravel.Train) {
			tr.Days = traintravel.Daily(9000, 8999)
		}, []string{"trains[0].days: invalid period 1994-08-23 to 1994-08-22"}},
		{"a period without a weekday", func(_ *traintravel.Timetable, _ *traintravel.Station, tr *traintravel.Train) {
			tr.Days = &traintravel.Calendar{From: 9, To: -9}
		}, nil},
		{"before the first date", func(_ *traintravel.Timetable, _ *traintravel.Station, tr *traintravel.Train) {
			tr.Days = traintravel.Daily(traintravel.FirstDate-1, traintravel.FirstDate)
		}, []string{"trains[0].days: invalid period 1999-12-31 to 2000-01-01"}},
		{"all dates", func(_ *traintravel.Timetable, _ *traintravel.Station, tr *traintravel.Train) {
			tr.Days = traintravel.Daily(traintravel.FirstDate, traintravel.LastDate)
		}, nil},
		{"after the last date", func(_ *traintravel.Timetable, _ *traintravel.Station, tr *traintravel.Train) {
			tr.Days = traintravel.Daily(traintravel.FirstDate, traintravel.LastDate+1)
		}, []string{"trains[0].days: invalid period 2000-01-01 to 2179-06-07"}},
		{"a date after the last", func(_ *traintravel.Timetable, _ *traintravel.Station, tr *traintravel.Train) {
			tr.Days = railtest.On(traintravel.FirstDate, traintravel.LastDate+1, -5)
		}, []string{"trains[0].days.added: 2179-06-07"}},
		{"no service on a date before the first", func(_ *traintravel.Timetable, _ *traintravel.Station, tr *traintravel.Train) {
			tr.Days = &traintravel.Calendar{Removed: []traintravel.Date{-1 << 31}}
		}, nil},

		{"one call", func(_ *traintravel.Timetable, _ *traintravel.Station, tr *traintravel.Train) { tr.Calls = tr.Calls[:1] }, []string{"trains[0].calls: has 1 entries"}},
		{"no calls", func(_ *traintravel.Timetable, _ *traintravel.Station, tr *traintravel.Train) { tr.Calls = nil }, []string{"trains[0].calls: has 0 entries"}},
		{"256 calls", func(_ *traintravel.Timetable, _ *traintravel.Station, tr *traintravel.Train) {
			tr.Calls = make([]traintravel.Call, traintravel.MaxCalls)
			at(tr.Calls, railtest.StationNamed("A"))
		}, nil},
		{"257 calls", func(_ *traintravel.Timetable, _ *traintravel.Station, tr *traintravel.Train) {
			tr.Calls = make([]traintravel.Call, traintravel.MaxCalls+1)
			at(tr.Calls, railtest.StationNamed("A"))
		}, []string{"trains[0].calls: has 257 entries"}},
		{"an unknown station", func(_ *traintravel.Timetable, _ *traintravel.Station, tr *traintravel.Train) {
			tr.Calls[1].Station = railtest.StationNamed("X")
		}, []string{"trains[0].calls[1].station: unknown station 58"}},
		{"a time below zero", func(_ *traintravel.Timetable, _ *traintravel.Station, tr *traintravel.Train) { tr.Calls[0].Depart = -1 }, []string{"trains[0].calls[0]: has a time below zero"}},
		{"a stay below zero", func(_ *traintravel.Timetable, _ *traintravel.Station, tr *traintravel.Train) {
			tr.Calls[1].Arrive = -1 << 31
		}, []string{"trains[0].calls[1]: has a time below zero"}},
		{"fourteen days", func(_ *traintravel.Timetable, _ *traintravel.Station, tr *traintravel.Train) {
			tr.Calls[2].Arrive = traintravel.MaxServiceTime
		}, nil},
		{"a second more", func(_ *traintravel.Timetable, _ *traintravel.Station, tr *traintravel.Train) {
			tr.Calls[2].Arrive = traintravel.MaxServiceTime + 1
		}, []string{"trains[0].calls[2]: has a time below zero or above 336:00:00"}},
		{"a second more at a stay", func(_ *traintravel.Timetable, _ *traintravel.Station, tr *traintravel.Train) {
			tr.Calls[1].Depart, tr.Calls[2].Arrive = traintravel.MaxServiceTime+1, traintravel.MaxServiceTime+1
		},
			[]string{"trains[0].calls[1]: has a time", "trains[0].calls[2]: has a time"}},
		{"an arrival before the departure", func(_ *traintravel.Timetable, _ *traintravel.Station, tr *traintravel.Train) {
			tr.Calls[1].Arrive = traintravel.Clock(7, 59)
		}, []string{"trains[0].calls[1]: has the time 07:59:00 after 08:00:00"}},
		{"a departure before the arrival", func(_ *traintravel.Timetable, _ *traintravel.Station, tr *traintravel.Train) {
			tr.Calls[1].Depart = traintravel.Clock(8, 59)
		}, []string{"trains[0].calls[1]: has the time 08:59:00 after 09:00:00"}},
		{"no time at all between", func(_ *traintravel.Timetable, _ *traintravel.Station, tr *traintravel.Train) {
			tr.Calls[1].Arrive, tr.Calls[1].Depart = traintravel.Clock(8, 0), traintravel.Clock(8, 0)
		}, nil},
		{"what means nothing", func(_ *traintravel.Timetable, _ *traintravel.Station, tr *traintravel.Train) {
			tr.Calls[0].Arrive, tr.Calls[2].Depart = 1<<31-1, -1<<31
		}, nil},
		{"metres below zero", func(_ *traintravel.Timetable, _ *traintravel.Station, tr *traintravel.Train) { tr.Calls[0].Metres = -1 }, []string{"trains[0].calls[0].metres: -1"}},
		{"metres that fall", func(_ *traintravel.Timetable, _ *traintravel.Station, tr *traintravel.Train) {
			tr.Calls[2].Metres = 49_999
		}, []string{"trains[0].calls[2].metres: 49999"}},

		{"no coaches", func(_ *traintravel.Timetable, _ *traintravel.Station, tr *traintravel.Train) { tr.Coaches = nil }, nil},
		{"a coach without a number", func(_ *traintravel.Timetable, _ *traintravel.Station, tr *traintravel.Train) {
			tr.Coaches[1].Number = ""
		}, []string{"trains[0].coaches[1].number: is empty"}},
		{"a coach without seats", func(_ *traintravel.Timetable, _ *traintravel.Station, tr *traintravel.Train) { tr.Coaches[1].Seats = 0 }, []string{"trains[0].coaches[1].seats: invalid number 0"}},
		{"fewer seats than none", func(_ *traintravel.Timetable, _ *traintravel.Station, tr *traintravel.Train) {
			tr.Coaches[0].Seats = math.MinInt
		}, []string{"trains[0].coaches[0].seats: "}},
		{"too many seats", func(_ *traintravel.Timetable, _ *traintravel.Station, tr *traintravel.Train) {
			tr.Coaches[0].Seats = math.MaxInt
		}, []string{"trains[0].coaches[0].seats: "}},
		{"10000 places", func(_ *traintravel.Timetable, _ *traintravel.Station, tr *traintravel.Train) {
			tr.Coaches[0].Seats = schedule.MaxPlaces - 20
		}, nil},
		{"10001 places", func(_ *traintravel.Timetable, _ *traintravel.Station, tr *traintravel.Train) {
			tr.Coaches[0].Seats = schedule.MaxPlaces - 19
		}, []string{"trains[0].coaches: have more than 10000 places"}},
		{"500 coaches", func(_ *traintravel.Timetable, _ *traintravel.Station, tr *traintravel.Train) {
			tr.Coaches = coachesOf(traintravel.MaxCoaches)
		}, nil},
		{"501 coaches", func(_ *traintravel.Timetable, _ *traintravel.Station, tr *traintravel.Train) {
			tr.Coaches = coachesOf(traintravel.MaxCoaches + 1)
		}, []string{"trains[0].coaches: has 501 entries, more than 500"}},
		{"three coaches of one number", func(_ *traintravel.Timetable, _ *traintravel.Station, tr *traintravel.Train) {
			tr.Coaches = []traintravel.Coach{{Number: "1", Seats: 1}, {Number: "1", Seats: 1}, {Number: "1", Seats: 1}}
		},
			[]string{`trains[0].coaches[1].number: "1" occurs twice`, `trains[0].coaches[2].number: "1" occurs twice`}},
		{"two coaches of one number", func(_ *traintravel.Timetable, _ *traintravel.Station, tr *traintravel.Train) {
			tr.Coaches[1].Number = "1"
		}, []string{`trains[0].coaches[1].number: "1" occurs twice`}},

		{"no fare", func(_ *traintravel.Timetable, _ *traintravel.Station, tr *traintravel.Train) {
			tr.Fare = traintravel.Fare{}
		}, nil},
		{"the greatest fare", func(_ *traintravel.Timetable, _ *traintravel.Station, tr *traintravel.Train) {
			tr.Fare = traintravel.Fare{Currency: "eur", Base: schedule.MaxFare, PerKm: schedule.MaxPerKm}
		}, nil},
		{"a currency in upper case", func(_ *traintravel.Timetable, _ *traintravel.Station, tr *traintravel.Train) {
			tr.Fare.Currency = "EUR"
		}, []string{"trains[0].fare.currency: "}},
		{"a fare without a currency", func(_ *traintravel.Timetable, _ *traintravel.Station, tr *traintravel.Train) { tr.Fare.Currency = "" }, []string{"trains[0].fare.currency: "}},
		{"a fare below zero", func(_ *traintravel.Timetable, _ *traintravel.Station, tr *traintravel.Train) { tr.Fare.Base = -1 }, []string{"trains[0].fare: has base"}},
		{"a rate below zero", func(_ *traintravel.Timetable, _ *traintravel.Station, tr *traintravel.Train) {
			tr.Fare.PerKm = math.MinInt64
		}, []string{"trains[0].fare: has base"}},
		{"too high a fare", func(_ *traintravel.Timetable, _ *traintravel.Station, tr *traintravel.Train) {
			tr.Fare.Base = schedule.MaxFare + 1
		}, []string{"trains[0].fare: has base"}},
		{"too high a rate", func(_ *traintravel.Timetable, _ *traintravel.Station, tr *traintravel.Train) {
			tr.Fare.PerKm = schedule.MaxPerKm + 1
		}, []string{"trains[0].fare: has base"}},
	} {
		tt := sound()
		c.change(tt, &tt.Stations[0], &tt.Trains[0])
		got := complaints(t, tt)
		for i := range min(len(got), len(c.want)) {
			if strings.HasPrefix(got[i], c.want[i]) {
				got[i] = c.want[i]
			}
		}
		if len(got) != len(c.want) || len(got) > 0 && cmp.Diff(c.want, got) != "" {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func at(calls []traintravel.Call, station uuid.UUID) {
	for i := range calls {
		calls[i].Station = station
	}
}

// Each fault is reported with its path, also when there are several in several
// places, and a calendar that trains share once.
func TestCheckReportsEveryFault(t *testing.T) {
	t.Parallel()
	tt := sound()
	bad := tt.Trains[0]
	bad.Calls = append([]traintravel.Call(nil), bad.Calls...)
	bad.Operator, bad.Days, bad.Calls[1].Station, bad.Calls[2].Arrive = "", traintravel.Daily(5, 4), uuid.Nil, 0
	tt.Stations[1].Zone = "?"
	tt.Trains = append(tt.Trains, bad, bad)
	var fields []string
	for _, c := range complaints(t, tt) {
		field, _, _ := strings.Cut(c, ": ")
		fields = append(fields, field)
	}
	want := []string{
		"stations[1].zone",
		"trains[1].operator", "trains[1].days", "trains[1].calls[1].station", "trains[1].calls[2]",
		"trains[2].operator", "trains[2].calls[1].station", "trains[2].calls[2]",
	}
	if diff := cmp.Diff(want, fields); diff != "" {
		t.Error("-want +got\n" + diff)
	}
}

// coachesOf are coaches with one seat each.
func coachesOf(n int) []traintravel.Coach {
	coaches := make([]traintravel.Coach, n)
	for i := range coaches {
		coaches[i] = traintravel.Coach{Number: fmt.Sprint(i), Seats: 1}
	}
	return coaches
}

// Coaches that trains share are checked once, and a part of them on its own.
func TestCheckSharedCoaches(t *testing.T) {
	t.Parallel()
	tt := sound()
	bad := tt.Trains[0]
	bad.Coaches = append(coachesOf(traintravel.MaxCoaches-1), traintravel.Coach{Number: "0", Seats: 1})
	part := bad
	part.Coaches = bad.Coaches[:traintravel.MaxCoaches-1]
	tt.Trains = append(tt.Trains, part)
	for range 50_000 {
		tt.Trains = append(tt.Trains, bad)
	}
	start := time.Now()
	if diff := cmp.Diff([]string{`trains[2].coaches[499].number: "0" occurs twice`}, complaints(t, tt)); diff != "" {
		t.Error("-want +got\n" + diff)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("finding out took %v", took)
	}
}

func TestCheckStopsAtTwenty(t *testing.T) {
	t.Parallel()
	tt := &traintravel.Timetable{Stations: make([]traintravel.Station, 30_000), Trains: make([]traintravel.Train, 1_000_000)}
	start := time.Now()
	if got := complaints(t, tt); len(got) != schedule.MaxComplaints {
		t.Errorf("%d complaints", len(got))
	}
	tt.Stations = nil
	got := complaints(t, tt)
	if len(got) != schedule.MaxComplaints || !strings.HasPrefix(got[19], "trains[6].zone") {
		t.Errorf("%d complaints, %q at the end", len(got), got[len(got)-1])
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("finding out took %v", took)
	}
}

// Texts are what one can read: no noncharacters, which XML has no way to write
// (U+FFFE and U+FFFF) or nobody means, and something to be seen.
func TestBadText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, reason string }{
		{"Anna", ""}, {"李", ""}, {"7", ""}, {"🚆", ""}, {"-", ""}, {"\ufffd", ""}, {"\ue000", ""}, {"a\u0301", ""},
		{"نادر\u200cنیا", ""}, {"क्\u200dष", ""}, {"\u200eאב\u200f", ""}, {"👩\u200d🚀", ""}, {"\u200bAnna\ufeff", ""}, {"\u115f\u1161", ""}, {"កា", ""},
		{"", "is empty"},
		{"A\ufffe", "contains the noncharacter U+FFFE"}, {"\uffffA", "contains the noncharacter U+FFFF"},
		{"A\ufdd0", "contains the noncharacter U+FDD0"}, {"A\ufdef", "contains the noncharacter U+FDEF"},
		{"A\U0001fffe", "contains the noncharacter U+1FFFE"}, {"A\U0010ffff", "contains the noncharacter U+10FFFF"},
		{"\ufdcf", ""}, {"\ufdf0", ""}, {"\ufff9", unseen}, {"\U0001fffd", ""},
		{"\u200b", unseen}, {"\u2060", unseen}, {"\ufeff", unseen}, {"\u200b\u2060\ufeff \u00ad", unseen}, {"\u200d\u200c", unseen}, {"\u0301", unseen}, {"\u0301\u20dd", unseen},
		{" ", unseen}, {"\u00a0\u2003\u3000", unseen}, {"\u2028", unseen}, {"\u3164", unseen}, {"\uffa0", unseen}, {"\u115f\u1160", unseen}, {"\u2800", unseen},
		{"\ufe0f", unseen}, {"\U000e0041", unseen}, {"\U000e0100", unseen}, {"\u061c", unseen}, {"\u17b4", unseen},
		{"\u200b\u202e", "contains U+202E, which reorders text"}, {"\u200b\x01", "contains the control character U+0001"},
	} {
		if got := rail.BadText(c.text, true); got != c.reason {
			t.Errorf("%+q: %q, want %q", c.text, got, c.reason)
		}
	}
	for _, text := range []string{"", "\u200b", " ", "\u0301"} {
		if got := rail.BadText(text, false); got != "" {
			t.Errorf("%+q is not required: %q", text, got)
		}
	}
}

const unseen = "has only invisible characters"
