package gtfs

import (
	"strings"

	"github.com/traintravel/traintravel"
)

func (f *feed) readTrips() error {
	t, err := f.open("trips.txt", "trip_id", "route_id", "service_id")
	if err != nil {
		return err
	}
	id, routeID, serviceID := t.column("trip_id"), t.column("route_id"), t.column("service_id")
	number, headsign := t.column("trip_short_name"), t.column("trip_headsign")
	bicycles, dogs := t.column("bikes_allowed"), t.column("dogs_allowed")
	hooks, coaches, block := t.column("bicycle_hooks"), t.column("coaches"), t.column("block_id")
	fare := fareColumns{t.column("fare_currency"), t.column("fare_base"), t.column("fare_per_km")}
	var key string
	t.flawed = func(flaw *Error) bool {
		f.flawTrip(key, t.rec.line, flaw)
		f.breakBlock(string(t.get(block)))
		return true
	}
	for t.next() {
		key = string(t.get(id))
		if _, twice := f.tripByID[key]; twice {
			t.fail("trip_id %.60q occurs twice", key)
			continue
		}
		f.hold(sizeKey, key)
		f.tripByID[key] = skipped
		route, ok := f.routes[string(t.get(routeID))]
		if !ok {
			t.fail("route_id %.60q is not in routes.txt", t.get(routeID))
			continue
		}
		if route.skip != "" {
			if route.flaw != nil {
				f.flawTrip(key, t.line(), route.flaw)
				f.breakBlock(string(t.get(block)))
			}
			f.note(t.name, t.line(), route.skip)
			continue
		}
		service := f.services[string(t.get(serviceID))]
		switch {
		case service == nil:
			t.fail("service_id %.60q is in neither calendar.txt nor calendar_dates.txt", t.get(serviceID))
			continue
		case service.flaw != nil:
			f.flawTrip(key, t.line(), service.flaw)
			f.breakBlock(string(t.get(block)))
			continue
		case !service.runs:
			f.note(t.name, t.line(), "the trip runs on no day")
			continue
		}
		if long(key) {
			t.fail("trip_id has more than %d characters", traintravel.MaxText)
		}
		shown := trainNumber(route.number, t.text(number), t.text(headsign))
		if long(shown) {
			t.fail("route_short_name and trip_short_name have more than %d characters", traintravel.MaxText)
		}
		f.tripByID[key] = int32(len(f.trips))
		if b := t.get(block); len(b) > 0 {
			if f.blocks == nil {
				f.blocks = map[string][]int32{}
			}
			f.hold(sizeKey + len(b))
			f.blocks[string(b)] = append(f.blocks[string(b)], int32(len(f.trips)))
		}
		own, ok := f.readFare(t, fare)
		from := origin{"trips.txt", "trips.txt", len(t.get(fare.currency)) > 0}
		if !ok {
			own = route.fare
			from.prices, from.currency = route.fareFile, route.fareFile != ""
			if route.tariff != nil {
				f.tariffs[int32(len(f.trips))] = route.tariff
			}
		}
		f.hold(sizeTrip, key, shown) // its ID once more, if it was cleaned
		if len(t.get(coaches)) == 0 {
			from.coaches = ""
		}
		f.trips = append(f.trips, &trip{line: t.line(), service: service, origin: from, Train: traintravel.Train{
			Feed:     f.opts.Feed,
			ID:       clean(key),
			Line:     route.id,
			Operator: route.agency.name,
			Number:   shown,
			Zone:     route.agency.zone,
			Days:     &service.Calendar,
			Coaches:  f.readCoaches(t, coaches),
			Bicycles: traintravel.Allowance(t.choice(bicycles, "bikes_allowed", 2)),
			Dogs:     traintravel.Allowance(t.choice(dogs, "dogs_allowed", 2)),
			Hooks:    t.choice(hooks, "bicycle_hooks", maxBicycle),
			Fare:     own,
		}})
	}
	return t.err
}

// trainNumber returns what a traveller reads of a train.
func trainNumber(route, trip, headsign string) string {
	if trip == "" && digits([]byte(headsign)) >= 0 {
		trip = headsign
	}
	kind, _, _ := strings.Cut(route, " ")
	switch {
	case strings.Contains(trip, route), strings.HasPrefix(trip, kind+" "):
		return trip
	case strings.Contains(route, trip):
		return route
	}
	return route + " " + trip
}

const (
	maxSeats   = 1000   // of a coach
	maxPlaces  = 10_000 // of a train
	maxBase    = 1e12   // of a fare, in minor units
	maxPerKm   = 1e9    // of a fare, in minor units
	maxBicycle = 1000   // hooks of a train
)

// readCoaches reads coaches in the form "21:80 22:76". Trains with the same
// text share the result.
func (f *feed) readCoaches(t *table, c column) []traintravel.Coach {
	if coaches, ok := f.coaches[string(t.get(c))]; ok {
		return coaches
	}
	before := f.errs.Total
	text := string(t.get(c))
	var coaches []traintravel.Coach
	places, seen := 0, map[string]bool{}
	for _, word := range strings.Fields(text) {
		number, seats, _ := strings.Cut(word, ":")
		n := digits([]byte(seats))
		number = clean(number)
		if number == "" || long(number) || n < 1 || n > maxSeats || seen[number] {
			t.fail("coaches: %.40q is not of the form 21:80: want each coach once, with 1 to %d seats", word, maxSeats)
			continue
		}
		seen[number] = true
		coaches = append(coaches, traintravel.Coach{Number: number, Seats: n})
		places += n
	}
	if len(coaches) > traintravel.MaxCoaches {
		t.fail("the trip has %d coaches, more than %d", len(coaches), traintravel.MaxCoaches)
	}
	if places > maxPlaces {
		t.fail("the coaches have %d seats, more than %d", places, maxPlaces)
	}
	if f.errs.Total == before { // else each row is to be told of
		f.hold(sizeKey+len(coaches)*sizeCoach, text, text)
		f.coaches[text] = coaches
	}
	return coaches
}

type fareColumns struct{ currency, base, perKm column }

// readFare reads the fare of a row, and says whether it has one of its own.
func (f *feed) readFare(t *table, c fareColumns) (fare traintravel.Fare, ok bool) {
	currency, base, perKm := string(t.get(c.currency)), t.get(c.base), t.get(c.perKm)
	if len(base)+len(perKm) == 0 {
		if currency != "" {
			t.fail("fare_currency %.20q needs fare_base or fare_per_km", currency)
		}
		return fare, false
	}
	fare.Currency = strings.ToLower(currency)
	if currency == "" {
		fare.Currency = f.opts.Fare.Currency
	}
	amount := func(b []byte, name string, most int64) int64 {
		if len(b) == 0 {
			return 0
		}
		m, err := traintravel.ParseMoney(string(b), fare.Currency)
		if err != nil {
			t.fail("%s %.40q: %v", name, b, err)
		} else if m.Amount < 0 || m.Amount > most {
			t.fail("%s %s is negative or too high", name, m)
		}
		return m.Amount
	}
	fare.Base, fare.PerKm = amount(base, "fare_base", maxBase), amount(perKm, "fare_per_km", maxPerKm)
	return fare, true
}
