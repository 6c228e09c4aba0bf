package boltstore

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/group"
)

// model is a table as a map.
type model map[string]string

func (m model) list(r traintravel.Range) []string {
	var got []string
	for id, v := range m {
		if id >= r.From && (r.To == "" || id < r.To) {
			got = append(got, id+"="+v)
		}
	}
	slices.Sort(got)
	if r.Reverse {
		slices.Reverse(got)
	}
	if r.Limit > 0 && len(got) > r.Limit {
		got = got[:r.Limit]
	}
	return got
}

// writes returns random writes, some to one key, and makes them in the model.
func (m model) writes(rnd *rand.Rand) []group.Write {
	var ws []group.Write
	for range 1 + rnd.IntN(20) {
		w := group.Write{Table: traintravel.TableRuns, ID: randomID(rnd)}
		if rnd.IntN(3) == 0 {
			delete(m, w.ID)
		} else {
			w.Value = fmt.Append([]byte{}, rnd.IntN(1000))
			m[w.ID] = string(w.Value)
		}
		ws = append(ws, w, group.Write{Table: traintravel.TableAgenda, ID: w.ID, Value: []byte{}})
	}
	return ws
}

func randomID(rnd *rand.Rand) string { return fmt.Sprintf("%02d", rnd.IntN(100)) }

// TestOverlay: what a closure reads is the file with all that the earlier ones
// of its group have written, whichever of the two a record is in.
func TestOverlay(t *testing.T) {
	t.Parallel()
	s, err := Open(filepath.Join(t.TempDir(), "traintravel.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	rnd := rand.New(rand.NewPCG(1, 1))
	m := make(model)
	for range 10 { // groups
		tx, err := s.begin()
		if err != nil {
			t.Fatal(err)
		}
		g := batch{store: s, tx: tx}
		for range 10 { // closures
			g.over.Merge(m.writes(rnd))
			check(t, rnd, m, &reader{store: s, tx: tx, over: g.over})
		}
		for _, ws := range g.over {
			if !slices.IsSortedFunc(ws, group.CompareWrites) || len(slices.CompactFunc(slices.Clone(ws), func(a, b group.Write) bool { return a.ID == b.ID })) != len(ws) {
				t.Error("the overlay has keys out of order or twice")
			}
		}
		if err := g.apply(); err != nil {
			t.Fatal(err)
		}
		g.end()
		check(t, rnd, m, s)
	}
}

// check compares random reads with the model.
func check(t *testing.T, rnd *rand.Rand, m model, r traintravel.Reader) {
	t.Helper()
	for range 30 {
		rg := traintravel.Range{Table: traintravel.TableRuns, Reverse: rnd.IntN(2) == 0, Limit: rnd.IntN(10)}
		if rnd.IntN(3) > 0 {
			rg.From = randomID(rnd)
		}
		if rnd.IntN(3) > 0 {
			rg.To = randomID(rnd)
		}
		records, err := r.List(t.Context(), rg)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, rec := range records {
			got = append(got, rec.ID+"="+string(rec.Value))
		}
		if d := cmp.Diff(m.list(rg), got); d != "" {
			t.Fatalf("%+v (-want +got):\n%s", rg, d)
		}

		id := randomID(rnd)
		values, err := r.Get(t.Context(), key(id))
		if err != nil {
			t.Fatal(err)
		}
		if want, ok := m[id]; ok != (values[0] != nil) || want != string(values[0]) {
			t.Fatalf("%s is %q, want %q", id, values[0], want)
		}
	}
}
