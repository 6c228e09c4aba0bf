package traintravel

import (
	"fmt"
	"time"

	"github.com/google/uuid"
)

// A Change is a rule for changing trains: from those that FromTrain, FromLine
// and From describe to those that ToTrain, ToLine and To do. Where several
// rules fit, the one that names more trains counts, then more lines, and of
// equals the last.
//
// Without a rule a change at a station takes five minutes, and one can walk
// between stations that are at most 500 metres apart, at a metre a second as
// the crow flies after those five minutes.
type Change struct {
	// From and To are the stations; the same for a change at one station.
	From, To uuid.UUID
	// Feed, with the IDs of trains or lines, says which they are. Empty IDs
	// mean any train.
	Feed               string
	FromLine, ToLine   string
	FromTrain, ToTrain string
	Kind               ChangeKind
	// Time is what the change takes at least, from zero to a day, in whole
	// seconds; zero unless Kind is Takes.
	Time time.Duration
}

// A ChangeKind is what a rule says of a change.
type ChangeKind uint8

const (
	// Takes: the change takes Time.
	Takes ChangeKind = iota
	// Impossible: nobody may count on it.
	Impossible
	// StaySeated: the train goes on as the other one, on which passengers
	// remain. FromTrain and ToTrain are given; the one ends where the other
	// begins, and does so within an hour on each day it runs, or else the rule
	// means nothing.
	StaySeated
)

// String returns takes, impossible or stay-seated.
func (k ChangeKind) String() string {
	switch k {
	case Takes:
		return "takes"
	case Impossible:
		return "impossible"
	case StaySeated:
		return "stay-seated"
	}
	return "unknown"
}

// maxChange bounds what a change takes.
const maxChange = 24 * time.Hour

func (c *checker) change(field string, ch *Change) {
	for _, end := range []struct {
		name string
		id   uuid.UUID
	}{{".from", ch.From}, {".to", ch.To}} {
		if !c.stations[end.id] {
			c.say(field+end.name, "there is no station %v", end.id)
		}
	}
	for _, t := range []struct{ name, text string }{
		{".feed", ch.Feed}, {".from_line", ch.FromLine}, {".to_line", ch.ToLine}, {".from_train", ch.FromTrain}, {".to_train", ch.ToTrain},
	} {
		c.text(field+t.name, t.text, false)
	}
	switch {
	case ch.Kind > StaySeated:
		c.say(field+".kind", "%d is no kind of change", ch.Kind)
	case ch.Time < 0 || ch.Time > maxChange || ch.Time%time.Second != 0:
		c.say(field+".time", "%v is not 0 to 24h in whole seconds", ch.Time)
	case ch.Time > 0 && ch.Kind != Takes:
		c.say(field+".time", "is given, but the kind is %v", ch.Kind)
	case ch.Kind == StaySeated && (ch.FromTrain == "" || ch.ToTrain == ""):
		c.say(field, "stays seated, but does not name both trains")
	}
}

// maxPairs bounds how many pairs of trains the rules for changing may tell apart.
const maxPairs = 4_000_000

// pairs refuses rules that tell apart more pairs of trains than can be held.
func (c *checker) pairs(all []Change) {
	from, to, joined := map[uuid.UUID]map[string]bool{}, map[uuid.UUID]map[string]bool{}, map[[2]uuid.UUID]bool{}
	add := func(side map[uuid.UUID]map[string]bool, at uuid.UUID, line, train string) {
		if line == "" && train == "" {
			return
		}
		if side[at] == nil {
			side[at] = map[string]bool{}
		}
		side[at][line+"\x00"+train] = true
	}
	for i := range all {
		ch := &all[i]
		if ch.Kind == StaySeated {
			continue
		}
		add(from, ch.From, ch.FromLine, ch.FromTrain)
		add(to, ch.To, ch.ToLine, ch.ToTrain)
		joined[[2]uuid.UUID{ch.From, ch.To}], joined[[2]uuid.UUID{ch.From, ch.From}] = true, true
	}
	sum := 0
	for pair := range joined {
		sum += (len(from[pair[0]]) + 1) * (len(to[pair[1]]) + 1)
	}
	if sum > maxPairs {
		c.say("changes", "tell apart %d pairs of trains, more than %d: name lines, or fewer trains at one station", sum, maxPairs)
	}
}

func (c *checker) changes(all []Change) {
	c.pairs(all)
	for i := range all {
		c.change(fmt.Sprintf("changes[%d]", i), &all[i])
		if c.full() {
			return
		}
	}
}
