// Package published makes the examples that are published with the Train Travel API
// work on a service that keeps its own rules: the trips of the examples run, and the
// IDs of the examples lead to them and to a booking.
//
// The service knows nothing of that. [Timetable] adds the trains of the examples to
// what it sells, and an [Examples] stands between clients and its API, where it puts
// the service's IDs in place of the published ones, and back.
package published

import (
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
)

// The IDs in the examples: of two stations, a trip each way, and a booking of the trip
// that goes out.
var (
	berlin   = uuid.MustParse("efdbb9d1-02c2-4bc3-afb7-6788d8782b1e")
	paris    = uuid.MustParse("b2e783e1-c824-4d63-b37a-d8d698862f1d")
	tripOut  = uuid.MustParse("ea399ba1-6d95-433f-92d1-83f67b775594")
	tripBack = uuid.MustParse("4d67459c-af07-40bb-bb12-178dbb88e09f")
	booking  = uuid.MustParse("1725ff48-ab45-4bb5-9d02-88745177dedb")
)

// day is the day of the examples' trips.
var day = traintravel.NewDate(2024, time.February, 1)

// passenger is who the booking is for. There is a bicycle, and a dog.
const passenger = "John Doe"

// A trip is one of the examples, as it is published.
type trip struct {
	id       uuid.UUID
	from, to uuid.UUID
	operator string
	depart   traintravel.ServiceTime // by the clocks of both stations; it takes six hours
}

const hour traintravel.ServiceTime = 3600

var trips = []trip{
	{tripOut, berlin, paris, "Deutsche Bahn", 11 * hour},
	{tripBack, paris, berlin, "SNCF", 13 * hour},
}

const zone = "Europe/Berlin" // of the trains; clocks in Paris show the same

// Timetable changes a timetable in which the stations of the examples are: the trains
// that have no end but the timetable's run as long as trip IDs can tell their dates, and
// the trains of the examples run beside them, every day. They never fill up, as they have
// neither seats nor bicycle hooks that are counted, and cost 50 euros.
func Timetable(t *traintravel.Timetable) {
	for i := range t.Trains {
		if days := t.Trains[i].Days; days != nil {
			days.To = traintravel.LastDate
		}
	}
	daily := traintravel.Daily(traintravel.FirstDate, traintravel.LastDate)
	for _, x := range trips {
		t.Trains = append(t.Trains, traintravel.Train{
			Feed: "published", Operator: x.operator, Zone: zone, Days: daily,
			Calls: []traintravel.Call{
				{Station: x.from, Arrive: x.depart, Depart: x.depart},
				{Station: x.to, Arrive: x.depart + 6*hour, Depart: x.depart + 6*hour},
			},
			Bicycles: traintravel.Allowed, Dogs: traintravel.Allowed,
			Fare: traintravel.Fare{Currency: "eur", Base: 5000},
		})
	}
}
