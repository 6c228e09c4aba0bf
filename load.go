package traintravel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
)

// A loader puts timetables into a store.
type loader struct {
	books     *books
	timetable *source
	newID     func() uuid.UUID
}

// replacing says which timetable may be replaced.
type replacing struct {
	first  bool                // none
	accept func(Edition) error // any, if it is nil
}

// load checks a timetable and makes it the one in force.
func (o *loader) load(ctx context.Context, t *Timetable, how replacing) (LoadReport, error) {
	if err := t.check(o.books.zones); err != nil {
		return LoadReport{}, err
	}
	for {
		sn, err := o.replace(ctx, t, how)
		if errors.Is(err, errOvertaken) {
			continue // somebody else loaded one meanwhile: its registry counts
		}
		if refused, ok := errors.AsType[refusal](err); ok {
			return LoadReport{}, refused.error
		}
		if err != nil {
			return LoadReport{}, fmt.Errorf("loading the timetable: %w", err)
		}
		if err := o.timetable.replace(ctx, sn); err != nil {
			return LoadReport{}, fmt.Errorf("the timetable is loaded, but nothing more was done: %w", err)
		}
		if err := dropGenerations(ctx, o.books.store); err != nil {
			o.books.log.WarnContext(ctx, "an old timetable was not removed; the next load tries again", "error", err)
		}
		stranded, left, err := o.strandedBy(ctx, sn)
		if err != nil {
			return LoadReport{}, fmt.Errorf("the timetable is loaded, but its bookings could not be checked: %w", err)
		}
		return LoadReport{Stations: len(t.Stations), Trains: len(t.Trains), Stranded: stranded, Unreadable: o.books.omit(ctx, left)}, nil
	}
}

// A refusal is an error of the accept of ReplaceTimetable.
type refusal struct{ error }

var errOvertaken = errors.New("another timetable was loaded meanwhile")

// A draft is a timetable that is ready to replace the one in force.
type draft struct {
	timetable *Timetable
	old       current
	today     Date
	ids       []numbering
	registry  registry
	slots     *slots
	before    *snapshot // nil if there is none, or none that can be read and nothing asks for it
	next      *snapshot
	looks     map[uint64][]int32 // its trains, by lookMark; nil until it is asked for
}

// draft prepares to replace the timetable in force.
func (o *loader) draft(ctx context.Context, t *Timetable, how replacing) (*draft, error) {
	d := &draft{timetable: t, today: DateOf(o.books.now().UTC())}
	var former registry
	err := o.books.store.View(ctx, func(r Reader) (err error) {
		if d.old, err = readCurrent(ctx, r); err != nil || d.old.generation == uuid.Nil {
			return err
		}
		if how.first {
			return ErrHasTimetable
		}
		b, err := readChunks(ctx, r, d.old.generation, 'r', d.old.registry)
		if err != nil {
			return err
		}
		former, err = decodeRegistry(b)
		return err
	})
	if err != nil {
		return nil, err
	}
	calendars := calendarCache{}
	if d.ids, d.registry, err = register(ctx, former, t.Trains, calendars.get, d.today, d.old.since(d.today)); err != nil {
		return nil, err
	}
	// Who has which inventory is decided by what is booked, in the update from
	// which on bookings follow it.
	d.slots = newSlots(former, d.registry, t.Trains, d.ids, calendars.get)
	if d.before, err = o.inForce(ctx, d.old); err != nil {
		if len(d.slots.bases) > 0 || !unreadable(err) {
			return nil, err
		}
		d.before = nil // another timetable is what mends it
	}
	d.next, err = compile(ctx, t, d.ids, d.registry, o.timetable.compiling())
	return d, err
}

// inForce is the timetable of a record that was current, nil if that has none.
func (o *loader) inForce(ctx context.Context, c current) (*snapshot, error) {
	if c.generation == uuid.Nil {
		return nil, nil
	}
	o.timetable.expire()
	sn, err := o.timetable.snapshot(ctx)
	if err == nil && sn.generation != c.generation {
		err = errOvertaken
	}
	return sn, err
}

// replace makes a timetable the one in force, and returns it compiled.
func (o *loader) replace(ctx context.Context, t *Timetable, how replacing) (*snapshot, error) {
	now := o.books.now()
	d, err := o.draft(ctx, t, how)
	if err != nil {
		return nil, err
	}
	if how.accept != nil {
		e, err := o.compare(ctx, d, now)
		if err != nil {
			return nil, err
		}
		if err := how.accept(e); err != nil {
			return nil, refusal{err}
		}
	}
	// Greater than the one it is to replace, whatever the clocks say: who finds
	// a smaller one than that in force may remove it.
	next := current{generation: laterID(time.Now(), o.newID(), d.old.generation), loads: d.old.loaded(d.today)}
	b := encodeNumbered(t, d.ids)
	next.timetable = len(b)
	if err := writeChunks(ctx, o.books.store, next.generation, 't', b); err != nil {
		return nil, err
	}
	b = d.registry.encode()
	next.registry = len(b)
	if err := writeChunks(ctx, o.books.store, next.generation, 'r', b); err != nil {
		return nil, err
	}
	var moves []move
	err = o.books.update(ctx, now, func(l *ledger) error {
		c, err := readCurrent(ctx, l.tx)
		if err != nil {
			return err
		}
		if c != d.old {
			return errOvertaken
		}
		var back []handback
		var over []handover
		if moves, back, over, err = d.find(ctx, l.tx); err != nil {
			return err
		}
		for _, h := range back {
			if err := l.handBack(d.next, h); err != nil && !unreadable(err) { // else its bookings stay stranded
				return err
			}
		}
		for _, h := range over {
			if err := l.handOver(d.next, h); err != nil && !unreadable(err) {
				return err
			}
		}
		c, b := next, encodeMoves(moves)
		c.moves = len(b)
		putChunks(l.put, c.generation, 'v', 0, b)
		l.put(currentKey, c.encode())
		return nil
	})
	if err != nil {
		return nil, err
	}
	d.next.move(t, moves)
	d.next.generation = next.generation
	return d.next, nil
}

// find finds out whose inventories the trains have.
func (d *draft) find(ctx context.Context, r Reader) (moves []move, back []handback, over []handover, err error) {
	from := max(d.old.since(d.today)-keepNumbers, FirstDate)
	if moves, back, err = findMoves(ctx, r, d.slots, d.before, from); err != nil {
		return nil, nil, nil, err
	}
	if over, err = d.handovers(ctx, r, moves, from); err != nil {
		return nil, nil, nil, err
	}
	given := map[RunID]bool{}
	for _, h := range back {
		given[h.from] = true
	}
	over = slices.DeleteFunc(over, func(h handover) bool { return given[h.from] })
	return moves, back, over, nil
}
