package boltstore

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"github.com/traintravel/traintravel"
)

// unsynced returns how many pages of the file only the kernel has: written, and
// not on stable storage.
func unsynced(t *testing.T, f *os.File) uint64 {
	const sysCachestat = 451 // on every architecture
	var (
		all  [2]uint64 // offset and length; zero length is to the end
		stat struct{ cache, dirty, writeback, evicted, recentlyEvicted uint64 }
	)
	_, _, errno := syscall.Syscall6(sysCachestat, f.Fd(), uintptr(unsafe.Pointer(&all)), uintptr(unsafe.Pointer(&stat)), 0, 0, 0)
	if errno != 0 {
		t.Skip("cachestat: ", errno)
	}
	return stat.dirty + stat.writeback
}

// TestSynced: when an update is answered, the kernel has nothing left to write
// of the file.
func TestSynced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "traintravel.db")
	s, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	update := func(i int) {
		err := s.Update(context.Background(), func(tx traintravel.Tx) error {
			tx.Put(key(string(rune('a'+i))), make([]byte, 10_000))
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	for i := range 20 {
		if i == 10 { // some in one group
			var wg sync.WaitGroup
			for j := range 10 {
				wg.Go(func() { update(j) })
			}
			wg.Wait()
		}
		update(i)
		if n := unsynced(t, f); n != 0 {
			t.Fatalf("%d pages are not on stable storage", n)
		}
	}

	s.db.NoSync = true
	update(0)
	if unsynced(t, f) == 0 {
		t.Skip("this file system does not say what is not synced")
	}
}
