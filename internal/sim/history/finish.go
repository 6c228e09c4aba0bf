package history

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/sim/model"
	"github.com/traintravel/traintravel/internal/sim/world"
)

// finish ends the faults and the history: unanswered requests are repeated until they are
// answered, what is due is done, and then everything has to agree.
func (h *history) finish() {
	h.w.Calm()
	for i, s := range h.servers {
		s.seat.Spare()
		h.alive(i)
	}
	for n := 1; n < h.next; n++ {
		if o := h.orders[n]; o != nil {
			h.answerAll(n, o)
		}
	}
	h.finishDesk()
	h.failed = 0
	h.catchUp()
	begun := time.Now()
	for time.Since(begun) < 26*time.Hour+h.options.PendingFor {
		h.w.Bank.Tick()
		for _, s := range h.servers {
			if err := s.RunDue(world.By(context.Background(), "finish")); err != nil {
				h.m.Fail("L1", "scheduled work fails without a fault: %v", err)
				return
			}
		}
		time.Sleep(30 * time.Minute)
	}
	h.settle()
	if !h.NoCheck {
		h.check()
	}
}

// answerAll repeats the requests of an order that have no answer.
func (h *history) answerAll(n int, o *order) {
	op := &operation{history: h, n: n, r: h.Seed.At("finish", uint64(n)), s: h.servers[0]}
	if o.Pending() {
		op.order(o)
	}
	for _, a := range o.asks {
		if a.Pending() {
			op.ask(o, a)
		}
	}
}

// settle compares each booking with what the model knows.
func (h *history) settle() {
	events := map[uuid.UUID][]world.Received{}
	for _, e := range h.w.Receivers.Got(world.TheNotifier) {
		events[e.Event.Booking.ID] = append(events[e.Event.Booking.ID], e)
	}
	bare := h.bare()
	for _, b := range h.m.Bookings() {
		begin := time.Now()
		got, err := bare.BookingHistory(context.Background(), b.ID)
		if err != nil {
			if !h.m.Removable(b, begin) {
				h.m.Fail("B1", "booking %s cannot be read: %v", world.Short(b.ID), err)
			}
			continue
		}
		h.m.Nameless(b, got.Booking)
		h.m.Settled(model.Told{Begin: begin, End: time.Now()}, b, got)
		h.m.SettledEvents(b, got, events[b.ID])
	}
	h.w.Bank.Audit()
	h.m.SettledBank()
	h.settleHooks(bare)
	state, err := bare.State(context.Background())
	h.m.Quiet(state, err)
	h.owners(bare)
}

// owners lets the owner of each booking read it: what the operator has cancelled is shown to
// them for a while, and to nobody else.
func (h *history) owners(s *traintravel.Service) {
	for _, n := range slices.Sorted(maps.Keys(h.orders)) {
		if o := h.orders[n]; o.Booking != nil {
			begin := time.Now()
			got, err := s.Booking(context.Background(), o.by, o.Booking.ID)
			h.m.Read(model.Told{Begin: begin, End: time.Now()}, o.Booking, got, err)
		}
	}
}

// check lets the auditor look at the store.
func (h *history) check() {
	report, err := traintravel.Check(context.Background(), h.w.Disk.Bare(), traintravel.CheckOptions{})
	if err != nil || report.Found > 0 {
		h.m.Fail("C1", "check: %v %v", err, report.Faults)
	}
}
