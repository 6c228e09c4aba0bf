package storetest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/traintravel/traintravel"
)

// competing is many goroutines that want the same thing.
var competing = []check{
	{"LastPlace", lastPlace},
	{"Counter", counter},
	{"FirstOnly", firstOnly},
	{"Mixed", mixed},
	{"Cancelled", cancelled},
}

// lastPlace: of a hundred buyers at once, as many get a place as there are
// places, each a place of its own; all others are refused and leave no trace.
func lastPlace(ctx context.Context, s traintravel.Store) error {
	for _, places := range []int{1, 7} {
		const buyers = 100
		taken := key(fmt.Sprintf("taken of %d", places))
		seat := func(n int) traintravel.Key {
			return traintravel.Key{Table: traintravel.TableRuns, ID: fmt.Sprintf("%d/%03d", places, n)}
		}
		var sold [buyers]int // the place each buyer got, from 1; zero is none
		err := together(buyers, func(i int) error {
			var place int
			err := s.Update(ctx, func(tx traintravel.Tx) error {
				n, err := number(ctx, tx, taken)
				if err != nil {
					return err
				}
				if n >= places {
					return errRefused
				}
				place = n + 1
				tx.Put(taken, digits(place))
				tx.Put(seat(place), digits(i))
				return nil
			})
			switch {
			case err == nil:
				sold[i] = place
			case err != errRefused:
				return doing(err, "buyer %d", i)
			}
			return nil
		})
		if err != nil {
			return err
		}
		var want []traintravel.Record
		owner := make(map[int]int)
		for i, place := range sold {
			if place != 0 {
				if other, twice := owner[place]; twice {
					return fmt.Errorf("buyers %d and %d both got place %d", other, i, place)
				}
				owner[place] = i
			}
		}
		for n := 1; n <= places; n++ {
			i, ok := owner[n]
			if !ok {
				return fmt.Errorf("%d places, %d buyers, and nobody got place %d", places, buyers, n)
			}
			want = append(want, traintravel.Record{ID: seat(n).ID, Value: digits(i)})
		}
		if len(owner) != places {
			return fmt.Errorf("%d places were sold %d times", places, len(owner))
		}
		prefix := fmt.Sprintf("%d/", places)
		got, err := s.List(ctx, traintravel.Range{Table: traintravel.TableRuns, From: prefix, To: prefix + "\xff"})
		if err != nil {
			return err
		}
		if err := recordsDiffer("the places sold and the places stored", want, got); err != nil {
			return err
		}
	}
	return nil
}

// counter: increments of one key, from many goroutines at once, are all
// counted, and each meets a number of its own.
func counter(ctx context.Context, s traintravel.Store) error {
	const workers, each = 40, 5
	var mu sync.Mutex
	met := make(map[int]bool)
	err := together(workers, func(i int) error {
		for range each {
			var n int
			err := s.Update(ctx, func(tx traintravel.Tx) (err error) {
				if n, err = number(ctx, tx, key("hot")); err != nil {
					return err
				}
				tx.Put(key("hot"), digits(n+1))
				return nil
			})
			if err != nil {
				return doing(err, "an increment")
			}
			mu.Lock()
			twice := met[n]
			met[n] = true
			mu.Unlock()
			if twice {
				return fmt.Errorf("two updates have both read %d and written %d", n, n+1)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	n, err := number(ctx, s, key("hot"))
	if err != nil {
		return err
	}
	if n != workers*each {
		return fmt.Errorf("%d increments were acknowledged, and the counter is at %d", workers*each, n)
	}
	return nil
}

// firstOnly: of a hundred updates that write a record only if there is none,
// one wins: whether they look for the key, or for any record in a range.
func firstOnly(ctx context.Context, s traintravel.Store) error {
	const runs = 100
	looks := map[string]func(r traintravel.Reader, prefix string) (found bool, err error){
		"a key": func(r traintravel.Reader, prefix string) (bool, error) {
			value, err := get(ctx, r, key(prefix))
			return value != nil, err
		},
		"an empty range": func(r traintravel.Reader, prefix string) (bool, error) {
			records, err := r.List(ctx, traintravel.Range{Table: table, From: prefix, To: prefix + "\xff"})
			return len(records) > 0, err
		},
		"the last of a range": func(r traintravel.Reader, prefix string) (bool, error) {
			rg := traintravel.Range{Table: table, From: prefix, To: prefix + "\xff", Reverse: true, Limit: 1}
			records, err := r.List(ctx, rg)
			return len(records) > 0, err
		},
	}
	for name, look := range looks {
		if err := put(ctx, s, record(name, "just before"), record(name+"0", "just after")); err != nil {
			return err
		}
		prefix := name + "/" // between the two
		var winners atomic.Int64
		err := together(runs, func(i int) error {
			err := s.Update(ctx, func(tx traintravel.Tx) error {
				found, err := look(tx, prefix)
				if err != nil {
					return err
				}
				if found {
					return errRefused
				}
				runtime.Gosched()
				if name == "a key" {
					tx.Put(key(prefix), digits(i))
				} else {
					tx.Put(key(fmt.Sprintf("%s%03d", prefix, i)), digits(i))
				}
				return nil
			})
			if err == nil {
				winners.Add(1)
			}
			if err == errRefused {
				return nil
			}
			return doing(err, "an update that looks for %s", name)
		})
		if err != nil {
			return err
		}
		records, err := s.List(ctx, traintravel.Range{Table: table, From: prefix, To: prefix + "\xff"})
		if err != nil {
			return err
		}
		if winners.Load() != 1 || len(records) != 1 {
			return fmt.Errorf("looking for %s: %d of %d updates found nothing and wrote; %d records are there",
				name, winners.Load(), runs, len(records))
		}
	}
	return nil
}

// mixed: successes, refusals before and after writing, mistakes and panics,
// all at once: every success is there, once, and of the others nothing; and
// each caller gets what is his.
func mixed(ctx context.Context, s traintravel.Store) error {
	const workers, each = 50, 4
	err := together(workers, func(i int) error {
		for n := range each {
			id := fmt.Sprintf("%03d/%d", i, n)
			var own = fmt.Errorf("refused %s", id)
			var err error
			got := recovered(func() {
				err = s.Update(ctx, func(tx traintravel.Tx) error {
					if _, err := tx.Get(ctx, keys(id, "common")...); err != nil {
						return err
					}
					runtime.Gosched()
					if (i+n)%5 == 1 {
						return own
					}
					tx.Put(key(id), []byte(id))
					switch (i + n) % 5 {
					case 2:
						return own
					case 3:
						panic(id)
					case 4:
						tx.Put(key(""), nil)
					}
					return nil
				})
			})
			switch kind := (i + n) % 5; {
			case kind == 0 && (err != nil || got != nil):
				return fmt.Errorf("a good update returned %v or panicked with %v", err, got)
			case (kind == 1 || kind == 2) && err != own:
				return fmt.Errorf("a refused update returned %v, not its own %v", err, own)
			case kind == 3 && got != any(id):
				return fmt.Errorf("the caller of a closure that panicked recovered %v and not %q", got, id)
			case kind == 4 && err == nil:
				return errors.New("an update with an unlawful key returned nil")
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	var want []traintravel.Record
	for i := range workers {
		for n := range each {
			if (i+n)%5 == 0 {
				id := fmt.Sprintf("%03d/%d", i, n)
				want = append(want, record(id, id))
			}
		}
	}
	return holds(ctx, s, want...)
}

// cancelled: contexts end at any moment of updates that compete. Each update
// is there if it returned nil, and is not if it returned its context's error;
// and no closure runs on when its Update has returned.
func cancelled(ctx context.Context, s traintravel.Store) error {
	const workers, each = 30, 5
	var there [workers][each]bool
	var ranOn atomic.Bool
	err := together(workers, func(i int) error {
		for n := range each {
			ending, end := context.WithCancel(ctx)
			ends := make(chan struct{})
			go func() {
				for range i * n * 10 {
					runtime.Gosched()
				}
				end()
				close(ends)
			}()
			var returned atomic.Bool
			err := s.Update(ending, func(tx traintravel.Tx) error {
				if _, err := number(ctx, tx, key("0")); err != nil {
					return err
				}
				tx.Put(key("0"), digits(i))
				tx.Put(key(fmt.Sprintf("%03d/%d", i, n)), nil)
				if returned.Load() {
					ranOn.Store(true)
				}
				return nil
			})
			returned.Store(true)
			<-ends
			if err != nil && !errors.Is(err, context.Canceled) {
				return doing(err, "an update that is cancelled")
			}
			there[i][n] = err == nil
		}
		return nil
	})
	if err != nil {
		return err
	}
	if ranOn.Load() {
		return errors.New("a closure ran when its Update had returned")
	}
	records, err := s.List(ctx, traintravel.Range{Table: table, From: "00", To: "1"})
	if err != nil {
		return err
	}
	var got, want []string
	wrote := make(map[string]bool)
	for _, r := range records {
		got = append(got, r.ID)
		wrote[r.ID] = true
	}
	var errs []error
	for i := range there {
		for n, nilReturned := range there[i] {
			id := fmt.Sprintf("%03d/%d", i, n)
			if nilReturned {
				want = append(want, id)
			}
			switch {
			case wrote[id] && !nilReturned:
				errs = append(errs, fmt.Errorf("update %s: %w", id, errEndedAndWrote))
			case nilReturned && !wrote[id]:
				errs = append(errs, fmt.Errorf("update %s: Update returned nil and wrote nothing", id))
			}
		}
	}
	if len(errs) > 0 {
		return distinct(errs)
	}
	return differ("the updates that returned nil and those that took place", want, got)
}
