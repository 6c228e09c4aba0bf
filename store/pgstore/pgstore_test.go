package pgstore_test

import (
	"testing"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/pgtest"
	"github.com/traintravel/traintravel/store/pgstore"
	"github.com/traintravel/traintravel/store/storetest"
)

// openURL opens a database until the end of the test.
func openURL(t testing.TB, url string) *pgstore.Store {
	t.Helper()
	s, err := pgstore.Open(t.Context(), url, nil)
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

// open opens a new, empty database.
func open(t testing.TB) traintravel.Store {
	return openURL(t, pgtest.Shared(t).NewDatabase(t)+"&pool_max_conns=4")
}

func twice(t testing.TB) traintravel.Store { return storetest.Twice(open(t)) }

func TestStore(t *testing.T)            { storetest.Run(t, open) }
func TestConcurrency(t *testing.T)      { storetest.RunConcurrency(t, open) }
func TestTwice(t *testing.T)            { storetest.Run(t, twice) }
func TestTwiceConcurrency(t *testing.T) { storetest.RunConcurrency(t, twice) }
func BenchmarkStore(b *testing.B)       { storetest.Bench(b, open) }
