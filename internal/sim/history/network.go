package history

import (
	"cmp"
	"fmt"
	"math/rand/v2"
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

// editions is how many editions of the timetable there are. The first is plain.
const editions = 10

// A service is a train as an edition has it.
type service struct {
	number   string
	hour     int
	route    string
	coaches  []traintravel.Coach
	late     int    // minutes by which the whole train is later: it is another train then
	slow     int    // minutes that it is later after its first call: it is the same train
	zone     string // in which its times are written
	twin     string // tells it from another train of the number, at the same time
	withdraw bool
}

// timetable is an edition of the timetable. Editions differ in the places of some trains; some
// withdraw trains, retime them, drop calls, change zones, or run a second train of a number.
func timetable(seed chance.Seed, edition int) *traintravel.Timetable {
	r := seed.At("timetable", uint64(edition))
	all := services(r)
	if edition > 0 {
		change(r, all)
	}
	t := &traintravel.Timetable{}
	zone := "Europe/Berlin"
	if edition > 0 && r.IntN(5) == 0 {
		zone = "Europe/London" // of the last station alone: what is shown of it changes
	}
	for i := range stations {
		n := stations[i]
		at := traintravel.Station{ID: station(n), Name: strings.Repeat(string(n), 3), Country: "DE", Zone: "Europe/Berlin", Latitude: 50, Longitude: 5 + float64(i)}
		if i == len(stations)-1 {
			at.Zone = zone
		}
		t.Stations = append(t.Stations, at)
	}
	for _, s := range all {
		if !s.withdraw {
			t.Trains = append(t.Trains, s.train(edition))
		}
	}
	return t
}

// services are the trains of the first edition. In others, the places of some are other ones.
func services(r *rand.Rand) []*service {
	coaches := func(seats ...int) (cs []traintravel.Coach) {
		for i, n := range seats {
			cs = append(cs, traintravel.Coach{Number: fmt.Sprint(i + 1), Seats: n})
		}
		return cs
	}
	return []*service{
		{number: "R 1", hour: 8, route: "ABCD", coaches: coaches(3, 2+r.IntN(2))},
		{number: "R 2", hour: 12, route: "DEF", coaches: coaches(2)},
		{number: "S 3", hour: 15, route: "FG"},
		{number: "R 4", hour: 17, route: "GH", coaches: coaches(3)},
		{number: "R 5", hour: 20, route: "AB", coaches: coaches(1 + r.IntN(3))},
		{number: "N 6", hour: 23, route: "HGFEDCBA", coaches: coaches(2)},
		{number: "R 5", hour: 20, route: "ABC", coaches: []traintravel.Coach{{Number: "11", Seats: 2}}, twin: "twin", withdraw: true},
	}
}

// change draws what is different in an edition.
func change(r *rand.Rand, all []*service) {
	is := func(n int) bool { return r.IntN(n) == 0 }
	r1, r2, r4, r5, n6, twin := all[0], all[1], all[3], all[4], all[5], all[6]
	if is(4) {
		r1.coaches = r1.coaches[:1]
	}
	if is(4) {
		r1.slow = 1 + r.IntN(9)
	}
	if is(4) {
		r1.route = []string{"ACD", "ABD", "ABC"}[r.IntN(3)]
	}
	if is(6) {
		r2.late = 3
	}
	r2.withdraw = is(6)
	if is(5) {
		r4.zone = "Europe/London"
	}
	r4.withdraw = is(6)
	if is(5) {
		n6.route = "HGEDCBA"
	}
	twin.withdraw = !is(2)
	r5.withdraw = is(4)
}

func (s *service) train(edition int) traintravel.Train {
	id := fmt.Sprint(s.number, " of edition ", edition)
	if s.number == "R 5" { // nothing but this tells it from its twin
		id = s.number + s.twin
	}
	t := traintravel.Train{
		Feed: "sim", ID: id, Operator: "Sim Rail", Number: s.number, Zone: cmp.Or(s.zone, "Europe/Berlin"),
		Days: traintravel.Daily(traintravel.NewDate(2000, 1, 1), traintravel.NewDate(2000+years-1, 12, 31)), Coaches: s.coaches,
		Fare: traintravel.Fare{Currency: "eur", Base: 1000, PerKm: 10}, Bicycles: traintravel.Allowed, Dogs: traintravel.Allowed, Hooks: 1,
	}
	for i := range s.route {
		at := traintravel.Clock(s.hour+i, s.late)
		if i > 0 {
			at += traintravel.ServiceTime(60 * s.slow)
		}
		t.Calls = append(t.Calls, traintravel.Call{Station: station(s.route[i]), Arrive: at, Depart: at, Metres: int32(i * 50_000)})
	}
	return t
}
