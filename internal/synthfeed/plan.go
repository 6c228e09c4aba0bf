package synthfeed

import (
	"math/rand/v2"
	"slices"

	"github.com/traintravel/traintravel"
)

// A plan is a feed before it is written.
type plan struct {
	Options
	*network
	lines []line
	trips []trip
}

// A trip is a train of a line.
type trip struct {
	line    int
	back    bool
	depart  int // minute of the day
	service service
	pace    int64 // per mille of the time that the line's kind takes
}

// pcgStream is the second half of the seed; services have those from 0.
const pcgStream = 0x7261696c

func newPlan(opts Options) *plan {
	r := rand.New(rand.NewPCG(opts.Seed, pcgStream))
	p := &plan{Options: opts, network: newNetwork(r, opts.Scale)}
	p.lines = slices.Concat(
		p.interregionalLines(r),
		p.distantLines(r, opts.Scale),
		p.regionalLines(r, int(3000*opts.Scale)),
	)
	for i, l := range p.lines {
		for _, back := range []bool{false, true} {
			for at := l.first + r.IntN(l.every); at <= l.last; at += l.every {
				p.trips = append(p.trips, trip{i, back, at, drawService(r), 1000 + bell(r, 20)})
			}
		}
	}
	return p
}

// A call is a row of stop_times.txt.
type call struct {
	stop            *stop
	arrive, depart  traintravel.ServiceTime
	pickup, dropOff int // 1 is barred
}

// calls appends those of a trip.
func (p *plan) calls(calls []call, t trip) []call {
	l := &p.lines[t.line]
	at := t.depart * 60
	last := len(l.stops) - 1
	for i := range l.stops {
		c := call{stop: p.stopOf(t, i)}
		if i > 0 {
			at += l.run(p.stopOf(t, i-1).distance(c.stop.point), t.pace)
		}
		c.arrive = traintravel.ServiceTime(at)
		switch {
		case i == 0 || i == last:
		case c.stop.weight > 0:
			at += l.stayHub
		default:
			at += l.stay
		}
		c.depart = traintravel.ServiceTime(at)
		if i == 0 || l.overnight && i < last && i < len(l.stops)/2 {
			c.dropOff = 1
		}
		if i == last || l.overnight && i > 0 && i >= len(l.stops)/2 {
			c.pickup = 1
		}
		calls = append(calls, c)
	}
	return calls
}

// stopOf returns the stop of a trip's call, the first being 0.
func (p *plan) stopOf(t trip, call int) *stop {
	stops := p.lines[t.line].stops
	if t.back {
		call = len(stops) - 1 - call
	}
	return &p.stops[stops[call]]
}

// terminus returns where a trip ends.
func (p *plan) terminus(t trip) *stop { return p.stopOf(t, len(p.lines[t.line].stops)-1) }

// run returns how many seconds a train takes for a distance as the crow flies:
// whole minutes.
func (k *kind) run(metres, pace int64) int {
	const shortest = 1500
	seconds := max(shortest, metres*115/100) * 3600 / (k.speed * 1000) * pace / 1000
	return int(seconds/60+1) * 60
}
