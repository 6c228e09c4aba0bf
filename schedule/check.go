package schedule

import (
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/tz"
	"github.com/traintravel/traintravel/rail"
)

// Limits of a timetable, generous for any railway.
const (
	MaxCalls   = 256 // of a train
	MaxCoaches = 500 // of a train

	MaxOtherNames = 200 // of a station

	MaxPlaces     = 10_000 // places of one train
	MaxHooks      = 10_000
	MaxFare       = 1e12 // minor units
	MaxPerKm      = 1e9  // of four legs, fare and kilometres together are less than rail.MaxPayment
	MaxComplaints = 20   // the most errors that Check returns
)

// Check returns the errors of the timetable: nil, or at most twenty joined
// [*InvalidError]s, with paths such as trains[3].calls[0].
func (t *Timetable) Check() error { return t.CheckIn(&tz.Zones{}) }

// CheckIn is Check with time zones that were loaded before.
func (t *Timetable) CheckIn(z *tz.Zones) error {
	if t == nil {
		return rail.Invalid("timetable", "is nil")
	}
	if err := t.checkSize(); err != nil {
		return err
	}
	c := checker{
		zones: z, stations: make(map[uuid.UUID]bool, len(t.Stations)),
		calendars: map[*Calendar]bool{}, lists: map[coachList]bool{}, prices: map[priceList]bool{}, numbers: map[string]bool{},
	}
	for i := range t.Stations {
		c.station(fmt.Sprintf("stations[%d]", i), &t.Stations[i])
	}
	for i := range t.Trains {
		c.train(i, &t.Trains[i])
		if c.full() {
			break
		}
	}
	c.changes(t.Changes)
	return errors.Join(c.errs...)
}

type checker struct {
	zones     *tz.Zones
	stations  map[uuid.UUID]bool
	calendars map[*Calendar]bool // checked already
	lists     map[coachList]bool // checked already
	prices    map[priceList]bool // checked already
	numbers   map[string]bool    // of the coaches of one train
	errs      []error
}

// A coachList tells apart the lists of coaches that trains share.
type coachList struct {
	first *rail.Coach
	n     int
}

// A priceList is Prices of trains with so many calls.
type priceList struct {
	prices *Prices
	calls  int
}

func (c *checker) full() bool { return len(c.errs) >= MaxComplaints }

func (c *checker) say(field, format string, args ...any) {
	if !c.full() {
		c.errs = append(c.errs, rail.Invalid(field, format, args...))
	}
}

func (c *checker) text(field, s string, required bool) {
	if reason := rail.BadText(s, required); reason != "" {
		c.say(field, "%s", reason)
	}
}

func (c *checker) zone(field, name string) {
	if _, err := c.zones.Load(name); err != nil {
		c.say(field, "unknown time zone %.60q: want an IANA name such as Europe/Berlin", name)
	}
}

func (c *checker) station(at string, s *rail.Station) {
	if s.ID == uuid.Nil {
		c.say(at+".id", "is missing")
	} else if c.stations[s.ID] {
		c.say(at+".id", "%v occurs twice", s.ID)
	}
	c.stations[s.ID] = true
	for i, id := range s.OtherIDs {
		if id == uuid.Nil || c.stations[id] {
			c.say(fmt.Sprintf("%s.otherIDs[%d]", at, i), "%v is zero or occurs twice", id)
		}
		c.stations[id] = true
	}
	c.text(at+".name", s.Name, true)
	c.text(at+".address", s.Address, false)
	if n := len(s.OtherNames); n > MaxOtherNames {
		c.say(at+".otherNames", "has %d entries, more than %d", n, MaxOtherNames)
	}
	for i, name := range s.OtherNames[:min(len(s.OtherNames), MaxOtherNames)] {
		if reason := rail.BadText(name, true); reason != "" { // build the path only if there is an error
			c.say(fmt.Sprintf("%s.otherNames[%d]", at, i), "%s", reason)
		}
	}
	c.zone(at+".zone", s.Zone)
	if !(s.Latitude >= -90 && s.Latitude <= 90 && s.Longitude >= -180 && s.Longitude <= 180) {
		c.say(at, "invalid position %v, %v: want a latitude from -90 to 90 and a longitude from -180 to 180", s.Latitude, s.Longitude)
	}
	if s.Country != "" && !IsCountry(s.Country) {
		c.say(at+".country", "invalid country %.20q: want an ISO 3166-1 code of two upper-case letters", s.Country)
	}
}

// IsCountry says whether a text has the form of an ISO 3166-1 code: two upper-case letters.
func IsCountry(s string) bool {
	return len(s) == 2 && s[0] >= 'A' && s[0] <= 'Z' && s[1] >= 'A' && s[1] <= 'Z'
}

func (c *checker) train(i int, t *Train) {
	before := len(c.errs)
	defer func() { // build the path only if there is an error
		for _, err := range c.errs[before:] {
			err.(*rail.InvalidError).Field = fmt.Sprintf("trains[%d]", i) + err.(*rail.InvalidError).Field
		}
	}()
	c.text(".feed", t.Feed, false)
	c.text(".id", t.ID, false)
	c.text(".line", t.Line, false)
	c.text(".operator", t.Operator, true)
	c.text(".number", t.Number, false)
	c.zone(".zone", t.Zone)
	if t.Days != nil && !c.calendars[t.Days] {
		c.calendars[t.Days] = true
		c.calendar(".days", t.Days)
	}
	c.calls(t.Calls)
	c.coaches(t.Coaches)
	if t.Bicycles > rail.NotAllowed || t.Dogs > rail.NotAllowed {
		c.say("", "bicycles or dogs has an unknown Allowance")
	}
	if t.Hooks < 0 || t.Hooks > MaxHooks {
		c.say(".hooks", "invalid number %d: want 0 to %d", t.Hooks, MaxHooks)
	}
	if f := t.Fare; f != (Fare{}) {
		if !rail.ValidCurrency(f.Currency) {
			c.say(".fare.currency", "invalid currency %.20q: want a code of three lower-case letters such as eur", f.Currency)
		}
		if f.Base < 0 || f.PerKm < 0 || f.Base > MaxFare || f.PerKm > MaxPerKm {
			c.say(".fare", "has base %d and per km %d: want 0 to %d and 0 to %d", f.Base, f.PerKm, int64(MaxFare), int64(MaxPerKm))
		}
	}
	if t.Prices != nil {
		if t.Fare != (Fare{}) {
			c.say(".fare", "is set, but prices replace it: leave one of them out")
		}
		c.priceList(priceList{t.Prices, len(t.Calls)})
	}
}

func (c *checker) priceList(l priceList) {
	if c.prices[l] {
		return
	}
	c.prices[l] = true
	if !rail.ValidCurrency(l.prices.Currency) {
		c.say(".prices.currency", "invalid currency %.20q: want a code of three lower-case letters such as eur", l.prices.Currency)
	}
	if n := len(l.prices.Amounts); n > l.calls {
		c.say(".prices.amounts", "has %d entries, but the train has only %d calls", n, l.calls)
		return
	}
	for i, row := range l.prices.Amounts {
		if len(row) > l.calls {
			c.say(fmt.Sprintf(".prices.amounts[%d]", i), "has %d entries, but the train has only %d calls", len(row), l.calls)
			return
		}
		for j, amount := range row {
			switch {
			case amount < 0 || amount > MaxFare:
				c.say(fmt.Sprintf(".prices.amounts[%d][%d]", i, j), "invalid price %d: want 0 to %d", amount, int64(MaxFare))
				return
			case amount > 0 && j <= i:
				c.say(fmt.Sprintf(".prices.amounts[%d][%d]", i, j), "is the price of a ride that ends before it begins: leave it zero")
				return
			}
		}
	}
}

func (c *checker) calendar(at string, d *Calendar) {
	any := false
	for _, on := range d.Weekdays {
		any = any || on
	}
	bad := func(day rail.Date) bool { return day < rail.FirstDate || day > rail.LastDate }
	if any && (d.To < d.From || bad(d.From) || bad(d.To)) {
		c.say(at, "invalid period %v to %v: want one between %v and %v", d.From, d.To, rail.FirstDate, rail.LastDate)
	}
	for _, day := range d.Added {
		if bad(day) {
			c.say(at+".added", "%v is not between %v and %v", day, rail.FirstDate, rail.LastDate)
			return
		}
	}
}

func (c *checker) calls(calls []Call) {
	if len(calls) < 2 || len(calls) > MaxCalls {
		c.say(".calls", "has %d entries: want 2 to %d", len(calls), MaxCalls)
		return
	}
	var last rail.ServiceTime
	for j := range calls {
		k := &calls[j]
		arrive, depart := k.Arrive, k.Depart
		if j == 0 {
			arrive = depart
		}
		if j == len(calls)-1 {
			depart = arrive
		}
		switch at := fmt.Sprintf; {
		case !c.stations[k.Station]:
			c.say(at(".calls[%d].station", j), "unknown station %v", k.Station)
		case arrive < 0 || depart > rail.MaxServiceTime || arrive > rail.MaxServiceTime:
			c.say(at(".calls[%d]", j), "has a time below zero or above %v", rail.MaxServiceTime)
		case arrive < last || depart < arrive:
			c.say(at(".calls[%d]", j), "has the time %v after %v: times must not decrease", min(arrive, depart), max(arrive, last))
		case k.Metres < 0 || j > 0 && k.Metres < calls[j-1].Metres:
			c.say(at(".calls[%d].metres", j), "%d is below zero or less than at the call before", k.Metres)
		}
		last = depart
	}
}

func (c *checker) coaches(coaches []rail.Coach) {
	switch n := len(coaches); {
	case n == 0:
		return
	case n > MaxCoaches:
		c.say(".coaches", "has %d entries, more than %d", n, MaxCoaches)
		return
	case c.lists[coachList{&coaches[0], n}]:
		return
	}
	c.lists[coachList{&coaches[0], len(coaches)}] = true
	clear(c.numbers)
	total := 0
	for j, k := range coaches {
		if reason := rail.BadText(k.Number, true); reason != "" {
			c.say(fmt.Sprintf(".coaches[%d].number", j), "%s", reason)
		}
		if k.Seats < 1 || k.Seats > MaxPlaces {
			c.say(fmt.Sprintf(".coaches[%d].seats", j), "invalid number %d: want 1 to %d", k.Seats, MaxPlaces)
			return
		}
		if total += k.Seats; total > MaxPlaces {
			c.say(".coaches", "have more than %d places", MaxPlaces)
			return
		}
		if c.numbers[k.Number] {
			c.say(fmt.Sprintf(".coaches[%d].number", j), "%q occurs twice", k.Number)
		}
		c.numbers[k.Number] = true
	}
}
