package synthfeed

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"time"

	"github.com/traintravel/traintravel"
)

// A service is a row of calendar.txt.
type service struct {
	days    string // from Monday, 1 if trains run
	variant int    // all but the first have exceptions of their own
}

// String returns the service_id, such as 1111100-3.
func (s service) String() string { return fmt.Sprintf("%s-%d", s.days, s.variant) }

const variants = 12

const (
	workdays = "1111100"
	weekends = "0000011"
	sundays  = "0000001"
)

// patterns are the days of services, and of how many percent of all trains.
var patterns = []struct {
	days    string
	percent int
}{
	{"1111111", 62}, {workdays, 20}, {weekends, 8}, {"1111110", 4},
	{"0000111", 2}, {"1000000", 1}, {"0000100", 2}, {sundays, 1},
}

func drawService(r *rand.Rand) service {
	percent, variant := r.IntN(100), r.IntN(variants)
	for _, p := range patterns {
		if percent < p.percent {
			return service{p.days, variant}
		}
		percent -= p.percent
	}
	panic("the patterns are not of all trains")
}

// services yields all there are.
func services() iter.Seq[service] {
	return func(yield func(service) bool) {
		for _, p := range patterns {
			for v := range variants {
				if !yield(service{p.days, v}) {
					return
				}
			}
		}
	}
}

// exceptions yields the days on which a service is not as on all weekdays of
// that name, and whether trains run: holidays are Sundays, and now and then
// there are works on the line or additional trains.
func (s service) exceptions(o Options) iter.Seq2[traintravel.Date, bool] {
	return func(yield func(traintravel.Date, bool) bool) {
		r := rand.New(rand.NewPCG(o.Seed, uint64(s.variant)))
		for d := o.From; d <= o.to(); d++ {
			change := r.IntN(120) == 0 && s.variant > 0
			runs := s.days[(d.Weekday()+6)%7] == '1'
			if holiday(d) && (s.days == workdays && runs || (s.days == weekends || s.days == sundays) && !runs) {
				change = true
			}
			if change && !yield(d, !runs) {
				return
			}
		}
	}
}

func holiday(d traintravel.Date) bool {
	switch t := d.Start(time.UTC); t.Month() {
	case time.January, time.May:
		return t.Day() == 1
	case time.December:
		return t.Day() == 25 || t.Day() == 26
	}
	return false
}
