package gtfs

import (
	"fmt"
	"math"
)

const (
	// walkingSpeed is how fast people walk at the most, in metres a second.
	walkingSpeed = 1.5
	// farthestWalk is how far anybody walks to change trains, in metres. For a longer way
	// a feed means another means of transport.
	farthestWalk = 3000
	// maxWalks is how many changes that take less than the way to walk are named one by
	// one.
	maxWalks = 20
)

// noteWalk names a change for which the feed gives less time than the way takes.
func (f *feed) noteWalk(t *transferTable, least int, from, to *side) {
	a, b := f.placeOf(from.stop), f.placeOf(to.stop)
	metres := a.Distance(b.Station)
	walk := int(math.Ceil(metres / walkingSpeed))
	if walk <= least || metres > farthestWalk {
		return
	}
	reason := "the change allows less time than a walk at 1.5 m/s takes"
	if f.walks++; f.walks <= maxWalks {
		reason = fmt.Sprintf("the change from %.60q to %.60q allows %d s, less than the %d s that a walk of %.0f m at 1.5 m/s takes",
			f.stops[from.station].Name, f.stops[to.station].Name, least, walk, metres)
	}
	f.note(t.name, t.line(), reason)
}

// placeOf is the stop itself, or its station if nobody knows where it is.
func (f *feed) placeOf(i int32) *stop {
	if s := &f.stops[i]; s.Latitude != 0 || s.Longitude != 0 {
		return s
	}
	return &f.stops[f.stops[i].station]
}
