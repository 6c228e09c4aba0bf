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
	"testing"
	"testing/cryptotest"
	"testing/synctest"
	"time"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/sim/chance"
	"github.com/traintravel/traintravel/internal/sim/model"
	"github.com/traintravel/traintravel/internal/sim/world"
	"github.com/traintravel/traintravel/store/memstore"
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

// Run runs a history, in a bubble of its own.
func Run(t *testing.T, c Config) (res Result) {
	t.Helper()
	if testing.Testing() && !c.Beside { // in other programs it is not possible
		cryptotest.SetGlobalRandom(t, uint64(c.Seed))
	}
	synctest.Test(t, func(t *testing.T) {
		h := begin(c)
		defer func() {
			for _, s := range h.servers {
				s.stop()
			}
			res = h.result()
			h.close()
		}()
		h.story()
	})
	return res
}

// A history is one under way. The operations and the model are used by one goroutine at a
// time, the one that holds mu.
type history struct {
	Config
	w       *world.World
	m       *model.Model
	mu      sync.Mutex
	servers []*server
	options traintravel.Options // what all servers have in common
	made    map[int]int         // servers so far, by their places
	nobody  []spell             // when no server does scheduled work
	orders  map[int]*order      // by the operation that made it
	keys    map[string]int      // that users have used
	later   queue
	desk    desk
	trips   []traintravel.Trip // that were found, for those who ask again
	next    int
	failed  int
	done    map[string]int
	did     []int
	answers answers
	current atomic.Int64 // the operation under way
	marks   marks
	windows int           // that were drawn
	window  *window       // that comes next
	traffic *traffic      // that is under way
	ran     time.Duration // in traffic
}

type spell struct{ from, to time.Time }

func begin(c Config) *history {
	c.Days, c.PerDay, c.Users = cmp.Or(c.Days, 30), cmp.Or(c.PerDay, 200), cmp.Or(c.Users, 3)
	if c.Faults == nil {
		c.Faults, _ = world.ParseFaults("all")
	}
	sleepUntil(world.Beginning(c.Seed, c.Days))
	store := traintravel.Store(memstore.New())
	if c.Open != nil {
		store = c.Open()
	}
	h := &history{Config: c, orders: map[int]*order{}, keys: map[string]int{}, done: map[string]int{}, made: map[int]int{}}
	h.w = world.New(world.Config{Seed: c.Seed, Faults: c.Faults, Often: c.Often, Skip: c.Mask.Strikes, Days: c.Days, Store: store, Provider: c.Provider, Story: c.Story, Trace: c.Trace})
	h.w.Journal.Say("the history begins, at %s", h.w.Start.UTC().Format(time.RFC3339))
	r := c.Seed.At("options", 0)
	terms := model.Terms{
		HoldFor:    []time.Duration{10 * time.Minute, time.Hour, 20 * time.Hour}[r.IntN(3)],
		PendingFor: []time.Duration{2 * time.Hour, 24 * time.Hour, 48 * time.Hour}[r.IntN(3)],
		Back:       []int64{100, 50, 0}[r.IntN(3)],
	}
	terms.Cancels = h.w.Cancels()
	terms.Skew = h.w.MostSkew()
	terms.Retain = []time.Duration{0, 0, 6 * time.Hour, 10 * 24 * time.Hour}[r.IntN(4)]
	h.options = traintravel.Options{
		HoldFor: terms.HoldFor, PendingFor: terms.PendingFor, Retain: terms.Retain, Holds: traintravel.HoldLimits{User: -1, Train: -1},
		Declines:       traintravel.DeclineLimits{Card: -1, User: -1},
		FingerprintKey: make([]byte, 32),
		Cancel: func(b traintravel.Booking, _ time.Time) (traintravel.Money, error) {
			return traintravel.Money{Amount: b.Price.Amount * terms.Back / 100, Currency: b.Price.Currency}, nil
		},
	}
	h.m = model.New(terms, h.w.Bank)
	if h.w.Faults.On(world.NobodyRuns) {
		r := c.Seed.At("nobody runs", 0)
		for range r.IntN(5) {
			from := h.w.Start.Add(time.Duration(r.Int64N(int64(c.Days) * int64(24*time.Hour))))
			h.nobody = append(h.nobody, spell{from, from.Add(chance.Between(r, time.Hour, 60*time.Hour))})
		}
	}
	n := cmp.Or(c.Services, 1+r.IntN(3))
	for range n {
		h.servers = append(h.servers, h.open(len(h.servers), true))
	}
	return h
}

// story is the whole history: its beginning, its operations, and its end.
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
	if !h.broken() {
		h.failed = 0
		h.finish()
	}
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
		if kindOf(h.Seed, k).name == "book" {
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
	k := kindOf(h.Seed, n)
	h.w.Bank.Tick()
	op := &operation{history: h, n: n, r: r}
	do := func() {
		defer op.caught()
		op.s = op.server(h.serverOf(n))
		k.do(op)
		op.tell(func(m *model.Model) { m.Step(time.Now()) })
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
