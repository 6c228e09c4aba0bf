package gtfs

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/traintravel/traintravel"
)

// maxPricedRides limits the rides that have prices by zones: pairs of calls, once
// for all trains of a route that call in the same zones.
const maxPricedRides = 4_000_000

// zone returns the number of a zone, a new one if the zone is new.
func (f *feed) zone(id []byte) zone {
	if len(id) == 0 {
		return noZone
	}
	z, ok := f.zones[string(id)]
	if !ok {
		f.hold(sizeKey + len(id))
		z = zone(len(f.zones) + 1)
		f.zones[string(id)] = z
	}
	return z
}

// addZones adds a row of fare_rules.txt to its fare.
func (f *feed) addZones(t *table, rule *fareRule, origin, destination, contains []byte) {
	if len(origin)+len(destination)+len(contains) == 0 {
		rule.flat = true
		return
	}
	if f.zones == nil {
		f.zones = map[string]zone{}
		f.tariffs = map[int32]*tariff{}
	}
	name := func(id []byte) zone {
		z := f.zone(id)
		if z != noZone {
			f.named = append(f.named, naming{z, int32(t.line())})
		}
		return z
	}
	if w := (way{name(origin), name(destination)}); w != (way{}) {
		rule.ways = append(rule.ways, w)
	}
	if z := name(contains); z != noZone {
		rule.contains = append(rule.contains, z)
	}
}

// inheritZones gives the stops without a zone that of their parent, and finds the
// zones of rules that no stop has.
func (f *feed) inheritZones() {
	there := make([]bool, len(f.zones)+1)
	for i := range f.stops {
		s := &f.stops[i]
		for at, steps := s, 0; s.zone == noZone && at.parent != "" && steps < 4; steps++ {
			next, ok := f.stopByID[at.parent]
			if !ok {
				break
			}
			at = &f.stops[next]
			s.zone = at.zone
		}
		there[s.zone] = true
	}
	last := int32(0)
	for _, n := range f.named {
		if !there[n.zone] && n.line != last {
			last = n.line
			f.doubt("fare_rules.txt", int(n.line), "origin_id, destination_id or contains_id is not the zone_id of any stop")
		}
	}
	f.named = nil
}

// addByZones adds a rule, in a feed where fares depend on zones.
func (o *offer) addByZones(rule *fareRule) {
	o.fares = append(o.fares, rule.fare)
	if c := rule.fare.Currency; c != "" && len(o.currencies) < 2 && !slices.Contains(o.currencies, c) {
		o.currencies = append(o.currencies, c)
	}
	if o.prices == nil {
		o.prices = zonePrices{}
	}
	if rule.flat {
		o.prices.add("", way{}, rule.fare.Base)
	}
	if len(rule.ways)+len(rule.contains) == 0 {
		return
	}
	o.zones = true
	o.contains = o.contains || len(rule.contains) > 0
	slices.Sort(rule.contains)
	zones := string(passed(nil, slices.Compact(rule.contains)))
	for _, w := range rule.ways {
		o.prices.add(zones, w, rule.fare.Base)
	}
	if len(rule.ways) == 0 {
		o.prices.add(zones, way{}, rule.fare.Base)
	}
}

// add keeps the lowest price.
func (p zonePrices) add(zones string, w way, amount int64) {
	if p[zones] == nil {
		p[zones] = map[way]int64{}
	}
	if old, ok := p[zones][w]; !ok || amount < old {
		p[zones][w] = amount
	}
}

// passed returns a text, made in buf, that identifies a sequence of zones.
func passed(buf []byte, zones []zone) []byte {
	buf = buf[:0]
	for _, z := range zones {
		buf = binary.BigEndian.AppendUint32(buf, uint32(z))
	}
	return buf
}

// priceByZones returns the tariff of a route.
func (f *feed) priceByZones(r *route, offers []*offer) {
	currency, contains := "", false
	for _, o := range offers {
		for _, c := range o.currencies {
			if currency != "" && c != currency {
				f.note("routes.txt", r.line, "the route has fares by zones in several currencies: none is used")
				return
			}
			currency = c
		}
		contains = contains || o.contains
	}
	for _, o := range offers {
		o.used = true
	}
	r.fareFile = "fare_attributes.txt"
	if r.fare = (traintravel.Fare{}); currency != "" {
		r.tariff = &tariff{offers: offers, contains: contains, currency: currency, line: r.line, known: map[string]*traintravel.Prices{}}
		f.priced = append(f.priced, r.tariff)
	}
}

// price gives a trip, whose calls are in order, its prices.
func (f *feed) price(t *trip, tf *tariff) {
	zones := make([]zone, len(t.marks))
	for i, m := range t.marks {
		zones[i] = f.stops[m.stop].zone
	}
	key := string(passed(nil, zones))
	prices, ok := tf.known[key]
	if !ok {
		if f.pricedRides += len(zones) * (len(zones) - 1) / 2; f.pricedRides > maxPricedRides {
			f.fail("trips.txt", t.line, "the trips up to here have more than %d rides with fares by zones", maxPricedRides)
			return
		}
		prices = tf.price(zones)
		tf.known[key] = prices
	}
	t.Prices = prices
}

// price returns the prices of a train that calls in zones.
func (tf *tariff) price(zones []zone) *traintravel.Prices {
	n := len(zones)
	p := &traintravel.Prices{Currency: tf.currency, Amounts: make([][]int64, n-1)}
	var all []zone // that a ride passes, sorted
	var key []byte // of them, if they matter
	pass := func(z zone) {
		if at, ok := slices.BinarySearch(all, z); tf.contains && !ok {
			all = slices.Insert(all, at, z)
			key = passed(key, all)
		}
	}
	for i := range p.Amounts {
		p.Amounts[i] = make([]int64, n)
		all = all[:0]
		pass(zones[i])
		for j := i + 1; j < n; j++ {
			pass(zones[j])
			p.Amounts[i][j] = tf.least(key, way{zones[i], zones[j]})
			if tf.rides++; p.Amounts[i][j] == 0 {
				tf.unsold++
			}
		}
	}
	return p
}

// least returns the price of the cheapest fare that fits a ride, zero if none does.
func (tf *tariff) least(zones []byte, w way) int64 {
	least, fits := int64(0), false
	look := func(prices map[way]int64) {
		for _, w := range [4]way{w, {from: w.from}, {to: w.to}, {}} {
			if amount, ok := prices[w]; ok && (!fits || amount < least) {
				least, fits = amount, true
			}
		}
	}
	for _, o := range tf.offers {
		look(o.prices[""])
		if o.contains {
			look(o.prices[string(zones)])
		}
	}
	return least
}

// noteUnsold reports how many rides have no price.
func (f *feed) noteUnsold() {
	for _, tf := range f.priced {
		if tf.unsold > 0 {
			f.note("routes.txt", tf.line, fmt.Sprintf("no fare above 0 fits %d of %d rides between the calls of the route's trains: they are not for sale", tf.unsold, tf.rides))
		}
	}
}
