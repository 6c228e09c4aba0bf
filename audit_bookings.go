package traintravel

import (
	"cmp"
	"slices"

	"github.com/google/uuid"
)

// bookings checks bookings against their indexes, their places and their payments.
func (a *auditor) bookings(page []Record) error {
	var l cited
	all := make([]Booking, 0, len(page))
	for _, rec := range page {
		key := Key{TableBookings, rec.ID}
		b, err := decodeBooking(rec.Value, &a.zones)
		if !a.readable(key, err) {
			continue
		}
		if bookingKey(b.ID) != key {
			a.say(faultMisplaced, key, "booking %v stands under another key than its own", b.ID)
			continue
		}
		all = append(all, b)
		l.want(ownedKey(&b))
		if b.Status == Held {
			l.want(b.holdKey())
		}
		for _, p := range []uuid.UUID{b.LatestPayment, b.OpenPayment, b.PaidBy} {
			if p != uuid.Nil {
				l.want(paymentKey(b.ID, p))
			}
		}
		if b.Status.live() {
			for i := range b.Legs {
				l.want(runKey(b.Legs[i].Run))
			}
		}
	}
	if err := a.fetch(&l); err != nil {
		return err
	}
	runs := map[Key]*inventory{}
	for i := range all {
		a.booking(&all[i], &l)
		if all[i].Status.live() {
			a.places(&all[i], &l, runs)
		}
	}
	return nil
}

// booking checks a booking against its indexes and its payments.
func (a *auditor) booking(b *Booking, l *cited) {
	key := bookingKey(b.ID)
	if b.Status < Held || b.Status > Cancelled {
		a.say(faultBookingState, key, "booking %v has the unknown status %d", b.ID, b.Status)
	}
	if b.listed() && !l.has(ownedKey(b)) {
		a.say(faultUnlisted, key, "booking %v is %v and not in its owner's list", b.ID, b.Status)
	}
	if b.Status == Held && !l.has(b.holdKey()) {
		a.say(faultHoldEndless, key, "booking %v is held, and the end of its hold is not on the agenda", b.ID)
	}
	if b.Expires.After(b.departs()) || b.OpenPayment != uuid.Nil && b.PinnedUntil.After(b.departs()) {
		a.say(faultHoldLong, key, "booking %v is held until %v, and departs at %v", b.ID, b.HeldUntil(), b.departs())
	}
	if (b.Status == Confirmed) != (b.PaidBy != uuid.Nil) && b.Status != Cancelled {
		a.say(faultBookingState, key, "booking %v is %v, paid by %v", b.ID, b.Status, b.PaidBy)
	}
	if b.Status == Confirmed && !b.Confirmed.Equal(b.Changed) || !b.Confirmed.IsZero() && b.PaidBy == uuid.Nil {
		a.say(faultBookingState, key, "booking %v is %v since %v, confirmed at %v, paid by %v", b.ID, b.Status, b.Changed, b.Confirmed, b.PaidBy)
	}
	if b.ByOperator && b.Status != Cancelled {
		a.say(faultBookingState, key, "booking %v is %v, and cancelled by the operator", b.ID, b.Status)
	}
	a.named(b, l, "latest", b.LatestPayment, "")
	a.named(b, l, "open", b.OpenPayment, Pending)
	a.named(b, l, "paying", b.PaidBy, Succeeded)
}

// named checks a payment that a booking names: that it is there and, unless any will
// do, has a status.
func (a *auditor) named(b *Booking, l *cited, which string, id uuid.UUID, status PaymentStatus) {
	if id == uuid.Nil {
		return
	}
	v := l.at(paymentKey(b.ID, id))
	if v == nil {
		a.say(faultPaymentMissing, bookingKey(b.ID), "booking %v is %v, and its %s payment %v is not there", b.ID, b.Status, which, id)
		return
	}
	p, err := decodePayment(v)
	if err != nil {
		return // it is reported where it stands
	}
	if status != "" && p.Status != status || p.RefundOf != uuid.Nil {
		a.say(faultPaymentMissing, bookingKey(b.ID), "booking %v is %v, and its %s payment %v is %v (a refund: %t)", b.ID, b.Status, which, id, p.Status, p.RefundOf != uuid.Nil)
	}
}

// places checks that the runs of a booking give it what its legs say. They are decoded
// once for a page.
func (a *auditor) places(b *Booking, l *cited, runs map[Key]*inventory) {
	for i := range b.Legs {
		leg := &b.Legs[i]
		key := runKey(leg.Run)
		inv, known := runs[key]
		if !known {
			if v := l.at(key); v != nil {
				var err error
				if inv, err = decodeInventory(v); err != nil {
					continue // it is reported where it stands
				}
			}
			if len(runs) >= maxDecoded {
				clear(runs)
			}
			runs[key] = inv
		}
		if inv != nil && inv.cancelled {
			a.say(faultRunCancelled, bookingKey(b.ID), "booking %v is %v, and train %v on %v is cancelled", b.ID, b.Status, leg.Run.Train, leg.Run.Date)
		}
		if leg.Seat > 0 && (inv == nil || !b.seated(leg, inv)) {
			a.say(faultPlaceLost, bookingKey(b.ID), "booking %v is %v, and train %v on %v does not keep coach %s, seat %d for it until %v",
				b.ID, b.Status, leg.Run.Train, leg.Run.Date, leg.Coach, leg.Seat, b.HeldUntil())
		}
	}
}

const maxDecoded = 256 // runs in memory at a time

// seated says whether a run gives a booking what its leg says.
func (b *Booking) seated(leg *Leg, inv *inventory) bool {
	until := forGood
	if b.Status == Held {
		until = nanos(b.HeldUntil())
	}
	board, alight := stationMark(leg.Origin.Station), stationMark(leg.Destination.Station)
	for i := range inv.taken {
		t := &inv.taken[i]
		if t.booking != b.ID || t.until != until || inv.calls[t.from] != board || inv.calls[t.to] != alight {
			continue
		}
		if coach, seat := inv.label(t.place); coach == leg.Coach && seat == leg.Seat {
			return true
		}
	}
	return slices.ContainsFunc(inv.stranded, func(s stranded) bool {
		return s.booking == b.ID && s.until == until && s.board == board && s.alight == alight && s.coach == leg.Coach && s.seat == leg.Seat
	})
}

// owned checks that owners' lists hold what is theirs and lives.
func (a *auditor) owned(page []Record) error {
	var l cited
	of := func(id string) Key { return Key{TableBookings, id[:ownedPeriod] + id[ownedPeriod+8:]} }
	whole := page[:0]
	for _, rec := range page {
		if a.shaped(Key{TableOwned, rec.ID}, 8+16) {
			whole = append(whole, rec)
			l.want(of(rec.ID))
		}
	}
	if err := a.fetch(&l); err != nil {
		return err
	}
	for _, rec := range whole {
		key := Key{TableOwned, rec.ID}
		v := l.at(of(rec.ID))
		if v == nil {
			a.say(faultListed, key, "an owner's list has booking %x, which is not there", of(rec.ID).ID)
			continue
		}
		if b, err := decodeBooking(v, &a.zones); err == nil && (!b.listed() || ownedKey(&b) != key) {
			a.say(faultListed, key, "an owner's list has booking %v, which is %v, or another's", b.ID, b.Status)
		}
	}
	return nil
}

// runs checks that whatever is taken of runs belongs to live bookings, so many of them
// at a time.
func (a *auditor) runs(page []Record) error {
	type run struct {
		id  RunID
		inv *inventory
	}
	var some []run
	var l cited
	flush := func() error {
		if err := a.fetch(&l); err != nil {
			return err
		}
		for _, r := range some {
			a.run(r.id, r.inv, &l)
		}
		some, l = nil, cited{}
		return nil
	}
	for _, rec := range page {
		key := Key{TableRuns, rec.ID}
		if !a.shaped(key, 4+16) {
			continue
		}
		inv, err := decodeInventory(rec.Value)
		if !a.readable(key, err) {
			continue
		}
		for _, t := range inv.everything() {
			l.want(bookingKey(t.booking))
		}
		if some = append(some, run{parseRunKey(rec.ID), inv}); len(l.keys) >= lookupKeys {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// everything is what bookings have of a run, stranded or not.
func (v *inventory) everything() []taken {
	all := slices.Clone(v.taken)
	for i := range v.stranded {
		all = append(all, v.stranded[i].taken)
	}
	return slices.DeleteFunc(all, func(t taken) bool { return t.booking == blocked })
}

// run checks that whatever is taken of a run belongs to a live booking, once, and that
// no section of a place belongs to two.
func (a *auditor) run(run RunID, inv *inventory, l *cited) {
	key := runKey(run)
	seen := map[uuid.UUID]bool{}
	for _, t := range inv.everything() {
		if seen[t.booking] {
			a.say(faultPlaceOrphan, key, "booking %v has two places", t.booking)
		}
		seen[t.booking] = true
		v := l.at(bookingKey(t.booking))
		if v == nil {
			a.say(faultPlaceOrphan, key, "place %d is kept for booking %v, which is not there", t.place, t.booking)
			continue
		}
		b, err := decodeBooking(v, &a.zones)
		switch {
		case err != nil: // it is reported where it stands
		case !b.Status.live() || !slices.Contains(runsOf(&b), run):
			a.say(faultPlaceOrphan, key, "place %d is kept for booking %v, which is %v, or not for this train", t.place, t.booking, b.Status)
		case t.hook && !b.HasBicycle:
			a.say(faultHook, key, "booking %v has a hook and no bicycle", t.booking)
		}
	}
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
			coach, seat := inv.label(t.place)
			a.say(faultPlaceTwice, key, "coach %s, seat %d is sold to %v and to %v", coach, seat, o.booking, t.booking)
		}
	}
}
