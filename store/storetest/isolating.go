package storetest

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"

	"github.com/traintravel/traintravel"
)

// isolating is that updates appear to run one after another and that a view
// sees no half of one, though they touch several keys.
var isolating = []check{
	{"Transfers", transfers},
	{"WriteSkew", writeSkew},
	{"RealTime", realTime},
	{"History", history},
}

// transfers: money moves between accounts while views add it up. Every view
// finds the same sum, and so does every update.
func transfers(ctx context.Context, s traintravel.Store) error {
	const accounts, workers, each, viewers, start = 10, 20, 10, 4, 100
	var all []traintravel.Key
	var opening []traintravel.Record
	for i := range accounts {
		all = append(all, key(fmt.Sprintf("account %d", i)))
		opening = append(opening, record(all[i].ID, fmt.Sprint(start)))
	}
	if err := put(ctx, s, opening...); err != nil {
		return err
	}
	// sum reads some accounts by Get, lets updates run, and lists the others.
	sum := func(r traintravel.Reader) error {
		sum := 0
		for _, k := range all[:accounts/2] {
			n, err := number(ctx, r, k)
			if err != nil {
				return err
			}
			sum += n
		}
		records, err := r.List(ctx, traintravel.Range{Table: table, From: all[accounts/2].ID})
		if err != nil {
			return err
		}
		for _, rec := range records {
			n, err := parseNumber(rec.ID, rec.Value)
			if err != nil {
				return err
			}
			sum += n
		}
		if sum != accounts*start {
			return fmt.Errorf("the accounts add up to %d, not %d", sum, accounts*start)
		}
		return nil
	}
	transfer := func(from, to, amount int) error {
		return s.Update(ctx, func(tx traintravel.Tx) error {
			a, err := number(ctx, tx, all[from])
			if err != nil {
				return err
			}
			b, err := number(ctx, tx, all[to])
			if err != nil {
				return err
			}
			tx.Put(all[from], digits(a-amount))
			tx.Put(all[to], digits(b+amount))
			if a < amount {
				return errRefused // after the writes, which must not be seen
			}
			return nil
		})
	}
	var running atomic.Int64
	running.Store(workers)
	err := together(workers+viewers, func(i int) error {
		if i >= workers {
			for running.Load() > 0 {
				if err := s.View(ctx, sum); err != nil {
					return doing(err, "a view beside transfers")
				}
				runtime.Gosched()
			}
			return nil
		}
		defer running.Add(-1)
		for n := range each {
			from := (i + n) % accounts
			to := (from + 1 + (i*n)%(accounts-1)) % accounts
			if err := transfer(from, to, 1+(i*7+n*13)%90); err != nil && err != errRefused {
				return doing(err, "a transfer")
			}
			if n%5 == 0 {
				if err := s.Update(ctx, func(tx traintravel.Tx) error { return sum(tx) }); err != nil {
					return doing(err, "an update that only reads, beside transfers")
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return doing(s.View(ctx, sum), "a view after all transfers")
}

// writeSkew: of two on duty either may leave if the other stays. Each update
// reads both and writes its own, so that no key is written twice; yet they
// must not both leave.
func writeSkew(ctx context.Context, s traintravel.Store) error {
	const pairs = 40
	var left [pairs * 2]atomic.Bool
	err := together(pairs*2, func(i int) error {
		mine, other := key(fmt.Sprintf("%03d", i)), key(fmt.Sprintf("%03d", i^1))
		err := s.Update(ctx, func(tx traintravel.Tx) error {
			values, err := tx.Get(ctx, mine, other)
			if err != nil {
				return err
			}
			if values[1] != nil {
				return errRefused // the other has left
			}
			runtime.Gosched()
			tx.Put(mine, []byte("left"))
			return nil
		})
		left[i].Store(err == nil)
		if err == errRefused {
			return nil
		}
		return doing(err, "an update of a pair")
	})
	if err != nil {
		return err
	}
	for i := 0; i < len(left); i += 2 {
		if a, b := left[i].Load(), left[i+1].Load(); a == b {
			return fmt.Errorf("of two updates that each read what the other writes, exactly one may win; won: %t and %t", a, b)
		}
	}
	return nil
}

// realTime: goroutines pass a number round, each after its update returned.
// Whoever gets it finds it stored, by any reader, while others keep the store
// busy.
func realTime(ctx context.Context, s traintravel.Store) error {
	const workers, rounds, noise = 6, 15, 3
	turn := make(chan int, 1)
	turn <- 0
	var running atomic.Int64
	running.Store(workers)
	return together(workers+noise, func(i int) error {
		if i >= workers {
			for n := 0; running.Load() > 0; n++ {
				if err := put(ctx, s, record(fmt.Sprintf("noise %d", i), fmt.Sprint(n))); err != nil {
					return err
				}
			}
			return nil
		}
		defer running.Add(-1)
		for range rounds {
			if err := pass(ctx, s, turn); err != nil {
				return err
			}
		}
		return nil
	})
}

// pass takes the number, checks that it is stored, and passes on the next one.
func pass(ctx context.Context, s traintravel.Store, turn chan int) error {
	want := <-turn
	defer func() { turn <- want + 1 }()
	check := func(r traintravel.Reader) error {
		got, err := number(ctx, r, key("turn"))
		if err == nil && got != want {
			err = fmt.Errorf("the update that wrote %d had returned, and a later read found %d", want, got)
		}
		return err
	}
	var err error
	switch want % 3 { // one reader each time, so that it is the first after the update
	case 0:
		err = doing(check(s), "read by the Store")
	case 1:
		err = doing(s.View(ctx, check), "read in a View")
	}
	if err != nil {
		return err
	}
	err = s.Update(ctx, func(tx traintravel.Tx) error {
		if err := check(tx); err != nil {
			return err
		}
		tx.Put(key("turn"), digits(want+1))
		return nil
	})
	return doing(err, "read in an Update")
}
