package traintravel

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"
)

// Books is what Audit found in a store.
type Books struct {
	Bookings map[uuid.UUID]Booking
	Payments map[uuid.UUID]Payment
	// Kept is what confirmed bookings have paid, and what cancelled ones did
	// not get back. Owed is what waits to be refunded, Open what attempts of
	// unknown outcome may have taken. All in minor units.
	Kept, Owed, Open map[string]int64
	// Events are those that wait to be delivered.
	Events int
	// Deliveries are those to subscribers that are pending.
	Deliveries int
	// Generations of the timetable, the one in force included.
	Generations int
}

// Audit reads everything in a store on which nobody works, and checks that all
// records agree: places, indexes, agenda and money. The error tells every fault.
func Audit(ctx context.Context, store Store) (Books, error) {
	a := auditor{
		Books: Books{
			Bookings: map[uuid.UUID]Booking{}, Payments: map[uuid.UUID]Payment{},
			Kept: map[string]int64{}, Owed: map[string]int64{}, Open: map[string]int64{},
		},
		payments: map[uuid.UUID]payment{}, runs: map[RunID]*inventory{}, keys: map[string]remembered{},
		agenda: map[Key][]byte{}, owned: map[Key]bool{},
		subscriptions: map[uuid.UUID]subscription{}, marks: map[Key]bool{}, deliveries: map[Key]delivery{}, queues: map[Key]bool{},
	}
	if err := store.View(ctx, func(r Reader) error { return a.read(ctx, r) }); err != nil {
		return a.Books, err
	}
	for id, b := range a.Bookings {
		a.booking(id, &b)
	}
	for run, inv := range a.runs {
		a.run(run, inv)
	}
	for _, p := range a.payments {
		a.payment(p)
	}
	a.webhooks()
	a.leftovers()
	return a.Books, errors.Join(a.faults...)
}

type auditor struct {
	Books
	payments map[uuid.UUID]payment
	runs     map[RunID]*inventory
	keys     map[string]remembered
	agenda   map[Key][]byte // what is not accounted for yet
	owned    map[Key]bool   // likewise

	subscriptions map[uuid.UUID]subscription
	marks         map[Key]bool // likewise
	deliveries    map[Key]delivery
	queues        map[Key]bool // likewise

	faults []error
}

func (a *auditor) say(format string, args ...any) {
	a.faults = append(a.faults, fmt.Errorf(format, args...))
}

// read decodes all records.
func (a *auditor) read(ctx context.Context, r Reader) error {
	var z zones
	generations := map[string]int{}
	for _, table := range Tables() {
		records, err := r.List(ctx, Range{Table: table})
		if err != nil {
			return err
		}
		for _, rec := range records {
			key, value := Key{table, rec.ID}, bytes.Clone(rec.Value)
			var err error
			switch table {
			case TableTimetable:
				generations[rec.ID[:16]] += len(value)
			case TableBookings:
				var b Booking
				b, err = decodeBooking(value, &z)
				a.Bookings[b.ID] = b
				if bookingKey(b.ID) != key {
					a.say("booking %v stands under the key %x", b.ID, rec.ID)
				}
			case TableOwned:
				a.owned[key] = true
			case TableRuns:
				a.runs[parseRunKey(rec.ID)], err = decodeInventory(value)
			case TablePayments:
				var p payment
				p, err = decodePayment(value)
				a.payments[p.ID], a.Payments[p.ID] = p, p.Payment
				if paymentKey(p.Booking, p.ID) != key {
					a.say("payment %v stands under the key %x", p.ID, rec.ID)
				}
			case TableIdempotency:
				a.keys[rec.ID], err = decodeRemembered(value)
			case TableAgenda:
				a.agenda[key] = value
			case TableWebhooks, TableDeliveries:
				err = a.readWebhooks(key, value)
			}
			if err != nil {
				return fmt.Errorf("%v %x: %w", table, rec.ID, err)
			}
		}
	}
	c, err := readCurrent(ctx, r)
	if n := generations[string(c.generation[:])]; c.generation != uuid.Nil && n != c.timetable+c.registry+c.moves {
		a.say("the timetable has %d bytes, not %d", n, c.timetable+c.registry)
	}
	a.Generations = len(generations)
	return err
}

// due accounts for an entry of the agenda that must be there.
func (a *auditor) due(key Key, value []byte, what string, id uuid.UUID) {
	got, ok := a.agenda[key]
	if !ok || !bytes.Equal(got, value) {
		a.say("%s %v: the agenda lacks its entry", what, id)
	}
	delete(a.agenda, key)
}

// booking checks a booking against its indexes, its places and its payments.
func (a *auditor) booking(id uuid.UUID, b *Booking) {
	live := b.Status == Held || b.Status == Confirmed
	if a.owned[ownedKey(b)] != live {
		a.say("booking %v is %v; in its owner's list: %t", id, b.Status, !live)
	}
	delete(a.owned, ownedKey(b))
	if b.Status == Held {
		a.due(b.holdKey(), []byte{}, "booking", id)
	}
	if b.Expires.After(b.departs()) || b.OpenPayment != uuid.Nil && b.PinnedUntil.After(b.departs()) {
		a.say("booking %v is held beyond its departure", id)
	}
	for i := range b.Legs {
		if inv := a.runs[b.Legs[i].Run]; live && (inv == nil || !a.seated(b, &b.Legs[i], inv)) && b.Legs[i].Seat > 0 {
			a.say("booking %v is %v and lacks its place on leg %d", id, b.Status, i)
		}
	}
	if p, ok := a.payments[b.OpenPayment]; b.OpenPayment != uuid.Nil && (!ok || p.Status != Pending || p.Booking != id) {
		a.say("booking %v: its open payment is %v", id, p.Status)
	}
	if _, ok := a.payments[b.LatestPayment]; b.LatestPayment != uuid.Nil && !ok {
		a.say("booking %v: its latest payment is missing", id)
	}
	paid := a.payments[b.PaidBy]
	if b.Status == Confirmed && (paid.Status != Succeeded || paid.Booking != id) {
		a.say("booking %v is confirmed by a payment that is %v", id, paid.Status)
	}
	if b.PaidBy != uuid.Nil && b.Status != Confirmed && b.Status != Cancelled {
		a.say("booking %v is paid and %v", id, b.Status)
	}
	if b.Status == Confirmed {
		a.Kept[paid.Amount.Currency] += paid.Amount.Amount
	}
}

// seated says whether a run gives a booking what its leg says.
func (a *auditor) seated(b *Booking, leg *Leg, inv *inventory) bool {
	until := forGood
	if b.Status == Held {
		until = nanos(b.HeldUntil())
	}
	board, alight := stationMark(leg.Origin.Station), stationMark(leg.Destination.Station)
	for _, t := range inv.taken {
		coach, seat := inv.label(t.place)
		if t.booking == b.ID && t.until == until && inv.calls[t.from] == board && inv.calls[t.to] == alight && coach == leg.Coach && seat == leg.Seat {
			return true
		}
	}
	return slices.ContainsFunc(inv.stranded, func(s stranded) bool {
		return s.booking == b.ID && s.until == until && s.board == board && s.alight == alight && s.coach == leg.Coach && s.seat == leg.Seat
	})
}

// run checks that whatever is taken of a run belongs to a live booking, once,
// and that no section of a place belongs to two.
func (a *auditor) run(run RunID, inv *inventory) {
	all := slices.Clone(inv.taken)
	for _, s := range inv.stranded {
		all = append(all, s.taken)
	}
	seen := map[uuid.UUID]bool{}
	for _, t := range all {
		if t.booking == blocked {
			continue
		}
		b, ok := a.Bookings[t.booking]
		if !ok || b.Status != Held && b.Status != Confirmed || !slices.Contains(runsOf(&b), run) {
			a.say("run %v: place %d is kept for booking %v, which is %v", run, t.place, t.booking, b.Status)
		}
		if seen[t.booking] {
			a.say("run %v: booking %v has two places", run, t.booking)
		}
		if t.hook && !b.HasBicycle {
			a.say("run %v: booking %v has a hook and no bicycle", run, t.booking)
		}
		seen[t.booking] = true
	}
	for i, t := range inv.taken {
		if t.place != noPlace && (t.place < 0 || int(t.place) >= inv.places()) {
			a.say("run %v has no place %d", run, t.place)
		}
		for _, o := range inv.taken[:i] {
			if t.place != noPlace && o.place == t.place && t.overlaps(int(o.from), int(o.to)) {
				a.say("run %v: place %d is sold twice, to %v and %v", run, t.place, t.booking, o.booking)
			}
		}
	}
}

// payment checks an attempt or a refund against its booking and the others.
func (a *auditor) payment(p payment) {
	b, ok := a.Bookings[p.Booking]
	if !ok {
		a.say("payment %v is for no booking", p.ID)
		return
	}
	if !p.next.IsZero() {
		a.due(p.agendaKey(), p.Booking[:], "payment", p.ID)
	} else if p.Status == Pending {
		a.say("payment %v is pending and nobody looks after it", p.ID)
	}
	if p.RefundOf != uuid.Nil {
		charge := a.payments[p.RefundOf]
		if charge.Status != Succeeded || charge.Booking != p.Booking || p.Amount.Amount >= 0 || -p.Amount.Amount > charge.Amount.Amount || p.Amount.Currency != charge.Amount.Currency {
			a.say("refund %v of %v gives back a payment of %v that is %v", p.ID, p.Amount, charge.Amount, charge.Status)
		}
		if p.Status != Succeeded {
			a.Owed[p.Amount.Currency] -= p.Amount.Amount
		}
		return
	}
	if (p.Status == Pending) != (b.OpenPayment == p.ID) {
		a.say("payment %v is %v, and the open payment of its booking is %v", p.ID, p.Status, b.OpenPayment)
	}
	if p.Status == Pending {
		a.Open[p.Amount.Currency] += p.Amount.Amount
	}
	refunds := slices.DeleteFunc(slices.Collect(maps.Values(a.payments)), func(r payment) bool { return r.RefundOf != p.ID })
	kept := b.Status == Confirmed && b.PaidBy == p.ID
	sold := b.Status == Cancelled && b.PaidBy == p.ID // and cancelled on the operator's terms
	switch {
	case p.Status == Succeeded && !p.next.IsZero():
		a.say("payment %v has succeeded and somebody looks after it", p.ID)
	case p.Status != Succeeded:
	case len(refunds) > 1 || kept && len(refunds) > 0:
		a.say("payment %v of a booking that is %v is refunded %d times", p.ID, b.Status, len(refunds))
	case !kept && !sold && (len(refunds) == 0 || refunds[0].Amount.Amount != -p.Amount.Amount):
		a.say("payment %v has bought nothing and is not refunded in full", p.ID)
	case sold:
		a.Kept[p.Amount.Currency] += p.Amount.Amount
		if len(refunds) > 0 {
			a.Kept[p.Amount.Currency] += refunds[0].Amount.Amount
		}
	}
}

// leftovers checks what no booking and no payment accounts for.
func (a *auditor) leftovers() {
	for key := range a.owned {
		a.say("an owner's list holds %x, which is not live", key.ID)
	}
	for id, r := range a.keys {
		forget := agendaKey(keyForgotten, r.created.Add(keyLife), hashID("key", id))
		a.due(forget, []byte(id), "idempotency key", r.booking)
		if _, ok := a.Bookings[r.booking]; !ok && len(a.subscriptions) == 0 {
			a.say("an idempotency key remembers a booking that is not there")
		}
	}
	for key, value := range a.agenda {
		switch k := kind(key.ID[0]); k {
		case eventDue:
			a.Events++
			q, err := decodeQueued(value)
			if err != nil {
				a.say("an event: %w", err)
			}
			if _, ok := a.Bookings[q.booking]; !ok {
				a.say("event %v is of no booking", q.kind)
			}
			if _, ok := a.payments[q.payment]; q.payment != uuid.Nil && !ok {
				a.say("event %v is of no payment", q.kind)
			}
		case keyForgotten: // of a key that is gone, or was used anew: harmless
		default:
			a.say("the agenda holds a %q at %v that nothing accounts for", k, fromNanos(int64(binary.BigEndian.Uint64([]byte(key.ID[1:9])))))
		}
	}
}
