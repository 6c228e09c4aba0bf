package agenda

import (
	"context"
	"time"

	"github.com/traintravel/traintravel/internal/codec"
	"github.com/traintravel/traintravel/store"
)

// run sends heartbeats until present ends, and then removes the server's record. Once work
// has ended, the server takes no more items.
func (m *membership) run(work, present context.Context) {
	m.lapse = time.AfterFunc(stopAfter, m.lapsed)
	defer m.lapse.Stop()
	for present.Err() == nil {
		if err := m.heartbeat(work, present); err != nil && present.Err() == nil {
			m.host.Log.Warn("heartbeat failed; will retry", "server", m.id, "error", err)
		}
		Sleep(present, heartbeatEvery)
	}
	m.leave(present)
}

// lapsed stops the work in progress when other servers could soon take it over.
func (m *membership) lapsed() {
	if m.stop(time.Now()) {
		m.host.Log.Error("no heartbeat succeeded for too long; in-flight work cancelled", "server", m.id, "for", stopAfter)
	}
}

// stop stops all work that was not renewed until an instant.
func (m *membership) stop(now time.Time) (stopped bool) {
	for _, w := range m.workers {
		stopped = w.share.lapse(now) || stopped
	}
	return stopped
}

// heartbeat renews the server's parts, and distributes the rest.
func (m *membership) heartbeat(work, present context.Context) error {
	began, clock := time.Now(), m.host.Now()
	if !began.Before(m.until) {
		m.seen = nil // this server was cut off, so the others may have been too
	}
	m.heartbeats++
	leaving := work.Err() != nil
	ctx, stop := context.WithTimeout(present, heartbeatTimeout)
	defer stop()
	p, err := m.write(ctx, m.inHand(leaving), leaving, began, clock)
	if err != nil {
		return err
	}
	now := time.Now()
	m.look(p.alive, now, clock)
	evicted := m.joined && !p.known
	m.joined = true
	for _, id := range p.dead {
		m.host.Log.Warn("another server sent no heartbeat; taking over its work", "server", id)
	}
	if evicted {
		m.host.Log.Error("declared dead by other servers; in-flight work cancelled", "server", m.id)
		m.stop(m.until)
	}
	if m.until = began.Add(stopAfter); !now.Before(m.until) {
		return nil // too late to start work; the next heartbeat comes soon
	}
	m.lapse.Reset(m.until.Sub(now))
	m.renew(work, p.open)
	return nil
}

// inHand returns the parts of each kind that the server has. If the server is leaving, it
// starts no work.
func (m *membership) inHand(leaving bool) []partsInHand {
	now := make([]partsInHand, len(m.workers))
	for i, w := range m.workers {
		if now[i] = w.share.inHand(); leaving {
			now[i].open = 0
		}
	}
	return now
}

// write writes the server's record as planned, and removes those of dead servers.
func (m *membership) write(ctx context.Context, now []partsInHand, leaving bool, began, clock time.Time) (p plan, err error) {
	err = m.host.Store.Update(ctx, func(tx store.Tx) error {
		records, err := tx.List(ctx, store.Range{Table: store.TableMeta, From: ServerPrefix, To: codec.PrefixEnd(ServerPrefix)})
		if err != nil {
			return err
		}
		if p, err = m.plan(records, now, leaving, began); err != nil {
			return err
		}
		for _, id := range p.dead {
			tx.Delete(ServerKey(id))
		}
		p.record.now = clock
		tx.Put(ServerKey(m.id), p.record.Encode())
		return nil
	})
	return p, err
}

// renew opens the parts of each worker, and wakes the workers that got new ones.
func (m *membership) renew(work context.Context, open []parts) {
	for i, w := range m.workers {
		if w.share.renew(work, open[i], m.until) {
			w.floor.forget()
			m.gained()
			w.poke()
		}
	}
}

// leave removes the server's record, so that others take over immediately.
func (m *membership) leave(ctx context.Context) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer stop()
	err := m.host.Store.Update(ctx, func(tx store.Tx) error {
		tx.Delete(ServerKey(m.id))
		return nil
	})
	if err != nil {
		m.host.Log.Warn("sign-off failed; other servers take over this one's work later", "server", m.id, "after", deadAfter, "error", err)
	}
}
