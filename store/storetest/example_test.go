package storetest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/store/memstore"
	"github.com/traintravel/traintravel/store/storetest"
)

// The tests of a store in memory: open returns a new one each time. These
// functions belong in a file named like mystore_test.go.
func Example() {
	open := func(t testing.TB) traintravel.Store { return memstore.New() }

	_ = func(t *testing.T) { storetest.Run(t, open) }            // TestStore
	_ = func(t *testing.T) { storetest.RunConcurrency(t, open) } // TestConcurrency
	_ = func(t *testing.T) { storetest.Simulate(t, open) }       // TestSimulate
	_ = func(b *testing.B) { storetest.Bench(b, open) }          // BenchmarkStore
}

// A store with something to close leaves that to the test's cleanup.
func ExampleRun() {
	type myStore struct{ *memstore.Store }
	connect := func(dir string) (myStore, func() error, error) {
		return myStore{memstore.New()}, func() error { return nil }, nil
	}

	_ = func(t *testing.T) { // TestStore
		storetest.Run(t, func(t testing.TB) traintravel.Store {
			s, closeStore, err := connect(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := closeStore(); err != nil {
					t.Error(err)
				}
			})
			return s
		})
	}
}

// A closure that counts its own runs does not survive being run again.
func ExampleTwice() {
	ctx := context.Background()
	store := storetest.Twice(memstore.New())
	key := traintravel.Key{Table: traintravel.TableMeta, ID: "sold"}

	sold := 0
	err := store.Update(ctx, func(tx traintravel.Tx) error {
		sold++ // wrong: a result is assigned anew on each run
		tx.Put(key, []byte{byte(sold)})
		return nil
	})
	why, _, _ := strings.Cut(err.Error(), " (")
	fmt.Println(why)

	values, _ := store.Get(ctx, key)
	fmt.Println("written:", values[0] != nil)
	// Output:
	// storetest: an update's closure did otherwise when it ran again
	// written: false
}
