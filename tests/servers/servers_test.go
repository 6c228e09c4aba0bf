package servers_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/sandbox"
	"github.com/traintravel/traintravel/store/memstore"
)

// What servers do that share a store which none has to itself, in bubbles of
// fake time.

// A wire is a server's connection to a store that is not local.
type wire struct {
	traintravel.Store
	mu   sync.Mutex
	cut  bool          // nothing passes until it is mended
	dead bool          // nothing ever passes again
	slow time.Duration // what an update takes
	lost int           // answers that get lost
}

func (w *wire) set(change func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change()
}

// pass waits while the wire is cut, or until ctx ends.
func (w *wire) pass(ctx context.Context) error {
	for ctx.Err() == nil {
		w.mu.Lock()
		cut, dead := w.cut, w.dead
		w.mu.Unlock()
		if dead {
			return officetest.ErrLine
		}
		if !cut {
			return nil
		}
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
	return ctx.Err()
}

func (w *wire) Get(ctx context.Context, keys ...traintravel.Key) ([][]byte, error) {
	if err := w.pass(ctx); err != nil {
		return nil, err
	}
	return w.Store.Get(ctx, keys...)
}

func (w *wire) List(ctx context.Context, r traintravel.Range) ([]traintravel.Record, error) {
	if err := w.pass(ctx); err != nil {
		return nil, err
	}
	return w.Store.List(ctx, r)
}

func (w *wire) View(ctx context.Context, fn func(traintravel.Reader) error) error {
	if err := w.pass(ctx); err != nil {
		return err
	}
	return w.Store.View(ctx, fn)
}

func (w *wire) Update(ctx context.Context, fn func(traintravel.Tx) error) error {
	if err := w.pass(ctx); err != nil {
		return err
	}
	err := w.Store.Update(ctx, fn)
	w.mu.Lock()
	slow, lost := w.slow, err == nil && w.lost > 0
	if lost {
		w.lost--
	}
	w.mu.Unlock()
	if slow > 0 {
		time.Sleep(slow)
	}
	if lost {
		return fmt.Errorf("the answer was lost: %w", traintravel.ErrUnknownOutcome)
	}
	return err
}

// An onlooker sees who has what in hand, and that nobody else has.
type onlooker struct {
	t  *testing.T
	mu sync.Mutex
	// in is who has a thing in hand, begun who began it last and when.
	in    map[uuid.UUID]string
	begun map[uuid.UUID]began
	did   map[string]int // by server
}

type began struct {
	by string
	at time.Time
}

func newOnlooker(t *testing.T) *onlooker {
	return &onlooker{t: t, in: map[uuid.UUID]string{}, begun: map[uuid.UUID]began{}, did: map[string]int{}}
}

// begin notes that a server takes a thing in hand; the function returned, that
// it lets go.
func (w *onlooker) begin(by string, id uuid.UUID) (end func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if other, ok := w.in[id]; ok {
		w.t.Errorf("%s takes %v, which %s has had in hand since %v", by, id, other, time.Since(w.begun[id].at))
	}
	w.in[id], w.begun[id] = by, began{by, time.Now()}
	w.did[by]++
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.in, id)
	}
}

// hands is how much a server has in hand.
func (w *onlooker) hands(by string) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, other := range w.in {
		if other == by {
			n++
		}
	}
	return n
}

// forget begins to count anew who does how much.
func (w *onlooker) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.did)
}

// A machine is a server: an office of its own.
type machine struct {
	*officetest.Office
	name     string
	wire     *wire
	onlooker *onlooker
	work     func(ctx context.Context, id uuid.UUID) error // while it has a thing in hand
	kill     context.CancelFunc
	ended    chan struct{}
}

// newMachine makes a server that is not running yet, with a wire to the store.
func newMachine(o *officetest.Office, w *onlooker, name string, options ...func(*traintravel.Options)) *machine {
	line := &wire{Store: o.Store}
	m := machineOn(o, line, w, name, options...)
	m.wire = line
	return m
}

// machineOn makes one on a store. Its gateway is the office's bank, and what it
// delivers goes to the office's post.
func machineOn(o *officetest.Office, store traintravel.Store, w *onlooker, name string, options ...func(*traintravel.Options)) *machine {
	m := &machine{name: name, onlooker: w}
	m.work = func(ctx context.Context, _ uuid.UUID) error {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
			return nil
		}
	}
	behind := *o
	behind.Store = store
	m.Office = behind.Another(append([]func(*traintravel.Options){func(opts *traintravel.Options) {
		opts.Now = nil
		officetest.Unlimited(opts)
		opts.Gateway = &handled{Bank: o.Bank, m: m}
		opts.Notifier = traintravel.NotifierFunc(func(ctx context.Context, e traintravel.Event) error {
			defer w.begin(name, e.ID)()
			if err := m.work(ctx, e.ID); err != nil {
				return err
			}
			return o.Post.Notify(ctx, e)
		})
	}}, options...)...)
	return m
}

// handled is a bank of which the onlooker sees what Run asks.
type handled struct {
	*officetest.Bank
	m *machine
}

func (h *handled) Lookup(ctx context.Context, id uuid.UUID) (traintravel.Outcome, error) {
	defer h.m.onlooker.begin(h.m.name, id)()
	if err := h.m.work(ctx, id); err != nil {
		return traintravel.Outcome{}, err
	}
	return h.Bank.Lookup(ctx, id)
}

func (h *handled) Refund(ctx context.Context, r traintravel.Refund) (traintravel.Outcome, error) {
	defer h.m.onlooker.begin(h.m.name, r.ID)()
	if err := h.m.work(ctx, r.ID); err != nil {
		return traintravel.Outcome{}, err
	}
	return h.Bank.Refund(ctx, r)
}

// start runs the server until it is stopped.
func (m *machine) start() {
	ctx, cancel := context.WithCancel(context.Background())
	m.kill, m.ended = cancel, make(chan struct{})
	go func() {
		defer close(m.ended)
		if err := m.Run(ctx); !errors.Is(err, context.Canceled) {
			m.T.Errorf("Run returned %v", err)
		}
	}()
}

func (m *machine) stop() {
	m.kill()
	<-m.ended
}

// onSharedStore runs a test in a bubble, with an office on a store that servers
// share and an onlooker. What waits at the end must be nothing.
func onSharedStore(t *testing.T, test func(t *testing.T, o *officetest.Office, w *onlooker)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := &officetest.Office{T: t, Store: struct{ traintravel.Store }{memstore.New()}, Bank: &officetest.Bank{Gateway: sandbox.New()}, Post: &officetest.Post{}}
		o = o.Another(func(opts *traintravel.Options) { opts.Now = nil })
		o.Load(officetest.InBubbles())
		test(t, o, newOnlooker(t))
		if books := o.Audit(); books.Events != 0 || books.Owed["eur"] != 0 {
			t.Errorf("%d events and refunds of %v wait", books.Events, books.Owed)
		}
	})
}

// once expects that every event came once.
func once(o *officetest.Office) {
	o.T.Helper()
	came := map[uuid.UUID]int{}
	for _, e := range o.Post.Events {
		if came[e.ID]++; came[e.ID] == 2 {
			o.T.Errorf("%v of %v came again", e.Type, e.Booking.ID)
		}
	}
}

// TestServersShareTheWork: each thing is in one server's hands, all is done,
// and each does its part; also while one joins and one leaves.
func TestServersShareTheWork(t *testing.T) {
	for _, n := range []int{2, 3} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			onSharedStore(t, func(t *testing.T, o *officetest.Office, w *onlooker) {
				const each = 60
				short := func(opts *traintravel.Options) { opts.HoldFor = 10 * time.Minute }
				var servers []*machine
				for i := range n {
					m := newMachine(o, w, fmt.Sprint("server ", i), short)
					servers = append(servers, m)
					m.start()
				}
				time.Sleep(5 * time.Second)
				sell := func(at *machine) {
					for i := range each {
						b := at.Book(officetest.Anna, at.Unreserved())
						if i%4 == 0 {
							at.MustPay(b, traintravel.Succeeded)
							at.Expect("cancelling", at.CancelBooking(t.Context(), officetest.Anna, b.ID), nil)
						}
					}
				}
				share := func(what string, servers ...*machine) {
					t.Helper()
					total := 0
					for _, m := range servers {
						total += w.did[m.name]
					}
					for _, m := range servers { // which parts have how much to do is chance
						if part := w.did[m.name] * len(servers); part < total/4 || part > total*3 {
							t.Errorf("%s %s did %d of %d things", what, m.name, w.did[m.name], total)
						}
					}
					w.forget()
				}
				for _, m := range servers {
					sell(m)
				}
				time.Sleep(5 * time.Second)
				synctest.Wait()
				share("together", servers...)
				if want := n * each * (1 + 2*1/4); len(o.Post.Events) < want {
					t.Errorf("%d events, want at least %d", len(o.Post.Events), want)
				}

				// One more comes while there is work, and one goes.
				sell(servers[0])
				m := newMachine(o, w, "the new one", short)
				m.start()
				time.Sleep(5 * time.Second)
				w.forget()
				sell(servers[1])
				time.Sleep(5 * time.Second)
				synctest.Wait()
				share("with a new one,", append(servers, m)...)
				sell(m)
				servers[0].stop()
				time.Sleep(3 * time.Second)
				w.forget()
				sell(m)
				time.Sleep(3 * time.Second) // not as long as for a dead one
				synctest.Wait()
				share("without the first,", append(servers[1:], m)...)
				once(o)
				if books := o.Audit(); books.Events > 0 || books.Owed["eur"] > 0 {
					t.Errorf("%d events and refunds of %v wait", books.Events, books.Owed)
				}
				time.Sleep(12 * time.Minute) // the holds end
				synctest.Wait()
				for _, m := range append(servers[1:], m) {
					m.stop()
				}
				once(o)
				for id, b := range o.Audit().Bookings {
					if b.Status != traintravel.Expired && b.Status != traintravel.Cancelled {
						t.Errorf("booking %v is %v", id, b.Status)
					}
				}
				records, err := o.Store.List(t.Context(), traintravel.Range{Table: traintravel.TableMeta, From: "server/", To: "server0"})
				if len(records) > 0 || err != nil {
					t.Errorf("%d servers are on the roster, %v", len(records), err)
				}
			})
		})
	}
}

// TestServersFillIn: one that cannot work on payments or events leaves them to
// one that can.
func TestServersFillIn(t *testing.T) {
	onSharedStore(t, func(t *testing.T, o *officetest.Office, w *onlooker) {
		whole := newMachine(o, w, "whole")
		poor := newMachine(o, w, "poor", func(opts *traintravel.Options) { opts.Gateway = nil })
		whole.start()
		poor.start()
		time.Sleep(5 * time.Second)
		for range 20 {
			b := whole.Book(officetest.Anna, whole.Unreserved())
			whole.MustPay(b, traintravel.Succeeded)
			whole.Expect("cancelling", whole.CancelBooking(t.Context(), officetest.Anna, b.ID), nil)
		}
		time.Sleep(3 * time.Second)
		synctest.Wait()
		o.BankHolds(0)
		if w.did["poor"] == 0 {
			t.Error("it delivers no events")
		}
		whole.stop()
		poor.stop()
	})
}

// TestServerThatIsCutOff stops what it has in hand before others take it over,
// and they do so soon after; when it is back, it takes part again.
func TestServerThatIsCutOff(t *testing.T) {
	onSharedStore(t, func(t *testing.T, o *officetest.Office, w *onlooker) {
		a, b := newMachine(o, w, "a"), newMachine(o, w, "b")
		stopped := make(chan time.Time, 1000)
		a.work = func(ctx context.Context, _ uuid.UUID) error {
			<-ctx.Done()
			stopped <- time.Now()
			time.Sleep(3 * time.Second) // and is slow to let go
			return ctx.Err()
		}
		a.start()
		time.Sleep(time.Second)
		b.start()
		time.Sleep(5 * time.Second)
		for range 40 {
			b.Book(officetest.Anna, b.Unreserved())
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if len(w.in) == 0 || len(o.Post.Events) == 0 {
			t.Fatalf("a has %d events in hand, and b has delivered %d", len(w.in), len(o.Post.Events))
		}
		for id, by := range w.in {
			if by != "a" {
				t.Fatalf("%s has %v in hand", by, id)
			}
		}
		cut := time.Now()
		a.wire.set(func() { a.wire.cut = true })
		theirs := maps.Clone(w.in)
		time.Sleep(12 * time.Second)
		synctest.Wait()
		if n := len(stopped); n != len(theirs) {
			t.Errorf("%d of %d things were stopped", n, len(theirs))
		}
		for range len(stopped) {
			if after := (<-stopped).Sub(cut); after > 6*time.Second {
				t.Errorf("it stopped %v after it was cut off", after)
			}
		}
		for id := range theirs {
			if got := w.begun[id]; got.by != "b" {
				t.Errorf("%v is not taken over", id)
			} else if after := got.at.Sub(cut); after < 9*time.Second-time.Second/10 {
				t.Errorf("%v is taken over %v after the cut", id, after)
			}
		}
		once(o)
		if len(o.Post.Events) != 40 {
			t.Errorf("%d events were delivered", len(o.Post.Events))
		}

		a.work = b.work
		a.wire.set(func() { a.wire.cut = false })
		time.Sleep(6 * time.Second)
		w.forget()
		for range 40 {
			b.Book(officetest.Anna, b.Unreserved())
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if w.did["a"] < 10 || w.did["b"] < 10 {
			t.Errorf("when it is back they do %v", w.did)
		}
		once(o)
		a.stop()
		b.stop()
	})
}
