package httpserver

import "github.com/traintravel/traintravel"

func (s *Server) openAPIYAML(x *exchange) error { return x.description(asYAML) }

func (s *Server) openAPIJSON(x *exchange) error { return x.description(asJSON) }

// description answers with the description of this server, at the base of this
// answer, with examples that can be tried out now.
func (x *exchange) description(f form) error {
	day := exampleDay(x.s.now())
	d := described{f, x.base, day, x.exampleTrip(day)}
	if d.base == x.s.base.text {
		t, err := x.s.descriptions.atOwn(d, &x.s.openAPI)
		if err != nil {
			return err
		}
		return x.sendText(t)
	}
	body, ok := x.s.descriptions.others.Get(d)
	if !ok {
		var err error
		if body, err = x.s.openAPI.write(d); err != nil {
			return err
		}
		x.s.descriptions.others.Put(x.from, d, body, int64(len(body)))
	}
	x.out = append(x.out[:0], body...) // it may be dropped while it is sent: so it counts as the caller's
	return x.sendTagged(descriptionTypes[f])
}

// exampleTrip is the ID of the first trip of the examples' day, or any if the
// timetable has none.
func (x *exchange) exampleTrip(day traintravel.Date) string {
	loc, err := x.s.zone(x.ctx(), "origin", exampleOrigin)
	if err != nil {
		return openAPITrip
	}
	found, err := x.s.service.SearchTrips(x.ctx(), traintravel.TripQuery{
		Origin: exampleOrigin, Destination: exampleDestination, Depart: day.Start(loc), Direct: true, Page: traintravel.Page{Limit: 1},
	})
	if err != nil || len(found.Items) == 0 {
		return openAPITrip
	}
	return found.Items[0].ID.String()
}
