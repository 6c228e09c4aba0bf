package models_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
)

// The model of the property test: what a bookkeeper with paper and pencil
// would know.

// A variant is a timetable of the model. All are parts of one line from A to
// G, so that what a booking takes can be compared across timetables by letter.
var variants = []*traintravel.Timetable{
	officetest.Timetable(modelR1("ABCD", officetest.Seats(1, 1), officetest.Hooks(1)), modelR2("DEF", officetest.Seats(1)), modelS3),
	renumbered(officetest.Timetable(modelS3, modelR2("DEF", officetest.Seats(1)), modelR1("ABCD", officetest.Seats(1, 1), officetest.Hooks(1)))),
	officetest.Timetable(modelR1("ABD", officetest.Seats(1, 1), officetest.Hooks(1)), modelR2("DEF", officetest.Seats(2)), modelS3),
	officetest.Timetable(modelR1("ABCD", officetest.Seats(1)), modelR2("DE", officetest.Seats(1)), modelS3),
	officetest.Timetable(modelR2("DEF", officetest.Seats(1)), modelS3),
	officetest.Timetable(modelR1("ACD", officetest.Seats(1, 2), officetest.Hooks(2)), modelR2("DEF"), modelS3),
	officetest.Timetable(modelR1("ABCD"), modelR2("DF", officetest.Seats(1), officetest.Hooks(1)), modelS3),
}

func modelR1(line string, changes ...officetest.Change) traintravel.Train {
	return officetest.Train("R 1", 8, line, changes...)
}

func modelR2(line string, changes ...officetest.Change) traintravel.Train {
	return officetest.Train("R 2", 12, line, changes...)
}

var modelS3 = officetest.Train("S 3", 15, "FG")

func renumbered(t *traintravel.Timetable) *traintravel.Timetable {
	for i := range t.Trains {
		t.Trains[i].ID = fmt.Sprint("other ", i)
	}
	return t
}

// find finds a train in a timetable; nil if it is withdrawn.
func find(t *traintravel.Timetable, number string) *traintravel.Train {
	i := slices.IndexFunc(t.Trains, func(tr traintravel.Train) bool { return tr.Number == number })
	if i < 0 {
		return nil
	}
	return &t.Trains[i]
}

// line is the letters of a train's calls.
func line(t *traintravel.Train) string {
	if t == nil {
		return ""
	}
	var b strings.Builder
	for _, c := range t.Calls {
		b.WriteByte(c.Station[0])
	}
	return b.String()
}

// A section is a ride of the model: on a train, on a day, from letter to letter.
type section struct {
	number   string
	day      int
	from, to byte
}

// departs is when it begins: the trains leave A at 8, D at 12 and F at 15, all
// in Berlin's winter.
func (s section) departs() time.Time {
	h := map[string]int{"R 1": 8, "R 2": 12, "S 3": 15}[s.number] + int(s.from) - int(map[string]byte{"R 1": 'A', "R 2": 'D', "S 3": 'F'}[s.number])
	return time.Date(2026, 3, 2+s.day, h-1, 0, 0, 0, time.UTC)
}

// A seated section is one that a booking has been sold.
type seated struct {
	section
	coach string
	seat  int
	hook  bool
}

func (s seated) overlaps(o section) bool { return s.from < o.to && o.from < s.to }

// fits says whether it can be had in a timetable: its stations and its place.
func (s seated) fits(t *traintravel.Train) bool {
	l := line(t)
	return strings.IndexByte(l, s.from) >= 0 && strings.IndexByte(l, s.to) >= 0 && (s.seat == 0 || s.exists(t))
}

func (s seated) exists(t *traintravel.Train) bool {
	return slices.ContainsFunc(t.Coaches, func(c traintravel.Coach) bool { return c.Number == s.coach && s.seat <= c.Seats })
}

// A ticket is a booking of the model.
type ticket struct {
	traintravel.Booking // as the service gave it last
	by                  traintravel.Caller
	legs                []seated
	until               time.Time // while it is held
	attempts            []uuid.UUID
	expired, confirmed  bool // it ever was
	failures            int  // of its attempts
}

func (k *ticket) lapsed(now time.Time) bool {
	return k.Status == traintravel.Held && !now.Before(k.until)
}

func (k *ticket) departs() time.Time { return k.Legs[0].Origin.Time }

// has is what a ticket has of a run, if it has.
func (k *ticket) has(s section) (seated, bool) {
	for _, l := range k.legs {
		if l.number == s.number && l.day == s.day && (k.Status == traintravel.Held || k.Status == traintravel.Confirmed) {
			return l, true
		}
	}
	return seated{}, false
}

// A place is where one sits.
type place struct {
	coach string
	seat  int
}

// free lists the places that are free for a section at an instant, but for
// what one booking has.
func (w *world) free(s section, now time.Time, but *ticket) []place {
	t := find(w.timetable, s.number)
	var free []place
	for _, c := range t.Coaches {
		for n := 1; n <= c.Seats; n++ {
			ok := true
			for _, k := range w.tickets {
				l, has := k.has(s)
				if has && k != but && !k.lapsed(now) && l.coach == c.Number && l.seat == n && (!l.fits(t) || l.overlaps(s)) {
					ok = false
				}
			}
			if ok {
				free = append(free, place{c.Number, n})
			}
		}
	}
	return free
}

// hookFree says whether one more bicycle finds space on a section.
func (w *world) hookFree(s section, now time.Time, but *ticket) bool {
	t := find(w.timetable, s.number)
	for at := s.from; at < s.to; at++ {
		used := 0
		for _, k := range w.tickets {
			l, has := k.has(s)
			if has && k != but && l.hook && !k.lapsed(now) && (!l.fits(t) || l.overlaps(section{from: at, to: at + 1})) {
				used++
			}
		}
		if used >= t.Hooks {
			return false
		}
	}
	return true
}

// refusal is what a booking must be refused with, if at all.
func (w *world) refusal(ride []section, bicycle bool, now time.Time) error {
	for _, s := range ride {
		t := find(w.timetable, s.number)
		if len(t.Coaches) > 0 && len(w.free(s, now, nil)) == 0 {
			return traintravel.ErrSoldOut
		}
		if bicycle && t.Hooks > 0 && !w.hookFree(s, now, nil) {
			return traintravel.ErrNoBicycleSpace
		}
	}
	return nil
}

// take ends the lapsed holds that are in a new ticket's way.
func (w *world) take(legs []seated, now time.Time) {
	for _, k := range w.tickets {
		for _, l := range legs {
			o, has := k.has(l.section)
			t := find(w.timetable, l.number)
			clash := o.seat > 0 && place{o.coach, o.seat} == place{l.coach, l.seat} || o.hook && l.hook
			if has && k.lapsed(now) && clash && (!o.fits(t) || o.overlaps(l.section)) {
				k.Status, k.expired = traintravel.Expired, true
			}
		}
	}
}

// sold is what a booking got on a ride.
func sold(ride []section, b traintravel.Booking, tt *traintravel.Timetable) []seated {
	legs := make([]seated, len(ride))
	for i, s := range ride {
		legs[i] = seated{section: s, coach: b.Legs[i].Coach, seat: b.Legs[i].Seat, hook: b.HasBicycle && find(tt, s.number).Hooks > 0}
	}
	return legs
}

// pendingFor is how long payments of the model may be open.
const pendingFor = 3 * time.Hour

func earliest(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
