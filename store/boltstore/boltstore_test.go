package boltstore_test

import (
	"path/filepath"
	"testing"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/store/boltstore"
	"github.com/traintravel/traintravel/store/storetest"
)

func open(t testing.TB, dir string) storetest.Durable {
	t.Helper()
	s, err := boltstore.Open(filepath.Join(dir, "traintravel.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// openNew opens a store that is closed when the test ends.
func openNew(t testing.TB) traintravel.Store {
	t.Helper()
	s := open(t, t.TempDir())
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, openNew)
}

func TestConcurrency(t *testing.T) {
	t.Parallel()
	storetest.RunConcurrency(t, openNew)
}

func TestSimulate(t *testing.T) {
	t.Parallel()
	storetest.Simulate(t, openNew)
}

func TestTwice(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t testing.TB) traintravel.Store { return storetest.Twice(openNew(t)) })
}

func TestDurability(t *testing.T) {
	t.Parallel()
	storetest.RunDurability(t, open)
}

func BenchmarkStore(b *testing.B) { storetest.Bench(b, openNew) }
