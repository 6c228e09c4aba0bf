package storetest

import (
	"fmt"
	"testing"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/sim/chance"
	railway "github.com/traintravel/traintravel/internal/sim/history"
	"github.com/traintravel/traintravel/internal/sim/outside"
)

// histories is how many Simulate runs, and days how long each lasts.
const (
	histories = 4
	days      = 3
)

// Simulate sells tickets on a store: it runs simulated histories of a railway, with users, an
// operator, several servers, and calls of the store that fail. A model of its own follows what the
// callers are told, and the test fails at the first answer that cannot be true, such as a seat that
// is sold twice. Several users at a time want the same seats.
//
// It finds what a store loses or mixes up, but does not say which call was wrong: [Run] and
// [RunConcurrency] do, and should pass before. It asks of open what [Run] does.
//
// In a history time is virtual: days pass in seconds. The store lives outside of that, and may have
// goroutines, connections and time limits of its own. While it is at work, virtual time stands
// still. The closure of a View or an Update runs on another goroutine than the one on which the
// store calls it, which waits meanwhile and makes all calls of the Reader or the Tx.
//
// With -short it runs one history. In a test that fails, the seed says which history it was. Calls
// at the same time may meet in another order when it runs again.
func Simulate(t *testing.T, open func(t testing.TB) traintravel.Store) {
	t.Helper()
	n := chance.Seed(histories)
	if testing.Short() {
		n = 1
	}
	for seed := range n {
		t.Run(fmt.Sprint("Seed", seed), func(t *testing.T) {
			t.Parallel()
			if err := simulate(t, seed, open(t)); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// simulate runs one history, and returns how it went wrong.
func simulate(t *testing.T, seed chance.Seed, s traintravel.Store) error {
	door := outside.Open()
	defer door.Close()
	r := railway.Run(t, railway.Config{
		Seed: seed, Days: days, Services: 3, Rush: true, Beside: true, Story: true,
		Open: func() traintravel.Store { return door.Store(s) },
	})
	return r.Err()
}
