package storetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/traintravel/traintravel"
)

// An event is an update that read some lists and appended its number to some
// of them.
type event struct {
	id           int
	reads        map[string][]int // what it found, by key
	appends      []string         // the keys it appended to, all of them read
	refused      bool             // by itself, after it had written
	began, ended int64            // readings of one clock around the call
}

func (e *event) String() string {
	return fmt.Sprintf("update %d (from %d to %d) read %v and appended to %q", e.id, e.began, e.ended, e.reads, e.appends)
}

// history: updates at random read lists under several keys and append to some
// of them. As a list says in which order it was written, what each update
// found tells which updates it must come after, and before. If these demands
// go round in a circle, no order of one after another explains what was seen.
func history(ctx context.Context, s traintravel.Store) error {
	const workers, each = 20, 15
	names := []string{"p", "q", "r", "s", "t"}
	events := make([]*event, workers*each)
	var clock atomic.Int64
	err := together(workers, func(w int) error {
		rnd := rand.New(rand.NewPCG(uint64(w), 1))
		for n := range each {
			e := &event{id: w*each + n, refused: rnd.IntN(6) == 0}
			events[e.id] = e
			picked := rnd.Perm(len(names))[:1+rnd.IntN(3)]
			var ids []string
			for _, p := range picked {
				ids = append(ids, names[p])
			}
			e.appends = ids[:rnd.IntN(len(ids)+1)]
			e.began = clock.Add(1)
			err := s.Update(ctx, e.closure(ctx, ids))
			e.ended = clock.Add(1)
			if err != nil && (err != errRefused || !e.refused) {
				return doing(err, "an update that appends")
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	final := make(map[string][]int)
	values, err := s.Get(ctx, keys(names...)...)
	if err != nil {
		return err
	}
	for i, v := range values {
		if final[names[i]], err = parseList(v); err != nil {
			return err
		}
	}
	events = slices.DeleteFunc(events, func(e *event) bool { return e.refused })
	return explain(events, final)
}

// closure reads ids and appends the event's number to those it appends to.
func (e *event) closure(ctx context.Context, ids []string) func(traintravel.Tx) error {
	return func(tx traintravel.Tx) error {
		reads := make(map[string][]int)
		for _, id := range ids {
			value, err := get(ctx, tx, key(id))
			if err != nil {
				return err
			}
			if reads[id], err = parseList(value); err != nil {
				return err
			}
			runtime.Gosched()
		}
		for _, id := range e.appends {
			tx.Put(key(id), formatList(append(slices.Clip(reads[id]), e.id)))
		}
		if e.refused {
			return errRefused
		}
		e.reads = reads
		return nil
	}
}

func formatList(list []int) []byte {
	var b []byte
	for _, n := range list {
		b = append(strconv.AppendInt(b, int64(n), 10), ' ')
	}
	return b
}

func parseList(b []byte) ([]int, error) {
	var list []int
	for _, f := range strings.Fields(string(b)) {
		n, err := strconv.Atoi(f)
		if err != nil {
			return nil, doing(err, "the list %q", b)
		}
		list = append(list, n)
	}
	return list, nil
}

// explain returns an error unless the events can have run one after another,
// and left the final lists, in an order in which an event that ended before
// another began comes first.
func explain(events []*event, final map[string][]int) error {
	byID := make(map[int]*event)
	for _, e := range events {
		byID[e.id] = e
	}
	after := make(map[*event]map[*event]string) // must come after, and why
	order := func(first, then *event, why string) {
		if first == then {
			return
		}
		if after[first] == nil {
			after[first] = make(map[*event]string)
		}
		after[first][then] = why
	}
	for id, list := range final {
		for i, n := range list {
			if byID[n] == nil {
				return fmt.Errorf("list %q holds %d, which was refused: %v", id, n, list)
			}
			if slices.Index(list, n) < i {
				return fmt.Errorf("%v; but list %q ended as %v: an update was applied twice", byID[n], id, list)
			}
			if i > 0 {
				order(byID[list[i-1]], byID[n], "which appended next to "+id)
			}
		}
	}
	for _, e := range events {
		for id, found := range e.reads {
			list := final[id]
			if len(found) > len(list) || !slices.Equal(found, list[:len(found)]) {
				return fmt.Errorf("%v; but list %q ended as %v: an update was lost or seen out of order", e, id, list)
			}
			if slices.Contains(e.appends, id) && (len(found) == len(list) || list[len(found)] != e.id) {
				return fmt.Errorf("%v; but list %q ended as %v: an update was lost", e, id, list)
			}
			if len(found) > 0 {
				order(byID[found[len(found)-1]], e, "which found that in "+id)
			}
			if len(found) < len(list) {
				order(e, byID[list[len(found)]], "which appended what that had not found in "+id)
			}
		}
		for _, other := range events {
			if e.ended < other.began {
				order(e, other, "which began when that had returned")
			}
		}
	}
	return circle(events, after)
}

// circle returns an error that tells of a circle in after, or nil if there is
// none: it takes away whatever nothing left must come before.
func circle(events []*event, after map[*event]map[*event]string) error {
	waits := make(map[*event]int) // for how many others
	for _, then := range after {
		for e := range then {
			waits[e]++
		}
	}
	var free []*event
	for _, e := range events {
		if waits[e] == 0 {
			free = append(free, e)
		}
	}
	left := len(events)
	for ; len(free) > 0; left-- {
		e := free[len(free)-1]
		free = free[:len(free)-1]
		for then := range after[e] {
			if waits[then]--; waits[then] == 0 {
				free = append(free, then)
			}
		}
	}
	if left == 0 {
		return nil
	}
	// What is left waits for something left: go backwards until it repeats.
	before := func(e *event) *event {
		for _, other := range events {
			if _, ok := after[other][e]; ok && waits[other] > 0 {
				return other
			}
		}
		panic("storetest: an event waits for nothing")
	}
	var path []*event
	at := events[slices.IndexFunc(events, func(e *event) bool { return waits[e] > 0 })]
	for !slices.Contains(path, at) {
		path = append(path, at)
		at = before(at)
	}
	path = append(path[slices.Index(path, at):], at)
	slices.Reverse(path)
	var b strings.Builder
	fmt.Fprintf(&b, "no order of one after another explains these updates:\n  %v", path[0])
	for i, e := range path[1:] {
		fmt.Fprintf(&b, "\n  comes before one %s:\n  %v", after[path[i]][e], e)
	}
	return fmt.Errorf("%s", b.String())
}
