package traintravel

import (
	"cmp"
	"slices"

	"github.com/google/uuid"
)

// places checks that the runs of a booking give it what its legs say.
func (a *auditor) places(b *Booking, l *cited) {
	for i := range b.Legs {
		leg := &b.Legs[i]
		key := runKey(leg.Run)
		inv, known := a.decoded[key]
		if !known {
			if v := l.at(key); v != nil {
				var err error
				if inv, err = decodeInventory(v); err != nil {
					continue // it is reported where it stands
				}
			}
			if len(a.decoded) >= maxDecoded {
				clear(a.decoded)
			}
			a.decoded[key] = inv
		}
		if inv != nil && inv.cancelled {
			a.say(faultRunCancelled, bookingKey(b.ID), "booking %v is %v, and train %v on %v is cancelled", b.ID, b.Status, leg.Run.Train, leg.Run.Date)
		}
		a.place(b, i, inv)
	}
}

const maxDecoded = 256 // runs in memory at a time

// place checks that a run keeps for a booking the seat of a leg and, if the leg is
// known to have one, the hook for its bicycle.
func (a *auditor) place(b *Booking, i int, inv *inventory) {
	leg := &b.Legs[i]
	seat, hook := kept(b, leg, inv)
	switch {
	case leg.Seat > 0 && !seat:
		a.say(faultPlaceLost, bookingKey(b.ID), "booking %v is %v, and train %v on %v does not keep coach %s, seat %d for it until %v",
			b.ID, b.Status, leg.Run.Train, leg.Run.Date, leg.Coach, leg.Seat, b.HeldUntil())
	case b.Hooks == nil && !seat && inv != nil && inv.has(b.ID): // what an older version has sold without a seat is a hook
		hook = false
		fallthrough
	case b.Hooks != nil && b.Hooks[i] && !hook:
		a.say(faultHookLost, bookingKey(b.ID), "booking %v is %v, and train %v on %v does not keep a place for its bicycle from %s to %s until %v",
			b.ID, b.Status, leg.Run.Train, leg.Run.Date, leg.Origin.Station, leg.Destination.Station, b.HeldUntil())
	}
}

// kept says whether a run gives a booking the place that its leg says, for as long
// as the booking has it, and a hook with it. A leg without a seat has no place, and an
// entry in the run for its hook alone.
func kept(b *Booking, leg *Leg, inv *inventory) (place, hook bool) {
	if inv == nil {
		return false, false
	}
	until := forGood
	if b.Status == Held {
		until = nanos(b.HeldUntil())
	}
	board, alight := stationMark(leg.Origin.Station), stationMark(leg.Destination.Station)
	is := func(t *taken, from, to uint64, coach string, seat int) {
		if t.booking == b.ID && t.until == until && from == board && to == alight && coach == leg.Coach && seat == leg.Seat {
			place, hook = true, hook || t.hook
		}
	}
	for i := range inv.taken {
		t := &inv.taken[i]
		coach, seat := inv.label(t.place)
		is(t, inv.calls[t.from], inv.calls[t.to], coach, seat)
	}
	for i := range inv.stranded {
		s := &inv.stranded[i]
		is(&s.taken, s.board, s.alight, s.coach, s.seat)
	}
	return place, hook
}

// hooked says whether a booking may have a hook of a run.
func hooked(b *Booking, run RunID) bool {
	i := slices.Index(runsOf(b), run)
	return b.HasBicycle && (b.Hooks == nil || i >= 0 && b.Hooks[i])
}

// run checks that whatever is taken of a run belongs to a live booking, once.
func (a *auditor) run(key Key, value []byte, l *cited) func() {
	if !a.shaped(key, runKeySize) {
		return nil
	}
	inv, err := decodeInventory(value)
	if !a.readable(key, err) {
		return nil
	}
	all := inv.everything()
	for _, t := range all {
		l.want(bookingKey(t.booking))
	}
	return func() {
		seen := map[uuid.UUID]bool{}
		for _, t := range all {
			if seen[t.booking] {
				a.say(faultPlaceOrphan, key, "booking %v has two places", t.booking)
			}
			seen[t.booking] = true
			a.holder(key, t, l)
		}
		a.sold(key, inv)
	}
}

// holder checks that what is taken of a run belongs to a live booking.
func (a *auditor) holder(key Key, t taken, l *cited) {
	run, v := parseRunKey(key.ID), l.at(bookingKey(t.booking))
	if v == nil {
		a.say(faultPlaceOrphan, key, "place %d is kept for booking %v, which is not there", t.place, t.booking)
		return
	}
	b, err := decodeBooking(v, &a.zones)
	switch {
	case err != nil: // it is reported where it stands
	case !b.Status.live() || !slices.Contains(runsOf(&b), run):
		a.say(faultPlaceOrphan, key, "place %d is kept for booking %v, which is %v, or not for this train", t.place, t.booking, b.Status)
	case t.hook && !hooked(&b, run):
		a.say(faultHook, key, "booking %v has a hook here, and no bicycle that is to have one", t.booking)
	}
}

// sold checks that no section of a place belongs to two.
func (a *auditor) sold(key Key, inv *inventory) {
	byPlace := slices.SortedFunc(slices.Values(inv.taken), func(x, y taken) int {
		return cmp.Or(cmp.Compare(x.place, y.place), cmp.Compare(x.from, y.from))
	})
	n := int32(inv.places())
	for i := range byPlace {
		t := &byPlace[i]
		if t.place == noPlace {
			continue
		}
		if t.place < 0 || t.place >= n {
			a.say(faultPlaceUnknown, key, "booking %v has place %d of a train with %d", t.booking, t.place, n)
		}
		if i == 0 || byPlace[i-1].place != t.place {
			continue
		}
		// Of those that begin before it, the one that ends last is in the way.
		o := &byPlace[i-1]
		for j := i - 1; j >= 0 && byPlace[j].place == t.place; j-- {
			if byPlace[j].to > o.to {
				o = &byPlace[j]
			}
		}
		if t.overlaps(int(o.from), int(o.to)) {
			a.twice(key, inv, t, o)
		}
	}
	inv.eachStrandedTwice(func(t, o *taken) { a.twice(key, inv, t, o) })
}

func (a *auditor) twice(key Key, inv *inventory, t, o *taken) {
	coach, seat := inv.label(t.place)
	a.say(faultPlaceTwice, key, "coach %s, seat %d is sold to %v and to %v", coach, seat, o.booking, t.booking)
}
