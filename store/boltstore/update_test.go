package boltstore

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/group"
)

func TestGroup(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	commits := make(chan string, 3)
	g.told = func(updates int, took time.Duration, err error) {
		commits <- fmt.Sprint(updates, took > 0, err)
	}
	g.update(g.bg, "a", put("a"))
	<-g.arrived
	g.update(g.bg, "leads", refuse)
	g.update(g.bg, "refused before", refuse)
	g.update(g.bg, "hot 1", put("hot"))
	g.update(g.bg, "hot 2", func(tx traintravel.Tx) error {
		v, err := tx.Get(g.bg, key("hot"))
		tx.Put(key("hot"), append([]byte("after "), v[0]...))
		return err
	})
	g.update(g.bg, "refused after", refuse)
	g.update(g.bg, "panics", func(tx traintravel.Tx) error { tx.Put(key("p"), nil); panic("p") })
	g.update(g.bg, "b", put("b"))
	g.pending(t, "a", "leads", "refused before", "hot 1", "hot 2", "refused after", "b")
	g.holds(t)

	g.commits() // of the first alone; its caller is answered and leads no more
	g.answered(t, nil, "a")
	g.answered(t, errRefused, "refused before") // has seen what is durable
	tx := <-g.arrived                           // one for all the others
	g.pending(t, "leads", "hot 1", "hot 2", "refused after", "panics", "b")
	g.holds(t, "a")
	if tx.ID() != 4 { // after the tables and a
		t.Errorf("the second commit is transaction %d", tx.ID())
	}
	g.commits()
	g.answered(t, nil, "hot 1", "hot 2", "b")
	g.answered(t, errRefused, "leads", "refused after")
	if err := <-g.results["panics"]; err == nil || err.Error() != "panic: p" {
		t.Errorf("the panic became %v", err)
	}
	g.holds(t, "a", "b", "hot")
	if first, second := <-commits, <-commits; first != "1 true <nil>" || second != "5 true <nil>" { // who has not seen the others' writes is none of them
		t.Errorf("told of commits: %s, then %s", first, second)
	}
	if v, err := g.Get(g.bg, key("hot")); err != nil || string(v[0]) != "after hot" {
		t.Errorf("hot is %q, %v", v, err)
	}
	if want := "[a leads refused before hot 1 hot 2 refused after panics b]"; fmt.Sprint(g.order) != want {
		t.Errorf("the closures ran in the order %v", g.order)
	}
}

// TestPutWhatWasRead: a value that lies in the memory map is written elsewhere,
// and read by the next closure, before it is committed.
func TestPutWhatWasRead(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	g.update(g.bg, "a", put("a"))
	<-g.arrived
	g.commits()
	g.answered(t, nil, "a")
	move := func(from, to string) func(traintravel.Tx) error {
		return func(tx traintravel.Tx) error {
			v, err := tx.Get(g.bg, key(from))
			tx.Delete(key(from))
			tx.Put(key(to), v[0])
			return err
		}
	}
	g.update(g.bg, "leads", put("z"))
	<-g.arrived
	for _, m := range []string{"ab", "bc", "cd"} {
		g.update(g.bg, m, move(m[:1], m[1:]))
	}
	g.commits()
	<-g.arrived
	g.commits()
	g.answered(t, nil, "leads", "ab", "bc", "cd")
	g.holds(t, "d", "z")
	if v, err := g.Get(g.bg, key("d")); err != nil || string(v[0]) != "a" {
		t.Errorf("d is %q, %v", v, err)
	}
}

func TestRefusalsDoNotCommit(t *testing.T) {
	t.Parallel()
	g := newGate(t) // nobody lets a commit pass
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			err := g.Update(g.bg, func(tx traintravel.Tx) error {
				if i%2 == 0 { // a read, and no more
					_, err := tx.Get(g.bg, key("a"))
					return err
				}
				tx.Put(key("a"), nil)
				return errRefused
			})
			if i%2 == 1 && err != errRefused || i%2 == 0 && err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func TestFailedCommit(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	g.update(g.bg, "a", put("a"))
	<-g.arrived
	g.update(g.bg, "leads", refuse)
	g.update(g.bg, "refused before", refuse)
	g.update(g.bg, "b", put("b"))
	g.update(g.bg, "refused after", refuse)
	g.fails()
	g.answered(t, errDisk, "a")
	<-g.arrived
	g.update(g.bg, "c", put("c"))
	g.fails()
	g.answered(t, errRefused, "leads", "refused before")
	g.answered(t, errDisk, "b", "refused after")
	<-g.arrived
	g.commits()
	g.answered(t, nil, "c")
	g.holds(t, "c")
}

func TestUnknownOutcome(t *testing.T) {
	t.Parallel()
	for name, outcome := range map[string]func(*bolt.Tx) error{
		"sync fails": func(tx *bolt.Tx) error { return errors.Join(tx.Commit(), errDisk) },
		"panic":      func(tx *bolt.Tx) error { _ = tx.Commit(); panic(errDisk) },
	} {
		t.Run(name, func(t *testing.T) {
			g := newGate(t)
			g.update(g.bg, "a", put("a"))
			<-g.arrived
			g.update(g.bg, "b", put("b"))
			g.pass <- outcome
			g.answered(t, traintravel.ErrUnknownOutcome, "a")
			err := <-g.results["b"]
			if err == nil || errors.Is(err, traintravel.ErrUnknownOutcome) {
				t.Errorf("the next update was answered %v", err)
			}
			if err := g.Update(g.bg, refuse); err == nil || err == errRefused {
				t.Errorf("a later update was answered %v", err)
			}
		})
	}
	t.Run("panic before", func(t *testing.T) {
		g := newGate(t)
		g.update(g.bg, "a", put("a"))
		<-g.arrived
		g.pass <- func(*bolt.Tx) error { panic(errDisk) }
		if err := <-g.results["a"]; err == nil || errors.Is(err, traintravel.ErrUnknownOutcome) {
			t.Errorf("the update was answered %v", err)
		}
		g.holds(t)
	})
}

func TestCancelledInQueue(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	ctx, cancel := context.WithCancel(g.bg)
	started, stop := context.WithCancel(g.bg)
	g.update(started, "a", put("a"))
	<-g.arrived
	stop() // too late
	g.update(ctx, "b", put("b"))
	g.update(ctx, "c", put("c"))
	g.update(g.bg, "d", put("d"))
	g.pending(t, "a", "b", "c", "d")
	cancel()
	g.answered(t, context.Canceled, "b", "c") // while the commit is under way
	g.pending(t, "a", "d")
	g.commits()
	g.answered(t, nil, "a")
	<-g.arrived
	g.commits()
	g.answered(t, nil, "d")
	g.holds(t, "a", "d")
}

func TestGoexit(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	g.update(g.bg, "a", put("a"))
	<-g.arrived
	g.update(g.bg, "b", put("b"))
	g.update(g.bg, "exits", func(traintravel.Tx) error { runtime.Goexit(); return nil }) // on b's goroutine
	g.update(g.bg, "c", put("c"))
	g.commits()
	g.answered(t, nil, "a")
	g.answered(t, group.ErrGoexit, "exits")
	<-g.arrived
	g.commits()
	g.answered(t, nil, "c")
	g.holds(t, "a", "c")
}

func TestFullGroup(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	g.update(g.bg, "a", put("a"))
	<-g.arrived
	const updates = 20
	for i := range updates {
		g.update(g.bg, fmt.Sprint(i), func(tx traintravel.Tx) error {
			tx.Put(key("big"), make([]byte, traintravel.MaxValue))
			return nil
		})
	}
	g.commits()
	groups := 0
	for n := 0; n < updates; groups++ {
		<-g.arrived
		g.mu.Lock()
		n = len(g.order) - 1
		g.mu.Unlock()
		g.commits()
	}
	if groups != 3 {
		t.Errorf("20 MiB went in %d groups", groups)
	}
}

func TestClose(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	g.update(g.bg, "a", put("a"))
	<-g.arrived
	g.update(g.bg, "b", put("b"))
	closed := make(chan error, 2)
	go func() { closed <- g.Close() }()
	go func() { closed <- g.Close() }()
	for !g.queue.Closed() {
		runtime.Gosched()
	}
	if err := g.Update(g.bg, refuse); err != ErrClosed {
		t.Errorf("an update was answered %v", err)
	}
	g.pending(t, "a", "b")
	g.commits()
	g.answered(t, nil, "a")
	<-g.arrived
	select {
	case err := <-closed:
		t.Error("Close did not wait: ", err)
	default:
	}
	g.commits()
	g.answered(t, nil, "b")
	if err := errors.Join(<-closed, <-closed); err != nil {
		t.Error(err)
	}
	_, getErr := g.Get(g.bg, key("a"))
	_, listErr := g.List(g.bg, traintravel.Range{Table: traintravel.TableRuns})
	viewErr := g.View(g.bg, func(traintravel.Reader) error { return nil })
	if getErr != ErrClosed || listErr != ErrClosed || viewErr != ErrClosed {
		t.Error(getErr, listErr, viewErr)
	}
}
