package schedule

import (
	"time"

	"github.com/google/uuid"
)

// A Change is a rule for changing trains: from those that FromTrain, FromLine
// and From describe to those that ToTrain, ToLine and To do. Where several
// rules fit, the one that names more trains counts, then more lines, then more
// platforms, and of equals the last.
//
// Without a rule, a change at a station takes five minutes. Passengers can walk between
// stations that are at most 500 metres apart in a straight line: that takes five minutes, and
// a second for each metre.
type Change struct {
	// From and To are the stations; the same for a change at one station.
	From, To uuid.UUID
	// Feed, with the IDs of trains or lines and with platforms, identifies the trains.
	// Empty fields match any train.
	Feed               string
	FromLine, ToLine   string
	FromTrain, ToTrain string
	Kind               ChangeKind
	// Time is the shortest time for the change, from zero to a day, in whole seconds; zero
	// unless Kind is Takes.
	Time time.Duration
	// FromPlatform and ToPlatform are the Platforms of the calls that the rule is
	// about; zero means any. They are zero with StaySeated, because passengers who
	// stay seated use no platform.
	FromPlatform, ToPlatform uint16
}

// A ChangeKind says how a rule affects a change of trains.
type ChangeKind uint8

const (
	// Takes: the change takes Time.
	Takes ChangeKind = iota
	// Impossible: this change is not offered.
	Impossible
	// StaySeated: the train continues as the other one, and passengers remain
	// seated. FromTrain and ToTrain are required. The second train must begin where
	// the first ends, within an hour, on each day it runs; otherwise the rule has
	// no effect.
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

// callKinds is what rules tell apart at stations, of those that one leaves or enters: trains or
// lines, and platforms.
type callKinds map[uuid.UUID]*struct {
	trains    map[string]bool
	platforms map[uint16]bool
}

func (t callKinds) add(at uuid.UUID, line, train string, platform uint16) {
	if line == "" && train == "" && platform == 0 {
		return
	}
	k := t[at]
	if k == nil {
		k = &struct {
			trains    map[string]bool
			platforms map[uint16]bool
		}{map[string]bool{}, map[uint16]bool{}}
		t[at] = k
	}
	if line != "" || train != "" {
		k.trains[line+"\x00"+train] = true
	}
	if platform != 0 {
		k.platforms[platform] = true
	}
}

// count is how many kinds of calls there may be at a station.
func (t callKinds) count(at uuid.UUID) int {
	if t[at] == nil {
		return 1
	}
	return (len(t[at].trains) + 1) * (len(t[at].platforms) + 1)
}

// MaxPairs limits the number of pairs of trains that the rules of a timetable distinguish, as
// [ChangePairs] counts them.
const MaxPairs = 4_000_000

// ChangePairs counts the pairs of trains that rules distinguish: at each station with rules,
// the arriving trains, lines and platforms that rules name, times the departing ones, where
// all that no rule names count as one.
func ChangePairs(all []Change) int {
	from, to, joined := callKinds{}, callKinds{}, map[[2]uuid.UUID]bool{}
	for i := range all {
		ch := &all[i]
		if ch.Kind == StaySeated {
			continue
		}
		from.add(ch.From, ch.FromLine, ch.FromTrain, ch.FromPlatform)
		to.add(ch.To, ch.ToLine, ch.ToTrain, ch.ToPlatform)
		joined[[2]uuid.UUID{ch.From, ch.To}], joined[[2]uuid.UUID{ch.From, ch.From}] = true, true
	}
	sum := 0
	for pair := range joined {
		sum += from.count(pair[0]) * to.count(pair[1])
	}
	return sum
}
