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
	n int
	r *rand.Rand
	s *server
}

// A kind is what operations may be. The weights say how often each is drawn.
type kind struct {
	name   string
	weight int
	do     func(*operation)
}

func kinds() []kind {
	return append([]kind{
		{"book", 30, (*operation).book},
		{"pay", 24, (*operation).pay},
		{"pay again", 4, (*operation).payAgain},
		{"cancel", 8, (*operation).cancel},
		{"read", 8, (*operation).read},
		{"list", 3, (*operation).list},
		{"order again", 4, (*operation).orderAgain},
		{"work", 18, (*operation).work},
		{"import", 1, (*operation).load},
	}, slices.Concat(misuseKinds(), deskKinds(), paperKinds())...)
}

// kindOf is the kind of operation n, whatever else happens.
func kindOf(seed chance.Seed, n int) kind {
	total, all := 0, kinds()
	for _, k := range all {
		total += k.weight
	}
	x := int(seed.Operation(n).Uint64() % uint64(total))
	for _, k := range all {
		if x -= k.weight; x < 0 {
			return k
		}
	}
	panic("unreachable")
}

// An order is a request for a booking with what followed from it.
type order struct {
	model.Order
	by   traintravel.Caller
	want traintravel.NewBooking
	asks []*ask
}

// An ask is a request to pay for an order.
type ask struct {
	model.Ask
	want traintravel.NewPayment
}

// ctx is the context of the operation's calls.
func (op *operation) ctx() (context.Context, context.CancelFunc) {
	ctx := world.By(context.Background(), fmt.Sprint("operation ", op.n))
	d := op.w.Places.Draw(fmt.Sprint("caller of operation ", op.n))
	if op.w.Faults.Strikes(d, world.CallerGone, 0.2) {
		return world.Leaving(ctx, 1+d.IntN(6))
	}
	return context.WithCancel(ctx)
}

// told does one call of the service and says when.
func (op *operation) told(call func(context.Context, *server)) model.Told {
	ctx, cancel := op.ctx()
	defer cancel()
	begin := time.Now()
	call(ctx, op.s)
	return model.Told{Begin: begin, End: time.Now(), Skew: op.s.skew}
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
	which, old, bicycle := op.r.Float64(), op.r.IntN(4) == 0, op.r.IntN(5) == 0
	var found traintravel.List[traintravel.Trip]
	var err error
	op.told(func(ctx context.Context, s *server) {
		found, err = s.SearchTrips(ctx, traintravel.TripQuery{Origin: station(stations[from]), Destination: station(stations[to]), Depart: s.now().Add(ahead), Page: traintravel.Page{Limit: 10}})
	})
	if err != nil && !model.Unanswered(err) && !errors.Is(err, traintravel.ErrNoTimetable) {
		op.m.Fail("A1", "a search was answered with %v", err)
	}
	trips := found.Items
	if old || len(trips) == 0 {
		trips = op.trips
	} else if op.trips = append(op.trips, trips...); len(op.trips) > 30 {
		op.trips = op.trips[len(op.trips)-30:]
	}
	if len(trips) == 0 {
		return
	}
	trip := trips[int(which*float64(len(trips)))]
	o := &order{by: by, want: traintravel.NewBooking{TripID: trip.ID, PassengerName: "Anna Example", HasBicycle: bicycle, IdempotencyKey: op.key(by)}}
	o.Owner, o.Trip = by.ID, trip
	op.orders[op.n] = o
	op.order(o)
}

// key is a key of its own for a user's request, which other users have too.
func (op *operation) key(by traintravel.Caller) string {
	op.keys[by.ID]++
	return fmt.Sprint("order ", op.keys[by.ID])
}

// order asks for a booking, and asks again a few times if there is no answer.
func (op *operation) order(o *order) {
	for try := range again {
		var b traintravel.Booking
		var err error
		op.m.Ordering(&o.Order)
		told := op.told(func(ctx context.Context, s *server) { b, err = s.CreateBooking(ctx, o.by, o.want) })
		op.say("%s asks for a booking of %s: %s", o.by.ID, tripText(o.Trip), madeText(b, err))
		op.m.Ordered(told, &o.Order, b, err)
		if !model.Unanswered(err) {
			return
		}
		op.s = op.alive((op.serverOf(op.n) + try + 1) % len(op.servers))
	}
}

func tripText(t traintravel.Trip) string {
	text := ""
	for _, l := range t.Legs {
		text += fmt.Sprintf("%s %s-%s on %v, ", l.Number, l.Origin.Name[:1], l.Destination.Name[:1], l.Run.Date)
	}
	return text + "trip " + world.Short(t.ID)
}

func madeText(b traintravel.Booking, err error) string {
	if err != nil {
		return err.Error()
	}
	text := "booking " + world.Short(b.ID)
	for _, l := range b.Legs {
		if l.Seat > 0 {
			text += fmt.Sprintf(", coach %s seat %d", l.Coach, l.Seat)
		}
	}
	return text + ", held until " + b.Expires.Sub(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)).String()
}

// orderAgain repeats an earlier request with its key.
func (op *operation) orderAgain() {
	if o := op.target(op.n, op.r); o != nil {
		op.order(o)
	}
}

var card = traintravel.Source{Card: &traintravel.Card{
	Name: "Anna Example", Number: "4242424242424242", CVC: "123", ExpMonth: 12, ExpYear: 2040, Address1: "1 Main Street", City: "Berlin", Country: "DE", PostCode: "10115",
}}

// pay asks to pay for a booking.
func (op *operation) pay() {
	o := op.target(op.n, op.r)
	if o == nil || o.Booking == nil {
		return
	}
	a := &ask{want: traintravel.NewPayment{Amount: o.Booking.Price, Source: card, IdempotencyKey: fmt.Sprint("payment ", len(o.asks))}}
	a.Booking = o.Booking
	o.asks = append(o.asks, a)
	op.ask(o, a)
}

// payAgain repeats the last request to pay for a booking, with its key.
func (op *operation) payAgain() {
	if o := op.target(op.n, op.r); o != nil && len(o.asks) > 0 {
		op.ask(o, o.asks[len(o.asks)-1])
	}
}

func (op *operation) ask(o *order, a *ask) {
	for try := range again {
		var p traintravel.Payment
		var err error
		op.m.Paying(&a.Ask, time.Now())
		told := op.told(func(ctx context.Context, s *server) { p, err = s.PayBooking(ctx, o.by, a.Booking.ID, a.want) })
		text := result(err)
		if err == nil || errors.Is(err, traintravel.ErrPaidTooLate) {
			text = fmt.Sprintf("payment %s %s %s", world.Short(p.ID), p.Status, text)
		}
		op.say("%s pays for booking %s: %s", o.by.ID, world.Short(a.Booking.ID), text)
		op.m.Paid(told, &a.Ask, p, err)
		if !model.Unanswered(err) {
			return
		}
		op.s = op.alive((op.serverOf(op.n) + try + 1) % len(op.servers))
	}
}

// cancel asks to cancel a booking.
func (op *operation) cancel() {
	o := op.target(op.n, op.r)
	if o == nil || o.Booking == nil {
		return
	}
	var err error
	op.m.Cancelling(o.Booking)
	told := op.told(func(ctx context.Context, s *server) { err = s.CancelBooking(ctx, o.by, o.Booking.ID) })
	op.say("%s cancels booking %s: %s", o.by.ID, world.Short(o.Booking.ID), result(err))
	op.m.Cancelled(told, o.Booking, err)
}

// read asks for a booking.
func (op *operation) read() {
	o := op.target(op.n, op.r)
	if o == nil || o.Booking == nil {
		return
	}
	var b traintravel.Booking
	var err error
	told := op.told(func(ctx context.Context, s *server) { b, err = s.Booking(ctx, o.by, o.Booking.ID) })
	op.say("%s reads booking %s: %s", o.by.ID, world.Short(o.Booking.ID), stateText(b, err))
	op.m.Read(told, o.Booking, b, err)
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
	if err == nil {
		op.m.Listed(told, by.ID, all)
	} else if !model.Unanswered(err) {
		op.m.Fail("A1", "a list was answered with %v", err)
	}
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
		op.m.Fail("A1", "scheduled work ended with %v", err)
	}
}

// load imports another edition of the timetable.
func (op *operation) load() {
	edition := timetable(op.Seed, op.r.IntN(6))
	var report traintravel.LoadReport
	var err error
	op.told(func(ctx context.Context, s *server) { report, err = s.LoadTimetable(ctx, edition) })
	op.say("imports a timetable: %d bookings stranded, %s", len(report.Stranded), result(err))
	if err != nil && !model.Unanswered(err) {
		op.m.Fail("A1", "an import was answered with %v", err)
	}
	op.m.Loaded(edition, err == nil)
}
