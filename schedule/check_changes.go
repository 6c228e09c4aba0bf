package schedule

import (
	"fmt"
	"time"

	"github.com/google/uuid"
)

// maxChange is the longest time that a change can take.
const maxChange = 24 * time.Hour

func (c *checker) change(field string, ch *Change) {
	for _, end := range []struct {
		name string
		id   uuid.UUID
	}{{".from", ch.From}, {".to", ch.To}} {
		if !c.stations[end.id] {
			c.say(field+end.name, "unknown station %v", end.id)
		}
	}
	for _, t := range []struct{ name, text string }{
		{".feed", ch.Feed}, {".from_line", ch.FromLine}, {".to_line", ch.ToLine}, {".from_train", ch.FromTrain}, {".to_train", ch.ToTrain},
	} {
		c.text(field+t.name, t.text, false)
	}
	switch {
	case ch.Kind > StaySeated:
		c.say(field+".kind", "unknown kind of change %d", ch.Kind)
	case ch.Time < 0 || ch.Time > maxChange || ch.Time%time.Second != 0:
		c.say(field+".time", "invalid time %v: want 0 to 24h in whole seconds", ch.Time)
	case ch.Time > 0 && ch.Kind != Takes:
		c.say(field+".time", "is set, but only changes of the kind %v have a time, and this one is %v", Takes, ch.Kind)
	case ch.Kind == StaySeated && (ch.FromTrain == "" || ch.ToTrain == ""):
		c.say(field, "stays seated, but does not name both trains")
	case ch.Kind == StaySeated && (ch.FromPlatform != 0 || ch.ToPlatform != 0):
		c.say(field, "stays seated, but names a platform")
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

// pairs refuses rules that distinguish more than MaxPairs pairs of trains.
func (c *checker) pairs(all []Change) {
	if n := ChangePairs(all); n > MaxPairs {
		c.say("changes", "distinguish %d pairs of trains, more than %d: name lines, or fewer trains at one station", n, MaxPairs)
	}
}
