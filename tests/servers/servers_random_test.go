package servers_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/need"
	"github.com/traintravel/traintravel/internal/officetest"
)

// chance is a source of random numbers for several goroutines.
type chance struct {
	mu  sync.Mutex
	rnd *rand.Rand
}

func (c *chance) n(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rnd.IntN(n)
}

func (c *chance) one(in int) bool { return c.n(in) == 0 }

func (c *chance) upTo(d time.Duration) time.Duration { return time.Duration(c.n(int(d) + 1)) }

// TestServersAtRandom: three servers sell, are killed, cut off and started
// again, lose answers, and have clocks that jump. In the end everything in the
// store agrees, the bank holds what the books say, and every event came, to the
// notifier and to all who have it posted.
func TestServersAtRandom(t *testing.T) {
	seeds := need.Sample[uint64](3, 6)
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			onSharedStore(t, func(t *testing.T, o *officetest.Office, w *onlooker) {
				c := &cluster{t: t, office: o, onlooker: w, chance: &chance{rnd: rand.New(rand.NewPCG(seed, 1))}}
				c.play(150)
			})
		})
	}
}

type cluster struct {
	*chance
	*onlooker
	t       *testing.T
	office  *officetest.Office
	servers [3]*machine
	offsets [3]atomic.Int64 // of their clocks
	runs    [3]bool
	starts  int
	mail    officetest.Mailroom
	calls   sync.WaitGroup
	over    atomic.Bool // the bank loses nothing any more

	mu       sync.Mutex
	bookings []traintravel.Booking
	failures map[uuid.UUID]int // of events
}

func (c *cluster) play(steps int) {
	c.failures = map[uuid.UUID]int{}
	lose := func() error {
		if !c.over.Load() && c.one(6) {
			return officetest.ErrLine
		}
		return nil
	}
	c.office.Bank.Before = func(string, uuid.UUID) error { return lose() }
	c.office.Bank.After = func(string, uuid.UUID, *traintravel.Outcome) error { return lose() }
	for i := range c.servers {
		c.start(i)
	}
	c.servers[0].MustSubscribe(officetest.Anna, officetest.Hook, traintravel.EventTypes()...)
	for range steps {
		c.step(c.n(len(c.servers)))
		time.Sleep(c.upTo(3 * time.Second))
	}
	for i := range c.servers { // in the end all is well
		c.offsets[i].Store(0)
		c.start(i)
		c.wire(i, func(w *wire) { w.cut, w.lost, w.slow = false, 0, 0 })
	}
	c.calls.Wait()
	c.over.Store(true)
	time.Sleep(time.Hour)
	synctest.Wait()
	for i := range c.servers {
		c.servers[i].stop()
	}
	c.check()
}

func (c *cluster) wire(i int, change func(*wire)) {
	w := c.servers[i].wire
	w.set(func() { change(w) })
}

// start starts a server that does not run, as a process of its own.
func (c *cluster) start(i int) {
	if c.runs[i] {
		return
	}
	if c.servers[i] != nil {
		c.wire(i, func(w *wire) { w.dead = true }) // what is left of its process
	}
	c.runs[i] = true
	c.starts++
	name := fmt.Sprintf("server %d, start %d,", i, c.starts)
	var m *machine
	m = newMachine(c.office, c.onlooker, name, posting(&c.mail, &m), func(opts *traintravel.Options) {
		opts.Now = func() time.Time { return time.Now().Add(time.Duration(c.offsets[i].Load())) }
		opts.HoldFor = 10 * time.Minute
	})
	m.work = func(ctx context.Context, id uuid.UUID) error {
		select {
		case <-ctx.Done():
			time.Sleep(c.upTo(3 * time.Second)) // lets go slowly
			return ctx.Err()
		case <-time.After(c.upTo(8 * time.Second)):
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.failures[id] < 2 && c.one(5) {
			c.failures[id]++
			return officetest.ErrLine
		}
		return nil
	}
	c.servers[i] = m
	m.start()
}

// kill ends a server's process: nothing that it does reaches the store.
func (c *cluster) kill(i int) {
	c.wire(i, func(w *wire) { w.dead = true })
	c.servers[i].kill()
	c.runs[i] = false
}

func (c *cluster) step(i int) {
	switch c.n(24) {
	case 0:
		c.kill(i)
	case 1:
		if c.runs[i] && c.one(2) {
			c.servers[i].kill() // it ends properly
			c.runs[i] = false
		}
	case 2, 3, 4:
		c.start(i)
	case 5:
		c.wire(i, func(w *wire) { w.cut = true })
	case 6, 7:
		c.wire(i, func(w *wire) { w.cut = false })
	case 8:
		c.wire(i, func(w *wire) { w.lost += 3 })
	case 9:
		slow := c.upTo(2 * time.Second)
		c.wire(i, func(w *wire) { w.slow = slow })
	case 10:
		c.wire(i, func(w *wire) { w.slow = 0 })
	case 11, 12:
		c.offsets[i].Store(int64(c.upTo(20*time.Second) - 10*time.Second))
	case 13, 14, 15:
		c.call(i, c.pay)
	case 16, 17:
		c.call(i, c.cancel)
	default:
		c.call(i, c.book)
	}
}

// call makes a request to a server, as a client does. Whether it works is all
// the same.
func (c *cluster) call(i int, do func(context.Context, *machine)) {
	m := c.servers[i]
	c.calls.Go(func() {
		ctx, stop := context.WithTimeout(context.Background(), 10*time.Second)
		defer stop()
		do(ctx, m)
	})
}

func (c *cluster) book(ctx context.Context, m *machine) {
	id, err := m.Direct(ctx, "S 3", traintravel.NewDate(2000, 1, 2), officetest.Station('F'), officetest.Station('G'))
	if err != nil {
		return
	}
	b, err := m.CreateBooking(ctx, officetest.Anna, traintravel.NewBooking{TripID: id, PassengerName: "Anna"})
	if err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bookings = append(c.bookings, b)
}

func (c *cluster) booking() (b traintravel.Booking, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.bookings) == 0 {
		return b, false
	}
	return c.bookings[c.n(len(c.bookings))], true
}

func (c *cluster) pay(ctx context.Context, m *machine) {
	if b, ok := c.booking(); ok {
		card := []traintravel.Secret{officetest.Works, officetest.Works, officetest.Declined}[c.n(3)]
		_, _ = m.PayBooking(ctx, officetest.Anna, b.ID, traintravel.NewPayment{Amount: b.Price, Source: officetest.Visa(card)})
	}
}

func (c *cluster) cancel(ctx context.Context, m *machine) {
	if b, ok := c.booking(); ok {
		_ = m.CancelBooking(ctx, officetest.Anna, b.ID)
	}
}

// check checks what must be true when all is done.
func (c *cluster) check() {
	books := c.office.Audit()
	c.office.BankHolds(books.Kept["eur"])
	if books.Open["eur"] != 0 || books.Deliveries != 0 {
		c.t.Errorf("payments of %v are open, and %d deliveries wait", books.Open, books.Deliveries)
	}
	if len(books.Bookings) < len(c.bookings) || len(c.bookings) == 0 {
		c.t.Errorf("%d bookings are there, %d were made", len(books.Bookings), len(c.bookings))
	}
	for id, b := range books.Bookings {
		want := []traintravel.EventType{traintravel.BookingCreated}
		switch b.Status {
		case traintravel.Confirmed:
			want = append(want, traintravel.BookingConfirmed)
		case traintravel.Cancelled:
			want = append(want, traintravel.BookingCancelled)
		case traintravel.Expired:
			want = append(want, traintravel.BookingExpired)
		default:
			c.t.Errorf("booking %v is %v", id, b.Status)
		}
		for to, got := range map[string][]traintravel.EventType{
			"the notifier": c.office.Post.Of(id), "anna": c.mail.Of(officetest.Hook, id), "the operator": c.mail.Of(officetest.OperatorsHook, id),
		} {
			for _, e := range want {
				if !slices.Contains(got, e) {
					c.t.Errorf("booking %v is %v, and what came to %s is %v", id, b.Status, to, got)
				}
			}
		}
	}
}
