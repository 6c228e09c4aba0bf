package boltstore

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	bolt "go.etcd.io/bbolt"
)

// A store is not ready from the commit that fails until one succeeds, which Ready tries
// itself, and with more than a page or two.
func TestReady(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		var told []error
		s, err := Open(filepath.Join(dir, "traintravel.db"), &Options{Committed: func(_ int, _ time.Duration, err error) { told = append(told, err) }})
		do(t, err)
		defer s.Close()
		commits, room := 0, false
		s.commit = func(tx *bolt.Tx) error {
			commits++
			if !room {
				return errors.Join(syscall.ENOSPC, tx.Rollback())
			}
			return tx.Commit()
		}
		expect := func(want error, tried int) {
			t.Helper()
			if err := s.Ready(t.Context()); !errors.Is(err, want) || (err == nil) != (want == nil) || commits != tried {
				t.Errorf("it says %v after %d commits, want %v after %d", err, commits, want, tried)
			}
		}
		room = true
		expect(nil, 1) // nobody has written yet
		expect(nil, 1)
		time.Sleep(goodFor)
		room = false
		expect(syscall.ENOSPC, 2)
		expect(syscall.ENOSPC, 2)
		room = true
		expect(syscall.ENOSPC, 2)
		pages := newest(s.place.last).Pages
		time.Sleep(badFor)
		expect(nil, 3)
		if grown := int64(newest(s.place.last).Pages-pages) * s.place.page; grown < afterFailure {
			t.Errorf("it tried with %d bytes", grown)
		}
		do(t, s.Update(t.Context(), put("a")))
		room = false
		if err := s.Update(t.Context(), put("b")); !errors.Is(err, syscall.ENOSPC) {
			t.Error(err)
		}
		expect(syscall.ENOSPC, 5)
		room = true
		do(t, s.Update(t.Context(), put("b")))
		expect(nil, 6)
		want := []error{syscall.ENOSPC, nil, syscall.ENOSPC, nil} // of Ready only what failed
		for i := range max(len(want), len(told)) {
			if i >= len(told) || i >= len(want) || !errors.Is(told[i], want[i]) {
				t.Fatalf("it told of %v, want %v", told, want)
			}
		}
	})
}

// A store that takes no more updates is not ready.
func TestStoreThatFailedIsNotReady(t *testing.T) {
	t.Parallel()
	s, _ := placed(t)
	s.commit = func(tx *bolt.Tx) error { return errors.Join(tx.Commit(), errDisk) }
	_ = s.Update(t.Context(), put("b"))
	s.commit = (*bolt.Tx).Commit
	if err := s.Ready(t.Context()); !errors.Is(err, errDisk) {
		t.Error(err)
	}
	has(t, s, "a", true)
	do(t, s.Close())
	if err := s.Ready(t.Context()); err != ErrClosed {
		t.Error(err)
	}
}
