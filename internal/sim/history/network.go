package history

import (
	"fmt"
	"strings"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/sim/chance"
)

// stations are the stations A to H, on a line.
const stations = "ABCDEFGH"

func station(n byte) uuid.UUID { return uuid.UUID{0: n, 6: 0x40, 8: 0x80} }

// years is how many years trains run.
const years = 17

// timetable is an edition of the timetable. Editions differ in the places of some trains.
func timetable(seed chance.Seed, edition int) *traintravel.Timetable {
	r := seed.At("timetable", uint64(edition))
	t := &traintravel.Timetable{}
	for i := range stations {
		n := stations[i]
		t.Stations = append(t.Stations, traintravel.Station{
			ID: station(n), Name: strings.Repeat(string(n), 3), Country: "DE", Zone: "Europe/Berlin", Latitude: 50, Longitude: 5 + float64(i),
		})
	}
	days := traintravel.Daily(traintravel.NewDate(2000, 1, 1), traintravel.NewDate(2000+years-1, 12, 31))
	add := func(number string, hour int, route string, seats ...int) {
		train := traintravel.Train{
			Feed: "sim", ID: fmt.Sprint(number, " of edition ", edition), Operator: "Sim Rail", Number: number, Zone: "Europe/Berlin", Days: days,
			Fare: traintravel.Fare{Currency: "eur", Base: 1000, PerKm: 10}, Bicycles: traintravel.Allowed, Dogs: traintravel.Allowed, Hooks: 1,
		}
		for i := range route {
			at := traintravel.Clock(hour+i, 0)
			train.Calls = append(train.Calls, traintravel.Call{Station: station(route[i]), Arrive: at, Depart: at, Metres: int32(i * 50_000)})
		}
		for i, n := range seats {
			train.Coaches = append(train.Coaches, traintravel.Coach{Number: fmt.Sprint(i + 1), Seats: n})
		}
		t.Trains = append(t.Trains, train)
	}
	add("R 1", 8, "ABCD", 3, 2+r.IntN(2))
	add("R 2", 12, "DEF", 2)
	add("S 3", 15, "FG")
	add("R 4", 17, "GH", 3)
	add("R 5", 20, "AB", 1+r.IntN(3))
	add("N 6", 23, "HGFEDCBA", 2)
	return t
}
