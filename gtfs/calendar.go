package gtfs

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/traintravel/traintravel"
)

// beyond notes days that a timetable cannot hold; feeds write 99991231 for ever.
var beyond = fmt.Sprintf("the days before %v and after %v are left out", traintravel.FirstDate, traintravel.LastDate)

// clip leaves out the days that are not read.
func (s *service) clip() {
	s.From, s.To = max(s.From, traintravel.FirstDate), min(s.To, traintravel.LastDate)
	if s.To < s.From {
		s.Calendar = traintravel.Calendar{}
	}
}

// spoil gives the service a mistake: nobody knows on which days its trips run.
func (s *service) spoil(flaw *Error) bool {
	s.flaw = cmp.Or(s.flaw, flaw)
	return true
}

var weekdays = [7]string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}

func (f *feed) readCalendar() error {
	if !f.has("calendar.txt") {
		if !f.has("calendar_dates.txt") {
			f.fail("calendar.txt", 0, "the feed has neither this file nor calendar_dates.txt")
			return errMistakes
		}
		return nil
	}
	t, err := f.open("calendar.txt", append([]string{"service_id", "start_date", "end_date"}, weekdays[:]...)...)
	if err != nil {
		return err
	}
	id, from, to := t.column("service_id"), t.column("start_date"), t.column("end_date")
	var days [7]column
	for i, name := range weekdays {
		days[i] = t.column(name)
	}
	var key string
	t.flawed = func(flaw *Error) bool { return f.services[key].spoil(flaw) }
	for t.next() {
		key = string(t.get(id))
		if f.services[key] != nil {
			t.fail("service_id %.60q occurs twice", key)
			continue
		}
		s := &service{}
		f.hold(sizeService, key)
		f.services[key] = s
		for i, day := range days {
			s.Weekdays[i] = t.choice(day, weekdays[i], 1) == 1
		}
		var ok bool
		if s.From, ok = t.date(from, "start_date"); !ok {
			continue
		}
		if s.To, ok = t.date(to, "end_date"); ok && s.To < s.From {
			t.fail("end_date %s is before start_date %s", s.To, s.From)
		}
		if s.From < traintravel.FirstDate || s.To > traintravel.LastDate {
			f.note(t.name, t.line(), beyond)
			s.clip()
		}
	}
	return t.err
}

func (f *feed) readCalendarDates() error {
	if f.has("calendar_dates.txt") {
		if err := f.readExceptions(); err != nil {
			return err
		}
	}
	for _, s := range f.services {
		s.span()
	}
	return nil
}

func (f *feed) readExceptions() error {
	t, err := f.open("calendar_dates.txt", "service_id", "date", "exception_type")
	if err != nil {
		return err
	}
	id, date, kind := t.column("service_id"), t.column("date"), t.column("exception_type")
	var s *service
	t.flawed = func(flaw *Error) bool { return s.spoil(flaw) }
	for t.next() {
		s = f.services[string(t.get(id))]
		if s == nil {
			s = &service{}
			f.hold(sizeService + len(t.get(id)))
			f.services[string(t.get(id))] = s
		}
		d, ok := t.date(date, "date")
		if !ok {
			continue
		}
		if d < traintravel.FirstDate || d > traintravel.LastDate {
			f.note(t.name, t.line(), beyond)
			continue
		}
		f.hold(sizeDate)
		switch string(t.get(kind)) {
		case "1":
			s.Added = addDate(s.Added, d)
		case "2":
			s.Removed = addDate(s.Removed, d)
		default:
			t.fail("exception_type %.20q is neither 1 nor 2", t.get(kind))
		}
	}
	return t.err
}

// addDate adds a day. Where there are very many, those that come again are left out, so
// that there are never many more than days.
func addDate(days []traintravel.Date, d traintravel.Date) []traintravel.Date {
	if len(days) == cap(days) && len(days) >= 1024 {
		slices.Sort(days)
		days = slices.Compact(days)
	}
	return append(days, d)
}

// span finds the first and the last day of the service. It looks at no more
// days than are removed, and at some weeks beside.
func (s *service) span() {
	removed := make(map[traintravel.Date]bool, len(s.Removed))
	for _, d := range s.Removed {
		removed[d] = true
	}
	found := func(d traintravel.Date) bool {
		if removed[d] {
			return false
		}
		if !s.runs {
			s.first, s.last, s.runs = d, d, true
		}
		s.first, s.last = min(s.first, d), max(s.last, d)
		return true
	}
	for _, d := range s.Added {
		found(d)
	}
	if s.Weekdays == [7]bool{} {
		return
	}
	for d := s.From; d <= s.To; d++ {
		if s.Weekdays[d.Weekday()] && found(d) {
			break
		}
	}
	for d := s.To; d >= s.From; d-- {
		if s.Weekdays[d.Weekday()] && found(d) {
			break
		}
	}
}

// date returns a field that is a date in the form 20261231.
func (t *table) date(c column, name string) (traintravel.Date, bool) {
	v, err := time.Parse("20060102", string(t.get(c)))
	if err != nil {
		t.fail("%s %.20q is not a date of the form 20261231", name, t.get(c))
		return 0, false
	}
	return traintravel.DateOf(v), true
}

// daysOf returns the days of a service that runs at all.
func (f *feed) daysOf(s *service) daySet {
	if set, ok := f.days[s]; ok {
		return set
	}
	set := daySet{first: int(s.first >> 6), words: make([]uint64, s.last>>6-s.first>>6+1)}
	bit := func(d traintravel.Date) (*uint64, uint64) {
		return &set.words[int(d>>6)-set.first], 1 << (d & 63)
	}
	set.fill(max(s.From, s.first), min(s.To, s.last), s.Weekdays)
	for _, d := range s.Added {
		if d >= s.first && d <= s.last {
			word, b := bit(d)
			*word |= b
		}
	}
	for _, d := range s.Removed {
		if d >= s.first && d <= s.last {
			word, b := bit(d)
			*word &^= b
		}
	}
	if f.dayWords += len(set.words); f.days == nil || f.dayWords > maxDayWords {
		f.days, f.dayWords = map[*service]daySet{}, len(set.words)
	}
	f.days[s] = set
	return set
}

// maxDayWords bounds the words that daysOf remembers, to 8 MiB.
const maxDayWords = 1 << 20
