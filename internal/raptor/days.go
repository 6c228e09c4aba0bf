package raptor

import (
	"slices"
	"sync"
)

// Days are the service days that searches on one date look at: which groups of
// trains run on which of them. A day has a bit.
type Days struct {
	date  int32 // of the search
	first int32 // the day of bit 0
	base  int64 // instants are counted from here, in seconds
	mask  []uint64
	start [][]int32 // by zone and bit
}

const (
	// Longest is how long a journey may take, in days.
	Longest = 3
	// maxEarlier is how many days before a search a train may have set out.
	maxEarlier = 64 - Longest - 3
)

// dayCache keeps the days that were asked for last.
type dayCache struct {
	mu   sync.Mutex
	last []*Days // the latest last
}

const keepDays = 8

// Days returns the service days for searches that depart on a date of any time
// zone. runs says whether a group of trains, of which there are so many, runs on
// a day; it is asked once for each, as a rule.
func (nw *Network) Days(date int32, groups, zones int, runs func(group, day int32) bool) *Days {
	c := &nw.days
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := slices.IndexFunc(c.last, func(d *Days) bool { return d.date == date }); i >= 0 {
		return c.last[i]
	}
	earlier := min(nw.latest/86400+2, maxEarlier)
	d := &Days{date: date, first: date - earlier, mask: make([]uint64, groups)}
	for g := range d.mask {
		for bit := range earlier + Longest + 2 {
			if runs(int32(g), d.first+bit) {
				d.mask[g] |= 1 << bit
			}
		}
	}
	d.base = nw.start(0, d.first)
	for z := range int32(zones) {
		starts := make([]int32, 65)
		for bit := range starts {
			starts[bit] = int32(nw.start(z, d.first+int32(bit)) - d.base)
		}
		d.start = append(d.start, starts)
	}
	if c.last = append(c.last, d); len(c.last) > keepDays {
		c.last = slices.Delete(c.last, 0, 1)
	}
	return d
}
