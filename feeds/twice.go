package feeds

import (
	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/fold"
)

// looks is what two railways that publish one train agree about.
type looks struct {
	operator, number string
	first, last      uuid.UUID
	departs, arrives traintravel.ServiceTime
}

// twice counts the trains that an earlier part has as well, to all appearances:
// with a date on which both run.
func twice(trains []traintravel.Train) (n int) {
	known := map[looks][]*traintravel.Train{}
next:
	for i := range trains {
		t := &trains[i]
		if t.Number == "" || len(t.Calls) == 0 {
			continue
		}
		first, last := t.Calls[0], t.Calls[len(t.Calls)-1]
		k := looks{fold.String(t.Operator), fold.String(t.Number), first.Station, last.Station, first.Depart, last.Arrive}
		same := known[k]
		known[k] = append(same, t)
		for _, other := range same {
			if other.Feed != t.Feed && meet(other.Days, t.Days) {
				n++
				continue next
			}
		}
	}
	return n
}

// meet says whether there is a date of both calendars.
func meet(a, b *traintravel.Calendar) bool {
	if a == nil || b == nil {
		return false
	}
	for d := max(a.From, b.From); d <= min(a.To, b.To); d++ {
		if a.Runs(d) && b.Runs(d) {
			return true
		}
	}
	return false
}
