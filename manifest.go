package traintravel

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/fold"
)

// runs lists the trains of a number on a date.
func (d *desk) runs(ctx context.Context, number string, date Date) ([]Run, error) {
	plain := func(s string) string { return strings.Join(strings.Fields(fold.String(s)), "") }
	want := plain(number)
	if want == "" {
		return nil, invalid("train", "is empty")
	}
	sn, err := d.timetable.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	var runs []Run
	for i := range sn.trains {
		t := &sn.trains[i]
		if t.days.runs(date) && plain(t.name) == want {
			inv, err := d.inventories(ctx, []RunID{t.run(date)})
			if err != nil {
				return nil, err
			}
			runs = append(runs, runOf(sn, t, date, inv[0], d.books.now()))
		}
	}
	slices.SortFunc(runs, func(a, b Run) int { return a.Calls[0].Depart.Compare(b.Calls[0].Depart) })
	return runs, nil
}

// runOf is what an operator sees of a run.
func runOf(sn *snapshot, t *train, d Date, inv *inventory, now time.Time) Run {
	r := Run{
		ID: t.run(d), Operator: t.operator, Number: t.name, Coaches: slices.Clone(t.coaches),
		Cancelled: inv != nil && inv.cancelled, Unreadable: inv != nil && inv.unreadable != nil, Arrived: t.arrived(d, now),
	}
	for i := range t.stops {
		at := sn.stop(t.station(i), t.arrives(d, i))
		r.Calls = append(r.Calls, RunCall{
			Station: at.Station, Name: at.Name, Arrive: at.Time, Depart: t.departs(d, i).In(at.Time.Location()),
		})
	}
	return r
}

// manifest says who travels on a run, as of one instant.
func (d *desk) manifest(ctx context.Context, id RunID) (Manifest, error) {
	sn, err := d.timetable.snapshot(ctx)
	if err != nil {
		return Manifest{}, err
	}
	t, ok := sn.run(id)
	if !ok {
		return Manifest{}, ErrNotFound
	}
	now := d.books.now()
	var m Manifest
	var left omissions
	err = d.books.store.View(ctx, func(r Reader) error {
		v, err := r.Get(ctx, runKey(id))
		if err != nil {
			return err
		}
		inv := sn.newInventory(t)
		if v[0] != nil {
			if inv, err = decodeInventory(v[0]); err != nil {
				return err
			}
			inv = sn.fitted(inv, t)
		}
		m = Manifest{Run: runOf(sn, t, id.Date, inv, now)}
		add := func(b *Booking) {
			if !b.live(now) {
				return
			}
			for i := range b.Legs {
				if b.Legs[i].Run == id {
					m.Riders = append(m.Riders, riderOf(inv, b, &b.Legs[i]))
				}
			}
		}
		if t.places == 0 {
			left, err = d.books.eachBooking(ctx, r, "", add)
		} else {
			left, err = d.books.bookingsOf(ctx, r, inv, add)
		}
		for _, o := range left {
			m.Riders = append(m.Riders, unreadRiders(inv, &m.Run, uuid.UUID([]byte(o.key.ID)), now)...)
		}
		m.Blocks = inv.blocks()
		m.Sections = sectionsOf(inv, &m)
		return err
	})
	if err != nil {
		return Manifest{}, err
	}
	m.Unreadable = d.books.omit(ctx, left)
	order := map[string]int{"": len(t.coaches)}
	for i, c := range t.coaches {
		order[c.Number] = i
	}
	slices.SortFunc(m.Riders, func(a, b Rider) int {
		return cmp.Or(cmp.Compare(order[a.Coach], order[b.Coach]), cmp.Compare(a.Seat, b.Seat), cmp.Compare(a.Board, b.Board),
			cmp.Compare(a.PassengerName, b.PassengerName), slices.Compare(a.Booking[:], b.Booking[:]))
	})
	return m, nil
}

// riderOf is what the manifest says of a leg on the run of an inventory.
func riderOf(v *inventory, b *Booking, leg *Leg) Rider {
	r := Rider{
		Booking: b.ID, PassengerName: b.PassengerName, Status: b.Status, HasBicycle: b.HasBicycle, HasDog: b.HasDog,
		Coach: leg.Coach, Seat: leg.Seat, Board: leg.Board, Alight: leg.Alight, From: leg.Origin.Name, To: leg.Destination.Name,
	}
	for i := range v.taken {
		if t := &v.taken[i]; t.booking == b.ID {
			r.Board, r.Alight = int(t.from), int(t.to)
			r.Coach, r.Seat = v.label(t.place)
			return r
		}
	}
	ends := func(call int, s Stop) bool { return call < len(v.calls) && v.calls[call] == stationMark(s.Station) }
	if leg.Seat > 0 || !ends(leg.Board, leg.Origin) || !ends(leg.Alight, leg.Destination) {
		r.Stranded, r.Board, r.Alight = true, -1, -1
	}
	return r
}

// unreadRiders is what the manifest of a run says of a booking that cannot be read: what it
// has of the run.
func unreadRiders(v *inventory, run *Run, id uuid.UUID, now time.Time) (riders []Rider) {
	rider := func(t taken) Rider {
		r := Rider{Booking: id, Status: Held, HasBicycle: t.hook, Unreadable: true}
		if t.until == forGood {
			r.Status = Confirmed
		}
		return r
	}
	for _, t := range v.taken {
		if t.booking == id && !t.lapsed(now) {
			r := rider(t)
			r.Board, r.Alight, r.From, r.To = int(t.from), int(t.to), run.Calls[t.from].Name, run.Calls[t.to].Name
			r.Coach, r.Seat = v.label(t.place)
			riders = append(riders, r)
		}
	}
	for _, x := range v.stranded {
		if x.booking == id && !x.lapsed(now) {
			r := rider(x.taken)
			r.Stranded, r.Board, r.Alight, r.Coach, r.Seat = true, -1, -1, x.coach, x.seat
			riders = append(riders, r)
		}
	}
	return riders
}

// sectionsOf counts the places of a manifest's run.
func sectionsOf(v *inventory, m *Manifest) []Section {
	sections := make([]Section, len(v.calls)-1)
	used := map[Block]bool{} // of each section, for a place that is stranded too
	for i := range sections {
		s := &sections[i]
		s.From, s.To = m.Run.Calls[i].Name, m.Run.Calls[i+1].Name
		clear(used)
		for _, r := range m.Riders {
			if !r.Stranded && (i < r.Board || i >= r.Alight) {
				continue
			}
			if r.Status == Confirmed {
				s.Confirmed++
			} else {
				s.Held++
			}
			if r.HasBicycle {
				s.Bicycles++
			}
			if v.place(r.Coach, r.Seat) != noPlace {
				used[Block{Coach: r.Coach, Seat: r.Seat}] = true
			}
		}
		for _, b := range m.Blocks {
			if i >= b.Board && i < b.Alight {
				s.Blocked++
				used[Block{Coach: b.Coach, Seat: b.Seat}] = true
			}
		}
		s.Free = v.places() - len(used)
	}
	return sections
}
