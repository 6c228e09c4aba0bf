package traintravel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
)

// LoadTimetable checks a timetable and makes it the one in force, for this
// service and every other on the same store, all at once. Bookings made before
// stay valid and keep the trip as sold; trip IDs stay the same for trains that
// still run with the same calls. What is wrong with the timetable is returned
// as by [Timetable.Check], and then nothing has changed. If ctx ends before the
// timetable is in force, its error is returned, and nothing has changed either.
// It takes any timetable that is well-formed, also one that has expired:
// [Service.ReplaceTimetable] asks first.
//
// The timetable must not be modified any more.
func (s *Service) LoadTimetable(ctx context.Context, t *Timetable) (LoadReport, error) {
	return s.load(ctx, t, loading{})
}

// LoadFirstTimetable is LoadTimetable for a store that has none. If another one
// is in force, or is first, that stays, and the error is [ErrHasTimetable].
func (s *Service) LoadFirstTimetable(ctx context.Context, t *Timetable) (LoadReport, error) {
	return s.load(ctx, t, loading{first: true})
}

// ReplaceTimetable is LoadTimetable that asks before it changes anything: accept is
// told how the timetable differs from the one in force. If accept returns an error,
// that is returned, and nothing has changed. What it was told is still so when the
// timetable comes into force: if another one is loaded meanwhile, accept is asked
// again. [Edition.Check] refuses timetables that look like a mistake:
//
//	report, err := service.ReplaceTimetable(ctx, timetable, traintravel.Edition.Check)
func (s *Service) ReplaceTimetable(ctx context.Context, t *Timetable, accept func(Edition) error) (LoadReport, error) {
	return s.load(ctx, t, loading{accept: accept})
}

// loading says which timetable may be replaced.
type loading struct {
	first  bool                // none
	accept func(Edition) error // any, if it is nil
}

func (s *Service) load(ctx context.Context, t *Timetable, how loading) (_ LoadReport, err error) {
	ctx, end := s.begin(ctx, "LoadTimetable")
	defer end(&err)
	if err := t.check(s.books.zones); err != nil {
		return LoadReport{}, err
	}
	for {
		sn, err := s.replaceTimetable(ctx, t, how)
		if errors.Is(err, errOvertaken) {
			continue // somebody else loaded one meanwhile: its registry counts
		}
		if refused, ok := errors.AsType[refusal](err); ok {
			return LoadReport{}, refused.error
		}
		if err != nil {
			return LoadReport{}, fmt.Errorf("loading the timetable: %w", err)
		}
		if err := s.timetable.replace(ctx, sn); err != nil {
			return LoadReport{}, fmt.Errorf("the timetable is loaded, but nothing more was done: %w", err)
		}
		if err := dropGenerations(ctx, s.store); err != nil {
			s.log.WarnContext(ctx, "an old timetable was not removed; the next load tries again", "error", err)
		}
		stranded, left, err := s.stranded(ctx, sn)
		if err != nil {
			return LoadReport{}, fmt.Errorf("the timetable is loaded, but its bookings could not be checked: %w", err)
		}
		return LoadReport{Stations: len(t.Stations), Trains: len(t.Trains), Stranded: stranded, Unreadable: s.books.omit(ctx, left)}, nil
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
func (s *Service) draft(ctx context.Context, t *Timetable, how loading) (*draft, error) {
	d := &draft{timetable: t, today: DateOf(s.now().UTC())}
	var former registry
	err := s.store.View(ctx, func(r Reader) (err error) {
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
	if d.before, err = s.inForce(ctx, d.old); err != nil {
		if len(d.slots.bases) > 0 || !unreadable(err) {
			return nil, err
		}
		d.before = nil // another timetable is what mends it
	}
	d.next, err = compile(ctx, t, d.ids, d.registry, s.timetable.compiling())
	return d, err
}

// inForce is the timetable of a record that was current, nil if that has none.
func (s *Service) inForce(ctx context.Context, c current) (*snapshot, error) {
	if c.generation == uuid.Nil {
		return nil, nil
	}
	s.timetable.expire()
	sn, err := s.timetable.snapshot(ctx)
	if err == nil && sn.generation != c.generation {
		err = errOvertaken
	}
	return sn, err
}

func (s *Service) replaceTimetable(ctx context.Context, t *Timetable, how loading) (*snapshot, error) {
	now := s.now()
	d, err := s.draft(ctx, t, how)
	if err != nil {
		return nil, err
	}
	if how.accept != nil {
		e, err := s.compare(ctx, d, now)
		if err != nil {
			return nil, err
		}
		if err := how.accept(e); err != nil {
			return nil, refusal{err}
		}
	}
	// Greater than the one it is to replace, whatever the clocks say: who finds
	// a smaller one than that in force may remove it.
	next := current{generation: laterID(time.Now(), s.newID(), d.old.generation), loads: d.old.loaded(d.today)}
	b := encodeNumbered(t, d.ids)
	next.timetable = len(b)
	if err := writeChunks(ctx, s.store, next.generation, 't', b); err != nil {
		return nil, err
	}
	b = d.registry.encode()
	next.registry = len(b)
	if err := writeChunks(ctx, s.store, next.generation, 'r', b); err != nil {
		return nil, err
	}
	var moves []move
	err = s.books.update(ctx, now, func(l *ledger) error {
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
