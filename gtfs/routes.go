package gtfs

import (
	"cmp"
	"strconv"

	"github.com/traintravel/traintravel"
)

// faulty is the skip of a route whose mistakes are on record.
const faulty = "the route has a mistake"

func (f *feed) readRoutes() error {
	t, err := f.open("routes.txt", "route_id", "route_type")
	if err != nil {
		return err
	}
	var (
		id       = t.column("route_id")
		agencyID = t.column("agency_id")
		name     = t.column("route_short_name")
		kind     = t.column("route_type")
	)
	var key string
	t.flawed = func(flaw *Error) bool {
		r := f.routes[key]
		r.skip, r.flaw = faulty, cmp.Or(r.flaw, flaw)
		f.routes[key] = r
		return true
	}
	for t.next() {
		key = string(t.get(id))
		if _, twice := f.routes[key]; twice {
			t.fail("route_id %.60q occurs twice", key)
			continue
		}
		r := route{id: clean(key), fare: f.opts.Fare, line: t.line()}
		r.number = t.text(name) // whose length counts with the trip's
		n, err := strconv.Atoi(string(t.get(kind)))
		switch {
		case err != nil:
			t.fail("route_type %.20q is not a number", t.get(kind))
			r.skip = faulty
		case !f.opts.RouteType(n):
			r.skip = "route_type " + strconv.Itoa(n) + " is not read"
		case long(r.id):
			t.fail("route_id has more than %d characters", traintravel.MaxText)
			r.skip = faulty
		default:
			if r.agency = f.routeAgency(string(t.get(agencyID))); r.agency == nil {
				t.fail("agency_id %.60q is not in agency.txt", t.get(agencyID))
				r.skip = faulty
			}
		}
		f.hold(sizeRoute, key, r.id, r.number, r.skip)
		f.routes[key] = r
	}
	return t.err
}

// routeAgency returns the agency of a route; the only one needs no ID.
func (f *feed) routeAgency(id string) *agency {
	if id == "" && len(f.agencies) == 1 {
		return &f.agencies[0]
	}
	return f.agency(id)
}
