package gtfs

import (
	"cmp"
	"maps"
	"slices"

	"github.com/traintravel/traintravel"
)

const (
	// maxBlock limits the trips of one block: a vehicle makes about a dozen a day.
	maxBlock = 500
	// maxStand is the longest time that a train may stand between two trips and still
	// count as one that continues.
	maxStand traintravel.ServiceTime = 60 * 60
	// aDay is the difference of a trip's times from those of the next day.
	aDay traintravel.ServiceTime = 24 * 60 * 60
)

// linkBlocks makes rules for trips of one block: the vehicle continues from the
// one to the other, with its passengers.
func (f *feed) linkBlocks() error {
	blocks := slices.SortedFunc(maps.Keys(f.blocks), func(a, b string) int { return cmp.Compare(f.blocks[a][0], f.blocks[b][0]) })
	for _, name := range blocks {
		if err := f.ctx.Err(); err != nil {
			return err
		}
		f.linkBlock(f.blocks[name], f.broken[name])
		if len(f.rules.list) > maxChanges {
			f.fail("trips.txt", 0, "block_id makes more than %d rules for changes", maxChanges)
			return errMistakes
		}
	}
	return nil
}

// linkBlock links the trips of a block, unless one of them is left out: the vehicle does
// not continue from the trip before that one to the one after it.
func (f *feed) linkBlock(trips []int32, broken bool) {
	line := f.trips[trips[0]].line
	for _, i := range trips {
		if t := f.trips[i]; broken || t.flaw != nil {
			f.note("trips.txt", line, "a trip of the block is left out, so it is unknown which of its trips continues as which")
			return
		}
	}
	for _, i := range trips {
		if f.patterns[i] != nil {
			f.note("trips.txt", line, "the block has a trip that frequencies.txt repeats")
			return
		}
	}
	days := f.blockDays(trips)
	trips = slices.DeleteFunc(trips, func(i int32) bool { return len(f.trips[i].Calls) < 2 || days(i).empty() })
	if len(trips) > maxBlock {
		f.doubt("trips.txt", line, "the block has too many trips for one vehicle")
		return
	}
	slices.SortStableFunc(trips, func(a, b int32) int {
		return cmp.Or(cmp.Compare(f.trips[a].departs(), f.trips[b].departs()), cmp.Compare(f.trips[a].arrives(), f.trips[b].arrives()))
	})
	var links [][2]int32
	for n, i := range trips {
		a := f.trips[i]
		whole := days(i)
		rest := daySet{whole.first, slices.Clone(whole.words)} // on which the next trip is still to be found
		for _, j := range trips[n+1:] {
			b := f.trips[j]
			some, all := rest.take(whole, days(j))
			if !some {
				continue
			}
			if a.Zone != b.Zone {
				f.doubt("trips.txt", line, "the block has trips in several time zones")
				return
			}
			wait := b.departs() - a.arrives()
			if wait < 0 {
				f.doubt("trips.txt", line, "the block has trips that overlap in time on one day")
				return
			}
			if all && wait <= maxStand && f.meet(a, b) {
				links = append(links, [2]int32{i, j})
			}
			if rest.empty() {
				break
			}
		}
	}
	for _, link := range links {
		a, b := f.trips[link[0]], f.trips[link[1]]
		if !f.rules.settled[link] && a.ID != "" && b.ID != "" { // without an ID it would be any train
			f.rules.add(f.stay(a, b))
		}
	}
}

// blockDays returns the days on which the trips of a block run. A twin does not run on days
// that another trip of the block has.
func (f *feed) blockDays(trips []int32) func(int32) daySet {
	twins := map[int32]daySet{}
	var here map[int32]bool
	for _, i := range trips {
		left := f.left[i]
		if left == nil {
			continue
		}
		if here == nil {
			here = map[int32]bool{}
			for _, k := range trips {
				here[k] = true
			}
		}
		twins[i] = left.days
		for _, k := range left.keepers {
			if here[k] {
				twins[i] = twins[i].without(f.daysOf(f.trips[k].service))
			}
		}
	}
	return func(i int32) daySet {
		if days, ok := twins[i]; ok {
			return days
		}
		return f.daysOf(f.trips[i].service)
	}
}

func (t *trip) last() traintravel.Call           { return t.Calls[len(t.Calls)-1] }
func (t *trip) departs() traintravel.ServiceTime { return t.Calls[0].Depart }
func (t *trip) arrives() traintravel.ServiceTime { return t.last().Arrive }

// meet reports whether a trip ends at the station where another begins.
func (f *feed) meet(a, b *trip) bool {
	return f.stationID(a.last().Station) == f.stationID(b.Calls[0].Station)
}

// stay returns the rule that passengers of the one trip remain on the other.
func (f *feed) stay(a, b *trip) traintravel.Change {
	return traintravel.Change{
		From: f.stationID(a.last().Station), To: f.stationID(b.Calls[0].Station), Feed: f.opts.Feed,
		FromTrain: a.ID, ToTrain: b.ID, Kind: traintravel.StaySeated,
	}
}

// goesOn returns the reason why a trip cannot continue as another, of the same service day or of
// the first one on which the other leaves later; empty if it can.
func (f *feed) goesOn(a, b *trip) string {
	wait := b.departs() - a.arrives()
	earlier := int(wait / aDay) // whole days by which the other's service day is before this one's
	if wait%aDay < 0 {
		earlier--
	}
	switch {
	case a == b:
		return "the trip continues as itself"
	case !f.meet(a, b):
		return "the first trip continues as the second, but does not end where the second begins"
	case a.Zone != b.Zone:
		return "the first trip continues as the second, but their time zones differ"
	case !f.daysOf(b.service).meets(f.daysOf(a.service), earlier):
		return "the first trip continues as the second, but the second never leaves within a day of the first one's arrival"
	}
	return ""
}
