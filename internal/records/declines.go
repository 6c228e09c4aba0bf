package records

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/codec"
	"github.com/traintravel/traintravel/internal/ids"
	"github.com/traintravel/traintravel/store"
)

// DeclineWindow is how long an attempt is counted.
const DeclineWindow = time.Hour

// A DeclineCount lists the latest attempts with one card or of one user, the oldest first.
// It does not say what became of them: their records do. So an attempt is added before the
// gateway is asked, and nothing has to be written here when its outcome is known. Attempts
// that run at the same time count, and cannot pass the limit together: those that could
// wait for their turn.
type DeclineCount struct {
	Forget   time.Time // when Run looks whether the count can be removed
	Attempts []Counted
}

// Counted is one attempt of a DeclineCount.
type Counted struct {
	Booking, Payment uuid.UUID
	At               time.Time
}

// Prune drops the attempts that are no longer counted. One from the future, as after a
// clock was set back, counts from now.
func (c *DeclineCount) Prune(now time.Time) {
	c.Attempts = slices.DeleteFunc(c.Attempts, func(a Counted) bool { return !now.Before(a.At.Add(DeclineWindow)) })
	for i := range c.Attempts {
		if c.Attempts[i].At.After(now) {
			c.Attempts[i].At = now
		}
	}
}

// Wait is how long to wait until a count is below a limit.
func (c *DeclineCount) Wait(limit int, now time.Time) time.Duration {
	return c.Attempts[len(c.Attempts)-limit].At.Add(DeclineWindow).Sub(now)
}

// AgendaKey is where a count with a key stands on the agenda.
func (c *DeclineCount) AgendaKey(of store.Key) store.Key {
	return AgendaKey(CountDue, c.Forget, ids.HashID("declines", of.ID))
}

const countVersion = 1

// Encode returns the record.
func (c *DeclineCount) Encode() []byte {
	e := codec.NewEncoder(countVersion, 16+40*len(c.Attempts))
	e.Time(c.Forget)
	e.Uint(uint64(len(c.Attempts)))
	for _, a := range c.Attempts {
		e.ID(a.Booking)
		e.ID(a.Payment)
		e.Time(a.At)
	}
	return e.B
}

// DecodeCount reads what DeclineCount.Encode wrote.
func DecodeCount(v []byte) (c DeclineCount, err error) {
	d, _ := codec.NewDecoder("declined payments", countVersion, v)
	c.Forget = d.Time()
	c.Attempts = make([]Counted, d.Len(40))
	for i := range c.Attempts {
		c.Attempts[i] = Counted{d.ID(), d.ID(), d.Time()}
	}
	return c, d.Done()
}
