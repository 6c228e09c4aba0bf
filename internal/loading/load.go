// Package loading loads a timetable into the store: it compares it with the current one, moves
// bookings to the runs that replace theirs, and reports the bookings that lose their places. It
// must not know where the timetable comes from.
package loading

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/ids"
	"github.com/traintravel/traintravel/internal/ledger"
	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/internal/timetable"
	"github.com/traintravel/traintravel/internal/trains"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/schedule"
	"github.com/traintravel/traintravel/store"
)

// A Loader loads timetables into a store.
type Loader struct {
	Books     *ledger.Books
	Timetable *timetable.Source
	NewID     func() uuid.UUID
}

// Replacing says which timetable may be replaced.
type Replacing struct {
	First  bool                         // none
	Accept func(schedule.Edition) error // any, if it is nil
}

// Load checks a timetable and makes it the current one.
func (o *Loader) Load(ctx context.Context, t *schedule.Timetable, how Replacing) (rail.LoadReport, error) {
	if err := t.CheckIn(o.Books.Zones); err != nil {
		return rail.LoadReport{}, err
	}
	for {
		sn, err := o.replace(ctx, t, how)
		if errors.Is(err, errOvertaken) {
			continue // another timetable was loaded meanwhile: its registry counts
		}
		if refused, ok := errors.AsType[refusal](err); ok {
			return rail.LoadReport{}, refused.error
		}
		if err != nil {
			return rail.LoadReport{}, fmt.Errorf("loading the timetable: %w", err)
		}
		if err := o.Timetable.Replace(ctx, sn); err != nil {
			return rail.LoadReport{}, fmt.Errorf("the timetable is loaded, but the work after that failed: %w", err)
		}
		if err := timetable.DropGenerations(ctx, o.Books.Store); err != nil {
			o.Books.Log.WarnContext(ctx, "removing an old timetable failed; the next load retries", "error", err)
		}
		stranded, left, err := o.strandedBy(ctx, sn)
		if err != nil {
			return rail.LoadReport{}, fmt.Errorf("the timetable is loaded, but checking its bookings failed: %w", err)
		}
		return rail.LoadReport{Stations: len(t.Stations), Trains: len(t.Trains), Stranded: stranded, Unreadable: o.Books.Omit(ctx, left)}, nil
	}
}

// A refusal is an error of the accept of ReplaceTimetable.
type refusal struct{ error }

var errOvertaken = errors.New("another timetable was loaded at the same time")

// A draft is a timetable that is ready to replace the one in force.
type draft struct {
	timetable *schedule.Timetable
	old       timetable.Current
	today     rail.Date
	ids       []trains.Numbering
	registry  trains.Registry
	slots     *trains.Slots
	before    *timetable.Snapshot // nil if it does not exist, or cannot be read and is not needed
	next      *timetable.Snapshot
	looks     map[uint64][]int32 // its trains, by timetable.Train.LookMark; nil until it is asked for
}

// draft prepares to replace the timetable in force.
func (o *Loader) draft(ctx context.Context, t *schedule.Timetable, how Replacing) (*draft, error) {
	d := &draft{timetable: t, today: rail.DateOf(o.Books.Now().UTC())}
	var former trains.Registry
	err := o.Books.Store.View(ctx, func(r store.Reader) (err error) {
		if d.old, err = timetable.ReadCurrent(ctx, r); err != nil || d.old.Generation == uuid.Nil {
			return err
		}
		if how.First {
			return rail.ErrHasTimetable
		}
		b, err := timetable.ReadChunks(ctx, r, d.old.Generation, 'r', d.old.Registry)
		if err != nil {
			return err
		}
		former, err = trains.DecodeRegistry(b)
		return err
	})
	if err != nil {
		return nil, err
	}
	calendars := trains.CalendarCache{}
	if d.ids, d.registry, err = former.Register(ctx, t.Trains, calendars.Get, d.today, d.old.Since(d.today)); err != nil {
		return nil, err
	}
	// The bookings decide which train has which inventory, in the update that makes the
	// timetable current.
	d.slots = trains.NewSlots(former, d.registry, t.Trains, d.ids, calendars.Get)
	if d.before, err = o.inForce(ctx, d.old); err != nil {
		if len(d.slots.Bases) > 0 || !records.Unreadable(err) {
			return nil, err
		}
		d.before = nil // another timetable is what mends it
	}
	d.next, err = timetable.Compile(ctx, t, d.ids, d.registry, o.Timetable.Compiling())
	return d, err
}

// inForce returns the timetable of a record that was current, nil if it has none.
func (o *Loader) inForce(ctx context.Context, c timetable.Current) (*timetable.Snapshot, error) {
	if c.Generation == uuid.Nil {
		return nil, nil
	}
	o.Timetable.Expire()
	sn, err := o.Timetable.Snapshot(ctx)
	if err == nil && sn.Generation != c.Generation {
		err = errOvertaken
	}
	return sn, err
}

// replace makes a timetable the one in force, and returns it compiled.
func (o *Loader) replace(ctx context.Context, t *schedule.Timetable, how Replacing) (*timetable.Snapshot, error) {
	now := o.Books.Now()
	d, err := o.draft(ctx, t, how)
	if err != nil {
		return nil, err
	}
	if how.Accept != nil {
		e, err := o.compare(ctx, d, now)
		if err != nil {
			return nil, err
		}
		if err := how.Accept(e); err != nil {
			return nil, refusal{err}
		}
	}
	// Greater than the one that it replaces, whatever the clocks say: a generation that is
	// smaller than the one in force may be removed.
	next := timetable.Current{Generation: ids.LaterID(time.Now(), o.NewID(), d.old.Generation), Loads: d.old.Loaded(d.today)}
	b := trains.EncodeNumbered(t, d.ids)
	next.Timetable = len(b)
	if err := timetable.WriteChunks(ctx, o.Books.Store, next.Generation, 't', b); err != nil {
		return nil, err
	}
	b = d.registry.Encode()
	next.Registry = len(b)
	if err := timetable.WriteChunks(ctx, o.Books.Store, next.Generation, 'r', b); err != nil {
		return nil, err
	}
	var moves []trains.Move
	err = o.Books.Update(ctx, now, func(l *ledger.Ledger) error {
		c, err := timetable.ReadCurrent(ctx, l.Tx)
		if err != nil {
			return err
		}
		if c != d.old {
			return errOvertaken
		}
		var back []trains.Handback
		var over []ledger.Handover
		if moves, back, over, err = d.find(ctx, l.Tx); err != nil {
			return err
		}
		for _, h := range back {
			if err := l.HandBack(d.next, h); err != nil && !records.Unreadable(err) { // else its bookings stay stranded
				return err
			}
		}
		for _, h := range over {
			if err := l.HandOver(d.next, h); err != nil && !records.Unreadable(err) {
				return err
			}
		}
		c, b := next, trains.EncodeMoves(moves)
		c.Moves = len(b)
		timetable.PutChunks(l.Put, c.Generation, 'v', 0, b)
		l.Put(timetable.CurrentKey(), c.Encode())
		return nil
	})
	if err != nil {
		return nil, err
	}
	d.next.Move(t, moves)
	d.next.Generation = next.Generation
	return d.next, nil
}

// find determines which inventories the trains have.
func (d *draft) find(ctx context.Context, r store.Reader) (moves []trains.Move, back []trains.Handback, over []ledger.Handover, err error) {
	from := max(d.old.Since(d.today)-trains.KeepNumbers, rail.FirstDate)
	if moves, back, err = findMoves(ctx, r, d.slots, d.before, from); err != nil {
		return nil, nil, nil, err
	}
	if over, err = d.handovers(ctx, r, moves, from); err != nil {
		return nil, nil, nil, err
	}
	given := map[rail.RunID]bool{}
	for _, h := range back {
		given[h.From] = true
	}
	over = slices.DeleteFunc(over, func(h ledger.Handover) bool { return given[h.From] })
	return moves, back, over, nil
}
