package history

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/sim/model"
	"github.com/traintravel/traintravel/internal/sim/world"
)

// A server is one process, from its start to its end.
type server struct {
	*traintravel.Service
	name  string
	seat  *world.Seat
	clock *world.Clock
	quit  context.CancelFunc // of Run, nil if it does not run
	over  chan struct{}
}

// open starts the next process in place i.
func (h *history) open(i int, first bool) *server {
	h.made[i]++
	name := fmt.Sprintf("server %d.%d", i+1, h.made[i])
	r := h.Seed.At("start of "+name, 0)
	dies := 0
	if deadly := r.IntN(3) == 0; deadly && h.w.Faults.On(world.Death) {
		dies = 1 + r.IntN(2000)
	}
	s := &server{name: name, seat: h.w.NewSeat(name, dies), clock: h.w.NewClock(fmt.Sprint("server ", i+1), r)}
	opts := h.options
	opts.Observer = traintravel.Observer{Begin: h.within(s.seat)}
	opts.Logger = slog.New(&ear{history: h, name: name})
	opts.Gateway, opts.Notifier = h.w.Gateway(s.seat), h.w.Notifier(s.seat)
	opts.Webhooks = h.webhooks(s.seat)
	opts.Now = s.clock.Now
	opts.NewID = func() uuid.UUID { return h.newID(name) }
	var err error
	if s.Service, err = traintravel.New(s.seat, opts); err != nil {
		panic(err) // of the options, which do not change
	}
	if !first {
		h.w.Journal.Say("%s starts, its clock %v off", name, s.clock.Off(time.Now()))
	}
	return s
}

// newID draws an ID. It depends on the operation under way, so that what others get does not
// change if one is left out.
func (h *history) newID(server string) uuid.UUID {
	d := h.w.Places.Draw(fmt.Sprint("IDs of ", server, " in operation ", h.current.Load()))
	return h.Seed.ID(d.Place, d.K)
}

// stop ends the server's Run.
func (s *server) stop() {
	if s.quit != nil {
		s.quit()
		<-s.over
		s.quit = nil
	}
}

// toldBy does something with a server and says when.
func toldBy(s *server, do func()) model.Told {
	t := model.Told{Begin: time.Now()}
	do()
	t.End = time.Now()
	least, most := s.clock.Range(t.Begin, t.End)
	t.Skew, t.Varies = least, most-least
	return t
}

// alive returns the server in place i, after the start of a new one if it has died.
func (h *history) alive(i int) *server {
	if s := h.servers[i]; s.seat.Dead() {
		s.stop()
		h.servers[i] = h.open(i, false)
	}
	return h.servers[i]
}

// bare is a service on the store without faults, to look at what is in it.
func (h *history) bare() *traintravel.Service {
	opts := h.options
	opts.NewID = func() uuid.UUID { return h.Seed.ID("bare", uint64(time.Since(h.w.Start))) }
	opts.Webhooks = h.webhooks(h.w.NewSeat("bare", 0))
	s, err := traintravel.New(h.w.Disk.Bare(), opts)
	if err != nil {
		panic(err)
	}
	return s
}

// webhooks are the options of a process that posts events.
func (h *history) webhooks(seat *world.Seat) *traintravel.WebhookOptions {
	if !h.hooks.on {
		return nil
	}
	return &traintravel.WebhookOptions{Sender: h.w.Sender(seat), SealKey: make([]byte, 32), Operator: slices.Clone(h.operators), Clients: []string{agency}}
}

// An ear is the log of a server.
type ear struct {
	history *history
	name    string
}

// Enabled implements slog.Handler.
func (e *ear) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelWarn }

// Handle implements slog.Handler.
func (e *ear) Handle(_ context.Context, r slog.Record) error {
	e.history.marks.add(r.Message)
	if e.history.w.Slow() {
		e.history.w.Journal.Say("%s: %s", e.name, r.Message)
	}
	return nil
}

// WithAttrs implements slog.Handler.
func (e *ear) WithAttrs([]slog.Attr) slog.Handler { return e }

// WithGroup implements slog.Handler.
func (e *ear) WithGroup(string) slog.Handler { return e }
