package officetest

import (
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
)

// BenchDay is a weekday of the synthetic feeds.
var BenchDay = traintravel.NewDate(2027, 3, 10)

// Large is a timetable that takes several updates to write.
func Large() *traintravel.Timetable {
	t := Network()
	long := strings.Repeat("🚂", 190)
	for i := range 1500 {
		tr := Train(fmt.Sprint(i, " ", long), 6, "CE")
		tr.ID = long
		t.Trains = append(t.Trains, tr)
	}
	t.Trains = append(t.Trains, Train("L", 6, "CE"))
	return t
}

// The stations of the tests are A to H, 50 km from one to the next, and the
// trains call at one an hour.

var (
	FirstDay = traintravel.NewDate(2026, 1, 1)
	LastDay  = traintravel.NewDate(2026, 12, 31)
)

func Station(name rune) uuid.UUID {
	return uuid.UUID{0: byte(name), 6: 0x40, 8: 0x80}
}

// A Change of a train that train makes.
type Change func(*traintravel.Train)

// Train calls at the stations of a line, such as "ABD", an hour after each
// other's letters: B an hour after A, D two after B. It departs at h:00.
func Train(number string, h int, line string, changes ...Change) traintravel.Train {
	t := traintravel.Train{
		Feed: "test", ID: "id of " + number, Operator: "Test Rail", Number: number, Zone: "Europe/Berlin",
		Days: traintravel.Daily(FirstDay, LastDay), Fare: traintravel.Fare{Currency: "eur", Base: 1000, PerKm: 10},
		Bicycles: traintravel.Allowed, Dogs: traintravel.Allowed,
	}
	for _, name := range line {
		hours := int(name) - int(line[0])
		at := traintravel.Clock(h+hours, 0)
		t.Calls = append(t.Calls, traintravel.Call{Station: Station(name), Arrive: at, Depart: at, Metres: int32(hours * 50_000)})
	}
	for _, c := range changes {
		c(&t)
	}
	return t
}

// Seats gives a train coaches, "1", "2" and so on.
func Seats(n ...int) Change {
	return func(t *traintravel.Train) {
		t.Coaches = nil
		for i, n := range n {
			t.Coaches = append(t.Coaches, traintravel.Coach{Number: string(rune('1' + i)), Seats: n})
		}
	}
}

func Hooks(n int) Change { return func(t *traintravel.Train) { t.Hooks = n } }

func bicycles(a traintravel.Allowance) Change {
	return func(t *traintravel.Train) { t.Bicycles = a }
}

func dogs(a traintravel.Allowance) Change {
	return func(t *traintravel.Train) { t.Dogs = a }
}

// Timetable has the trains and the stations that they call at.
func Timetable(trains ...traintravel.Train) *traintravel.Timetable {
	t := &traintravel.Timetable{Trains: trains}
	for i, name := range "ABCDEFGH" {
		t.Stations = append(t.Stations, traintravel.Station{
			ID: Station(name), Name: strings.Repeat(string(name), 3), Country: "DE", Zone: "Europe/Berlin",
			Latitude: 50, Longitude: 5 + float64(i),
		})
	}
	return t
}

// Network is a line on which one travels from A to H with three changes: by
// two trains with places, one without, and one with places again.
func Network() *traintravel.Timetable {
	return Timetable(
		Train("R 1", 8, "ABCD", Seats(1, 1), Hooks(1)), // arrives in D at 11:00
		Train("R 2", 12, "DEF", Seats(1)),              // arrives in F at 14:00
		Train("S 3", 15, "FG"),                         // arrives in G at 16:00
		Train("R 4", 17, "GH", Seats(3), bicycles(traintravel.Unknown), dogs(traintravel.NotAllowed)),
		Train("R 5", 20, "AB", Seats(3)),
	)
}
