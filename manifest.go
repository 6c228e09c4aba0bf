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

// What the desk of an operator asks for has no [Caller]: it is nobody's in
// particular, and whoever asks may see all of it.

// A Run is a train on one service date, as its operator sees it.
type Run struct {
	ID       RunID
	Operator string
	Number   string
	Calls    []RunCall
	Coaches  []Coach // none if the train is unreserved
	// Cancelled says that [Service.CancelRun] has closed it.
	Cancelled bool
	// Unreadable says that what is sold of the run could not be read, so that nothing of
	// it is for sale here and it is not known whether it is cancelled.
	Unreadable bool
	// Arrived says that it is at its last call, by the timetable.
	Arrived bool
}

// A RunCall is where a run calls, in the order of travel. Times are in the time
// zone of the station; the first Arrive and the last Depart mean nothing.
type RunCall struct {
	Station uuid.UUID
	Name    string
	Arrive  time.Time
	Depart  time.Time
}

// A Manifest says who travels on a run, and what is left of it.
type Manifest struct {
	Run Run
	// Riders are in the order of the train: by coach and seat, and on one seat
	// in the order in which they board. Those without a seat come last.
	Riders []Rider
	Blocks []Block
	// Sections are the stretches between adjacent calls.
	Sections []Section
	// Unreadable is how many bookings could not be read. Of those with a numbered place
	// there is a rider; on an unreserved train any of them may travel. [Check] names them.
	Unreadable int
}

// A Rider is one booking on a run. Holds that have run out are none.
type Rider struct {
	Booking       uuid.UUID
	PassengerName string        // empty if it was erased
	Status        BookingStatus // Held or Confirmed
	Coach         string        // empty on an unreserved train
	Seat          int
	// Board and Alight are indexes of Run.Calls. A stranded rider (see
	// [LoadReport]) has what was sold on an earlier list of calls; both are -1
	// then, and From and To say where.
	Board, Alight int
	From, To      string // names of the stations, as sold
	HasBicycle    bool
	HasDog        bool
	Stranded      bool
	// Unreadable says that the booking could not be read: it has the place, and nothing
	// is known of who travels.
	Unreadable bool
}

// A Block is a place that is not for sale between two calls, see
// [Service.Block].
type Block struct {
	Coach         string
	Seat          int
	Board, Alight int // indexes of Run.Calls
}

// A Section counts the places of a run between two adjacent calls. On an
// unreserved train Free is zero and means nothing.
type Section struct {
	From, To                       string // names of the stations
	Confirmed, Held, Blocked, Free int
	Bicycles                       int // hooks that are taken
}

// Runs lists the trains of a number on a date, as the timetable in force has
// them: letter case and blanks do not matter. A number may be several trains'.
// It returns an [*InvalidError] for an empty number, and [ErrNoTimetable].
func (s *Service) Runs(ctx context.Context, number string, date Date) ([]Run, error) {
	plain := func(s string) string { return strings.Join(strings.Fields(fold.String(s)), "") }
	want := plain(number)
	if want == "" {
		return nil, invalid("train", "is empty")
	}
	sn, err := s.timetable.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	var runs []Run
	for i := range sn.trains {
		t := &sn.trains[i]
		if t.days.runs(date) && plain(t.name) == want {
			inv, err := s.finder.inventories(ctx, []RunID{t.run(date)})
			if err != nil {
				return nil, err
			}
			runs = append(runs, sn.operated(t, date, inv[0], s.now()))
		}
	}
	slices.SortFunc(runs, func(a, b Run) int { return a.Calls[0].Depart.Compare(b.Calls[0].Depart) })
	return runs, nil
}

// operated is what an operator sees of a run.
func (sn *snapshot) operated(t *train, d Date, inv *inventory, now time.Time) Run {
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

// Manifest says who travels on a run of the timetable in force, as of one
// instant. On a train with numbered places it reads that run alone; on one
// without, it looks through all bookings. ErrNotFound: no such train runs then.
func (s *Service) Manifest(ctx context.Context, id RunID) (Manifest, error) {
	sn, err := s.timetable.snapshot(ctx)
	if err != nil {
		return Manifest{}, err
	}
	t, ok := sn.run(id)
	if !ok {
		return Manifest{}, ErrNotFound
	}
	now := s.now()
	var m Manifest
	var left omissions
	err = s.store.View(ctx, func(r Reader) error {
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
		m = Manifest{Run: sn.operated(t, id.Date, inv, now)}
		add := func(b *Booking) {
			if !b.live(now) {
				return
			}
			for i := range b.Legs {
				if b.Legs[i].Run == id {
					m.Riders = append(m.Riders, inv.rider(b, &b.Legs[i]))
				}
			}
		}
		if t.places == 0 {
			left, err = s.books.eachBooking(ctx, r, "", add)
		} else {
			left, err = s.books.bookingsOf(ctx, r, inv, add)
		}
		for _, o := range left {
			m.Riders = append(m.Riders, inv.unread(&m.Run, uuid.UUID([]byte(o.key.ID)), now)...)
		}
		m.Blocks = inv.blocks()
		m.Sections = inv.sections(&m)
		return err
	})
	if err != nil {
		return Manifest{}, err
	}
	m.Unreadable = s.books.omit(ctx, left)
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

// rider is what the manifest says of a leg on the run of an inventory.
func (v *inventory) rider(b *Booking, leg *Leg) Rider {
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

// unread is what the manifest of a run says of a booking that cannot be read: what it
// has of the run.
func (v *inventory) unread(run *Run, id uuid.UUID, now time.Time) (riders []Rider) {
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

// sections counts the places of a manifest's run.
func (v *inventory) sections(m *Manifest) []Section {
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
