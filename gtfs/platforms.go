package gtfs

import (
	"math"
	"slices"
)

// Platforms are merged into their station, and so are stops that are one station with
// others. They are kept apart only where the feed forbids a change between two of them:
// there each call keeps its platform, for the rules to name.

// findBarriers looks through transfers.txt, once stations are known, for changes that are
// forbidden between platforms. Mistakes in its rows are reported when they are read.
func (f *feed) findBarriers() error {
	if !f.has("transfers.txt") {
		return nil
	}
	t, err := f.open("transfers.txt", "transfer_type")
	if err != nil {
		return err
	}
	t.quiet = true
	kind, least := t.column("transfer_type"), t.column("min_transfer_time")
	from, to := t.column("from_stop_id"), t.column("to_stop_id")
	for t.next() {
		k := digits(t.get(kind))
		if k != impossible && !(k == minimum && digits(t.get(least)) > maxTransfer) {
			continue
		}
		a, okA := f.stopByID[string(t.get(from))]
		b, okB := f.stopByID[string(t.get(to))]
		if !okA || !okB || f.entire(a) && f.entire(b) {
			continue
		}
		if f.barriers == nil {
			f.barriers, f.parted = map[barrier]bool{}, map[int32]bool{}
		}
		from, to := f.stops[a].station, f.stops[b].station
		if !f.barriers[barrier{from, to}] {
			f.hold(3 * sizeKey)
			f.barriers[barrier{from, to}] = true
		}
		f.parted[from], f.parted[to] = true, true
	}
	return t.err
}

// entire reports whether a stop is a whole station.
func (f *feed) entire(i int32) bool { return f.stops[i].station == i && !f.stops[i].joined }

// platform numbers a stop among those of its station. A boarding area has the number of
// its platform, and an entire station is zero.
func (f *feed) platform(i int32) uint16 {
	for range 4 {
		parent, ok := f.stopByID[f.stops[i].parent]
		if !ok || f.stops[i].kind != boardingArea {
			break
		}
		i = parent
	}
	s := &f.stops[i]
	if s.platform == 0 && !f.entire(i) {
		count := &f.stops[s.station].platforms
		if *count < math.MaxUint16 { // the last one of a station may be several
			*count++
		}
		s.platform = *count
	}
	return s.platform
}

// keepPlatforms gives the calls of a trip, which are in order, their platforms, where
// they matter for any change.
func (f *feed) keepPlatforms(t *trip) {
	if len(f.parted) == 0 {
		return
	}
	for i, m := range t.marks {
		if f.parted[f.stops[m.stop].station] {
			t.Calls[i].Platform = f.platform(m.stop)
		}
	}
}

// platformsOf lists the platforms that a stop means: its own number and those of the
// stops below it, or zero for an entire station.
func (f *feed) platformsOf(i int32) []uint16 {
	all, known := f.covered[i]
	if known {
		return all
	}
	if f.below == nil {
		f.covered, f.below = map[int32][]uint16{}, map[int32][]int32{}
		for k := range f.stops {
			if parent, ok := f.stopByID[f.stops[k].parent]; ok {
				f.below[parent] = append(f.below[parent], int32(k))
			}
		}
		f.hold(len(f.stops) * sizeKey)
	}
	all = []uint16{f.platform(i)}
	if !f.entire(i) {
		all = f.appendBelow(all, i, 4)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	f.hold(sizeKey + 2*len(all))
	f.covered[i] = all
	return all
}

// appendBelow adds the platforms of the stops below one, down to a depth.
func (f *feed) appendBelow(all []uint16, i int32, depth int) []uint16 {
	if depth == 0 {
		return all
	}
	for _, k := range f.below[i] {
		if f.stops[k].station == f.stops[i].station {
			all = f.appendBelow(append(all, f.platform(k)), k, depth-1)
		}
	}
	return all
}

// part limits a rule to the platforms of its row, where it must not apply to trains at
// others. A trip is at one of them anyway.
func (f *feed) part(from, to *side) {
	if !f.barriers[barrier{from.station, to.station}] {
		return
	}
	for _, s := range []*side{from, to} {
		if !s.trip() {
			s.platforms = f.platformsOf(s.stop)
		}
	}
}
