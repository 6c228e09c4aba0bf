package traintravel

import (
	"math"
	"time"

	"github.com/google/uuid"
)

// How a timetable and its registry are written.

// Version 2 knows lines and changes, version 3 prices, version 4 the stations'
// other names and IDs, and platforms.
const timetableVersion = 4

// encodeTimetable writes a checked timetable and what register found for it.
func encodeTimetable(t *Timetable, ids []numbering) []byte {
	e := newEncoder(timetableVersion, 64*len(t.Stations)+256*len(t.Trains))
	index := e.stations(t.Stations)
	calendars, texts, coaches := map[*Calendar]int{}, map[string]int{}, map[string]int{}
	prices := map[*Prices]int{}
	e.uint(uint64(len(t.Trains)))
	for i := range t.Trains {
		tr := &t.Trains[i]
		e.id(ids[i].train)
		e.uint(uint64(ids[i].number))
		e.shared(texts, tr.Feed)
		e.shared(texts, tr.Operator)
		e.shared(texts, tr.Zone)
		e.shared(texts, tr.Fare.Currency)
		e.str(tr.ID)
		e.str(tr.Number)
		e.shared(texts, tr.Line)
		e.calendar(calendars, tr.Days)
		c := &encoder{}
		c.coaches(tr.Coaches)
		e.shared(coaches, string(c.b))
		e.byte(byte(tr.Bicycles) | byte(tr.Dogs)<<4)
		e.uint(uint64(tr.Hooks))
		e.int(tr.Fare.Base)
		e.int(tr.Fare.PerKm)
		e.prices(prices, tr.Prices)
		e.uint(uint64(len(tr.Calls)))
		var before Call
		for _, k := range tr.Calls {
			e.uint(uint64(index[k.Station]))
			e.int(int64(k.Arrive - before.Depart))
			e.int(int64(k.Depart - k.Arrive))
			e.int(int64(k.Metres - before.Metres))
			e.flags(k.NoBoarding, k.NoAlighting, k.Platform != 0)
			if k.Platform != 0 {
				e.uint(uint64(k.Platform))
			}
			before = k
		}
	}
	e.uint(uint64(len(t.Changes)))
	for i := range t.Changes {
		c := &t.Changes[i]
		e.uint(uint64(index[c.From]))
		e.uint(uint64(index[c.To]))
		for _, s := range []string{c.Feed, c.FromLine, c.ToLine, c.FromTrain, c.ToTrain} {
			e.shared(texts, s)
		}
		e.byte(byte(c.Kind))
		e.uint(uint64(c.Time / time.Second))
		e.uint(uint64(c.FromPlatform))
		e.uint(uint64(c.ToPlatform))
	}
	return e.b
}

// shared writes a text once and its number ever after.
func (e *encoder) shared(seen map[string]int, s string) {
	if n, ok := seen[s]; ok {
		e.uint(uint64(n))
		return
	}
	e.uint(uint64(len(seen)))
	seen[s] = len(seen)
	e.str(s)
}

func (d *decoder) shared(seen *[]string) string {
	n := d.uint()
	switch {
	case n < uint64(len(*seen)):
		return (*seen)[n]
	case n == uint64(len(*seen)):
		*seen = append(*seen, d.str())
		return (*seen)[n]
	}
	d.failed = true
	return ""
}

func (e *encoder) calendar(seen map[*Calendar]int, c *Calendar) {
	if n, ok := seen[c]; ok {
		e.uint(uint64(n))
		return
	}
	e.uint(uint64(len(seen)))
	seen[c] = len(seen)
	if c == nil {
		c = &Calendar{}
	}
	e.flags(c.Weekdays[:]...)
	e.int(int64(c.From))
	e.int(int64(c.To))
	e.dates(c.Added)
	e.dates(c.Removed)
}

func (d *decoder) calendar(seen *[]*Calendar) *Calendar {
	n := d.uint()
	if n < uint64(len(*seen)) {
		return (*seen)[n]
	}
	if n > uint64(len(*seen)) {
		d.failed = true
	}
	c := &Calendar{}
	f := d.flags()
	copy(c.Weekdays[:], f[:7])
	c.From, c.To = Date(d.int()), Date(d.int())
	c.Added, c.Removed = d.dates(), d.dates()
	*seen = append(*seen, c)
	return c
}

// prices writes none as zero, and Prices once and their number ever after.
func (e *encoder) prices(seen map[*Prices]int, p *Prices) {
	if p == nil {
		e.uint(0)
		return
	}
	if n, ok := seen[p]; ok {
		e.uint(uint64(n))
		return
	}
	seen[p] = len(seen) + 1
	e.uint(uint64(len(seen)))
	e.str(p.Currency)
	e.uint(uint64(len(p.Amounts)))
	for _, row := range p.Amounts {
		e.uint(uint64(len(row)))
		for _, amount := range row {
			e.int(amount)
		}
	}
}

func (d *decoder) prices(seen *[]*Prices) *Prices {
	n := d.uint()
	switch {
	case n == 0:
		return nil
	case n <= uint64(len(*seen)):
		return (*seen)[n-1]
	case n > uint64(len(*seen))+1:
		d.fail()
		return nil
	}
	p := &Prices{Currency: d.str(), Amounts: make([][]int64, d.len(1))}
	for i := range p.Amounts {
		row := make([]int64, d.len(1))
		for j := range row {
			row[j] = d.int()
		}
		p.Amounts[i] = row
	}
	*seen = append(*seen, p)
	return p
}

func (e *encoder) dates(ds []Date) {
	e.uint(uint64(len(ds)))
	for _, d := range ds {
		e.int(int64(d))
	}
}

func (d *decoder) dates() []Date {
	ds := make([]Date, 0, d.len(1))
	for range cap(ds) {
		ds = append(ds, Date(d.int()))
	}
	return ds
}

func (e *encoder) coaches(cs []Coach) {
	e.uint(uint64(len(cs)))
	for _, c := range cs {
		e.str(c.Number)
		e.uint(uint64(c.Seats))
	}
}

func (d *decoder) coaches() []Coach {
	n := d.len(2)
	if n == 0 {
		return nil
	}
	cs := make([]Coach, n)
	for i := range cs {
		cs[i] = Coach{Number: d.str(), Seats: int(d.uint())}
		if cs[i].Seats < 1 || cs[i].Seats > maxPlaces {
			d.fail()
		}
	}
	return cs
}

func decodeTimetable(b []byte) (*Timetable, []numbering, error) {
	d, version := newDecoder("timetable", timetableVersion, b)
	d.cloned = true
	t := &Timetable{}
	var known []uuid.UUID
	t.Stations, known = d.stations(version)
	var texts, layouts []string
	var calendars []*Calendar
	var prices []*Prices
	shapes := map[string][]Coach{}
	t.Trains = make([]Train, d.len(30))
	ids := make([]numbering, len(t.Trains))
	for i := range t.Trains {
		ids[i] = numbering{train: d.id(), number: uint32(d.uint())}
		tr := &t.Trains[i]
		tr.Feed, tr.Operator, tr.Zone, tr.Fare.Currency = d.shared(&texts), d.shared(&texts), d.shared(&texts), d.shared(&texts)
		tr.ID, tr.Number = d.str(), d.str()
		if version >= 2 {
			tr.Line = d.shared(&texts)
		}
		tr.Days = d.calendar(&calendars)
		layout := d.shared(&layouts)
		shape, ok := shapes[layout]
		if !ok {
			sub := decoder{rest: layout}
			shape = sub.coaches()
			if sub.done() != nil {
				d.fail()
			}
			shapes[layout] = shape
		}
		tr.Coaches = shape
		allowances := d.byte()
		tr.Bicycles, tr.Dogs = Allowance(allowances&15), Allowance(allowances>>4)
		tr.Hooks = int(d.uint())
		tr.Fare.Base, tr.Fare.PerKm = d.int(), d.int()
		if version >= 3 {
			tr.Prices = d.prices(&prices)
		}
		tr.Calls = make([]Call, d.len(5))
		var before Call
		for j := range tr.Calls {
			at := d.uint()
			if at >= uint64(len(known)) {
				d.failed = true
				break
			}
			k := Call{Station: known[at], Arrive: before.Depart + ServiceTime(d.int())}
			k.Depart = k.Arrive + ServiceTime(d.int())
			k.Metres = before.Metres + int32(d.int())
			f := d.flags()
			k.NoBoarding, k.NoAlighting = f[0], f[1]
			if version >= 4 && f[2] {
				k.Platform = d.platform()
			}
			tr.Calls[j], before = k, k
		}
	}
	if version >= 2 {
		t.Changes = d.changes(version, known, &texts)
	}
	return t, ids, d.done()
}

func (d *decoder) platform() uint16 {
	n := d.uint()
	if n > math.MaxUint16 {
		d.fail()
	}
	return uint16(n)
}

func (d *decoder) changes(version byte, stations []uuid.UUID, texts *[]string) []Change {
	n := d.len(9)
	if n == 0 {
		return nil
	}
	changes := make([]Change, n)
	station := func() uuid.UUID {
		at := d.uint()
		if at >= uint64(len(stations)) {
			d.fail()
			return uuid.Nil
		}
		return stations[at]
	}
	for i := range changes {
		changes[i] = Change{
			From: station(), To: station(), Feed: d.shared(texts), FromLine: d.shared(texts), ToLine: d.shared(texts),
			FromTrain: d.shared(texts), ToTrain: d.shared(texts), Kind: ChangeKind(d.byte()), Time: time.Duration(d.uint()) * time.Second,
		}
		if version >= 4 {
			changes[i].FromPlatform, changes[i].ToPlatform = d.platform(), d.platform()
		}
	}
	return changes
}

const registryVersion = 1

func (r registry) encode() []byte {
	e := newEncoder(registryVersion, 56*len(r.entries))
	e.uint(uint64(r.high))
	e.uint(uint64(len(r.entries)))
	for _, x := range r.entries {
		e.uint(uint64(x.number))
		e.id(x.base)
		e.uint(uint64(x.twin))
		e.fixed64(x.list)
		e.fixed64(x.terminus)
		e.fixed64(x.source)
		e.int(int64(x.since))
		e.int(int64(x.last))
	}
	return e.b
}

func decodeRegistry(b []byte) (registry, error) {
	d, _ := newDecoder("registry", registryVersion, b)
	r := registry{high: uint32(d.uint())}
	r.entries = make([]registered, d.len(44))
	for i := range r.entries {
		r.entries[i] = registered{
			number: uint32(d.uint()), base: d.id(), twin: int(d.uint()), list: d.fixed64(), terminus: d.fixed64(),
			source: d.fixed64(), since: Date(d.int()), last: Date(d.int()),
		}
	}
	return r, d.done()
}
