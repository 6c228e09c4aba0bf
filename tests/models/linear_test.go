package models_test

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/internal/pgtest"
	"github.com/traintravel/traintravel/sandbox"
)

// What many clients saw of one train at several services must be what one
// conductor with one list would have said, who did everything at some moment
// between the call and the answer. What a search says of free seats may be two
// seconds old and is left out.

const (
	linearSeats   = 3
	linearClients = 6
	linearName    = "linear passenger"
)

// linearRides are what is asked for on a train with three sections.
var linearRides = []string{"AB", "BC", "CD", "AC", "BD", "AD"}

// A deed is what one client did and what came of it.
type deed struct {
	what       string // book, pay, paid, cancel, read or list; to pay are two steps
	client     int
	ride       string
	booking    uuid.UUID
	seat       int
	saw        map[uuid.UUID]byte // by read and list: where bookings stood
	err        error
	call, over time.Duration
}

func (d deed) String() string {
	return fmt.Sprintf("%8d to %8d µs, client %d: %s %s %s, seat %d, saw %v: %v", d.call.Microseconds(), d.over.Microseconds(), d.client, d.what, d.ride, d.booking, d.seat, d.saw, d.err)
}

// owner is whose bookings a client has to do with: every second client's.
func (d deed) owner() int { return d.client % 2 }

// Where a booking stands.
const (
	absent    = '-'
	held      = 'h'
	paying    = 'p' // a payment is recorded, its outcome is not
	confirmed = 'c'
	cancelled = 'x'
)

func standing(b traintravel.Booking) byte {
	switch {
	case b.Status == traintravel.Confirmed:
		return confirmed
	case b.Status == traintravel.Held && b.OpenPayment != uuid.Nil:
		return paying
	case b.Status == traintravel.Held:
		return held
	}
	return '?'
}

// A conductor is the model: the bookings of a history, by their number, and
// whatever never changes of them. Its state is a string with a letter for each.
type conductor struct {
	number map[uuid.UUID]int
	sold   []deed
}

// linearizable says whether a conductor could have said all that was heard.
func linearizable(history []deed) bool {
	c := conductor{number: map[uuid.UUID]int{}}
	var ops []porcupine.Operation
	for _, d := range history {
		if d.what == "book" && d.err == nil {
			c.number[d.booking] = len(c.sold)
			c.sold = append(c.sold, d)
		}
		ops = append(ops, porcupine.Operation{ClientId: d.client, Input: d, Call: int64(d.call), Return: int64(d.over)})
	}
	return porcupine.CheckOperations(porcupine.Model{
		Init: func() any { return strings.Repeat(string(absent), len(c.sold)) },
		Step: func(state, input, _ any) (bool, any) { return c.step(state.(string), input.(deed)) },
	}, ops)
}

func (c conductor) step(state string, d deed) (bool, string) {
	n, known := c.number[d.booking]
	if !known && d.booking != uuid.Nil {
		return false, state
	}
	becomes := func(letter byte, from string) (bool, string) {
		return strings.IndexByte(from, state[n]) >= 0, state[:n] + string(letter) + state[n+1:]
	}
	stays := func(in string) (bool, string) { return strings.IndexByte(in, state[n]) >= 0, state }
	switch {
	case d.what == "book" && d.err == nil:
		ok, next := becomes(held, "-")
		return ok && c.free(state, d.seat, d.ride), next
	case d.what == "book" && errors.Is(d.err, traintravel.ErrSoldOut):
		for seat := range linearSeats {
			if c.free(state, seat+1, d.ride) {
				return false, state
			}
		}
		return true, state
	case d.what == "pay" && d.err == nil:
		return becomes(paying, "h")
	case d.what == "pay" && errors.Is(d.err, traintravel.ErrAlreadyPaid):
		return stays("c")
	case d.what == "paid" && d.err == nil:
		return becomes(confirmed, "p")
	case d.what == "paid" && errors.Is(d.err, errDeclined):
		return becomes(held, "p")
	case d.what == "cancel" && d.err == nil:
		return becomes(cancelled, "hc")
	case d.what != "book" && errors.Is(d.err, traintravel.ErrPaymentInProgress):
		return stays("p")
	case d.what != "book" && errors.Is(d.err, traintravel.ErrNotFound):
		return stays("x")
	case d.what == "read" && d.err == nil:
		return d.saw[d.booking] == state[n], state
	case d.what == "list" && d.err == nil:
		own := 0
		for i, b := range c.sold {
			if b.owner() == d.owner() && state[i] != absent && state[i] != cancelled {
				if own++; d.saw[b.booking] != state[i] {
					return false, state
				}
			}
		}
		return own == len(d.saw), state
	}
	return false, state
}

// free says whether nobody has a seat on any section of a ride.
func (c conductor) free(state string, seat int, ride string) bool {
	for i, b := range c.sold {
		if state[i] != absent && state[i] != cancelled && b.seat == seat && b.ride[0] < ride[1] && ride[0] < b.ride[1] {
			return false
		}
	}
	return true
}

var errDeclined = errors.New("the card was declined")

// A rush is many clients who want seats of one run at once.
type rush struct {
	t       *testing.T
	offices []*officetest.Office
	day     int
	trips   []uuid.UUID
	began   time.Time
	charged sync.Map // when the bank was asked, by payment

	mu      sync.Mutex
	known   [2][]uuid.UUID // bookings, by owner
	history []deed
}

// newRush prepares for one on a day of its own.
func newRush(t *testing.T, offices []*officetest.Office, day int) *rush {
	r := &rush{t: t, offices: offices, day: day, began: time.Now()}
	for _, ride := range linearRides {
		r.trips = append(r.trips, offices[0].TripOn(day, rune(ride[0]), rune(ride[1]), "R 1"))
	}
	offices[0].Bank.Before = func(op string, id uuid.UUID) error {
		if op == "charge" {
			r.charged.Store(id, time.Since(r.began))
			runtime.Gosched()
		}
		return nil
	}
	return r
}

// run lets the clients do what they like, and returns all that they did.
func (r *rush) run(deeds int) []deed {
	var wg sync.WaitGroup
	for client := range linearClients {
		random := rand.New(rand.NewPCG(uint64(r.day), uint64(client)))
		wg.Go(func() {
			for range deeds {
				r.does(client, random)
			}
		})
	}
	wg.Wait()
	slices.SortFunc(r.history, func(a, b deed) int { return cmp.Compare(a.call, b.call) })
	return r.history
}

// does does one thing.
func (r *rush) does(client int, random *rand.Rand) {
	o, ctx := r.offices[client%len(r.offices)], r.t.Context()
	d := deed{client: client, what: "book", saw: map[uuid.UUID]byte{}}
	by := traintravel.Caller{Subject: traintravel.Subject{ID: fmt.Sprint("owner ", d.owner(), " of day ", r.day)}}
	r.mu.Lock()
	if known := r.known[d.owner()]; len(known) > 0 {
		d.what = []string{"book", "book", "pay", "cancel", "cancel", "read", "list"}[random.IntN(7)]
		if d.what != "book" && d.what != "list" {
			d.booking = known[max(0, len(known)-1-random.IntN(4))]
		}
	}
	r.mu.Unlock()
	d.call = time.Since(r.began)
	switch d.what {
	case "book":
		ride := random.IntN(len(linearRides))
		d.ride = linearRides[ride]
		var b traintravel.Booking
		if b, d.err = o.CreateBooking(ctx, by, traintravel.NewBooking{TripID: r.trips[ride], PassengerName: linearName}); d.err == nil {
			d.booking, d.seat = b.ID, b.Legs[0].Seat
		}
	case "pay":
		var p traintravel.Payment
		card := []traintravel.Secret{officetest.Works, officetest.Declined}[random.IntN(2)]
		p, d.err = o.PayBooking(ctx, by, d.booking, traintravel.NewPayment{Amount: linearPrice, Source: officetest.Visa(card)})
		if asked, ok := r.charged.Load(p.ID); ok && d.err == nil {
			first := d
			first.over = asked.(time.Duration)
			r.note(first)
			d.what, d.call = "paid", first.over
			if p.Status == traintravel.Failed && card == officetest.Declined {
				d.err = errDeclined
			} else if p.Status != traintravel.Succeeded {
				d.err = fmt.Errorf("the payment is %v", p.Status)
			}
		}
	case "cancel":
		d.err = o.CancelBooking(ctx, by, d.booking)
	case "read":
		var b traintravel.Booking
		if b, d.err = o.Booking(ctx, by, d.booking); d.err == nil {
			d.saw[b.ID] = standing(b)
		}
	case "list":
		var all traintravel.List[traintravel.Booking]
		all, d.err = o.Bookings(ctx, by, traintravel.Page{Limit: 100})
		for _, b := range all.Items {
			d.saw[b.ID] = standing(b)
		}
	}
	d.over = time.Since(r.began)
	r.note(d)
}

func (r *rush) note(d deed) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.history = append(r.history, d)
	if d.what == "book" && d.err == nil {
		r.known[d.owner()] = append(r.known[d.owner()], d.booking)
	}
}

// overlaps counts the deeds that began before an earlier one was over.
func overlaps(history []deed) (n int) {
	var over time.Duration
	for _, d := range history {
		if d.call < over {
			n++
		}
		over = max(over, d.over)
	}
	return n
}

var linearPrice = traintravel.Money{Amount: 1000, Currency: "eur"}

func flatPrice(opts *traintravel.Options) {
	officetest.Unlimited(opts)
	opts.Price = func(traintravel.Trip) (traintravel.Money, bool) { return linearPrice, true }
}

// linearOffices opens a service on each of some stores that are one.
func linearOffices(t *testing.T, stores ...traintravel.Store) (offices []*officetest.Office) {
	t.Helper()
	o := &officetest.Office{T: t, Clock: &officetest.Clock{}, Bank: &officetest.Bank{Gateway: sandbox.New()}, Post: &officetest.Post{}}
	o.Clock.Set(officetest.Opens)
	for _, o.Store = range stores {
		offices = append(offices, o.Another(flatPrice))
	}
	offices[0].Load(officetest.Timetable(officetest.Train("R 1", 8, "ABCD", officetest.Seats(linearSeats))))
	return offices
}

// TestLinearizable: services on one store are as one conductor.
func TestLinearizable(t *testing.T) {
	officetest.OnSharedStores(t, 3, func(t *testing.T, stores []traintravel.Store) { explained(t, stores, 3) })
}

// TestLinearizableWithFaults: the same while connections to the database are lost
// before and after what was asked is committed.
func TestLinearizableWithFaults(t *testing.T) {
	t.Parallel()
	s := pgtest.Shared(t)
	proxy := pgtest.NewProxy(t, s.Addr())
	url := pgtest.Via(s.NewSchema(t), proxy.Addr())
	stores := []traintravel.Store{officetest.OpenPostgres(t, url), officetest.OpenPostgres(t, url)}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for moment := pgtest.BeforeRequest; ; moment = 1 - moment {
			select {
			case <-proxy.CutAt(moment, linearName):
				time.Sleep(20 * time.Millisecond) // or nothing else happens
			case <-stop:
				return
			}
		}
	}()
	defer func() { close(stop); <-stopped }()
	explained(t, stores, 2)
}

// explained fails the test if what happens on some days cannot be explained.
func explained(t *testing.T, stores []traintravel.Store, days int) {
	t.Helper()
	offices := linearOffices(t, stores...)
	all, concurrent := 0, 0
	for day := range days {
		history := newRush(t, offices, day).run(25)
		all, concurrent = all+len(history), concurrent+overlaps(history)
		if !linearizable(history) {
			t.Fatalf("no order explains\n%s", join(history))
		}
	}
	offices[0].Audit()
	if t.Logf("%d of %d deeds overlapped", concurrent, all); concurrent == 0 {
		t.Error("nothing happened at once")
	}
}

func join(history []deed) string {
	var b strings.Builder
	for _, d := range history {
		fmt.Fprintln(&b, d)
	}
	return b.String()
}
