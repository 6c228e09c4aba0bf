package desk

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/fold"
	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/internal/seats"
	"github.com/traintravel/traintravel/internal/timetable"
	"github.com/traintravel/traintravel/internal/trains"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
)

// Runs lists the trains with a number on a date.
func (d *Desk) Runs(ctx context.Context, number string, date rail.Date) ([]rail.Run, error) {
	plain := func(s string) string { return strings.Join(strings.Fields(fold.String(s)), "") }
	want := plain(number)
	if want == "" {
		return nil, rail.Invalid("train", "is empty")
	}
	sn, err := d.Timetable.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	var runs []rail.Run
	for i := range sn.Trains {
		t := &sn.Trains[i]
		if t.Days.Runs(date) && plain(t.Name) == want {
			inv, err := d.Inventories(ctx, []rail.RunID{t.Run(date)})
			if err != nil {
				return nil, err
			}
			runs = append(runs, runOf(sn, t, date, inv[0], d.Books.Now()))
		}
	}
	slices.SortFunc(runs, func(a, b rail.Run) int { return a.Calls[0].Depart.Compare(b.Calls[0].Depart) })
	return runs, nil
}

// runOf returns a run as the operator sees it.
func runOf(sn *timetable.Snapshot, t *timetable.Train, d rail.Date, inv *seats.Inventory, now time.Time) rail.Run {
	r := rail.Run{
		ID: t.Run(d), Operator: t.Operator, Number: t.Name, Coaches: slices.Clone(t.Coaches),
		Cancelled: inv != nil && inv.Cancelled, Unreadable: inv != nil && inv.Unreadable != nil, Arrived: t.Arrived(d, now),
	}
	for i := range t.Stops {
		at := sn.Stop(t.Station(i), t.Arrives(d, i))
		r.Calls = append(r.Calls, rail.RunCall{
			Station: at.Station, Name: at.Name, Arrive: at.Time, Depart: t.Departs(d, i).In(at.Time.Location()),
		})
	}
	return r
}

// Manifest lists the passengers of a run, as of one instant.
func (d *Desk) Manifest(ctx context.Context, id rail.RunID) (rail.Manifest, error) {
	sn, err := d.Timetable.Snapshot(ctx)
	if err != nil {
		return rail.Manifest{}, err
	}
	t, ok := sn.Run(id)
	if !ok {
		return rail.Manifest{}, rail.ErrNotFound
	}
	now := d.Books.Now()
	var m rail.Manifest
	var left records.Omissions
	err = d.Books.Store.View(ctx, func(r store.Reader) error {
		v, err := r.Get(ctx, seats.RunKey(id))
		if err != nil {
			return err
		}
		inv := sn.NewInventory(t)
		if v[0] != nil {
			if inv, err = seats.DecodeInventory(v[0]); err != nil {
				return err
			}
			inv = sn.Fitted(inv, t)
		}
		m = rail.Manifest{Run: runOf(sn, t, id.Date, inv, now)}
		add := func(b *rail.Booking) {
			if !b.Live(now) {
				return
			}
			for i := range b.Legs {
				if b.Legs[i].Run == id {
					m.Riders = append(m.Riders, riderOf(inv, b, &b.Legs[i]))
				}
			}
		}
		if t.Places == 0 {
			left, err = d.Books.EachBooking(ctx, r, "", add)
		} else {
			left, err = d.Books.BookingsOf(ctx, r, inv, add)
		}
		for _, o := range left {
			m.Riders = append(m.Riders, unreadRiders(inv, &m.Run, uuid.UUID([]byte(o.Key.ID)), now)...)
		}
		m.Blocks = inv.Blocks()
		m.Sections = sectionsOf(inv, &m)
		return err
	})
	if err != nil {
		return rail.Manifest{}, err
	}
	m.Unreadable = d.Books.Omit(ctx, left)
	order := map[string]int{"": len(t.Coaches)}
	for i, c := range t.Coaches {
		order[c.Number] = i
	}
	slices.SortFunc(m.Riders, func(a, b rail.Rider) int {
		return cmp.Or(cmp.Compare(order[a.Coach], order[b.Coach]), cmp.Compare(a.Seat, b.Seat), cmp.Compare(a.Board, b.Board),
			cmp.Compare(a.PassengerName, b.PassengerName), slices.Compare(a.Booking[:], b.Booking[:]))
	})
	return m, nil
}

// riderOf returns the manifest's entry for a leg on the run of an inventory.
func riderOf(v *seats.Inventory, b *rail.Booking, leg *rail.Leg) rail.Rider {
	r := rail.Rider{
		Booking: b.ID, PassengerName: b.PassengerName, Status: b.Status, HasBicycle: b.HasBicycle, HasDog: b.HasDog,
		Coach: leg.Coach, Seat: leg.Seat, Board: leg.Board, Alight: leg.Alight, From: leg.Origin.Name, To: leg.Destination.Name,
	}
	for i := range v.Taken {
		if t := &v.Taken[i]; t.Booking == b.ID {
			r.Board, r.Alight = int(t.From), int(t.To)
			r.Coach, r.Seat = v.Label(t.Place)
			return r
		}
	}
	ends := func(call int, s rail.Stop) bool {
		return call < len(v.Calls) && v.Calls[call] == trains.StationMark(s.Station)
	}
	if leg.Seat > 0 || !ends(leg.Board, leg.Origin) || !ends(leg.Alight, leg.Destination) {
		r.Stranded, r.Board, r.Alight = true, -1, -1
	}
	return r
}

// unreadRiders returns the manifest's entries for a booking that cannot be read: its places.
func unreadRiders(v *seats.Inventory, run *rail.Run, id uuid.UUID, now time.Time) (riders []rail.Rider) {
	rider := func(t seats.Taken) rail.Rider {
		r := rail.Rider{Booking: id, Status: rail.Held, HasBicycle: t.Hook, Unreadable: true}
		if t.Until == seats.ForGood {
			r.Status = rail.Confirmed
		}
		return r
	}
	for _, t := range v.Taken {
		if t.Booking == id && !t.Lapsed(now) {
			r := rider(t)
			r.Board, r.Alight, r.From, r.To = int(t.From), int(t.To), run.Calls[t.From].Name, run.Calls[t.To].Name
			r.Coach, r.Seat = v.Label(t.Place)
			riders = append(riders, r)
		}
	}
	for _, x := range v.Stranded {
		if x.Booking == id && !x.Lapsed(now) {
			r := rider(x.Taken)
			r.Stranded, r.Board, r.Alight, r.Coach, r.Seat = true, -1, -1, x.Coach, x.Seat
			riders = append(riders, r)
		}
	}
	return riders
}

// sectionsOf counts the places of a manifest's run.
func sectionsOf(v *seats.Inventory, m *rail.Manifest) []rail.Section {
	sections := make([]rail.Section, len(v.Calls)-1)
	used := map[rail.Block]bool{} // of each section, for a place that is stranded too
	for i := range sections {
		s := &sections[i]
		s.From, s.To = m.Run.Calls[i].Name, m.Run.Calls[i+1].Name
		clear(used)
		for _, r := range m.Riders {
			if !r.Stranded && (i < r.Board || i >= r.Alight) {
				continue
			}
			if r.Status == rail.Confirmed {
				s.Confirmed++
			} else {
				s.Held++
			}
			if r.HasBicycle {
				s.Bicycles++
			}
			if v.Place(r.Coach, r.Seat) != seats.NoPlace {
				used[rail.Block{Coach: r.Coach, Seat: r.Seat}] = true
			}
		}
		for _, b := range m.Blocks {
			if i >= b.Board && i < b.Alight {
				s.Blocked++
				used[rail.Block{Coach: b.Coach, Seat: b.Seat}] = true
			}
		}
		s.Free = v.Places() - len(used)
	}
	return sections
}
