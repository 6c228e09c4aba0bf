package history

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/sim/chance"
	"github.com/traintravel/traintravel/internal/sim/model"
	"github.com/traintravel/traintravel/internal/sim/world"
)

// An operation is one thing that somebody does.
type operation struct {
	*history
	n  int
	r  *rand.Rand
	s  *server
	as string // before its name, if it is done twice at once
}

// A kind is what operations may be. The weights say how often each is drawn.
type kind struct {
	name   string
	weight int
	do     func(*operation)
}

// An order is a request for a booking with what followed from it.
type order struct {
	model.Order
	by   traintravel.Caller
	want traintravel.NewBooking
	asks []*ask
	turn chan struct{} // full while an operation is about it
}

func newOrder(by traintravel.Caller, want traintravel.NewBooking, trip traintravel.Trip) *order {
	return &order{Order: model.Order{Owner: by.ID, Trip: trip}, by: by, want: want, turn: make(chan struct{}, 1)}
}

// turn returns the order that the operation is about when no other is about it, and
// whether it has a booking, or nil. leave ends that.
func (op *operation) turn() (o *order, booked bool, leave func()) {
	op.mu.Lock()
	o = op.target(op.n, op.r)
	op.mu.Unlock()
	if o == nil {
		return nil, false, func() {}
	}
	o.turn <- struct{}{}
	return o, o.Booking != nil, func() { <-o.turn }
}

// tell tells the model something, and notes if it was this operation that broke an invariant.
func (op *operation) tell(what func(*model.Model)) {
	op.mu.Lock()
	defer op.mu.Unlock()
	op.record(op.n, func() { what(op.m) })
}

// An ask is a request to pay for an order.
type ask struct {
	model.Ask
	want traintravel.NewPayment
}

// ctx is the context of the operation's calls.
func (op *operation) ctx() (context.Context, context.CancelFunc) {
	ctx := world.By(context.Background(), fmt.Sprint(op.as, "operation ", op.n))
	d := op.w.Places.Draw(fmt.Sprint(op.as, "caller of operation ", op.n))
	if op.w.Faults.Strikes(d, world.CallerGone, 0.2) {
		if calls := 1 + d.IntN(6); !op.w.Slow() || d.IntN(2) == 0 {
			return world.Leaving(ctx, calls)
		}
		return context.WithTimeout(ctx, chance.Between(d.Rand, time.Millisecond, time.Minute))
	}
	return context.WithCancel(ctx)
}

// told does one call of the service and says when.
func (op *operation) told(call func(context.Context, *server)) model.Told {
	ctx, cancel := op.ctx()
	defer cancel()
	return toldBy(op.s, func() { call(ctx, op.s) })
}

// say adds a line to the story.
func (op *operation) say(format string, args ...any) {
	op.w.Journal.Say("%d. %s: %s", op.n, op.s.name, fmt.Sprintf(format, args...))
}

// result is how the story tells of an error.
func result(err error) string {
	if err == nil {
		return "done"
	}
	return err.Error()
}

func (op *operation) user() traintravel.Caller {
	name := fmt.Sprintf("user%d", op.r.IntN(op.Users)+1)
	return traintravel.Caller{Subject: traintravel.Subject{ID: name}}
}

// again is how often an unanswered request is repeated at once, on other servers.
const again = 3

// book searches for a trip and books one of those found, or one found by somebody before.
func (op *operation) book() {
	by := op.user()
	from := op.r.IntN(len(stations) - 1)
	to := from + 1 + op.r.IntN(len(stations)-1-from)
	if op.r.IntN(3) == 0 {
		from, to = to, from
	}
	ahead := time.Duration(op.r.ExpFloat64() * float64(18*time.Hour))
	old, bicycle := op.r.IntN(4) == 0, op.r.IntN(5) == 0
	like := op.r.IntN(3) == 0
	if op.r.IntN(4) == 0 {
		by.Client = agency
	}
	var found traintravel.List[traintravel.Trip]
	var err error
	op.told(func(ctx context.Context, s *server) {
		found, err = s.SearchTrips(ctx, traintravel.TripQuery{Origin: station(stations[from]), Destination: station(stations[to]), Depart: s.clock.Now().Add(ahead), Page: traintravel.Page{Limit: 10}})
	})
	if err != nil && !model.Unanswered(err) && !errors.Is(err, traintravel.ErrNoTimetable) {
		op.tell(func(m *model.Model) { m.Fail("A1", "a search was answered with %v", err) })
	}
	trips := op.offered(found.Items, old)
	if like { // many want what others have booked
		op.mu.Lock()
		if o := op.target(op.n, op.r); o != nil {
			trips = []traintravel.Trip{o.Trip}
		}
		op.mu.Unlock()
	}
	if len(trips) == 0 {
		return
	}
	trip := op.choose(trips)
	o := newOrder(by, traintravel.NewBooking{TripID: trip.ID, PassengerName: "Anna Example", HasBicycle: bicycle, IdempotencyKey: op.key(by)}, trip)
	o.turn <- struct{}{}
	defer func() { <-o.turn }()
	op.mu.Lock()
	op.orders[op.n] = o
	op.mu.Unlock()
	if op.Rush {
		op.rush(o)
		return
	}
	op.order(o)
}

// key is a key of its own for a user's request, which other users have too.
func (op *operation) key(by traintravel.Caller) string {
	op.mu.Lock()
	defer op.mu.Unlock()
	op.keys[by.ID]++
	return fmt.Sprint("order ", op.keys[by.ID])
}

// offered are the trips of which one is booked: those just found, or some found before.
func (op *operation) offered(found []traintravel.Trip, old bool) []traintravel.Trip {
	op.mu.Lock()
	defer op.mu.Unlock()
	if old || len(found) == 0 {
		return op.trips
	}
	if op.trips = slices.Concat(op.trips, found); len(op.trips) > 30 {
		op.trips = op.trips[len(op.trips)-30:]
	}
	return found
}

// order asks for a booking, and asks again a few times if there is no answer.
func (op *operation) order(o *order) {
	op.repeat(func(op *operation) (answered bool) {
		var b traintravel.Booking
		var err error
		op.tell(func(m *model.Model) { m.Ordering(&o.Order) })
		told := op.told(func(ctx context.Context, s *server) { b, err = s.CreateBooking(ctx, o.by, o.want) })
		op.say("%s asks for a booking of %s: %s", o.by.ID, tripText(o.Trip), op.madeText(b, err))
		op.tell(func(m *model.Model) { m.Ordered(told, &o.Order, b, err) })
		return !model.Unanswered(err)
	})
}

// choose draws one of the trips. Each has a number that depends on its rides alone, and the
// highest is taken: so if another operation is left out, and more or fewer trips are offered,
// the choice is mostly the same.
func (op *operation) choose(trips []traintravel.Trip) (best traintravel.Trip) {
	most := uint64(0)
	for _, t := range trips {
		if x := op.Seed.At("choice of "+ridesText(t), uint64(op.n)).Uint64(); x >= most {
			best, most = t, x
		}
	}
	return best
}

func tripText(t traintravel.Trip) string { return ridesText(t) + "trip " + world.Short(t.ID) }

func ridesText(t traintravel.Trip) string {
	text := ""
	for _, l := range t.Legs {
		text += fmt.Sprintf("%s %s-%s on %v, ", l.Number, l.Origin.Name[:1], l.Destination.Name[:1], l.Run.Date)
	}
	return text
}

func (op *operation) madeText(b traintravel.Booking, err error) string {
	if err != nil {
		return err.Error()
	}
	text := "booking " + world.Short(b.ID)
	for _, l := range b.Legs {
		if l.Seat > 0 {
			text += fmt.Sprintf(", coach %s seat %d", l.Coach, l.Seat)
		}
	}
	return text + ", held until " + world.Day(b.Expires.Sub(op.w.Start))
}

// orderAgain repeats an earlier request with its key.
func (op *operation) orderAgain() {
	o, _, leave := op.turn()
	defer leave()
	if o != nil {
		op.order(o)
	}
}

var card = traintravel.Source{Card: &traintravel.Card{
	Name: "Anna Example", Number: "4242424242424242", CVC: "123", ExpMonth: 12, ExpYear: 2040, Address1: "1 Main Street", City: "Berlin", Country: "DE", PostCode: "10115",
}}

// pay asks to pay for a booking.
func (op *operation) pay() {
	o, booked, leave := op.turn()
	defer leave()
	if !booked {
		return
	}
	a := &ask{want: traintravel.NewPayment{Amount: o.Booking.Price, Source: card, IdempotencyKey: fmt.Sprint("payment ", len(o.asks))}}
	a.Booking = o.Booking
	o.asks = append(o.asks, a)
	op.ask(o, a)
}

// payAgain repeats the last request to pay for a booking, with its key.
func (op *operation) payAgain() {
	o, _, leave := op.turn()
	defer leave()
	if o != nil && len(o.asks) > 0 {
		op.ask(o, o.asks[len(o.asks)-1])
	}
}

func (op *operation) ask(o *order, a *ask) {
	op.repeat(func(op *operation) (answered bool) {
		var p traintravel.Payment
		var err error
		op.tell(func(m *model.Model) { m.Paying(&a.Ask, time.Now()) })
		told := op.told(func(ctx context.Context, s *server) { p, err = s.PayBooking(ctx, o.by, a.Booking.ID, a.want) })
		text := result(err)
		switch {
		case err == nil:
			text = fmt.Sprintf("payment %s %s", world.Short(p.ID), p.Status)
		case errors.Is(err, traintravel.ErrPaidTooLate):
			text = fmt.Sprintf("payment %s %s, %s", world.Short(p.ID), p.Status, text)
		}
		op.say("%s pays for booking %s: %s", o.by.ID, world.Short(a.Booking.ID), text)
		op.tell(func(m *model.Model) { m.Paid(told, &a.Ask, p, err) })
		return !model.Unanswered(err)
	})
}

// cancel asks to cancel a booking.
func (op *operation) cancel() {
	o, booked, leave := op.turn()
	defer leave()
	if !booked {
		return
	}
	var err error
	op.tell(func(m *model.Model) { m.Cancelling(o.Booking) })
	told := op.told(func(ctx context.Context, s *server) { err = s.CancelBooking(ctx, o.by, o.Booking.ID) })
	op.say("%s cancels booking %s: %s", o.by.ID, world.Short(o.Booking.ID), result(err))
	op.tell(func(m *model.Model) { m.Cancelled(told, o.Booking, err) })
}

// read asks for a booking.
func (op *operation) read() {
	o, booked, leave := op.turn()
	defer leave()
	if booked {
		op.find(o)
	}
}

// find reads the booking of an order.
func (op *operation) find(o *order) {
	var b traintravel.Booking
	var err error
	told := op.told(func(ctx context.Context, s *server) { b, err = s.Booking(ctx, o.by, o.Booking.ID) })
	op.say("%s reads booking %s: %s", o.by.ID, world.Short(o.Booking.ID), stateText(b, err))
	op.tell(func(m *model.Model) { m.Read(told, o.Booking, b, err) })
}

// readPayment reads the last payment of a booking.
func (op *operation) readPayment() {
	o, booked, leave := op.turn()
	defer leave()
	if !booked {
		return
	}
	var p traintravel.Payment
	var err error
	told := op.told(func(ctx context.Context, s *server) { p, err = s.Payment(ctx, o.by, o.Booking.ID) })
	text := result(err)
	if err == nil {
		text = fmt.Sprintf("payment %s %s", world.Short(p.ID), p.Status)
	}
	op.say("%s reads the payment of booking %s: %s", o.by.ID, world.Short(o.Booking.ID), text)
	op.tell(func(m *model.Model) { m.PaymentRead(told, o.Booking, p, err) })
}

func stateText(b traintravel.Booking, err error) string {
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(b.Status)
}

// list asks for all pages of a user's bookings.
func (op *operation) list() {
	by := op.user()
	limit := 1 + op.r.IntN(10)
	var all []traintravel.Booking
	var err error
	var look *model.Look
	op.tell(func(m *model.Model) { look = m.Looking(by.ID) })
	told := op.told(func(ctx context.Context, s *server) {
		page := traintravel.Page{Limit: limit}
		for range 1000 {
			var l traintravel.List[traintravel.Booking]
			if l, err = s.Bookings(ctx, by, page); err != nil {
				return
			}
			all = append(all, l.Items...)
			if l.Next == "" {
				return
			}
			page.After = l.Next
		}
	})
	op.say("%s lists bookings: %d, %s", by.ID, len(all), result(err))
	op.tell(func(m *model.Model) {
		m.Looked(look)
		if err == nil {
			m.Listed(told, look, all)
		} else if !model.Unanswered(err) {
			m.Fail("A1", "a list was answered with %v", err)
		}
	})
}

// work does what is due, unless nobody does at this time.
func (op *operation) work() {
	now := time.Now()
	for _, s := range op.nobody {
		if !now.Before(s.from) && now.Before(s.to) {
			op.w.Faults.Count(world.NobodyRuns)
			return
		}
	}
	var err error
	op.told(func(ctx context.Context, s *server) { err = s.RunDue(ctx) })
	op.say("does what is due")
	if errors.Is(err, traintravel.ErrNotFound) {
		op.tell(func(m *model.Model) { m.Fail("A1", "scheduled work ended with %v", err) })
	}
}
