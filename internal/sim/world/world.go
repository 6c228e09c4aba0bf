// Package world is what surrounds the services of a simulated history: a store, a bank and
// receivers of events that fail in every way that their contracts allow, the clocks of the
// processes, and a journal of what happened.
//
// It runs in a bubble of testing/synctest, where all time is virtual.
package world

import (
	"fmt"
	"hash"
	"hash/fnv"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/sim/chance"
)

// Config determines a world.
type Config struct {
	Seed chance.Seed
	// Faults says which classes may occur; Skip are single faults that do not happen.
	Faults map[Class]bool
	Skip   map[Strike]bool
	// Often are classes that occur in any case, and often.
	Often []Class
	// Days is how long the history lasts.
	Days int
	// Store is the store that the processes share.
	Store traintravel.Store
	// Provider is the gateway that the bank asks to move money; nil is nobody.
	Provider Provider
	// Story keeps the journal's lines, and not their hash only.
	Story bool
	// Trace gets each line that the hash is of; nil is nobody.
	Trace io.Writer
}

// A World is shared by the processes of a history.
type World struct {
	Config
	Start     time.Time
	Places    *chance.Places
	Faults    *Faults
	Journal   *Journal
	Disk      *Disk
	Bank      *Bank
	Receivers *Receivers
	slow      atomic.Bool
}

// New begins a world at the bubble's current time.
func New(c Config) *World {
	w := &World{Config: c, Start: time.Now(), Places: chance.NewPlaces(c.Seed), Faults: newFaults(c.Seed, c.Faults, c.Skip, c.Often)}
	w.Journal = &Journal{start: w.Start, hash: fnv.New64a(), keep: c.Story, trace: c.Trace}
	w.Disk = &Disk{w: w, store: c.Store}
	w.Bank = newBank(w)
	w.Receivers = newReceivers(w)
	return w
}

// Calm ends all faults: what is under way arrives, and what was away answers again.
func (w *World) Calm() {
	w.Journal.Say("the faults end")
	w.Faults.Calm()
	w.Bank.Tick()
}

// SetSlow says whether calls take time. If they do, operations that happen together meet in
// different orders, and hardly ever at one instant.
func (w *World) SetSlow(slow bool) { w.slow.Store(slow) }

// Slow reports whether calls take time.
func (w *World) Slow() bool { return w.slow.Load() }

// latency waits a drawn time, at least one nanosecond, if calls take time at all.
func (w *World) latency(d chance.Dice, most time.Duration) {
	if w.Slow() {
		time.Sleep(1 + time.Duration(d.Int64N(int64(most))))
	}
}

// A spell is a time in which something is away.
type spell struct{ from, to time.Time }

// spells draws when something is away: up to most times in the history, from least to
// longest each. They depend on the class and the name only.
func (w *World) spells(c Class, name string, most int, least, longest time.Duration) []spell {
	if !w.Faults.On(c) {
		return nil
	}
	r := w.Seed.At(string(c)+" of "+name, 0)
	var ss []spell
	for range r.IntN(most + 1) {
		from := w.Start.Add(time.Duration(r.Int64N(int64(max(w.Days, 1)) * int64(24*time.Hour))))
		ss = append(ss, spell{from, from.Add(chance.Between(r, least, longest))})
	}
	return ss
}

// away reports whether now is in one of the spells.
func (w *World) away(ss []spell, c Class) bool {
	now := time.Now()
	for _, s := range ss {
		if !now.Before(s.from) && now.Before(s.to) && w.Faults.On(c) {
			w.Faults.Count(c)
			return true
		}
	}
	return false
}

// A Journal is the story of a history: a line for each thing that happened.
type Journal struct {
	start time.Time
	keep  bool
	trace io.Writer

	mu    sync.Mutex
	hash  hash.Hash64
	at    time.Duration // of the lines in now, which the hash does not have yet
	now   []string
	lines []Line
	n     int
}

// A Line says what happened when.
type Line struct {
	At   time.Duration // since the start
	Text string
}

// String formats the line with its day and time of day.
func (l Line) String() string {
	return Day(l.At) + "  " + l.Text
}

// Day formats a time since the start as a day, counted from 0, and a time of day.
func Day(at time.Duration) string {
	const day = 24 * time.Hour
	return fmt.Sprintf("day %d %s", at/day, time.Time{}.Add(at%day).Format("15:04:05.999999999"))
}

// Say adds a line.
func (j *Journal) Say(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	l := Line{time.Since(j.start), fmt.Sprintf(format, args...)}
	j.sum("%d %s\n", l.At, l.Text)
	j.n++
	if j.keep {
		j.lines = append(j.lines, l)
	}
}

// sum adds a line to the hash, with j.mu held.
func (j *Journal) sum(format string, args ...any) {
	if at := time.Since(j.start); at != j.at {
		j.flush()
		j.at = at
	}
	j.now = append(j.now, fmt.Sprintf(format, args...))
}

// flush adds the lines of an instant to the hash, in the order of their text: which of two
// goroutines is first at one instant is the Go runtime's choice.
func (j *Journal) flush() {
	slices.Sort(j.now)
	for _, line := range j.now {
		_, _ = io.WriteString(j.hash, line)
		if j.trace != nil {
			_, _ = io.WriteString(j.trace, line)
		}
	}
	j.now = j.now[:0]
}

// Lines are the lines so far, if they are kept.
func (j *Journal) Lines() []Line {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.lines
}

// Hash is of all lines so far, and Len their number.
func (j *Journal) Hash() uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.flush()
	return j.hash.Sum64()
}

// Len is the number of lines so far.
func (j *Journal) Len() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.n
}
