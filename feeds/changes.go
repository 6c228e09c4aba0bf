package feeds

import (
	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
)

// changesAt returns rules about the stations that theirs have become.
func changesAt(rules []traintravel.Change, moved map[uuid.UUID]uuid.UUID) []traintravel.Change {
	if len(moved) == 0 {
		return rules
	}
	out := make([]traintravel.Change, len(rules))
	for i, c := range rules {
		if to, ok := moved[c.From]; ok {
			c.From = to
		}
		if to, ok := moved[c.To]; ok {
			c.To = to
		}
		out[i] = c
	}
	return out
}

// forAll says whether a rule is about all trains.
func forAll(c traintravel.Change) bool {
	return c.FromLine == "" && c.ToLine == "" && c.FromTrain == "" && c.ToTrain == "" && c.FromPlatform == 0 && c.ToPlatform == 0
}

// joinChanges puts the rules of several parts together, and counts the changes
// about which parts have rules for all trains that differ.
//
// Within one timetable the last of equal rules counts. Between parts that would
// be whoever was named last, so the strictest of theirs takes the place of all.
func joinChanges(parts [][]traintravel.Change) (all []traintravel.Change, differ int) {
	type way struct{ from, to uuid.UUID }
	type said struct {
		rule              traintravel.Change // the strictest
		parts             int
		differ, isWritten bool
	}
	ways := map[way]*said{}
	n := 0
	for _, rules := range parts {
		n += len(rules)
		last := map[way]traintravel.Change{}
		for _, c := range rules {
			if forAll(c) {
				last[way{c.From, c.To}] = c
			}
		}
		for w, c := range last {
			s := ways[w]
			if s == nil {
				ways[w] = &said{rule: c, parts: 1}
				continue
			}
			s.parts++
			s.differ = s.differ || s.rule.Kind != c.Kind || s.rule.Time != c.Time
			if stricter(c, s.rule) {
				s.rule = c
			}
		}
	}
	if n > 0 {
		all = make([]traintravel.Change, 0, n)
	}
	for _, rules := range parts {
		for _, c := range rules {
			if s := ways[way{c.From, c.To}]; s != nil && s.parts > 1 && forAll(c) {
				if s.isWritten {
					continue
				}
				s.isWritten = true
				c = s.rule
			}
			all = append(all, c)
		}
	}
	for _, s := range ways {
		if s.differ {
			differ++
		}
	}
	return all, differ
}

// stricter says whether rule a, for all trains, leaves less than b does.
func stricter(a, b traintravel.Change) bool {
	if a.Kind != b.Kind {
		return a.Kind == traintravel.Impossible
	}
	return a.Time > b.Time
}
