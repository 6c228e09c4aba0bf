package traintravel

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
)

// compareNow says what a timetable would change now.
func (o *loader) compareNow(ctx context.Context, t *Timetable) (Edition, error) {
	if err := t.check(o.books.zones); err != nil {
		return Edition{}, err
	}
	for {
		now := o.books.now()
		d, err := o.draft(ctx, t, replacing{})
		if err != nil && !errors.Is(err, errOvertaken) {
			return Edition{}, err
		}
		if err == nil {
			var e Edition
			if e, err = o.compare(ctx, d, now); err == nil || !errors.Is(err, errOvertaken) {
				return e, err
			}
		}
	}
}

// compare compares a draft with the timetable in force, and with what is booked.
func (o *loader) compare(ctx context.Context, d *draft, now time.Time) (Edition, error) {
	before, err := d.before, error(nil)
	if before == nil {
		before, err = o.inForce(ctx, d.old)
	}
	unknown := unreadable(err) // another timetable is what mends it
	if err != nil && !unknown {
		return Edition{}, err
	}
	e := edition(before, d.next, now)
	e.Replaces = d.old.generation != uuid.Nil
	if before == nil {
		return e, nil
	}
	given := map[RunID]bool{} // to other trains that are the same
	err = o.books.store.View(ctx, func(r Reader) error {
		moves, back, over, err := d.find(ctx, r)
		for _, h := range back {
			given[h.from] = true
		}
		for _, h := range over {
			given[h.from] = true
		}
		d.next.move(d.timetable, moves)
		return err
	})
	if err != nil {
		return Edition{}, err
	}
	lost := map[uuid.UUID]bool{}
	left, err := o.eachRunToCome(ctx, func(v runInventory) {
		for booking := range misfits(before, v) {
			lost[booking] = false // already
		}
		if _, runs := d.next.run(v.run); given[v.run] && !runs {
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

// edition compares two timetables; before is nil if there is none that can be read.
func edition(before, after *snapshot, now time.Time) Edition {
	c := comparison{e: Edition{Today: DateOf(now.UTC())}, now: now, runs: map[*days]int{}, both: map[[2]*days]int{}}
	if before == nil {
		before = &snapshot{}
	}
	c.e.Before, c.e.After = c.size(before), c.size(after)
	c.compareStations(before, after)
	c.compareTrains(before, after)
	c.compareFeeds(before, after)
	return c.e
}

// A comparison remembers what it has counted for calendars, which trains share.
type comparison struct {
	e    Edition
	now  time.Time
	runs map[*days]int
	both map[[2]*days]int
}

func (c *comparison) size(sn *snapshot) EditionSize {
	z := EditionSize{Stations: len(sn.stations), Trains: len(sn.trains)}
	operators := map[string]bool{}
	ran := false
	for i := range sn.trains {
		t := &sn.trains[i]
		operators[t.operator] = true
		z.Runs += c.runsOf(t.days)
		switch {
		case t.days.last < t.days.first:
		case !ran:
			z.First, z.Last, ran = t.days.first, t.days.last, true
		default:
			z.First, z.Last = min(z.First, t.days.first), max(z.Last, t.days.last)
		}
	}
	z.Operators = slices.Sorted(maps.Keys(operators))
	return z
}

// runsOf counts the days of a calendar from today on.
func (c *comparison) runsOf(d *days) int {
	n, ok := c.runs[d]
	if !ok {
		n = c.count(d, d)
		c.runs[d] = n
	}
	return n
}

// runsOfBoth counts the days that are in two calendars, from today on.
func (c *comparison) runsOfBoth(a, b *days) int {
	n, ok := c.both[[2]*days{a, b}]
	if !ok {
		n = c.count(a, b)
		c.both[[2]*days{a, b}] = n
	}
	return n
}

func (c *comparison) count(a, b *days) (n int) {
	for d := max(a.first, b.first, c.e.Today); d <= min(a.last, b.last); d++ {
		if a.runs(d) && (a == b || b.runs(d)) {
			n++
		}
	}
	return n
}

// compareStations counts stations by identity. Several may have been one before, by its
// other IDs: one of them is that one, and the others are added.
func (c *comparison) compareStations(before, after *snapshot) {
	kept := map[int32]bool{}
	for i := range after.stations {
		if at, ok := before.stationAt[after.stations[i].ID]; ok {
			kept[at] = true
		}
	}
	c.e.Stations = Difference{len(after.stations) - len(kept), len(before.stations) - len(kept), len(kept)}
}

// compareTrains counts trains by identity, and their runs by identity and date. On one
// date no two trains have one identity.
func (c *comparison) compareTrains(before, after *snapshot) {
	d, runs := &c.e.Trains, &c.e.Runs
	kept := make([]bool, len(before.trains))
	for i := range after.trains {
		t := &after.trains[i]
		known := false
		for _, v := range before.byTrain.of(identityMark(t.id)) {
			if was := &before.trains[v.train]; was.id == t.id {
				known, kept[v.train] = true, true
				runs.Kept += c.runsOfBoth(was.days, t.days)
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

func (c *comparison) compareFeeds(before, after *snapshot) {
	feeds := map[string]*FeedEdition{}
	of := func(name string) *FeedEdition {
		f := feeds[name]
		if f == nil {
			f = &FeedEdition{Feed: name}
			feeds[name] = f
		}
		return f
	}
	for i := range before.trains {
		of(before.trains[i].feed).Before++
	}
	today := map[*time.Location]Date{}
	for i := range after.trains {
		t := &after.trains[i]
		f := of(t.feed)
		here, ok := today[t.location]
		if !ok {
			here = DateOf(c.now.In(t.location))
			today[t.location] = here
		}
		last := t.days.last
		if last < t.days.first { // on no day at all
			last = FirstDate
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
	slices.SortFunc(c.e.Feeds, func(a, b FeedEdition) int { return cmp.Compare(a.Feed, b.Feed) })
}
