package synthfeed

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// A kind is what the trains of a line are like.
type kind struct {
	name      string
	route     int   // route_type
	speed     int64 // km/h
	stay      int   // seconds at a station
	stayHub   int   // and at a hub
	overnight bool  // passengers board in the first half of the calls, and leave in the second
}

var (
	highSpeed     = kind{name: "HSR", route: 101, speed: 190, stay: 60, stayHub: 180}
	intercity     = kind{name: "IC", route: 102, speed: 120, stay: 60, stayHub: 180}
	interregional = kind{name: "IR", route: 103, speed: 95, stay: 60, stayHub: 180}
	night         = kind{name: "NJ", route: 105, speed: 85, stay: 600, stayHub: 600, overnight: true}
	regional      = kind{name: "R", route: 106, speed: 62, stay: 60, stayHub: 180}
)

// A line has trains in both directions.
type line struct {
	kind
	stops       []int
	first, last int // minutes of the day between which trains start
	every       int // minutes
}

// distant are the lines between hubs that are drawn by their weight.
var distant = []struct {
	kind
	lines     float64 // at scale 1
	least     float64 // the scale below which they do not get fewer
	from, to  int64   // km
	nth       int     // of the stations between hubs, at which trains call
	first     int     // minute of the day
	within    int     // minutes after that
	last      int
	intervals []int // minutes
}{
	{intercity, 170, 0.15, 250, 900, 3, 300, 120, 1260, []int{60, 60, 120}},
	{highSpeed, 85, 0.15, 300, 1300, 0, 330, 90, 1260, []int{60, 60, 120}},
	{night, 60, 0.1, 700, 2400, 0, 1110, 1, 1349, []int{240}}, // that is once
}

// interregionalLines returns one for each link, so that no station is left out.
func (n *network) interregionalLines(r *rand.Rand) []line {
	var lines []line
	for _, l := range n.links {
		every := 24
		if n.length(l) > 350_000 {
			every = 60
		}
		stops := slices.Concat(l[:1], n.via[l], l[1:])
		lines = append(lines, line{interregional, stops, 300 + r.IntN(30), 1350, every})
	}
	return lines
}

func (n *network) distantLines(r *rand.Rand, scale float64) []line {
	var lines []line
	for _, d := range distant {
		count := int(d.lines * max(scale, d.least))
		for tries := 0; count > 0 && tries < 1_000_000; tries++ {
			a, b := n.drawHub(r, 0), n.drawHub(r, 0)
			if km := n.metres[a][b] / 1000; km < d.from || km > d.to {
				continue
			}
			every, first := d.intervals[r.IntN(len(d.intervals))], d.first+r.IntN(d.within)
			lines = append(lines, line{d.kind, n.way(a, b, d.nth), first, d.last, every})
			count--
		}
	}
	return lines
}

// drawHub draws one; the heavier and the more is granted, the more likely.
func (n *network) drawHub(r *rand.Rand, grant int) int {
	for {
		if i := r.IntN(n.hubs); r.IntN(4) < n.stops[i].weight+grant {
			return i
		}
	}
}

// regionalLines adds stations on both sides of hubs, until there are so many,
// and returns the lines on which these are.
func (n *network) regionalLines(r *rand.Rand, stations int) []line {
	intervals := []int{10, 10, 15, 15, 20, 30, 30, 60}
	var lines []line
	for len(n.stops) < stations {
		hub := n.drawHub(r, 1)
		direction := r.Int64N(360)
		stops := n.radial(r, hub, direction)
		slices.Reverse(stops)
		stops = append(append(stops, hub), n.radial(r, hub, direction+180)...)
		every := intervals[r.IntN(len(intervals))]
		lines = append(lines, line{regional, stops, 270 + r.IntN(30), 1425, every})
	}
	return lines
}

// radial adds stations from a hub outwards and returns them.
func (n *network) radial(r *rand.Rand, hub int, direction int64) []int {
	from := n.stops[hub]
	at := from.point
	var stops []int
	for range 6 + r.IntN(7) {
		at = at.walk(4000+r.Int64N(7000), direction+bell(r, 14))
		name := fmt.Sprintf("%s Bf %d", from.name, len(n.stops))
		stops = append(stops, n.add(name, from.country, at))
	}
	return stops
}
