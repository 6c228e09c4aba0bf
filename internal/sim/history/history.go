// Package history runs a railway in virtual time: users, an operator and several servers, with
// every fault of package world, under the eyes of package model. One seed makes one history.
package history

import (
	"cmp"
	"container/heap"
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/sim/chance"
	"github.com/traintravel/traintravel/internal/sim/model"
	"github.com/traintravel/traintravel/internal/sim/world"
)

// Config determines a history.
type Config struct {
	Seed chance.Seed
	// Days is how long it lasts; zero is 30. PerDay is how many operations a day has on
	// average; zero is 200.
	Days, PerDay int
	// Users is how many users there are; zero is 3. Services is how many servers there are;
	// zero draws one to three.
	Users, Services int
	// Speed is how time passes.
	Speed Speed
	// Faults says which classes may occur; nil is all.
	Faults map[world.Class]bool
	// Often are classes that occur in any case, and often.
	Often []world.Class
	// Open opens an empty store, in the bubble. Nil is a memstore.
	Open func() traintravel.Store
	// Provider is a gateway that moves all money; nil is none.
	Provider world.Provider
	// Mask leaves out parts of the history.
	Mask Mask
	// Story keeps the journal.
	Story bool
	// Trace gets each line that the hash is of, as it is written; nil is nobody.
	Trace io.Writer
	// NoCheck leaves out the auditor at the end, so that only the model is a witness.
	NoCheck bool
	// Rush has several users ask for the same trip at the same moment, on different servers. It
	// is for stores in which calls at the same time meet.
	Rush bool
	// Beside says that other tests run at the same time: random bytes are not from the seed then.
	Beside bool
}

// A Mask leaves out parts of a history and changes nothing else about it. The zero Mask
// leaves out nothing.
type Mask struct {
	// Until is the last operation that happens; zero is all.
	Until int
	// Skip are operations that do not happen.
	Skip map[int]bool
	// Strikes are single faults that do not happen.
	Strikes map[world.Strike]bool
}

func (m *Mask) leavesOut(n int) bool { return m.Skip[n] || m.Until > 0 && n > m.Until }

// A Result is what came of a history.
type Result struct {
	Config     Config
	Failures   []model.Failure // of the first operation that broke an invariant
	FailedAt   int             // that operation, zero in the end
	Operations int             // that were planned
	Done       map[string]int  // operations that happened, by kind
	Performed  []int           // the numbers of the operations that happened
	Commits    int
	Bookings   int
	Faults     map[world.Class]int
	Errors     map[string]int // that the services answered, by name
	Marks      map[string]int // messages of the servers for their operator
	Traffic    time.Duration  // how long the servers ran
	Struck     []world.Strike
	Hash       uint64
	Lines      int
	Story      []world.Line
}

// A history is one under way. The operations and the model are used by one goroutine at a
// time, the one that holds mu.
type history struct {
	Config
	kinds     []kind
	w         *world.World
	m         *model.Model
	mu        sync.Mutex
	servers   []*server
	options   traintravel.Options // what all servers have in common
	made      map[int]int         // servers so far, by their places
	nobody    []spell             // when no server does scheduled work
	orders    map[int]*order      // by the operation that made it
	keys      map[string]int      // that users have used
	later     queue
	desk      desk
	hooks     hooks
	operators []traintravel.OperatorWebhook
	trips     []traintravel.Trip // that were found, for those who ask again
	next      int
	failed    int
	done      map[string]int
	did       []int
	answers   answers
	current   atomic.Int64 // the operation under way
	marks     marks
	windows   int           // that were drawn
	window    *window       // that comes next
	traffic   *traffic      // that is under way
	ran       time.Duration // in traffic
}

type spell struct{ from, to time.Time }

// story is the history, but for its end.
func (h *history) story() {
	first := timetable(h.Seed, 0)
	if _, err := h.bare().LoadTimetable(context.Background(), first); err != nil {
		h.m.Fail("A1", "the first timetable was refused: %v", err)
		return
	}
	h.m.Loaded(first, true)
	defer h.endTraffic()
	h.nextWindow(h.w.Start)
	end := h.w.Start.Add(time.Duration(h.Days) * 24 * time.Hour)
	base := h.w.Start
	for h.next = 1; !h.broken(); {
		at := h.after(base)
		later := len(h.later) > 0 && !at.Before(h.later[0].at)
		first := at
		if later {
			first = h.later[0].at
		}
		if edge, ok := h.edge(); ok && edge.Before(end) && !edge.After(first) {
			sleepUntil(edge)
			h.pass()
			continue
		}
		if later {
			next := heap.Pop(&h.later).(planned)
			sleepUntil(next.at)
			h.perform(next.n, next.r)
			continue
		}
		if !at.Before(end) {
			break
		}
		base = at
		sleepUntil(at)
		h.plan(h.next)
		h.next++
	}
	h.endTraffic()
}

// broken reports whether an invariant is broken.
func (h *history) broken() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.m.Failures()) > 0
}

// after is when the next operation is planned, after the one before.
func (h *history) after(base time.Time) time.Time {
	r := h.Seed.At("gap", uint64(h.next))
	if t := h.traffic; t != nil {
		if base.Before(t.from) {
			base = t.from
		}
		return base.Add(time.Duration(1 + r.Int64N(2*int64(t.pace))))
	}
	return base.Add(time.Duration(1 + r.Int64N(int64(48*time.Hour)/int64(h.PerDay))))
}

func sleepUntil(at time.Time) {
	if wait := time.Until(at); wait > 0 {
		time.Sleep(wait)
	}
}

// plan begins operation n: half of all wait for a deadline, to happen exactly then, or a
// little before or after.
func (h *history) plan(n int) {
	if h.Mask.leavesOut(n) {
		return
	}
	r := h.Seed.Operation(n)
	r.Uint64() // its kind
	if r.IntN(2) == 0 {
		if at, ok := h.deadline(n, r); ok {
			heap.Push(&h.later, planned{at, n, r})
			return
		}
	}
	h.perform(n, r)
}

// deadline draws an instant near one at which something changes.
func (h *history) deadline(n int, r *rand.Rand) (time.Time, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	o := h.target(n, r)
	which := r.Float64()
	off := []time.Duration{0, 1, time.Millisecond, time.Second, time.Minute}[r.IntN(5)] * time.Duration(1-2*r.IntN(2))
	if o == nil || o.Booking == nil {
		return time.Time{}, false
	}
	s := h.servers[h.serverOf(n)]
	ds := h.m.Deadlines(o.Booking)
	at := func(d time.Time) time.Time { return d.Add(off - s.clock.Off(d)) }
	ds = slices.DeleteFunc(ds, func(d time.Time) bool { return !at(d).After(time.Now()) })
	if len(ds) == 0 {
		return time.Time{}, false
	}
	return at(ds[int(which*float64(len(ds)))]), true
}

// target draws the booking that operation n is about: one that was made not long before.
// Which it is does not depend on what happened to others.
func (h *history) target(n int, r *rand.Rand) *order {
	back := 1 + int(r.ExpFloat64()*12)
	for k := n - back; k > 0 && k > n-back-20; k-- {
		if h.kindOf(k).name == "book" {
			return h.orders[k]
		}
	}
	return nil
}

// serverOf draws the server that does operation n.
func (h *history) serverOf(n int) int {
	return int(h.Seed.At("server", uint64(n)).Uint64() % uint64(len(h.servers)))
}

// perform does operation n. When there is traffic, it happens while others do.
func (h *history) perform(n int, r *rand.Rand) {
	k := h.kindOf(n)
	h.w.Bank.Tick()
	op := &operation{history: h, n: n, r: r}
	do := func() {
		defer op.caught()
		op.s = op.server(h.serverOf(n))
		k.do(op)
		op.tell(func(m *model.Model) {
			h.posted()
			m.Step(time.Now())
		})
	}
	h.done[k.name]++
	h.did = append(h.did, n)
	h.current.Store(int64(n))
	t := h.traffic
	if t != nil && together[k.name] {
		t.operations.Go(do)
		return
	}
	if t != nil {
		t.operations.Wait()
	}
	do()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.failed == 0 && len(h.m.Failures()) > 0 {
		h.failed = n
	}
}

// planned is an operation that waits for its instant.
type planned struct {
	at time.Time
	n  int
	r  *rand.Rand
}

type queue []planned

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	return cmp.Or(q[i].at.Compare(q[j].at), cmp.Compare(q[i].n, q[j].n)) < 0
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(planned)) }
func (q *queue) Pop() any {
	old := *q
	x := old[len(old)-1]
	*q = old[:len(old)-1]
	return x
}

// close closes the store, if it can be closed.
func (h *history) close() {
	if c, ok := h.w.Disk.Bare().(io.Closer); ok {
		if err := c.Close(); err != nil {
			panic(err)
		}
	}
}

// result is what came of the history.
func (h *history) result() Result {
	return Result{
		Config: h.Config, Failures: h.m.Failures(), FailedAt: h.failed, Operations: h.next - 1, Done: h.done, Performed: slices.Sorted(slices.Values(h.did)),
		Commits: h.w.Disk.Commits(), Bookings: len(h.m.Bookings()), Faults: h.w.Faults.Counts(), Errors: h.answers.counts(), Marks: h.marks.counts(), Traffic: h.ran, Struck: h.w.Faults.Struck(),
		Hash: h.w.Journal.Hash(), Lines: h.w.Journal.Len(), Story: h.w.Journal.Lines(),
	}
}

// String is the line that a command prints of a history.
func (r Result) String() string {
	faults := 0
	for _, n := range r.Faults {
		faults += n
	}
	return fmt.Sprintf("seed %d: %d days, %d operations, %d bookings, %d commits, %d faults, hash %016x", r.Config.Seed, r.Config.Days, len(r.Performed), r.Bookings, r.Commits, faults, r.Hash)
}

// Kinds lists the operations that happened, with how often.
func (r Result) Kinds() string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(r.Done)) {
		parts = append(parts, fmt.Sprintf("%s %d", k, r.Done[k]))
	}
	return fmt.Sprint(parts)
}

// kindOf is the kind of operation n, whatever else happens.
func (h *history) kindOf(n int) kind {
	total := 0
	for _, k := range h.kinds {
		total += k.weight
	}
	x := int(h.Seed.Operation(n).Uint64() % uint64(total))
	for _, k := range h.kinds {
		if x -= k.weight; x < 0 {
			return k
		}
	}
	panic("unreachable")
}

// Hooks are the subscriptions of a history.
type hooks struct {
	on        bool
	operators []*model.Subscription
	made      []*model.Subscription // by users and by the agency
}

const (
	// agency is a program through which users book. It may subscribe to all those bookings.
	agency = "agency"
	// mostHooks is how many subscriptions there are at a time.
	mostHooks = 4
)

// The desk is what the operator remembers.
type desk struct {
	closed     []traintravel.RunID // that were cancelled, for sure or perhaps
	unfinished []traintravel.RunID // whose cancellation had no answer
	blocked    []line              // on which places were blocked
}

// A line is a train by its number on a date.
type line struct {
	number string
	date   traintravel.Date
}

// posted lets the model look at what was posted since it did so before.
func (h *history) posted() {
	for _, p := range h.w.Receivers.Posts() {
		h.m.Posted(p)
	}
}

// lastLines is how many lines of the story an error has.
const lastLines = 30

// Err returns the first invariant that the history broke, with the end of its story if that was
// kept; nil if it broke none.
func (r Result) Err() error {
	if len(r.Failures) == 0 {
		return nil
	}
	story := ""
	for _, l := range r.Story[max(0, len(r.Story)-lastLines):] {
		story += fmt.Sprintf("\n\t%v", l)
	}
	f := r.Failures[0]
	return fmt.Errorf("%s: %s\nthe history before that:%s", f.Invariant, f.Text, story)
}
