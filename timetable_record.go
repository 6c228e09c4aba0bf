package traintravel

import (
	"math"
	"time"

	"github.com/google/uuid"
)

// How a timetable is written. Before each train stands what the store knows it by.

// Version 2 knows lines and changes, version 3 prices, version 4 the stations'
// other names and IDs, and platforms.
const timetableVersion = 4

// A timetableWriter writes what comes up several times once, and then its number.
type timetableWriter struct {
	*encoder
	stations       map[uuid.UUID]int // numbers, by all IDs of a station
	texts, coaches map[string]int
	calendars      map[*Calendar]int
	prices         map[*Prices]int
}

// encodeTimetable writes a checked timetable. known writes what the store knows a train by.
func encodeTimetable(t *Timetable, known func(e *encoder, train int)) []byte {
	e := timetableWriter{
		encoder: newEncoder(timetableVersion, 64*len(t.Stations)+256*len(t.Trains)),
		texts:   map[string]int{}, coaches: map[string]int{}, calendars: map[*Calendar]int{}, prices: map[*Prices]int{},
	}
	e.stations = addStations(e.encoder, t.Stations)
	e.uint(uint64(len(t.Trains)))
	for i := range t.Trains {
		known(e.encoder, i)
		e.train(&t.Trains[i])
	}
	e.uint(uint64(len(t.Changes)))
	for i := range t.Changes {
		e.change(&t.Changes[i])
	}
	return e.b
}

func (e *timetableWriter) train(t *Train) {
	e.shared(e.texts, t.Feed)
	e.shared(e.texts, t.Operator)
	e.shared(e.texts, t.Zone)
	e.shared(e.texts, t.Fare.Currency)
	e.str(t.ID)
	e.str(t.Number)
	e.shared(e.texts, t.Line)
	e.calendar(t.Days)
	c := &encoder{}
	addCoaches(c, t.Coaches)
	e.shared(e.coaches, string(c.b))
	e.byte(byte(t.Bicycles) | byte(t.Dogs)<<4)
	e.uint(uint64(t.Hooks))
	e.int(t.Fare.Base)
	e.int(t.Fare.PerKm)
	e.pricesOf(t.Prices)
	e.uint(uint64(len(t.Calls)))
	var before Call
	for _, k := range t.Calls {
		e.uint(uint64(e.stations[k.Station]))
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

func (e *timetableWriter) change(c *Change) {
	e.uint(uint64(e.stations[c.From]))
	e.uint(uint64(e.stations[c.To]))
	for _, s := range []string{c.Feed, c.FromLine, c.ToLine, c.FromTrain, c.ToTrain} {
		e.shared(e.texts, s)
	}
	e.byte(byte(c.Kind))
	e.uint(uint64(c.Time / time.Second))
	e.uint(uint64(c.FromPlatform))
	e.uint(uint64(c.ToPlatform))
}

// shared writes a text once and its number ever after.
func (e *timetableWriter) shared(seen map[string]int, s string) {
	if n, ok := seen[s]; ok {
		e.uint(uint64(n))
		return
	}
	e.uint(uint64(len(seen)))
	seen[s] = len(seen)
	e.str(s)
}

func (e *timetableWriter) calendar(c *Calendar) {
	if n, ok := e.calendars[c]; ok {
		e.uint(uint64(n))
		return
	}
	e.uint(uint64(len(e.calendars)))
	e.calendars[c] = len(e.calendars)
	if c == nil {
		c = &Calendar{}
	}
	e.flags(c.Weekdays[:]...)
	e.int(int64(c.From))
	e.int(int64(c.To))
	e.dates(c.Added)
	e.dates(c.Removed)
}

func (e *timetableWriter) dates(ds []Date) {
	e.uint(uint64(len(ds)))
	for _, d := range ds {
		e.int(int64(d))
	}
}

// pricesOf writes none as zero, and Prices once and their number ever after.
func (e *timetableWriter) pricesOf(p *Prices) {
	if p == nil {
		e.uint(0)
		return
	}
	if n, ok := e.prices[p]; ok {
		e.uint(uint64(n))
		return
	}
	e.prices[p] = len(e.prices) + 1
	e.uint(uint64(len(e.prices)))
	e.str(p.Currency)
	e.uint(uint64(len(p.Amounts)))
	for _, row := range p.Amounts {
		e.uint(uint64(len(row)))
		for _, amount := range row {
			e.int(amount)
		}
	}
}

// A timetableReader reads what a timetableWriter wrote.
type timetableReader struct {
	*decoder
	version        byte
	stations       []uuid.UUID // by number
	texts, layouts []string
	coaches        map[string][]Coach // by layout
	calendars      []*Calendar
	prices         []*Prices
}

// decodeTimetable reads a timetable. known reads what the store knows a train by.
func decodeTimetable(b []byte, known func(*decoder)) (*Timetable, error) {
	from, version := newDecoder("timetable", timetableVersion, b)
	from.cloned = true
	d := timetableReader{decoder: &from, version: version, coaches: map[string][]Coach{}}
	t := &Timetable{}
	t.Stations, d.stations = takeStations(d.decoder, version)
	t.Trains = make([]Train, d.len(30))
	for i := range t.Trains {
		known(d.decoder)
		d.train(&t.Trains[i])
	}
	if version >= 2 {
		t.Changes = d.changes()
	}
	return t, d.done()
}

func (d *timetableReader) train(t *Train) {
	t.Feed, t.Operator, t.Zone, t.Fare.Currency = d.shared(&d.texts), d.shared(&d.texts), d.shared(&d.texts), d.shared(&d.texts)
	t.ID, t.Number = d.str(), d.str()
	if d.version >= 2 {
		t.Line = d.shared(&d.texts)
	}
	t.Days = d.calendar()
	t.Coaches = d.coachesOf(d.shared(&d.layouts))
	allowances := d.byte()
	t.Bicycles, t.Dogs = Allowance(allowances&15), Allowance(allowances>>4)
	t.Hooks = int(d.uint())
	t.Fare.Base, t.Fare.PerKm = d.int(), d.int()
	if d.version >= 3 {
		t.Prices = d.pricesOf()
	}
	t.Calls = make([]Call, d.len(5))
	var before Call
	for i := range t.Calls {
		k := Call{Station: d.station(), Arrive: before.Depart + ServiceTime(d.int())}
		k.Depart = k.Arrive + ServiceTime(d.int())
		k.Metres = before.Metres + int32(d.int())
		f := d.flags()
		k.NoBoarding, k.NoAlighting = f[0], f[1]
		if d.version >= 4 && f[2] {
			k.Platform = d.platform()
		}
		t.Calls[i], before = k, k
	}
}

func (d *timetableReader) station() uuid.UUID {
	at := d.uint()
	if at >= uint64(len(d.stations)) {
		d.fail()
		return uuid.Nil
	}
	return d.stations[at]
}

func (d *timetableReader) shared(seen *[]string) string {
	n := d.uint()
	switch {
	case n < uint64(len(*seen)):
		return (*seen)[n]
	case n == uint64(len(*seen)):
		*seen = append(*seen, d.str())
		return (*seen)[n]
	}
	d.fail()
	return ""
}

// coachesOf reads the coaches that a layout has, once.
func (d *timetableReader) coachesOf(layout string) []Coach {
	coaches, ok := d.coaches[layout]
	if !ok {
		sub := decoder{rest: layout}
		coaches = takeCoaches(&sub)
		if sub.done() != nil {
			d.fail()
		}
		d.coaches[layout] = coaches
	}
	return coaches
}

func (d *timetableReader) calendar() *Calendar {
	n := d.uint()
	if n < uint64(len(d.calendars)) {
		return d.calendars[n]
	}
	if n > uint64(len(d.calendars)) {
		d.fail()
	}
	c := &Calendar{}
	f := d.flags()
	copy(c.Weekdays[:], f[:7])
	c.From, c.To = Date(d.int()), Date(d.int())
	c.Added, c.Removed = d.dates(), d.dates()
	d.calendars = append(d.calendars, c)
	return c
}

func (d *timetableReader) dates() []Date {
	ds := make([]Date, 0, d.len(1))
	for range cap(ds) {
		ds = append(ds, Date(d.int()))
	}
	return ds
}

func (d *timetableReader) pricesOf() *Prices {
	n := d.uint()
	switch {
	case n == 0:
		return nil
	case n <= uint64(len(d.prices)):
		return d.prices[n-1]
	case n > uint64(len(d.prices))+1:
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
	d.prices = append(d.prices, p)
	return p
}

func (d *timetableReader) platform() uint16 {
	n := d.uint()
	if n > math.MaxUint16 {
		d.fail()
	}
	return uint16(n)
}

func (d *timetableReader) changes() []Change {
	n := d.len(9)
	if n == 0 {
		return nil
	}
	changes := make([]Change, n)
	text := func() string { return d.shared(&d.texts) }
	for i := range changes {
		changes[i] = Change{
			From: d.station(), To: d.station(), Feed: text(), FromLine: text(), ToLine: text(),
			FromTrain: text(), ToTrain: text(), Kind: ChangeKind(d.byte()), Time: time.Duration(d.uint()) * time.Second,
		}
		if d.version >= 4 {
			changes[i].FromPlatform, changes[i].ToPlatform = d.platform(), d.platform()
		}
	}
	return changes
}

func addCoaches(e *encoder, cs []Coach) {
	e.uint(uint64(len(cs)))
	for _, c := range cs {
		e.str(c.Number)
		e.uint(uint64(c.Seats))
	}
}

func takeCoaches(d *decoder) []Coach {
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
