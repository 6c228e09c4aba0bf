package servers_test

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/internal/records"
)

// A hoarder is a store that keeps what is deleted in its place, as PostgreSQL does while
// somebody reads an old snapshot: to walk over that takes time, which is the work that a
// test counts.
type hoarder struct {
	traintravel.Store
	mu      sync.Mutex
	dead    map[traintravel.Table][]string // in order
	step    time.Duration                  // what it takes to walk over one
	written int                            // how many updates walked over, all together
	queues  int                            // how many of TableDeliveries were walked over
}

// bury has n dead records lie behind a prefix, due in the hour before an instant.
func (h *hoarder) bury(table traintravel.Table, prefix string, before time.Time, n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.dead == nil {
		h.dead = map[traintravel.Table][]string{}
	}
	for i := range n {
		h.dead[table] = append(h.dead[table], prefix+records.Sortable(before.Add(time.Duration(i-n)*time.Hour/time.Duration(n))))
	}
	slices.Sort(h.dead[table])
}

// rest takes the time of walking over n dead records.
func (h *hoarder) rest(n int) {
	h.mu.Lock()
	step := h.step
	h.mu.Unlock()
	time.Sleep(time.Duration(n) * step)
}

// walked is how many dead records a list walked over.
func (h *hoarder) walked(r traintravel.Range, found []traintravel.Record) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	dead := h.dead[r.Table]
	from, _ := slices.BinarySearch(dead, r.From)
	to := len(dead)
	if r.To != "" {
		to, _ = slices.BinarySearch(dead, r.To)
	}
	if r.Limit > 0 && len(found) == r.Limit {
		to, _ = slices.BinarySearch(dead, found[len(found)-1].ID)
	}
	n := max(0, to-from)
	if r.Table == traintravel.TableDeliveries {
		h.queues += n
	}
	return n
}

func (h *hoarder) List(ctx context.Context, r traintravel.Range) ([]traintravel.Record, error) {
	found, err := h.Store.List(ctx, r)
	h.rest(h.walked(r, found))
	return found, err
}

func (h *hoarder) View(ctx context.Context, fn func(traintravel.Reader) error) error {
	n := 0
	err := h.Store.View(ctx, func(r traintravel.Reader) error { return fn(hoarded{r, h, &n}) })
	h.rest(n)
	return err
}

func (h *hoarder) Update(ctx context.Context, fn func(traintravel.Tx) error) error {
	n := 0
	var gone []traintravel.Key
	err := h.Store.Update(ctx, func(tx traintravel.Tx) error {
		n, gone = 0, nil
		return fn(&hoardedTx{Tx: tx, h: h, n: &n, gone: &gone})
	})
	h.mu.Lock()
	h.written += n
	if err == nil {
		for _, k := range gone {
			if h.dead != nil && (k.Table == traintravel.TableAgenda || k.Table == traintravel.TableDeliveries) {
				at, _ := slices.BinarySearch(h.dead[k.Table], k.ID)
				h.dead[k.Table] = slices.Insert(h.dead[k.Table], at, k.ID)
			}
		}
	}
	h.mu.Unlock()
	h.rest(n)
	return err
}

type hoarded struct {
	traintravel.Reader
	h *hoarder
	n *int
}

func (r hoarded) List(ctx context.Context, rg traintravel.Range) ([]traintravel.Record, error) {
	found, err := r.Reader.List(ctx, rg)
	*r.n += r.h.walked(rg, found)
	return found, err
}

type hoardedTx struct {
	traintravel.Tx
	h    *hoarder
	n    *int
	gone *[]traintravel.Key
}

func (t *hoardedTx) List(ctx context.Context, rg traintravel.Range) ([]traintravel.Record, error) {
	return hoarded{t.Tx, t.h, t.n}.List(ctx, rg)
}

func (t *hoardedTx) Delete(k traintravel.Key) {
	t.Tx.Delete(k)
	*t.gone = append(*t.gone, k)
}

// arrivals notes when events are posted and told.
type arrivals struct {
	mu sync.Mutex
	at []time.Time
}

func (a *arrivals) note() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.at = append(a.at, time.Now())
}

// since waits for n arrivals, and returns how long the last took and forgets them.
func (a *arrivals) since(t *testing.T, begun time.Time, n int) time.Duration {
	t.Helper()
	for range 3000 {
		time.Sleep(10 * time.Millisecond)
		synctest.Wait()
		a.mu.Lock()
		if len(a.at) == n {
			last := slices.MaxFunc(a.at, time.Time.Compare)
			a.at = nil
			a.mu.Unlock()
			return last.Sub(begun)
		}
		a.mu.Unlock()
	}
	t.Fatalf("%d of %d arrived", len(a.at), n)
	return 0
}

// deadRecords is how many dead records are at the head of each queue.
const deadRecords = 20_000

// onHoarder runs a test with a server that tells a notifier, the operator and a subscriber
// of events, three in all, from a store in which much was done before.
func onHoarder(t *testing.T, test func(t *testing.T, o *officetest.Office, h *hoarder, m *machine, came *arrivals, skew *atomic.Int64)) {
	onSharedStore(t, func(t *testing.T, o *officetest.Office, w *onlooker) {
		h := &hoarder{Store: o.Store, step: 25 * time.Microsecond} // half a second for all of a kind
		came := &arrivals{}
		mail := &officetest.Mailroom{Answers: map[string]func(int) (traintravel.WebhookAnswer, error){}}
		post := func(int) (traintravel.WebhookAnswer, error) {
			came.note()
			return traintravel.WebhookAnswer{Status: 200}, nil
		}
		mail.Answers[officetest.Hook], mail.Answers[officetest.OperatorsHook] = post, post
		var skew atomic.Int64
		var m *machine
		m = machineOn(o, h, w, "server", posting(mail, &m), func(opts *traintravel.Options) {
			opts.Now = func() time.Time { return time.Now().Add(time.Duration(skew.Load())) }
			opts.Notifier = traintravel.NotifierFunc(func(context.Context, traintravel.Event) error { came.note(); return nil })
		})
		m.work = func(context.Context, uuid.UUID) error { return nil }
		sub := m.MustSubscribe(officetest.Anna, officetest.Hook)
		operator := records.OperatorID(officetest.OperatorsHook)
		for _, k := range []string{"e", "f", "h", "w"} {
			h.bury(traintravel.TableAgenda, k, time.Now(), deadRecords)
		}
		for _, id := range []uuid.UUID{sub.ID, operator} {
			h.bury(traintravel.TableDeliveries, "q"+string(id[:]), time.Now(), deadRecords)
		}
		m.start()
		defer m.stop()
		begun := time.Now()
		m.Book(officetest.Anna, o.Unreserved())
		came.since(t, begun, 3)
		time.Sleep(10 * time.Second)
		test(t, o, h, m, came, &skew)
		time.Sleep(10 * time.Second)
	})
}

// However much was done before and lies at the head of the queues still, an event arrives
// at once, and no update that delivers it walks over that while others wait for it.
func TestDoneWorkDelaysNoOther(t *testing.T) {
	onHoarder(t, func(t *testing.T, _ *officetest.Office, h *hoarder, m *machine, came *arrivals, _ *atomic.Int64) {
		h.mu.Lock()
		h.written = 0
		h.mu.Unlock()
		const events = 40
		for range events {
			begun := time.Now()
			m.Book(officetest.Anna, m.Unreserved())
			if took := came.since(t, begun, 3); took > 100*time.Millisecond {
				t.Errorf("an event arrived after %v", took)
			}
			time.Sleep(300 * time.Millisecond)
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.written > 20*events {
			t.Errorf("the updates for %d events walked over %d dead records", events, h.written)
		}
	})
}

// What is written under the floor, by a server whose clock is behind, is found by the look
// at the whole agenda.
func TestWorkBelowTheFloor(t *testing.T) {
	onHoarder(t, func(t *testing.T, o *officetest.Office, h *hoarder, m *machine, came *arrivals, _ *atomic.Int64) {
		behind := *o
		behind.Store = h
		late := behind.Another(func(opts *traintravel.Options) {
			opts.Now = func() time.Time { return time.Now().Add(-time.Minute) }
			opts.Webhooks = &traintravel.WebhookOptions{Sender: &officetest.Mailroom{}, SealKey: make([]byte, 32), PerHost: 1000}
		})
		for range 3 {
			begun := time.Now()
			late.Book(officetest.Anna, o.Unreserved())
			if took := came.since(t, begun, 3); took > 15*time.Second {
				t.Errorf("an event arrived after %v", took)
			}
		}
	})
}

// When the server's own clock steps back, the floor follows it down at once.
func TestFloorFollowsTheClock(t *testing.T) {
	onHoarder(t, func(t *testing.T, _ *officetest.Office, h *hoarder, m *machine, came *arrivals, skew *atomic.Int64) {
		for range 5 {
			skew.Add(-int64(20 * time.Second)) // in all less than what subscriptions allow for
			h.mu.Lock()
			h.step = 0 // what is dead above the floor is no matter here
			h.mu.Unlock()
			begun := time.Now()
			m.Book(officetest.Anna, m.Unreserved())
			if took := came.since(t, begun, 3); took > 100*time.Millisecond {
				t.Errorf("an event arrived after %v", took)
			}
			time.Sleep(300 * time.Millisecond)
		}
	})
}

// What a server knows of queues it forgets when it gets parts of the agenda: another one
// may have worked on them meanwhile. So it looks through them from their beginnings again.
func TestFloorsAreForgotten(t *testing.T) {
	onHoarder(t, func(t *testing.T, o *officetest.Office, h *hoarder, m *machine, came *arrivals, _ *atomic.Int64) {
		walks := func() int {
			h.mu.Lock()
			before := h.queues
			h.mu.Unlock()
			begun := time.Now()
			m.Book(officetest.Anna, m.Unreserved())
			came.since(t, begun, 3)
			h.mu.Lock()
			defer h.mu.Unlock()
			return h.queues - before
		}
		if n := walks(); n >= deadRecords {
			t.Errorf("the server knows the floors of the queues, and walked over %d dead records", n)
		}
		other := machineOn(o, h, m.onlooker, "other")
		other.start()
		time.Sleep(5 * time.Second)
		other.stop()
		time.Sleep(5 * time.Second)
		if n := walks(); n < 2*deadRecords {
			t.Errorf("the server had shared its work, and looked for it without walking over the dead records of both queues: it walked over %d", n)
		}
	})
}
