package schedule

import (
	"math"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/codec"
	"github.com/traintravel/traintravel/rail"
)

// How a timetable is written. Before each train stands what the store knows it by.

// Version 2 knows lines and changes, version 3 prices, version 4 the stations'
// other names and IDs, and platforms.
const timetableVersion = 4

// A timetableWriter writes what comes up several times once, and then its number.
type timetableWriter struct {
	*codec.Encoder
	stations       map[uuid.UUID]int // numbers, by all IDs of a station
	texts, coaches map[string]int
	calendars      map[*Calendar]int
	prices         map[*Prices]int
}

// EncodeTimetable encodes a checked timetable. known encodes the store's identity of a train.
func EncodeTimetable(t *Timetable, known func(e *codec.Encoder, train int)) []byte {
	e := timetableWriter{
		Encoder: codec.NewEncoder(timetableVersion, 64*len(t.Stations)+256*len(t.Trains)),
		texts:   map[string]int{}, coaches: map[string]int{}, calendars: map[*Calendar]int{}, prices: map[*Prices]int{},
	}
	e.stations = AddStations(e.Encoder, t.Stations)
	e.Uint(uint64(len(t.Trains)))
	for i := range t.Trains {
		known(e.Encoder, i)
		e.train(&t.Trains[i])
	}
	e.Uint(uint64(len(t.Changes)))
	for i := range t.Changes {
		e.change(&t.Changes[i])
	}
	return e.B
}

func (e *timetableWriter) train(t *Train) {
	e.shared(e.texts, t.Feed)
	e.shared(e.texts, t.Operator)
	e.shared(e.texts, t.Zone)
	e.shared(e.texts, t.Fare.Currency)
	e.Str(t.ID)
	e.Str(t.Number)
	e.shared(e.texts, t.Line)
	e.calendar(t.Days)
	c := &codec.Encoder{}
	AddCoaches(c, t.Coaches)
	e.shared(e.coaches, string(c.B))
	e.Byte(byte(t.Bicycles) | byte(t.Dogs)<<4)
	e.Uint(uint64(t.Hooks))
	e.Int(t.Fare.Base)
	e.Int(t.Fare.PerKm)
	e.pricesOf(t.Prices)
	e.Uint(uint64(len(t.Calls)))
	var before Call
	for _, k := range t.Calls {
		e.Uint(uint64(e.stations[k.Station]))
		e.Int(int64(k.Arrive - before.Depart))
		e.Int(int64(k.Depart - k.Arrive))
		e.Int(int64(k.Metres - before.Metres))
		e.Flags(k.NoBoarding, k.NoAlighting, k.Platform != 0)
		if k.Platform != 0 {
			e.Uint(uint64(k.Platform))
		}
		before = k
	}
}

func (e *timetableWriter) change(c *Change) {
	e.Uint(uint64(e.stations[c.From]))
	e.Uint(uint64(e.stations[c.To]))
	for _, s := range []string{c.Feed, c.FromLine, c.ToLine, c.FromTrain, c.ToTrain} {
		e.shared(e.texts, s)
	}
	e.Byte(byte(c.Kind))
	e.Uint(uint64(c.Time / time.Second))
	e.Uint(uint64(c.FromPlatform))
	e.Uint(uint64(c.ToPlatform))
}

// shared writes a text once and its number ever after.
func (e *timetableWriter) shared(seen map[string]int, s string) {
	if n, ok := seen[s]; ok {
		e.Uint(uint64(n))
		return
	}
	e.Uint(uint64(len(seen)))
	seen[s] = len(seen)
	e.Str(s)
}

func (e *timetableWriter) calendar(c *Calendar) {
	if n, ok := e.calendars[c]; ok {
		e.Uint(uint64(n))
		return
	}
	e.Uint(uint64(len(e.calendars)))
	e.calendars[c] = len(e.calendars)
	if c == nil {
		c = &Calendar{}
	}
	e.Flags(c.Weekdays[:]...)
	e.Int(int64(c.From))
	e.Int(int64(c.To))
	e.dates(c.Added)
	e.dates(c.Removed)
}

func (e *timetableWriter) dates(ds []rail.Date) {
	e.Uint(uint64(len(ds)))
	for _, d := range ds {
		e.Int(int64(d))
	}
}

// pricesOf writes none as zero, and Prices once and their number ever after.
func (e *timetableWriter) pricesOf(p *Prices) {
	if p == nil {
		e.Uint(0)
		return
	}
	if n, ok := e.prices[p]; ok {
		e.Uint(uint64(n))
		return
	}
	e.prices[p] = len(e.prices) + 1
	e.Uint(uint64(len(e.prices)))
	e.Str(p.Currency)
	e.Uint(uint64(len(p.Amounts)))
	for _, row := range p.Amounts {
		e.Uint(uint64(len(row)))
		for _, amount := range row {
			e.Int(amount)
		}
	}
}

// A timetableReader reads what a timetableWriter wrote.
type timetableReader struct {
	*codec.Decoder
	version        byte
	stations       []uuid.UUID // by number
	texts, layouts []string
	coaches        map[string][]rail.Coach // by layout
	calendars      []*Calendar
	prices         []*Prices
}

// DecodeTimetable decodes a timetable. known decodes the store's identity of a train.
func DecodeTimetable(b []byte, known func(*codec.Decoder)) (*Timetable, error) {
	from, version := codec.NewDecoder("timetable", timetableVersion, b)
	from.Cloned = true
	d := timetableReader{Decoder: &from, version: version, coaches: map[string][]rail.Coach{}}
	t := &Timetable{}
	t.Stations, d.stations = takeStations(d.Decoder, version)
	t.Trains = make([]Train, d.Len(30))
	for i := range t.Trains {
		known(d.Decoder)
		d.train(&t.Trains[i])
	}
	if version >= 2 {
		t.Changes = d.changes()
	}
	return t, d.Done()
}

func (d *timetableReader) train(t *Train) {
	t.Feed, t.Operator, t.Zone, t.Fare.Currency = d.shared(&d.texts), d.shared(&d.texts), d.shared(&d.texts), d.shared(&d.texts)
	t.ID, t.Number = d.Str(), d.Str()
	if d.version >= 2 {
		t.Line = d.shared(&d.texts)
	}
	t.Days = d.calendar()
	t.Coaches = d.coachesOf(d.shared(&d.layouts))
	allowances := d.Byte()
	t.Bicycles, t.Dogs = rail.Allowance(allowances&15), rail.Allowance(allowances>>4)
	t.Hooks = int(d.Uint())
	t.Fare.Base, t.Fare.PerKm = d.Int(), d.Int()
	if d.version >= 3 {
		t.Prices = d.pricesOf()
	}
	t.Calls = make([]Call, d.Len(5))
	var before Call
	for i := range t.Calls {
		k := Call{Station: d.station(), Arrive: before.Depart + rail.ServiceTime(d.Int())}
		k.Depart = k.Arrive + rail.ServiceTime(d.Int())
		k.Metres = before.Metres + int32(d.Int())
		f := d.Flags()
		k.NoBoarding, k.NoAlighting = f[0], f[1]
		if d.version >= 4 && f[2] {
			k.Platform = d.platform()
		}
		t.Calls[i], before = k, k
	}
}

func (d *timetableReader) station() uuid.UUID {
	at := d.Uint()
	if at >= uint64(len(d.stations)) {
		d.Fail()
		return uuid.Nil
	}
	return d.stations[at]
}

func (d *timetableReader) shared(seen *[]string) string {
	n := d.Uint()
	switch {
	case n < uint64(len(*seen)):
		return (*seen)[n]
	case n == uint64(len(*seen)):
		*seen = append(*seen, d.Str())
		return (*seen)[n]
	}
	d.Fail()
	return ""
}

// coachesOf reads the coaches that a layout has, once.
func (d *timetableReader) coachesOf(layout string) []rail.Coach {
	coaches, ok := d.coaches[layout]
	if !ok {
		sub := codec.Decoder{Rest: layout}
		coaches = TakeCoaches(&sub)
		if sub.Done() != nil {
			d.Fail()
		}
		d.coaches[layout] = coaches
	}
	return coaches
}

func (d *timetableReader) calendar() *Calendar {
	n := d.Uint()
	if n < uint64(len(d.calendars)) {
		return d.calendars[n]
	}
	if n > uint64(len(d.calendars)) {
		d.Fail()
	}
	c := &Calendar{}
	f := d.Flags()
	copy(c.Weekdays[:], f[:7])
	c.From, c.To = rail.Date(d.Int()), rail.Date(d.Int())
	c.Added, c.Removed = d.dates(), d.dates()
	d.calendars = append(d.calendars, c)
	return c
}

func (d *timetableReader) dates() []rail.Date {
	ds := make([]rail.Date, 0, d.Len(1))
	for range cap(ds) {
		ds = append(ds, rail.Date(d.Int()))
	}
	return ds
}

func (d *timetableReader) pricesOf() *Prices {
	n := d.Uint()
	switch {
	case n == 0:
		return nil
	case n <= uint64(len(d.prices)):
		return d.prices[n-1]
	case n > uint64(len(d.prices))+1:
		d.Fail()
		return nil
	}
	p := &Prices{Currency: d.Str(), Amounts: make([][]int64, d.Len(1))}
	for i := range p.Amounts {
		row := make([]int64, d.Len(1))
		for j := range row {
			row[j] = d.Int()
		}
		p.Amounts[i] = row
	}
	d.prices = append(d.prices, p)
	return p
}

func (d *timetableReader) platform() uint16 {
	n := d.Uint()
	if n > math.MaxUint16 {
		d.Fail()
	}
	return uint16(n)
}

func (d *timetableReader) changes() []Change {
	n := d.Len(9)
	if n == 0 {
		return nil
	}
	changes := make([]Change, n)
	text := func() string { return d.shared(&d.texts) }
	for i := range changes {
		changes[i] = Change{
			From: d.station(), To: d.station(), Feed: text(), FromLine: text(), ToLine: text(),
			FromTrain: text(), ToTrain: text(), Kind: ChangeKind(d.Byte()), Time: time.Duration(d.Uint()) * time.Second,
		}
		if d.version >= 4 {
			changes[i].FromPlatform, changes[i].ToPlatform = d.platform(), d.platform()
		}
	}
	return changes
}

// AddCoaches encodes a list of coaches in the form of records.
func AddCoaches(e *codec.Encoder, cs []rail.Coach) {
	e.Uint(uint64(len(cs)))
	for _, c := range cs {
		e.Str(c.Number)
		e.Uint(uint64(c.Seats))
	}
}

// TakeCoaches decodes the list of AddCoaches. The decoder fails if a coach has too few or too
// many seats.
func TakeCoaches(d *codec.Decoder) []rail.Coach {
	n := d.Len(2)
	if n == 0 {
		return nil
	}
	cs := make([]rail.Coach, n)
	for i := range cs {
		cs[i] = rail.Coach{Number: d.Str(), Seats: int(d.Uint())}
		if cs[i].Seats < 1 || cs[i].Seats > MaxPlaces {
			d.Fail()
		}
	}
	return cs
}
