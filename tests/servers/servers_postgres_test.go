package servers_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/audittest"
	"github.com/traintravel/traintravel/internal/need"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/internal/pgtest"
	"github.com/traintravel/traintravel/sandbox"
	"github.com/traintravel/traintravel/store/pgstore"
)

// A pgServer is a server as a process of its own would be: with its own
// connections to the database, through a proxy that can cut them.
type pgServer struct {
	*machine
	proxy  *pgtest.Proxy
	store  *pgstore.Store
	offset atomic.Int64 // of its clock
	alive  bool
}

// A pgCluster is three servers on one PostgreSQL database, in real time.
type pgCluster struct {
	*cluster
	office   *officetest.Office
	server   *pgtest.Server
	database string
	began    time.Time
	servers  [3]*pgServer
	starts   int
}

// start starts a server: the first, or one in the place of one that was killed.
func (c *pgCluster) start(i int) {
	c.starts++
	s := &pgServer{proxy: pgtest.NewProxy(c.t, c.server.Addr()), alive: true}
	for began := time.Now(); s.store == nil; {
		var err error
		s.store, err = pgstore.Open(c.t.Context(), pgtest.Via(c.database, s.proxy.Addr())+"&pool_max_conns=6", &pgstore.Options{RetryFor: time.Second})
		if err != nil && time.Since(began) > time.Minute { // as a busy machine may need
			c.t.Fatal(err)
		}
	}
	if old := c.servers[i]; old != nil {
		s.offset.Store(old.offset.Load())
	}
	s.machine = machineOn(c.office, s.store, c.onlooker, fmt.Sprintf("server %d, start %d,", i, c.starts), posting(&c.mail, &s.machine), func(opts *traintravel.Options) {
		opts.Now = func() time.Time { return officetest.Opens.Add(time.Since(c.began) + time.Duration(s.offset.Load())) }
		opts.HoldFor = 3 * time.Second
	})
	s.work = func(ctx context.Context, _ uuid.UUID) error {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(c.upTo(50 * time.Millisecond)):
		}
		if !c.over.Load() && c.one(6) {
			return officetest.ErrLine
		}
		return nil
	}
	c.servers[i] = s
	s.machine.start()
}

// kill ends a server: nothing more of it reaches the database.
func (c *pgCluster) kill(i int) {
	s := c.servers[i]
	s.proxy.Refuse(true)
	s.proxy.Cut()
	s.machine.kill()
	s.alive = false
}

// use is one client, who goes from server to server.
func (c *pgCluster) use(until <-chan struct{}, trips []uuid.UUID, servers func() *machine) {
	for {
		select {
		case <-until:
			return
		default:
		}
		ctx, stop := context.WithTimeout(context.Background(), 5*time.Second)
		m := servers()
		switch c.n(6) {
		case 0:
			c.cancel(ctx, m)
		case 1, 2:
			c.pay(ctx, m)
		default:
			b, err := m.CreateBooking(ctx, officetest.Anna, traintravel.NewBooking{TripID: trips[c.n(len(trips))], PassengerName: "Anna"})
			if err == nil {
				c.mu.Lock()
				c.bookings = append(c.bookings, b)
				c.mu.Unlock()
			}
		}
		stop()
		time.Sleep(c.upTo(20 * time.Millisecond))
	}
}

// TestServersOnPostgres: three servers sell from one database while they are
// killed and started again, lose connections and answers, and have clocks that
// disagree by seconds. In the end all that was acknowledged is there, everything
// in the database agrees, the bank holds what the books say, and every event came, to
// the notifier and to all who have it posted.
func TestServersOnPostgres(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	database := server.NewDatabase(t)
	audited := officetest.OpenPostgres(t, database)
	o := &officetest.Office{T: t, Store: audited, Bank: &officetest.Bank{Gateway: sandbox.New()}, Post: &officetest.Post{}}
	o = o.Another(func(opts *traintravel.Options) { opts.Now = func() time.Time { return officetest.Opens } })
	o.Load(officetest.Network())
	trips := []uuid.UUID{
		o.TripID('A', 'B', "R 1"), o.TripID('B', 'D', "R 1"), o.TripID('A', 'D', "R 1"), o.TripID('D', 'F', "R 2"), o.TripID('G', 'H', "R 4"),
		o.TripID('F', 'G', "S 3"), o.TripID('F', 'G', "S 3"), o.TripID('F', 'G', "S 3"), // which is never full
	}
	c := &pgCluster{
		cluster: &cluster{t: t, office: o, onlooker: newOnlooker(t), chance: &chance{rnd: rand.New(rand.NewPCG(7, 1))}},
		office:  o, server: server, database: database, began: time.Now(),
	}
	lose := func(string, uuid.UUID) error {
		if !c.over.Load() && c.one(8) {
			return officetest.ErrLine
		}
		return nil
	}
	o.Bank.Before = lose
	o.Bank.After = func(op string, id uuid.UUID, _ *traintravel.Outcome) error { return lose(op, id) }
	var mu sync.Mutex // guards servers
	for i := range c.servers {
		c.start(i)
	}
	c.servers[0].MustSubscribe(officetest.Anna, officetest.Hook, traintravel.EventTypes()...)
	any := func() *machine {
		mu.Lock()
		defer mu.Unlock()
		return c.servers[c.n(len(c.servers))].machine
	}
	end := make(chan struct{})
	var users sync.WaitGroup
	for range 16 {
		users.Go(func() { c.use(end, trips, any) })
	}
	for range need.Sample(20, 40) {
		time.Sleep(c.upTo(500 * time.Millisecond))
		mu.Lock()
		i := c.n(len(c.servers))
		switch s := c.servers[i]; {
		case !s.alive:
			c.start(i)
		case c.one(4):
			c.kill(i)
		case c.one(3):
			s.proxy.Cut()
		case c.one(2):
			s.proxy.CutAt(pgtest.BeforeAnswer, "commit")
		default:
			s.offset.Store(int64(c.upTo(8*time.Second) - 4*time.Second))
		}
		mu.Unlock()
	}
	mu.Lock()
	for i, s := range c.servers {
		if !s.alive {
			c.start(i)
		}
	}
	mu.Unlock()
	c.over.Store(true)
	close(end)
	users.Wait()

	// What is to come comes, in hours that pass quickly.
	for deadline := time.Now().Add(2 * time.Minute); ; {
		time.Sleep(time.Second)
		for _, s := range c.servers {
			s.offset.Add(int64(time.Hour))
		}
		books := c.office.Audit()
		if books.Events == 0 && books.Owed["eur"] == 0 && books.Open["eur"] == 0 && books.Deliveries == 0 && !heldAny(books) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("after two minutes %d events and %d deliveries wait, %v is owed and %v open", books.Events, books.Deliveries, books.Owed, books.Open)
		}
	}
	for _, s := range c.servers {
		s.machine.stop()
		if err := s.store.Close(); err != nil {
			t.Error(err)
		}
	}
	c.check()
	t.Logf("%d bookings, %d starts of servers, %d events, %d posts of which %d again", len(c.bookings), c.starts, len(o.Post.Events), c.mail.Count(), c.mail.Twice())
}

func heldAny(books audittest.Books) bool {
	for _, b := range books.Bookings {
		if b.Status == traintravel.Held {
			return true
		}
	}
	return false
}
