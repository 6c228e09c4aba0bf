package history

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing/synctest"
	"time"

	"github.com/traintravel/traintravel/internal/sim/chance"
	"github.com/traintravel/traintravel/internal/sim/model"
	"github.com/traintravel/traintravel/internal/sim/world"
)

// A Speed is how time passes in a history.
type Speed int

// The speeds. With Calendar, the history calls RunDue now and then and passes years. With
// Traffic, all servers run as they do in service, and operations happen together. Mixed is
// calendar with windows of traffic.
const (
	Calendar Speed = iota
	Traffic
	Mixed
)

// ParseSpeed reads what a flag says.
func ParseSpeed(text string) (Speed, error) {
	for s, name := range speeds {
		if name == text {
			return Speed(s), nil
		}
	}
	return 0, fmt.Errorf("unknown speed %q: want one of %v", text, speeds)
}

var speeds = []string{"calendar", "traffic", "mixed"}

// String names the speed.
func (s Speed) String() string { return speeds[s] }

// together are the operations that may happen while others do. They hold mu while they use
// what the history knows, and take turns if they are about the same order. While another
// operation happens, nobody else does anything, but for the work of the servers.
var together = map[string]bool{
	"book": true, "pay": true, "pay again": true, "cancel": true, "read": true, "read payment": true, "list": true, "order again": true, "work": true,
}

// A window is a time of traffic, before it begins.
type window struct {
	k int
	spell
	pace time.Duration // between operations, on average
	due  float64       // how much of the window is before something is due
	aims bool          // it begins when something is due; false once that is decided
}

// nextWindow draws the window after the last one, which ended at an instant.
func (h *history) nextWindow(after time.Time) {
	if h.Speed == Calendar {
		return
	}
	k := h.windows
	h.windows++
	r := h.Seed.At("window", uint64(k))
	length, pace := chance.Between(r, 5*time.Minute, time.Hour), chance.Between(r, 2*time.Second, time.Minute)
	aims, due := r.IntN(4) > 0, r.Float64()
	gap := time.Duration(r.ExpFloat64() * float64(36*time.Hour))
	if h.Speed == Traffic {
		aims, gap = false, time.Duration(1+r.Int64N(int64(10*time.Second)))
	}
	from := after.Add(gap)
	h.window = &window{k, spell{from, from.Add(length)}, pace, due, aims}
}

// edge is when the next window begins, or the one under way ends; false if no window comes.
func (h *history) edge() (time.Time, bool) {
	switch {
	case h.traffic != nil:
		return h.traffic.to, true
	case h.window != nil:
		return h.window.from, true
	}
	return time.Time{}, false
}

// pass goes over the edge.
func (h *history) pass() {
	switch {
	case h.traffic != nil:
		h.endTraffic()
		h.nextWindow(time.Now())
	case h.window.aims:
		h.window.aims = false
		h.aim()
	default:
		h.beginTraffic()
	}
}

// aim moves the window that comes next to where something is due.
func (h *history) aim() {
	var ds []time.Time
	now := time.Now()
	for n := h.next - 1; n > max(0, h.next-100); n-- {
		if o := h.orders[n]; o != nil && o.Booking != nil {
			ds = append(ds, h.m.Deadlines(o.Booking)...)
		}
	}
	ds = slices.DeleteFunc(ds, func(d time.Time) bool { return d.Before(now) || d.After(now.Add(12*time.Hour)) })
	if len(ds) == 0 {
		return
	}
	slices.SortFunc(ds, time.Time.Compare)
	length := h.window.to.Sub(h.window.from)
	from := ds[int(h.window.due*float64(len(ds)))].Add(-time.Duration(h.window.due * float64(length)))
	if from.After(now) {
		h.window.spell = spell{from, from.Add(length)}
	}
}

// A traffic is a window under way.
type traffic struct {
	window
	operations sync.WaitGroup
	rest       sync.WaitGroup
	quit       chan struct{} // is closed in the end
	goroutines int           // before it began
}

// beginTraffic lets all servers run.
func (h *history) beginTraffic() {
	t := &traffic{window: *h.window, quit: make(chan struct{}), goroutines: runtime.NumGoroutine()}
	h.window, h.traffic = nil, t
	h.w.Journal.Say("traffic begins")
	h.w.SetSlow(true)
	for i := range h.servers {
		t.rest.Go(func() { h.keep(i, t) })
		for _, c := range []world.Class{world.Death, world.Pause, world.Partition} {
			for k := range 3 {
				t.rest.Go(func() { h.disturb(t, i, c, k) })
			}
		}
	}
}

// endTraffic ends the window, if there is one. Nothing is left of it.
func (h *history) endTraffic() {
	t := h.traffic
	if t == nil {
		return
	}
	t.operations.Wait()
	close(t.quit)
	t.rest.Wait()
	synctest.Wait()
	h.w.SetSlow(false)
	h.traffic = nil
	h.ran += time.Since(t.from)
	h.w.Journal.Say("traffic ends")
	if n := runtime.NumGoroutine(); n > t.goroutines {
		h.m.Fail("X1", "%d goroutines are left when the servers have stopped", n-t.goroutines)
	}
}

// wait waits, and reports false if the window ends before.
func (t *traffic) wait(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-t.quit:
		return false
	}
}

// keep lets the server in a place run while there is traffic, and starts a new one some time
// after it has died.
func (h *history) keep(i int, t *traffic) {
	for k := 0; ; k++ {
		h.mu.Lock()
		s := h.servers[i]
		h.mu.Unlock()
		r := h.Seed.At(fmt.Sprintf("restart of server %d in window %d", i+1, t.k), uint64(k))
		down, deploys, up := chance.Between(r, time.Second, 3*time.Minute), r.IntN(4) == 0, time.Duration(r.Int64N(int64(t.to.Sub(t.from))))
		if !t.wait(time.Duration(1 + r.Int64N(int64(time.Second)))) { // never two at one instant
			return
		}
		s.run()
		over := make(<-chan time.Time)
		if deploys { // it ends in peace before the window does
			over = time.After(up)
		}
		select {
		case <-s.seat.Died():
		case <-over:
			h.w.Journal.Say("%s is stopped", s.name)
		case <-t.quit:
			s.stop()
			return
		}
		s.stop()
		if !t.wait(down) {
			return
		}
		h.replace(i)
	}
}

// replace starts a new server in place i.
func (h *history) replace(i int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.servers[i] = h.open(i, false)
}

// disturb has a fault of a class strike the server in place i once in the window, or not.
func (h *history) disturb(t *traffic, i int, c world.Class, k int) {
	d := h.w.Places.Draw(fmt.Sprintf("%s of server %d in window %d, %d", c, i+1, t.k, k))
	at := t.from.Add(time.Duration(d.Int64N(int64(t.to.Sub(t.from)))))
	long := chance.Between(d.Rand, time.Second, 10*time.Minute)
	hangs, strikes := d.IntN(2) == 0, h.w.Faults.Strikes(d, c, 5)
	if !strikes || !t.wait(time.Until(at)) {
		return
	}
	h.mu.Lock()
	s := h.servers[i]
	h.mu.Unlock()
	long = min(long, time.Until(t.to))
	if long <= 0 || s.seat.Dead() {
		return
	}
	switch c {
	case world.Death:
		h.w.Journal.Say("%s dies", s.name)
		s.seat.Kill()
	case world.Pause:
		h.w.Journal.Say("%s stands still for %v", s.name, long)
		s.seat.Pause(long)
	case world.Partition:
		h.w.Journal.Say("%s cannot reach the store for %v", s.name, long)
		s.seat.Cut(long, hangs)
	}
}

// repeat makes a request, and makes it again a few times on other servers if it has no answer.
func (op *operation) repeat(request func(*operation) (answered bool)) {
	for try := range again {
		if op.once(request) {
			return
		}
		if op.w.Slow() {
			r := op.Seed.At("patience", uint64(op.n*again+try))
			time.Sleep(chance.Between(r, time.Millisecond, 10*time.Second))
		}
		op.s = op.server(op.serverOf(op.n) + try + 1)
	}
}

// once makes a request once or, when there is traffic, sometimes twice at one instant.
func (op *operation) once(request func(*operation) (answered bool)) bool {
	r := op.Seed.At("twin", uint64(op.n))
	twins, other := r.IntN(8) == 0, r.IntN(len(op.servers))
	if !twins || !op.w.Slow() {
		return request(op)
	}
	twin := *op
	twin.as, twin.s = "twin of ", op.server(other)
	var answered sync.WaitGroup
	second := false
	answered.Go(func() {
		defer op.caught()
		second = request(&twin)
	})
	first := request(op)
	answered.Wait()
	return first && second
}

// server returns the server in place i, counted round. When there is traffic, it may be dead.
func (op *operation) server(i int) *server {
	op.mu.Lock()
	defer op.mu.Unlock()
	if i %= len(op.servers); op.traffic == nil {
		return op.alive(i)
	}
	return op.servers[i]
}

// record does something with the model, and notes whether operation n broke an invariant by
// it. The history's mu is held.
func (h *history) record(n int, what func()) {
	before := len(h.m.Failures())
	what()
	if before == 0 && len(h.m.Failures()) > 0 {
		h.failed = n
	}
}

// caught reports a panic of the operation.
func (op *operation) caught() {
	if p := recover(); p != nil {
		op.tell(func(m *model.Model) { m.Fail("X1", "operation %d panics: %v", op.n, p) })
	}
}

// run lets the server do scheduled work, until stop.
func (s *server) run() {
	ctx, quit := context.WithCancel(world.By(context.Background(), world.Background))
	s.quit, s.over = quit, make(chan struct{})
	go func() {
		defer close(s.over)
		_ = s.Run(ctx) // it is the context's error
	}()
}

// recovery is how long after the last fault servers that run have ended all holds that are
// over.
const recovery = 15 * time.Minute

// catchUp lets some servers run without a fault, and checks that they catch up.
func (h *history) catchUp() {
	if h.Speed == Calendar {
		return
	}
	r := h.Seed.At("core", 0)
	core := h.servers[:1+r.IntN(len(h.servers))]
	h.w.SetSlow(true)
	for _, s := range core {
		time.Sleep(time.Duration(1 + r.Int64N(int64(time.Second))))
		s.run()
	}
	time.Sleep(recovery)
	for _, s := range core {
		s.stop()
	}
	synctest.Wait()
	h.w.SetSlow(false)
	h.w.Journal.Say("%d of %d servers have run for %v without a fault", len(core), len(h.servers), recovery)
	bare := h.bare()
	for _, b := range h.m.Bookings() {
		if got, err := bare.BookingHistory(context.Background(), b.ID); err == nil {
			h.m.Recovered(b, got.Booking, time.Now().Add(-recovery))
		}
	}
}
