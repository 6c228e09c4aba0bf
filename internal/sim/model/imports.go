package model

import "github.com/traintravel/traintravel"

// Loaded says that a timetable was loaded, or perhaps, without an answer.
func (m *Model) Loaded(t *traintravel.Timetable, answered bool) {
	m.hooks.loaded(t)
	ts := &m.trains
	if len(ts.place) == 0 {
		for i, s := range t.Stations {
			ts.place[s.ID] = i
		}
	}
	for _, train := range t.Trains {
		if !ts.has(&train) {
			ts.past = append(ts.past, train)
		}
	}
	if ts.unsure = !answered; answered {
		ts.current = t.Trains
	}
}
