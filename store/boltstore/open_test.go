package boltstore_test

import (
	"path/filepath"
	"testing"

	"github.com/traintravel/traintravel/store/boltstore"
)

func open(t testing.TB) *boltstore.Store {
	t.Helper()
	s, err := boltstore.Open(filepath.Join(t.TempDir(), "traintravel.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}
