package agenda

import (
	"bytes"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/internal/trains"
	"github.com/traintravel/traintravel/store"
)

// Servers on one store share out the agenda. It has 64 parts of each kind, and
// an item is in the part that its ID says. Each running server has a record
// that names the parts it has and a count that it raises every second: its
// heartbeat. In the update that does so it reads the records of the others, takes
// parts that nobody has, and begins to give up parts if others have too few.
// So only one server works on an item at a time, without a write for each item.
//
// This compares no clocks of different machines. A server that has not seen the count of
// another one change for deadAfter, by its own monotonic clock, declares that server dead. A
// server whose heartbeats have failed for stopAfter, by its own clock, stops all its work. The
// difference is for work that takes a while to stop, and for clocks that run at different
// rates.
const (
	heartbeatEvery   = time.Second
	heartbeatTimeout = 3 * time.Second // how long the store may take for it
	stopAfter        = 6 * time.Second
	deadAfter        = 10 * time.Second
	ClocksOff        = 2 * recordClock // is more than one that starts beside another is behind
)

// A membership is the membership of one running server among those on its store.
type membership struct {
	host       *Host
	id         uuid.UUID
	workers    []*Worker
	gained     func() // is called when it gets parts
	heartbeats uint64
	joined     bool                // its record has been written
	until      time.Time           // of the latest renewal
	seen       map[uuid.UUID]sight // the others
	lapse      *time.Timer
}

// A sight is a server's count, and since when it has had this value.
type sight struct {
	heartbeats uint64
	since      time.Time
	warned     bool // the difference of its clock was logged
}

// A peer is another server.
type peer struct {
	id uuid.UUID
	Server
}

// A plan holds the decisions of a heartbeat.
type plan struct {
	known  bool // this server's record existed
	alive  []peer
	dead   []uuid.UUID
	record Server  // to be written
	open   []parts // for each worker
}

// plan decides what a server writes with a heartbeat that began at an instant. now has the
// parts that its workers have.
func (m *membership) plan(records []store.Record, now []partsInHand, leaving bool, began time.Time) (p plan, err error) {
	var own Server
	for _, rec := range records {
		id, err := uuid.FromBytes([]byte(rec.ID[len(ServerPrefix):]))
		if err != nil {
			continue // not the key of a server: Check reports it
		}
		v, err := decodePeer(rec.Value)
		if err != nil { // until it is known to be dead, it may have all parts that this server does not have
			v = Server{Heartbeats: trains.TextMark(string(rec.Value)), unknown: true}
		}
		was, ok := m.seen[id]
		switch {
		case id == m.id:
			own, p.known = v, true
		case ok && was.heartbeats == v.Heartbeats && began.Sub(was.since) >= deadAfter:
			p.dead = append(p.dead, id)
		default:
			p.alive = append(p.alive, peer{id, v})
		}
	}
	p.record = Server{Heartbeats: m.heartbeats, Leaving: leaving}
	for i, w := range m.workers {
		had, _ := own.of(w.Kind)
		taken, quota := m.others(w.Kind, p.alive)
		if slices.ContainsFunc(p.alive, func(c peer) bool { return c.unknown }) {
			taken |= ^had
		}
		if leaving {
			quota = 0
		}
		h, open := divide(had, now[i], taken, quota)
		p.record.Shares = append(p.record.Shares, Held{w.Kind, h})
		p.open = append(p.open, open)
	}
	return p, nil
}

// others returns the parts of a kind that other servers have, and the number of parts that is
// this server's share: all servers have the same number, and those with the lowest IDs one
// more if the parts do not divide evenly.
func (m *membership) others(k records.Kind, alive []peer) (taken parts, quota int) {
	rank, n := 0, 1
	for _, c := range alive {
		has, works := c.of(k)
		taken |= has
		if !works || c.Leaving {
			continue
		}
		n++
		if bytes.Compare(c.id[:], m.id[:]) < 0 {
			rank++
		}
	}
	quota = partCount / n
	if rank < partCount%n {
		quota++
	}
	return taken, quota
}

// look notes whose heartbeats have changed, at a time not before they were read, and compares
// the clocks of those servers with this server's.
func (m *membership) look(alive []peer, now, clock time.Time) {
	seen := make(map[uuid.UUID]sight, len(alive))
	for _, c := range alive {
		was, ok := m.seen[c.id]
		if !ok || was.heartbeats != c.Heartbeats {
			off := c.now.Sub(clock)
			if ok && !was.warned && !c.now.IsZero() && off.Abs() > ClocksOff {
				was.warned = true
				m.host.Log.Warn("the clock of another server shows another time, so holds and sales end too early or too late; synchronize the clocks of the machines", "server", c.id, "ahead", off.Round(time.Second))
			}
			was = sight{c.Heartbeats, now, was.warned}
		}
		seen[c.id] = was
	}
	m.seen = seen
}
