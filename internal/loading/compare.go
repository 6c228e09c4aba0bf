package loading

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/internal/timetable"
	"github.com/traintravel/traintravel/internal/trains"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/schedule"
	"github.com/traintravel/traintravel/store"
)

// CompareNow returns the changes that a timetable would make now.
func (o *Loader) CompareNow(ctx context.Context, t *schedule.Timetable) (schedule.Edition, error) {
	if err := t.CheckIn(o.Books.Zones); err != nil {
		return schedule.Edition{}, err
	}
	for {
		now := o.Books.Now()
		d, err := o.draft(ctx, t, Replacing{})
		if err != nil && !errors.Is(err, errOvertaken) {
			return schedule.Edition{}, err
		}
		if err == nil {
			var e schedule.Edition
			if e, err = o.compare(ctx, d, now); err == nil || !errors.Is(err, errOvertaken) {
				return e, err
			}
		}
	}
}

// compare compares a draft with the timetable in force, and with the bookings.
func (o *Loader) compare(ctx context.Context, d *draft, now time.Time) (schedule.Edition, error) {
	before, err := d.before, error(nil)
	if before == nil {
		before, err = o.inForce(ctx, d.old)
	}
	unknown := records.Unreadable(err) // loading another timetable fixes this
	if err != nil && !unknown {
		return schedule.Edition{}, err
	}
	e := edition(before, d.next, now)
	e.Replaces = d.old.Generation != uuid.Nil
	if before == nil {
		return e, nil
	}
	given := map[rail.RunID]bool{} // to other trains that are the same
	err = o.Books.Store.View(ctx, func(r store.Reader) error {
		moves, back, over, err := d.find(ctx, r)
		for _, h := range back {
			given[h.From] = true
		}
		for _, h := range over {
			given[h.From] = true
		}
		d.next.Move(d.timetable, moves)
		return err
	})
	if err != nil {
		return schedule.Edition{}, err
	}
	lost := map[uuid.UUID]bool{}
	left, err := o.eachRunToCome(ctx, func(v runInventory) {
		for booking := range misfits(before, v) {
			lost[booking] = false // already
		}
		if _, runs := d.next.Run(v.run); given[v.run] && !runs {
			return
		}
		for booking := range misfits(d.next, v) {
			if _, known := lost[booking]; !known {
				lost[booking] = true
			}
		}
	})
	for _, anew := range lost {
		if anew {
			e.Bookings++
		}
	}
	e.Unreadable = len(left)
	return e, err
}

// edition compares two timetables; before is nil if the current one does not exist or cannot be
// read.
func edition(before, after *timetable.Snapshot, now time.Time) schedule.Edition {
	c := comparison{e: schedule.Edition{Today: rail.DateOf(now.UTC())}, now: now, runs: map[*trains.Days]int{}, both: map[[2]*trains.Days]int{}}
	if before == nil {
		before = &timetable.Snapshot{}
	}
	c.e.Before, c.e.After = c.size(before), c.size(after)
	c.compareStations(before, after)
	c.compareTrains(before, after)
	c.compareFeeds(before, after)
	return c.e
}

// A comparison caches the counts of calendars, which trains share.
type comparison struct {
	e    schedule.Edition
	now  time.Time
	runs map[*trains.Days]int
	both map[[2]*trains.Days]int
}

func (c *comparison) size(sn *timetable.Snapshot) schedule.EditionSize {
	z := schedule.EditionSize{Stations: len(sn.Stations), Trains: len(sn.Trains)}
	operators := map[string]bool{}
	ran := false
	for i := range sn.Trains {
		t := &sn.Trains[i]
		operators[t.Operator] = true
		z.Runs += c.runsOf(t.Days)
		switch {
		case t.Days.Last < t.Days.First:
		case !ran:
			z.First, z.Last, ran = t.Days.First, t.Days.Last, true
		default:
			z.First, z.Last = min(z.First, t.Days.First), max(z.Last, t.Days.Last)
		}
	}
	z.Operators = slices.Sorted(maps.Keys(operators))
	return z
}

// runsOf counts the days of a calendar from today on.
func (c *comparison) runsOf(d *trains.Days) int {
	n, ok := c.runs[d]
	if !ok {
		n = c.count(d, d)
		c.runs[d] = n
	}
	return n
}

// runsOfBoth counts the days that are in two calendars, from today on.
func (c *comparison) runsOfBoth(a, b *trains.Days) int {
	n, ok := c.both[[2]*trains.Days{a, b}]
	if !ok {
		n = c.count(a, b)
		c.both[[2]*trains.Days{a, b}] = n
	}
	return n
}

func (c *comparison) count(a, b *trains.Days) (n int) {
	for d := max(a.First, b.First, c.e.Today); d <= min(a.Last, b.Last); d++ {
		if a.Runs(d) && (a == b || b.Runs(d)) {
			n++
		}
	}
	return n
}

// compareStations counts stations by identity. Several may have been one before, by its
// other IDs: one of them is that one, and the others are added.
func (c *comparison) compareStations(before, after *timetable.Snapshot) {
	kept := map[int32]bool{}
	for i := range after.Stations {
		if at, ok := before.StationAt[after.Stations[i].ID]; ok {
			kept[at] = true
		}
	}
	c.e.Stations = schedule.Difference{Added: len(after.Stations) - len(kept), Removed: len(before.Stations) - len(kept), Kept: len(kept)}
}

// compareTrains counts trains by identity, and their runs by identity and date. On one
// date no two trains have one identity.
func (c *comparison) compareTrains(before, after *timetable.Snapshot) {
	d, runs := &c.e.Trains, &c.e.Runs
	kept := make([]bool, len(before.Trains))
	for i := range after.Trains {
		t := &after.Trains[i]
		known := false
		for _, v := range before.ByTrain.Of(timetable.IdentityMark(t.ID)) {
			if was := &before.Trains[v.Train]; was.ID == t.ID {
				known, kept[v.Train] = true, true
				runs.Kept += c.runsOfBoth(was.Days, t.Days)
			}
		}
		if known {
			d.Kept++
		} else {
			d.Added++
		}
	}
	for _, k := range kept {
		if !k {
			d.Removed++
		}
	}
	runs.Added, runs.Removed = c.e.After.Runs-runs.Kept, c.e.Before.Runs-runs.Kept
}

func (c *comparison) compareFeeds(before, after *timetable.Snapshot) {
	feeds := map[string]*schedule.FeedEdition{}
	of := func(name string) *schedule.FeedEdition {
		f := feeds[name]
		if f == nil {
			f = &schedule.FeedEdition{Feed: name}
			feeds[name] = f
		}
		return f
	}
	for i := range before.Trains {
		of(before.Trains[i].Feed).Before++
	}
	today := map[*time.Location]rail.Date{}
	for i := range after.Trains {
		t := &after.Trains[i]
		f := of(t.Feed)
		here, ok := today[t.Location]
		if !ok {
			here = rail.DateOf(c.now.In(t.Location))
			today[t.Location] = here
		}
		last := t.Days.Last
		if last < t.Days.First { // on no day at all
			last = rail.FirstDate
		}
		if left := int(last - here); f.After == 0 || left > f.Left {
			f.Left = left
		}
		if f.After == 0 || last > f.Last {
			f.Last = last
		}
		f.After++
		if last >= here {
			f.Running++
		}
	}
	for _, f := range feeds {
		c.e.Feeds = append(c.e.Feeds, *f)
	}
	slices.SortFunc(c.e.Feeds, func(a, b schedule.FeedEdition) int { return cmp.Compare(a.Feed, b.Feed) })
}
