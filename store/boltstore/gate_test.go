package boltstore

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/traintravel/traintravel"
)

// A gate is a store whose commits wait to be let through, one by one.
type gate struct {
	*Store
	arrived chan *bolt.Tx             // a commit waits
	pass    chan func(*bolt.Tx) error // how it goes on
	results map[string]chan error     // of the updates, by name
	ran     map[string]chan struct{}  // closed when their closures have run
	mu      sync.Mutex                // guards order
	order   []string                  // of the closures
	bg      context.Context
}

func newGate(t *testing.T) *gate {
	t.Helper()
	s, err := Open(filepath.Join(t.TempDir(), "traintravel.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{
		Store: s, arrived: make(chan *bolt.Tx), pass: make(chan func(*bolt.Tx) error),
		results: make(map[string]chan error), ran: make(map[string]chan struct{}), bg: t.Context(),
	}
	s.commit = func(tx *bolt.Tx) error {
		g.arrived <- tx
		return (<-g.pass)(tx)
	}
	t.Cleanup(func() {
		go func() { // what a failed test left
			for range g.arrived {
				g.commits()
			}
		}()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		close(g.arrived)
	})
	return g
}

func (g *gate) commits() { g.pass <- (*bolt.Tx).Commit }

func (g *gate) fails() {
	g.pass <- func(tx *bolt.Tx) error { return errors.Join(errDisk, tx.Rollback()) }
}

var (
	errDisk    = errors.New("disk")
	errRefused = errors.New("refused")
)

func key(id string) traintravel.Key {
	return traintravel.Key{Table: traintravel.TableRuns, ID: id}
}

// update starts an update and returns when it is queued, or under way.
func (g *gate) update(ctx context.Context, name string, fn func(traintravel.Tx) error) {
	result, ran := make(chan error, 1), make(chan struct{})
	g.results[name], g.ran[name] = result, ran
	waiting := g.queue.Waiting()
	go func() {
		defer func() {
			if p := recover(); p != nil {
				result <- fmt.Errorf("panic: %v", p)
			}
		}()
		result <- g.Update(ctx, func(tx traintravel.Tx) error {
			defer close(ran)
			g.mu.Lock()
			g.order = append(g.order, name)
			g.mu.Unlock()
			return fn(tx)
		})
	}()
	for g.queue.Waiting() == waiting {
		select {
		case <-ran:
			return
		default:
			runtime.Gosched()
		}
	}
}

func put(id string) func(traintravel.Tx) error {
	return func(tx traintravel.Tx) error { tx.Put(key(id), []byte(id)); return nil }
}

func refuse(traintravel.Tx) error { return errRefused }

// pending fails the test if one of the updates has been answered.
func (g *gate) pending(t *testing.T, names ...string) {
	t.Helper()
	time.Sleep(5 * time.Millisecond)
	for _, name := range names {
		select {
		case err := <-g.results[name]:
			t.Errorf("%s was answered too early, with %v", name, err)
		default:
		}
	}
}

// answered checks what the updates were answered.
func (g *gate) answered(t *testing.T, want error, names ...string) {
	t.Helper()
	for _, name := range names {
		select {
		case err := <-g.results[name]:
			if !errors.Is(err, want) {
				t.Errorf("%s was answered %v, want %v", name, err, want)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%s was not answered", name)
		}
	}
}

func (g *gate) holds(t *testing.T, want ...string) {
	t.Helper()
	records, err := g.List(g.bg, traintravel.Range{Table: traintravel.TableRuns})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range records {
		got = append(got, r.ID)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the store holds %v, want %v", got, want)
	}
}
