package gtfs

import (
	"slices"

	"github.com/traintravel/traintravel"
)

// maxChanges bounds the rules of one feed.
const maxChanges = 500_000

// rules are the rules for changes, each pair of stations with its trains or
// lines once.
type rules struct {
	list []traintravel.Change
	// at is where in list a rule is, by what it is about.
	at map[traintravel.Change]int32
	// settled are pairs of trips for which transfers.txt has said whether
	// passengers stay seated, so that their block does not.
	settled map[[2]int32]bool
	// unseated are the rules that passengers stay seated of which transfers.txt says, in
	// rows before or after them, that they do not.
	unseated map[traintravel.Change]bool
	// repeated is how often add was called for trips that are repeated, which
	// a few rows may do without end.
	repeated int
}

// size is what the rules take of memory.
func (r *rules) size() int {
	return len(r.list)*sizeChange + len(r.settled)*sizeKey + len(r.unseated)*sizeChange
}

func (r *rules) settle(from, to int32) {
	if r.settled == nil {
		r.settled = map[[2]int32]bool{}
	}
	r.settled[[2]int32{from, to}] = true
}

// unseat forbids a rule that passengers stay seated. It says whether there is one.
func (r *rules) unseat(stay traintravel.Change) (differ bool) {
	if r.unseated == nil {
		r.unseated = map[traintravel.Change]bool{}
	}
	r.unseated[stay] = true
	key := stay
	key.Kind = 0
	i, ok := r.at[key]
	return ok && r.list[i] == stay
}

// dropUnseated takes out what unseat forbids, when all rules are known.
func (r *rules) dropUnseated() {
	if len(r.unseated) > 0 {
		r.list = slices.DeleteFunc(r.list, func(ch traintravel.Change) bool { return r.unseated[ch] })
	}
}

// add adds a rule. If there is another one about the same, it keeps the
// stricter, and says so if they differ.
func (r *rules) add(ch traintravel.Change) (several bool) {
	key := ch
	key.Kind, key.Time = 0, 0
	if i, ok := r.at[key]; ok {
		old := r.list[i]
		r.list[i] = stricter(old, ch)
		return old != ch
	}
	if r.at == nil {
		r.at = map[traintravel.Change]int32{}
	}
	r.at[key] = int32(len(r.list))
	r.list = append(r.list, ch)
	return false
}

// stricter returns that one is impossible, else that one stays seated, else the
// one that takes longer.
func stricter(a, b traintravel.Change) traintravel.Change {
	rank := [...]int{traintravel.Takes: 0, traintravel.StaySeated: 1, traintravel.Impossible: 2}
	if rank[b.Kind] > rank[a.Kind] || b.Kind == a.Kind && b.Time > a.Time {
		return b
	}
	return a
}
