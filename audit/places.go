package audit

import (
	"cmp"
	"slices"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/codec"
	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/internal/seats"
	"github.com/traintravel/traintravel/internal/trains"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
)

// places checks that the runs of a booking keep the places that its legs name.
func (a *auditor) places(b *rail.Booking, l *cited) {
	for i := range b.Legs {
		leg := &b.Legs[i]
		key := seats.RunKey(leg.Run)
		inv, known := a.decoded[key]
		if !known {
			if v := l.at(key); v != nil {
				var err error
				if inv, err = seats.DecodeInventory(v); err != nil {
					continue // reported when that record itself is checked
				}
			}
			if len(a.decoded) >= maxDecoded {
				clear(a.decoded)
			}
			a.decoded[key] = inv
		}
		if inv != nil && inv.Cancelled {
			a.say(FaultRunCancelled, records.BookingKey(b.ID), "booking %v is %v, but train %v on %v is cancelled", b.ID, b.Status, leg.Run.Train, leg.Run.Date)
		}
		a.place(b, i, inv)
	}
}

const maxDecoded = 256 // runs in memory at a time

// place checks that a run keeps for a booking the seat of a leg and, if the leg is
// known to have one, the hook for its bicycle.
func (a *auditor) place(b *rail.Booking, i int, inv *seats.Inventory) {
	leg := &b.Legs[i]
	seat, hook := kept(b, leg, inv)
	switch {
	case leg.Seat > 0 && !seat:
		a.say(FaultPlaceLost, records.BookingKey(b.ID), "booking %v is %v, but train %v on %v does not keep coach %s, seat %d for it until %v",
			b.ID, b.Status, leg.Run.Train, leg.Run.Date, leg.Coach, leg.Seat, b.HeldUntil())
	case b.Hooks == nil && !seat && inv != nil && inv.Has(b.ID): // an older version sold bicycle spaces without seats
		hook = false
		fallthrough
	case b.Hooks != nil && b.Hooks[i] && !hook:
		a.say(FaultHookLost, records.BookingKey(b.ID), "booking %v is %v, but train %v on %v does not keep a bicycle space for it from %s to %s until %v",
			b.ID, b.Status, leg.Run.Train, leg.Run.Date, leg.Origin.Station, leg.Destination.Station, b.HeldUntil())
	}
}

// kept says whether a run keeps the place of a leg for as long as the booking has it, and
// whether it keeps a hook with it. A leg without a seat has no place; an entry in the run
// stands for its hook alone.
func kept(b *rail.Booking, leg *rail.Leg, inv *seats.Inventory) (place, hook bool) {
	if inv == nil {
		return false, false
	}
	until := seats.ForGood
	if b.Status == rail.Held {
		until = codec.Nanos(b.HeldUntil())
	}
	board, alight := trains.StationMark(leg.Origin.Station), trains.StationMark(leg.Destination.Station)
	is := func(t *seats.Taken, from, to uint64, coach string, seat int) {
		if t.Booking == b.ID && t.Until == until && from == board && to == alight && coach == leg.Coach && seat == leg.Seat {
			place, hook = true, hook || t.Hook
		}
	}
	for i := range inv.Taken {
		t := &inv.Taken[i]
		coach, seat := inv.Label(t.Place)
		is(t, inv.Calls[t.From], inv.Calls[t.To], coach, seat)
	}
	for i := range inv.Stranded {
		s := &inv.Stranded[i]
		is(&s.Taken, s.Board, s.Alight, s.Coach, s.Seat)
	}
	return place, hook
}

// hooked says whether a booking may have a hook of a run.
func hooked(b *rail.Booking, run rail.RunID) bool {
	i := slices.Index(rail.RunsOf(b), run)
	return b.HasBicycle && (b.Hooks == nil || i >= 0 && b.Hooks[i])
}

// run checks that every taken place of a run belongs to a live booking, and that no booking
// has two.
func (a *auditor) run(key store.Key, value []byte, l *cited) func() {
	if !a.shaped(key, seats.RunKeySize) {
		return nil
	}
	inv, err := seats.DecodeInventory(value)
	if !a.readable(key, err) {
		return nil
	}
	all := inv.Everything()
	for _, t := range all {
		l.want(records.BookingKey(t.Booking))
	}
	return func() {
		seen := map[uuid.UUID]bool{}
		for _, t := range all {
			if seen[t.Booking] {
				a.say(FaultPlaceOrphan, key, "booking %v has two places on this run", t.Booking)
			}
			seen[t.Booking] = true
			a.holder(key, t, l)
		}
		a.sold(key, inv)
	}
}

// holder checks that a taken place of a run belongs to a live booking.
func (a *auditor) holder(key store.Key, t seats.Taken, l *cited) {
	run, v := seats.ParseRunKey(key.ID), l.at(records.BookingKey(t.Booking))
	if v == nil {
		a.say(FaultPlaceOrphan, key, "place %d is kept for booking %v, which does not exist", t.Place, t.Booking)
		return
	}
	b, err := records.DecodeBooking(v, &a.zones)
	switch {
	case err != nil: // reported when that record itself is checked
	case !b.Status.Live() || !slices.Contains(rail.RunsOf(&b), run):
		a.say(FaultPlaceOrphan, key, "place %d is kept for booking %v, which is %v or has no leg on this run", t.Place, t.Booking, b.Status)
	case t.Hook && !hooked(&b, run):
		a.say(FaultHook, key, "booking %v has a bicycle space on this run, but no bicycle that needs it", t.Booking)
	}
}

// sold checks that no section of a place belongs to two bookings.
func (a *auditor) sold(key store.Key, inv *seats.Inventory) {
	byPlace := slices.SortedFunc(slices.Values(inv.Taken), func(x, y seats.Taken) int {
		return cmp.Or(cmp.Compare(x.Place, y.Place), cmp.Compare(x.From, y.From))
	})
	n := int32(inv.Places())
	for i := range byPlace {
		t := &byPlace[i]
		if t.Place == seats.NoPlace {
			continue
		}
		if t.Place < 0 || t.Place >= n {
			a.say(FaultPlaceUnknown, key, "booking %v has place %d, but the train has only %d places", t.Booking, t.Place, n)
		}
		if i == 0 || byPlace[i-1].Place != t.Place {
			continue
		}
		// Of the rides that begin before it, compare with the one that ends last.
		o := &byPlace[i-1]
		for j := i - 1; j >= 0 && byPlace[j].Place == t.Place; j-- {
			if byPlace[j].To > o.To {
				o = &byPlace[j]
			}
		}
		if t.Overlaps(int(o.From), int(o.To)) {
			a.twice(key, inv, t, o)
		}
	}
	inv.EachStrandedTwice(func(t, o *seats.Taken) { a.twice(key, inv, t, o) })
}

func (a *auditor) twice(key store.Key, inv *seats.Inventory, t, o *seats.Taken) {
	coach, seat := inv.Label(t.Place)
	a.say(FaultPlaceTwice, key, "coach %s, seat %d is sold to %v and to %v", coach, seat, o.Booking, t.Booking)
}
