package traintravel

import (
	"slices"
	"time"

	"github.com/google/uuid"
)

// declineWindow is how long an attempt is counted.
const declineWindow = time.Hour

// A declineCount is a list of attempts, the oldest first.
type declineCount struct {
	forget   time.Time // when Run looks whether the count can be removed
	attempts []counted
}

type counted struct {
	booking, payment uuid.UUID
	at               time.Time
}

// prune drops the attempts that are no longer counted. One from the future, as after a
// clock was set back, counts from now.
func (c *declineCount) prune(now time.Time) {
	c.attempts = slices.DeleteFunc(c.attempts, func(a counted) bool { return !now.Before(a.at.Add(declineWindow)) })
	for i := range c.attempts {
		if c.attempts[i].at.After(now) {
			c.attempts[i].at = now
		}
	}
}

// wait is how long to wait until a count is below a limit.
func (c *declineCount) wait(limit int, now time.Time) time.Duration {
	return c.attempts[len(c.attempts)-limit].at.Add(declineWindow).Sub(now)
}

// agendaKey is where a count with a key stands on the agenda.
func (c *declineCount) agendaKey(of Key) Key {
	return agendaKey(countDue, c.forget, hashID("declines", of.ID))
}

const countVersion = 1

func (c *declineCount) encode() []byte {
	e := newEncoder(countVersion, 16+40*len(c.attempts))
	e.time(c.forget)
	e.uint(uint64(len(c.attempts)))
	for _, a := range c.attempts {
		e.id(a.booking)
		e.id(a.payment)
		e.time(a.at)
	}
	return e.b
}

func decodeCount(v []byte) (c declineCount, err error) {
	d, _ := newDecoder("declined payments", countVersion, v)
	c.forget = d.time()
	c.attempts = make([]counted, d.len(40))
	for i := range c.attempts {
		c.attempts[i] = counted{d.id(), d.id(), d.time()}
	}
	return c, d.done()
}
