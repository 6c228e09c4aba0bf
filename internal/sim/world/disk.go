package world

import (
	"context"
	"errors"
	"fmt"
	"hash"
	"hash/fnv"
	"strings"
	"sync"
	"time"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/sim/chance"
)

// ErrDead is the error of all calls of a process that has died.
var ErrDead = errors.New("sim: this process has died")

// A Disk is the store that all processes share.
type Disk struct {
	w       *World
	store   traintravel.Store
	mu      sync.Mutex
	commits int
}

// Commits is how many updates were written.
func (d *Disk) Commits() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.commits
}

// Bare is the store without its faults.
func (d *Disk) Bare() traintravel.Store { return d.store }

// Move has all processes use another store from now on.
func (d *Disk) Move(to traintravel.Store) { d.store = to }

// A Seat is the way of one process to the disk. It is not a LocalStore, so processes
// share the work as servers do that share a database.
type Seat struct {
	w    *World
	name string
	line string // the name without the number of its start

	mu    sync.Mutex
	calls int
	dies  int // at which call; 0 is never
	dead  bool
	died  chan struct{} // is closed by then
	// paused holds up all that the process does until then.
	paused time.Time
	cut    partition
	drawn  map[string]drawing
}

// NewSeat returns the way of the process with a name to the disk. It dies at the call
// with number dies, if that is above zero.
func (w *World) NewSeat(name string, dies int) *Seat {
	line, _, _ := strings.Cut(name, ".")
	return &Seat{w: w, name: name, line: line, dies: dies, died: make(chan struct{}), drawn: map[string]drawing{}}
}

// Dead reports whether the process has died.
func (s *Seat) Dead() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dead
}

// Kill lets the process die.
func (s *Seat) Kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kill()
}

// kill does so with s.mu held.
func (s *Seat) kill() {
	if !s.dead {
		s.dead = true
		close(s.died)
	}
}

// Died is closed when the process has died.
func (s *Seat) Died() <-chan struct{} { return s.died }

// Spare lets the process live on, however often it calls.
func (s *Seat) Spare() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dies = 0
}

// A drawing is when background work drew last at a place, and what.
type drawing struct {
	at time.Time
	d  chance.Dice
}

// draw returns what a call draws.
func (s *Seat) draw(ctx context.Context, what string) chance.Dice {
	who, _ := ctx.Value(actor{}).(string)
	at := place(ctx, s.line, what)
	if who != Background {
		return s.w.Places.Draw(at)
	}
	return s.alike(at)
}

// alike draws at a place of background work. All draw the same there at one instant: in which
// order they do so is the Go runtime's choice.
func (s *Seat) alike(at string) chance.Dice {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if l, ok := s.drawn[at]; ok && l.at.Equal(now) {
		return s.w.Places.Again(l.d)
	}
	d := s.w.Places.Draw(at)
	s.drawn[at] = drawing{now, d}
	return d
}

// call begins a call of the store: it may fail, take its time, or be the process's last.
func (s *Seat) call(ctx context.Context, what, about string) (chance.Dice, error) {
	d := s.draw(ctx, what+about)
	s.mu.Lock()
	s.calls++
	if s.calls == s.dies && !s.w.Faults.IsCalm() {
		s.kill()
		s.w.Faults.Count(Death)
		s.w.Journal.Say("%s dies before it calls %s", s.name, what)
	}
	dead := s.dead
	s.mu.Unlock()
	if dead {
		return d, ErrDead
	}
	s.w.latency(d, 3*time.Millisecond)
	if err := s.reach(ctx, d, what); err != nil {
		return d, err
	}
	if s.w.Faults.Strikes(d, StoreSlow, 0.02) {
		time.Sleep(chance.Between(d.Rand, 1, 30*time.Second))
	}
	if s.w.Faults.Strikes(d, StoreUnavailable, 0.1) {
		s.w.Journal.Say("%s: the store is not available to %s", s.name, what)
		return d, fmt.Errorf("sim: %w", traintravel.ErrUnavailable)
	}
	leave(ctx)
	if err := ctx.Err(); err != nil {
		return d, err
	}
	s.stand(d)
	if s.Dead() {
		return d, ErrDead
	}
	return d, nil
}

// Get implements traintravel.Store.
func (s *Seat) Get(ctx context.Context, keys ...traintravel.Key) ([][]byte, error) {
	if _, err := s.call(ctx, "get", ""); err != nil {
		return nil, err
	}
	return s.w.Disk.store.Get(ctx, keys...)
}

// List implements traintravel.Store.
func (s *Seat) List(ctx context.Context, r traintravel.Range) ([]traintravel.Record, error) {
	if _, err := s.call(ctx, "list", about(r)); err != nil {
		return nil, err
	}
	return s.w.Disk.store.List(ctx, r)
}

// about says what of a table is listed. Workers list what is due of their kind, several at
// one instant.
func about(r traintravel.Range) string {
	kind := r.From
	if len(kind) > 1 {
		kind = kind[:1]
	}
	return fmt.Sprintf(" %v %q", r.Table, kind)
}

// View implements traintravel.Store.
func (s *Seat) View(ctx context.Context, fn func(traintravel.Reader) error) error {
	if _, err := s.call(ctx, "view", ""); err != nil {
		return err
	}
	return s.w.Disk.store.View(ctx, fn)
}

// Update implements traintravel.Store.
func (s *Seat) Update(ctx context.Context, fn func(traintravel.Tx) error) error {
	d, err := s.call(ctx, "update", "")
	if err != nil {
		return err
	}
	twice := s.w.Faults.Strikes(d, StoreTwice, 1)
	switch {
	case s.w.Faults.Strikes(d, StoreLost, 0.02):
		written := d.IntN(2) == 0
		if written {
			err = s.write(ctx, fn, twice)
			written = err == nil
		}
		if err != nil {
			return err // refused: the answer is known
		}
		s.w.Journal.Say("%s: the answer of an update is lost; written: %v", s.name, written)
		s.Kill() // the contract: such a store refuses everything until it is opened again
		return fmt.Errorf("sim: %w", traintravel.ErrUnknownOutcome)
	case s.w.Faults.Strikes(d, DeathInCommit, 0.02):
		if d.IntN(2) == 0 {
			err = s.write(ctx, fn, twice)
		}
		s.w.Journal.Say("%s dies as it writes; written: %v", s.name, err == nil)
		s.Kill()
		return ErrDead
	}
	// A process that stood still meanwhile writes all the same: the store has its commit.
	err = s.write(context.WithoutCancel(ctx), fn, twice)
	s.w.latency(d, 3*time.Millisecond)
	s.stand(d)
	if err == nil && s.Dead() {
		return ErrDead
	}
	return err
}

func (s *Seat) write(ctx context.Context, fn func(traintravel.Tx) error, twice bool) error {
	var sum *spy
	err := s.w.Disk.store.Update(ctx, func(tx traintravel.Tx) error {
		if twice {
			_ = fn(idle{tx})
		}
		sum = &spy{Tx: tx, hash: fnv.New64a()}
		return fn(sum)
	})
	if err != nil {
		return err
	}
	s.w.Disk.mu.Lock()
	s.w.Disk.commits++
	s.w.Disk.mu.Unlock()
	if sum.n > 0 {
		s.w.Journal.commit(s.name, sum.n, sum.hash.Sum64())
	}
	return nil
}

// commit adds an update to the hash: the story is told without them.
func (j *Journal) commit(name string, writes int, sum uint64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.sum("%d %s writes %d %x\n", time.Since(j.start), name, writes, sum)
}

// idle drops writes, for the first of two runs of a closure.
type idle struct{ traintravel.Tx }

func (idle) Put(traintravel.Key, []byte) {}
func (idle) Delete(traintravel.Key)      {}

// A spy sums up what an update writes.
type spy struct {
	traintravel.Tx
	hash hash.Hash64
	n    int
}

func (s *spy) Put(k traintravel.Key, v []byte) {
	s.n++
	fmt.Fprintf(s.hash, "%v %q %d\n", k.Table, k.ID, len(v)) // sealed secrets have random bytes
	s.Tx.Put(k, v)
}

func (s *spy) Delete(k traintravel.Key) {
	s.n++
	fmt.Fprintf(s.hash, "-%v %q\n", k.Table, k.ID)
	s.Tx.Delete(k)
}
