package world

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/traintravel/traintravel/internal/sim/chance"
)

// How far a clock may be from real time: MaxSkew for long, and MaxJump in addition while it
// has jumped.
const (
	MaxSkew = 2 * time.Second
	MaxJump = 5 * time.Minute
)

// MostSkew is how far any clock of the history may be from real time.
func (w *World) MostSkew() (most time.Duration) {
	if w.Faults.On(Skew) {
		most += MaxSkew
	}
	if w.Faults.On(ClockJump) {
		most += MaxJump
	}
	return most
}

// A Clock is that of a process. It is off by a constant time, by a drift that is put right
// every hour, and by jumps that are put right after minutes or hours.
type Clock struct {
	w     *World
	start time.Time
	skew  time.Duration
	ppm   int64 // by how many millionths it is fast
	jumps []jump
}

type jump struct {
	spell
	by time.Duration
}

// NewClock returns the clock of the process that starts now on a machine. A clock jumps with
// its machine, whatever process is on it.
func (w *World) NewClock(machine string, r *rand.Rand) *Clock {
	c := &Clock{w: w, start: time.Now()}
	skew, drifts, ppm := time.Duration(r.Int64N(int64(2*MaxSkew)))-MaxSkew, r.IntN(2) == 0, r.Int64N(201)-100
	if w.Faults.On(Skew) {
		w.Faults.Count(Skew)
		if c.skew = skew; drifts {
			c.skew, c.ppm = skew/2, ppm
		}
	}
	for i, s := range w.spells(ClockJump, "the clock of "+machine, 2+w.Days/2, time.Minute, 12*time.Hour) {
		r := w.Seed.At(fmt.Sprintf("jump of the clock of %s", machine), uint64(i))
		by := chance.Between(r, time.Second, MaxJump)
		if r.IntN(2) == 0 {
			by = -by
		}
		c.jumps = append(c.jumps, jump{s, by})
	}
	return c
}

// Off is how far the clock is from real time at an instant.
func (c *Clock) Off(at time.Time) time.Duration {
	off := c.skew + time.Duration(int64(at.Sub(c.start)%time.Hour)/1_000_000*c.ppm)
	for _, j := range c.jumps {
		if !at.Before(j.from) && at.Before(j.to) && c.w.Faults.On(ClockJump) {
			return off + j.by
		}
	}
	return off
}

// Range is how far the clock is off at least and at most, from one instant to another.
func (c *Clock) Range(from, to time.Time) (least, most time.Duration) {
	least, most = c.Off(from), c.Off(from)
	see := func(at time.Time) {
		if !at.Before(from) && !at.After(to) {
			off := c.Off(at)
			least, most = min(least, off), max(most, off)
		}
	}
	see(to)
	for _, j := range c.jumps {
		if !from.Before(j.from) && from.Before(j.to) && c.w.Faults.On(ClockJump) {
			c.w.Faults.Count(ClockJump)
		}
		for _, at := range []time.Time{j.from, j.to} {
			see(at.Add(-1))
			see(at)
		}
	}
	for hour := c.start.Add(from.Sub(c.start).Truncate(time.Hour)); c.ppm != 0 && !hour.After(to); hour = hour.Add(time.Hour) {
		see(hour.Add(-1)) // when the drift is put right
		see(hour)
	}
	return least, most
}

// Now is what the clock shows.
func (c *Clock) Now() time.Time {
	now := time.Now()
	off := c.Off(now)
	return now.Add(off)
}

// Beginning draws when a history begins: often so that it soon crosses a change of the clocks
// of central Europe, the 29th of February, or the end of a year.
func Beginning(seed chance.Seed, days int) time.Time {
	first := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	r := seed.At("beginning", 0)
	year, before, minute := 2000+r.IntN(5), r.IntN(min(max(days, 1), 20)), r.IntN(24*60)
	month, kind := []time.Month{time.March, time.October}[r.IntN(2)], r.IntN(6)
	day := r.IntN(5 * 365)
	var at time.Time
	switch kind {
	case 0:
		return first
	case 1, 2:
		at = time.Date(year, month+1, 0, 0, minute, 0, 0, time.UTC) // the last day of the month
		at = at.AddDate(0, 0, -int(at.Weekday())-before)
	case 3:
		at = time.Date([]int{2000, 2004}[year%2], time.February, 29-before, 0, minute, 0, 0, time.UTC)
	case 4:
		at = time.Date(year, time.December, 31-before, 0, minute, 0, 0, time.UTC)
	default:
		at = first.AddDate(0, 0, day).Add(time.Duration(minute) * time.Minute)
	}
	return at
}
