package memstore_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/store/memstore"
	"github.com/traintravel/traintravel/store/storetest"
)

func open(testing.TB) traintravel.Store { return memstore.New() }

func TestStore(t *testing.T)       { storetest.Run(t, open) }
func TestConcurrency(t *testing.T) { storetest.RunConcurrency(t, open) }
func TestSimulate(t *testing.T)    { storetest.Simulate(t, open) }

// TestAgainstSlice makes thousands of random writes, enough to split pages and
// to empty them, and compares what is listed with a plain sorted slice.
func TestAgainstSlice(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	rnd := rand.New(rand.NewPCG(1, 2))
	store := memstore.New()
	var model []traintravel.Record // in order
	id := func() string { return fmt.Sprintf("%04x", rnd.IntN(6000)) }
	for round := range 45 {
		deletes := 3 // of 10; in the last third nearly all are
		if round > 30 {
			deletes = 9
		}
		err := store.Update(ctx, func(tx traintravel.Tx) error {
			for range 300 {
				id := id()
				i, found := slices.BinarySearchFunc(model, id, func(r traintravel.Record, id string) int {
					return strings.Compare(r.ID, id)
				})
				key := traintravel.Key{Table: traintravel.TableRuns, ID: id}
				if rnd.IntN(10) < deletes {
					tx.Delete(key)
					if found {
						model = slices.Delete(model, i, i+1)
					}
					continue
				}
				value := fmt.Appendf(nil, "%s in round %d", id, round)
				tx.Put(key, value)
				if !found {
					model = slices.Insert(model, i, traintravel.Record{ID: id})
				}
				model[i].Value = value
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for range 10 {
			r := traintravel.Range{Table: traintravel.TableRuns, From: id(), To: id(), Reverse: rnd.IntN(2) == 0, Limit: rnd.IntN(700)}
			if rnd.IntN(4) == 0 {
				r.From = ""
			}
			if rnd.IntN(4) == 0 {
				r.To = ""
			}
			got, err := store.List(ctx, r)
			if err != nil {
				t.Fatal(err)
			}
			var want []traintravel.Record
			for _, rec := range model {
				if rec.ID >= r.From && (r.To == "" || rec.ID < r.To) {
					want = append(want, rec)
				}
			}
			if r.Reverse {
				slices.Reverse(want)
			}
			if r.Limit > 0 {
				want = want[:min(r.Limit, len(want))]
			}
			if !reflect.DeepEqual(want, got) { // cmp is slow on thousands of equal ones
				t.Fatalf("round %d, %+v (-want +got):\n%s", round, r, cmp.Diff(want, got))
			}
		}
	}
}

// TestOver: a Reader that is used after its closure has returned panics instead of reading while
// others write.
func TestOver(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	store := memstore.New()
	var kept []traintravel.Reader
	if err := store.View(ctx, func(r traintravel.Reader) error { kept = append(kept, r); return nil }); err != nil {
		t.Fatal(err)
	}
	if err := store.Update(ctx, func(tx traintravel.Tx) error { kept = append(kept, tx); return nil }); err != nil {
		t.Fatal(err)
	}
	for _, r := range kept {
		if _, err := r.Get(ctx); err == nil {
			t.Errorf("Get of a %T after its closure returned no error", r)
		}
		if _, err := r.List(ctx, traintravel.Range{Table: traintravel.TableMeta}); err == nil {
			t.Errorf("List of a %T after its closure returned no error", r)
		}
	}
}

func BenchmarkStore(b *testing.B) { storetest.Bench(b, open) }
