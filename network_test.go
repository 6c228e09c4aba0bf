package traintravel_test

import (
	"strings"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
)

// The stations of the tests are A to H, 50 km from one to the next, and the
// trains call at one an hour.

var (
	firstDay = traintravel.NewDate(2026, 1, 1)
	lastDay  = traintravel.NewDate(2026, 12, 31)
)

func station(name rune) uuid.UUID {
	return uuid.UUID{0: byte(name), 6: 0x40, 8: 0x80}
}

// A change of a train that train makes.
type change func(*traintravel.Train)

// train calls at the stations of a line, such as "ABD", an hour after each
// other's letters: B an hour after A, D two after B. It departs at h:00.
func train(number string, h int, line string, changes ...change) traintravel.Train {
	t := traintravel.Train{
		Feed: "test", ID: "id of " + number, Operator: "Test Rail", Number: number, Zone: "Europe/Berlin",
		Days: traintravel.Daily(firstDay, lastDay), Fare: traintravel.Fare{Currency: "eur", Base: 1000, PerKm: 10},
		Bicycles: traintravel.Allowed, Dogs: traintravel.Allowed,
	}
	for _, name := range line {
		hours := int(name) - int(line[0])
		at := traintravel.Clock(h+hours, 0)
		t.Calls = append(t.Calls, traintravel.Call{Station: station(name), Arrive: at, Depart: at, Metres: int32(hours * 50_000)})
	}
	for _, c := range changes {
		c(&t)
	}
	return t
}

// seats gives a train coaches, "1", "2" and so on.
func seats(n ...int) change {
	return func(t *traintravel.Train) {
		t.Coaches = nil
		for i, n := range n {
			t.Coaches = append(t.Coaches, traintravel.Coach{Number: string(rune('1' + i)), Seats: n})
		}
	}
}

func hooks(n int) change { return func(t *traintravel.Train) { t.Hooks = n } }

func bicycles(a traintravel.Allowance) change {
	return func(t *traintravel.Train) { t.Bicycles = a }
}

func dogs(a traintravel.Allowance) change {
	return func(t *traintravel.Train) { t.Dogs = a }
}

// timetable has the trains and the stations that they call at.
func timetable(trains ...traintravel.Train) *traintravel.Timetable {
	t := &traintravel.Timetable{Trains: trains}
	for i, name := range "ABCDEFGH" {
		t.Stations = append(t.Stations, traintravel.Station{
			ID: station(name), Name: strings.Repeat(string(name), 3), Country: "DE", Zone: "Europe/Berlin",
			Latitude: 50, Longitude: 5 + float64(i),
		})
	}
	return t
}

// network is a line on which one travels from A to H with three changes: by
// two trains with places, one without, and one with places again.
func network() *traintravel.Timetable {
	return timetable(
		train("R 1", 8, "ABCD", seats(1, 1), hooks(1)), // arrives in D at 11:00
		train("R 2", 12, "DEF", seats(1)),              // arrives in F at 14:00
		train("S 3", 15, "FG"),                         // arrives in G at 16:00
		train("R 4", 17, "GH", seats(3), bicycles(traintravel.Unknown), dogs(traintravel.NotAllowed)),
		train("R 5", 20, "AB", seats(3)),
	)
}
