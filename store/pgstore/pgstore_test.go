package pgstore_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

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

// open opens a new, empty schema: making databases would take longer than the tests.
func open(t testing.TB) traintravel.Store {
	return openURL(t, pgtest.Shared(t).NewSchema(t)+"&pool_max_conns=4")
}

func twice(t testing.TB) traintravel.Store { return storetest.Twice(open(t)) }

func TestStore(t *testing.T)            { storetest.Run(t, open) }
func TestConcurrency(t *testing.T)      { storetest.RunConcurrency(t, open) }
func TestSimulate(t *testing.T)         { storetest.Simulate(t, open) }
func TestTwice(t *testing.T)            { storetest.Run(t, twice) }
func TestTwiceConcurrency(t *testing.T) { storetest.RunConcurrency(t, twice) }
func BenchmarkStore(b *testing.B)       { storetest.Bench(b, open) }

// Each commit is told, and what was refused is none.
func TestCommitted(t *testing.T) {
	t.Parallel()
	var told []string
	store, err := pgstore.Open(t.Context(), pgtest.Shared(t).NewSchema(t), &pgstore.Options{
		Committed: func(updates int, took time.Duration, err error) {
			told = append(told, fmt.Sprint(updates, took > 0, err))
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	refused := errors.New("refused")
	for _, want := range []error{nil, refused} {
		err := store.Update(t.Context(), func(tx traintravel.Tx) error {
			tx.Put(traintravel.Key{Table: traintravel.TableMeta, ID: "a"}, nil)
			return want
		})
		if !errors.Is(err, want) {
			t.Fatal(err)
		}
	}
	if err := store.Close(); err != nil { // waits for who leads
		t.Fatal(err)
	}
	if want := []string{"1 true <nil>"}; !slices.Equal(told, want) {
		t.Errorf("told %v, want %v", told, want)
	}
}
