package agenda

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/traintravel/traintravel/internal/railtest"
	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/store"
)

// TestDivide: what a server has is its own, what it may begin is within its
// quota, and what it has in hand stays until it is done.
func TestDivide(t *testing.T) {
	t.Parallel()
	set := rapid.Map(rapid.Uint64(), func(v uint64) parts { return parts(v) })
	rapid.Check(t, func(t *rapid.T) {
		taken := set.Draw(t, "taken")
		had, open, busy := set.Draw(t, "had")&^taken, set.Draw(t, "open"), set.Draw(t, "busy")
		quota := rapid.IntRange(0, partCount).Draw(t, "quota")
		held, next := divide(had, partsInHand{open, busy}, taken, quota)
		switch {
		case held&taken != 0:
			t.Fatalf("holds %x, which is taken", held&taken)
		case next&^held != 0:
			t.Fatalf("would begin %x, which it does not hold", next&^held)
		case had&(open|busy)&^held != 0:
			t.Fatalf("gives up %x, on which there may be work", had&(open|busy)&^held)
		case next.len() > quota || next.len() < quota && next != ^taken:
			t.Fatalf("would begin %d of a quota of %d, and %d are not taken", next.len(), quota, (^taken).len())
		case (had&open).len() > quota && had&open&^busy&^next != 0 && next&busy&^next != 0:
			t.Fatal("keeps the idle ones")
		}
	})
}

// TestPartsAreShared: servers that beat in any order come to have all parts,
// each once, and nearly as many each. One that dies is found dead by its count.
func TestPartsAreShared(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		now := time.Now()
		found := map[uuid.UUID][]byte{}
		servers := make([]*membership, rapid.IntRange(1, 70).Draw(t, "servers"))
		open := make([]parts, len(servers))
		for i, n := range rapid.Permutation(indices(len(servers))).Draw(t, "IDs") {
			servers[i] = &membership{id: railtest.Nth(n), workers: []*Worker{{Kind: records.EventDue}}}
		}
		beat := func(i int) plan {
			r := servers[i]
			var list []store.Record
			for id, v := range found {
				list = append(list, store.Record{ID: ServerKey(id).ID, Value: v})
			}
			r.heartbeats++
			p, err := r.plan(list, []partsInHand{{open: open[i]}}, false, now)
			if err != nil {
				t.Fatal(err)
			}
			for _, id := range p.dead {
				delete(found, id)
			}
			found[r.id], open[i] = p.record.Encode(), p.open[0]
			r.look(p.alive, now, time.Time{})
			return p
		}
		rounds := func(n int) {
			for range n {
				for range 4 {
					for _, i := range rapid.Permutation(indices(len(servers))).Draw(t, "order") {
						beat(i)
						now = now.Add(heartbeatEvery / time.Duration(4*len(servers)))
					}
				}
			}
			var all parts
			for i := range servers {
				if p := open[i]; all&p != 0 || p.len() < partCount/len(servers) || p.len() > partCount/len(servers)+1 {
					t.Fatalf("server %d of %d has %d parts; several have %x", i, len(servers), p.len(), all&p)
				}
				all |= open[i]
			}
			if all != AllParts {
				t.Fatalf("nobody has %x", ^all)
			}
		}
		rounds(2)
		if len(servers) == 1 {
			return
		}
		last := len(servers) - 1
		dead := servers[last].id
		beat(last)
		servers, open = servers[:last], open[:last]
		for i := range servers {
			beat(i)
		}
		now = now.Add(deadAfter - 1)
		if p := beat(0); len(p.dead) > 0 {
			t.Fatal("taken for dead too early")
		}
		now = now.Add(1)
		if p := beat(0); len(p.dead) != 1 || p.dead[0] != dead {
			t.Fatalf("dead are %v, not %v", p.dead, dead)
		}
		for i := range servers {
			beat(i)
		}
		rounds(2)
	})
}

func indices(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// A server shares the work with one of a newer version: what that adds to its record at the
// end is not looked at.
func TestServersOfANewerVersion(t *testing.T) {
	t.Parallel()
	newer := Server{Heartbeats: 7, Shares: []Held{{records.EventDue, 3}}, now: railtest.Noon()}.Encode()
	newer[0]++
	newer = append(newer, "and more"...)
	r := &membership{id: railtest.Nth(1), workers: []*Worker{{Kind: records.EventDue}}}
	p, err := r.plan([]store.Record{{ID: ServerKey(railtest.Nth(2)).ID, Value: newer}}, make([]partsInHand, 1), false, time.Now())
	if err != nil || len(p.alive) != 1 || p.alive[0].Heartbeats != 7 || p.alive[0].unknown {
		t.Fatalf("%+v, %v", p, err)
	}
	if p.open[0]&3 != 0 || p.open[0].len() != partCount/2 {
		t.Errorf("it takes %b beside %b", p.open[0], 3)
	}
}

// Beside a server whose record cannot be read, nobody takes what that may have, until it is
// known to be dead. A record under no server's key is nobody's.
func TestServersThatCannotBeRead(t *testing.T) {
	t.Parallel()
	r := &membership{id: railtest.Nth(1), workers: []*Worker{{Kind: records.EventDue}}}
	own := Server{Shares: []Held{{records.EventDue, 6}}}.Encode()
	records := func(other ...byte) []store.Record {
		return []store.Record{{ID: ServerPrefix + "x", Value: []byte{1}}, {ID: ServerKey(railtest.Nth(1)).ID, Value: own}, {ID: ServerKey(railtest.Nth(2)).ID, Value: other}}
	}
	now := time.Now()
	plan := func(other ...byte) plan {
		t.Helper()
		p, err := r.plan(records(other...), []partsInHand{{open: 6}}, false, now)
		if err != nil {
			t.Fatal(err)
		}
		r.look(p.alive, now, railtest.Noon())
		return p
	}
	for beats := range byte(20) {
		if p := plan(serverVersion+1, beats|0x80); p.open[0] != 6 || len(p.alive) != 1 {
			t.Fatalf("beside one that lives it has %b, where it had %b", p.open[0], 6)
		}
		now = now.Add(time.Second)
	}
	now = now.Add(deadAfter)
	if p := plan(serverVersion+1, 19|0x80); len(p.dead) != 1 || p.open[0] != AllParts {
		t.Errorf("dead are %v, and it has %b", p.dead, p.open[0])
	}
}

// A server whose clock shows another time is told of once. One that has not beaten
// meanwhile wrote its time long ago, and older versions wrote none.
func TestServersClocks(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	r := &membership{id: railtest.Nth(1), host: &Host{Log: slog.New(slog.NewTextHandler(&log, nil))}}
	clock := time.Date(2026, 5, 4, 8, 0, 0, 0, time.UTC)
	beats := uint64(0)
	look := func(off time.Duration) int {
		before := log.Len()
		at := func(id int, off time.Duration) peer {
			return peer{railtest.Nth(id), Server{Heartbeats: beats, now: clock.Add(off)}}
		}
		r.look([]peer{at(2, off), {railtest.Nth(3), Server{Heartbeats: beats}}, at(4, 3*time.Second), {railtest.Nth(5), Server{now: clock.Add(time.Hour)}}}, clock, clock)
		return strings.Count(log.String()[before:], "level=WARN")
	}
	for i, c := range []struct {
		off   time.Duration
		warns int
	}{{-time.Hour, 0}, {-2 * time.Minute, 0}, {-3 * time.Minute, 1}, {-3 * time.Minute, 0}, {time.Hour, 0}} {
		beats++
		if got := look(c.off); got != c.warns {
			t.Errorf("%d: %d warnings: %s", i, got, &log)
		}
	}
	if !strings.Contains(log.String(), "ahead=-3m0s") {
		t.Error(log.String())
	}
	if v, err := DecodeServer(Server{now: clock}.Encode()); err != nil || !v.now.Equal(clock) {
		t.Errorf("%v, %v", v.now, err)
	}
}
