package gtfs

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/traintravel/traintravel"
)

func (o *offer) add(fare *flatFare) {
	for _, other := range o.flat {
		if other.Fare == fare.Fare && other.flaw == fare.flaw {
			return
		}
	}
	if len(o.flat) < 2 {
		o.flat = append(o.flat, fare)
	}
}

func (f *feed) readFareAttributes() error {
	if !f.has("fare_attributes.txt") {
		return nil
	}
	t, err := f.open("fare_attributes.txt", "fare_id", "price", "currency_type")
	if err != nil {
		return err
	}
	id, price, currency := t.column("fare_id"), t.column("price"), t.column("currency_type")
	transfers, agencyID := t.column("transfers"), t.column("agency_id")
	f.fares = map[string]*flatFare{}
	for t.next() {
		key := string(t.get(id))
		if f.fares[key] != nil {
			t.fail("fare_id %.60q occurs twice", key)
			continue
		}
		fare := &flatFare{agency: string(t.get(agencyID)), line: t.line(), onward: string(t.get(transfers)) != "0"}
		f.hold(sizeFare, key, fare.agency)
		f.fares[key] = fare
		if fare.agency != "" && f.agency(fare.agency) == nil {
			t.fail("agency_id %.60q is not in agency.txt", fare.agency)
		}
		m, err := traintravel.ParseMoney(string(t.get(price)), strings.ToLower(string(t.get(currency))))
		switch {
		case err != nil:
			fare.flaw = fmt.Sprintf("price %.40q %.20q: %v", t.get(price), t.get(currency), err)
		case m.Amount < 0 || m.Amount > maxBase:
			fare.flaw = fmt.Sprintf("price %s is negative or too high", m)
		case m.Amount > 0: // otherwise the zero Fare
			fare.Fare = traintravel.Fare{Currency: m.Currency, Base: m.Amount}
		}
	}
	return t.err
}

func (f *feed) readFareRules() error {
	f.offers = map[offerKey]*offer{}
	if f.has("fare_rules.txt") {
		if err := f.readRules(); err != nil {
			return err
		}
	}
	if len(f.fares) > 0 {
		f.priceRoutes()
	}
	return nil
}

func (f *feed) readRules() error {
	t, err := f.open("fare_rules.txt", "fare_id")
	if err != nil {
		return err
	}
	id, routeID := t.column("fare_id"), t.column("route_id")
	origin, destination, contains := t.column("origin_id"), t.column("destination_id"), t.column("contains_id")
	type key struct {
		fare  *flatFare
		route string
	}
	known := map[key]*fareRule{}
	for t.next() {
		fare := f.fares[string(t.get(id))]
		if fare == nil {
			t.fail("fare_id %.60q is not in fare_attributes.txt", t.get(id))
			continue
		}
		fare.ruled = true
		k := key{fare, string(t.get(routeID))}
		switch r, ok := f.routes[k.route]; {
		case !ok && k.route != "":
			f.doubt(t.name, t.line(), "route_id is not in routes.txt")
			continue
		case r.skip != "":
			continue
		}
		rule := known[k]
		if rule == nil {
			rule = &fareRule{fare: fare, route: k.route}
			f.hold(sizeFare, k.route)
			known[k] = rule
			f.fareRules = append(f.fareRules, rule)
		}
		f.hold(sizeWay)
		f.addZones(t, rule, t.get(origin), t.get(destination), t.get(contains))
	}
	return t.err
}

func (f *feed) offer(key offerKey) *offer {
	o := f.offers[key]
	if o == nil {
		o = &offer{}
		f.offers[key] = o
	}
	return o
}

// priceRoutes sets the fares of routes that have one price for all rides.
func (f *feed) priceRoutes() {
	fares := make([]*flatFare, 0, len(f.fares))
	for _, fare := range f.fares {
		fares = append(fares, fare)
	}
	slices.SortFunc(fares, func(a, b *flatFare) int { return cmp.Compare(a.line, b.line) })
	for _, fare := range fares {
		if !fare.ruled {
			f.fareRules = append(f.fareRules, &fareRule{fare: fare, flat: true})
		}
	}
	for _, rule := range f.fareRules {
		o := f.offer(offerKey{rule.fare.agency, rule.route})
		if rule.flat {
			o.add(rule.fare)
		}
		if f.zones != nil {
			o.addByZones(rule)
		}
	}
	f.fareRules = nil
	keys := make([]string, 0, len(f.routes))
	for key, r := range f.routes {
		if r.skip == "" {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(a, b string) int { return cmp.Compare(f.routes[a].line, f.routes[b].line) })
	for _, key := range keys {
		f.priceRoute(key)
	}
	for _, o := range f.offers {
		for _, fare := range o.fares {
			fare.used = fare.used || o.used
		}
	}
	for _, fare := range fares {
		switch {
		case !fare.used:
		case fare.flaw != "":
			f.fail("fare_attributes.txt", fare.line, "%s", fare.flaw)
		case fare.Fare == traintravel.Fare{}:
			f.note("fare_attributes.txt", fare.line, "the price is 0, but nothing can be sold for 0: the trains have no fare")
		case fare.onward:
			f.note("fare_attributes.txt", fare.line, "the fare covers changes, but each train is sold at its own price")
		}
	}
}

// priceRoute sets the fare of one route.
func (f *feed) priceRoute(key string) {
	r := f.routes[key]
	var all offer
	var offers []*offer
	for _, k := range [4]offerKey{{"", ""}, {"", key}, {r.agency.id, ""}, {r.agency.id, key}} {
		if o := f.offers[k]; o != nil {
			offers = append(offers, o)
			all.zones = all.zones || o.zones
			for _, fare := range o.flat {
				all.add(fare)
			}
		}
	}
	switch {
	case all.zones:
		f.priceByZones(&r, offers)
	case len(all.flat) > 1:
		f.note("routes.txt", r.line, "the route has several fares, and the feed does not say which one applies: none is used")
	case len(all.flat) == 1:
		all.flat[0].used = true
		if all.flat[0].flaw == "" {
			r.fare, r.fareFile = all.flat[0].Fare, "fare_attributes.txt"
		}
	}
	f.routes[key] = r
}
