package world

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/sim/chance"
)

// Receivers are the Notifier of the services and the endpoints of subscribers, with a book
// of what each has received.
type Receivers struct {
	w  *World
	mu sync.Mutex
	// got is, for each receiver, what came under which ID.
	got map[string]map[uuid.UUID]*Received
	// gone is when each is away, drawn when it is first called.
	gone map[string][]spell
	shut map[string]time.Time // since when it answers 410
	// posts are those to the endpoints since Posts was called.
	posts []Post
}

// A Post is one try to post an event to an endpoint.
type Post struct {
	traintravel.WebhookPost
	At     time.Time // when it came
	Status int       // that was answered; zero if nothing was
	Taken  bool      // the endpoint has it
}

// Received is an event as a receiver has it.
type Received struct {
	Event traintravel.Event // of the first time
	Times int
	First time.Time
}

// TheNotifier is the name of the receiver behind Options.Notifier.
const TheNotifier = "notifier"

func newReceivers(w *World) *Receivers {
	return &Receivers{w: w, got: map[string]map[uuid.UUID]*Received{}, gone: map[string][]spell{}, shut: map[string]time.Time{}}
}

// Got is what a receiver has, in the order in which it came.
func (r *Receivers) Got(name string) []Received {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []Received
	for _, g := range r.got[name] {
		all = append(all, *g)
	}
	slices.SortFunc(all, func(a, b Received) int { return a.First.Compare(b.First) })
	return all
}

// Shut is since when a receiver answers 410, zero if it does not.
func (r *Receivers) Shut(name string) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.shut[name]
}

// Posts returns the posts since it was called before, in the order in which they came.
func (r *Receivers) Posts() []Post {
	r.mu.Lock()
	defer r.mu.Unlock()
	posts := r.posts
	r.posts = nil
	return posts
}

var errReceiver = errors.New("sim: the receiver does not answer")

// take is the arrival of an event. It returns the status of the answer.
func (r *Receivers) take(ctx context.Context, seat *Seat, name string, e traintravel.Event) (int, error) {
	d := r.w.Places.Draw(name + " " + e.ID.String())
	r.w.latency(d, time.Second)
	seat.stand(d)
	r.mu.Lock()
	gone, drawn := r.gone[name]
	if !drawn {
		gone = r.w.spells(ReceiverAway, name, 3, time.Hour, 20*24*time.Hour)
		r.gone[name] = gone
	}
	r.mu.Unlock()
	fails, late := r.w.Faults.Strikes(d, ReceiverFails, 1), r.w.Faults.Strikes(d, ReceiverLate, 1)
	shuts := r.w.Faults.Strikes(d, ReceiverGone, 0.02) && name != TheNotifier
	if seat.Dead() {
		return 0, ErrDead
	}
	how := d.IntN(4)
	switch {
	case r.w.away(gone, ReceiverAway), fails && how == 0:
		return 0, errReceiver
	case fails && how == 1:
		<-ctx.Done()
		return 0, ctx.Err()
	case fails && how == 2:
		panic("sim: the receiver panics")
	case fails:
		return 503, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.shut[name].IsZero() {
		return 410, nil
	}
	if shuts {
		r.shut[name] = time.Now()
		r.w.Journal.Say("%s answers 410 from now on", name)
		return 410, nil
	}
	if r.got[name] == nil {
		r.got[name] = map[uuid.UUID]*Received{}
	}
	g := r.got[name][e.ID]
	if g == nil {
		g = &Received{Event: e, First: time.Now()}
		r.got[name][e.ID] = g
	}
	g.Times++
	if e.Type == traintravel.Ping {
		r.w.Journal.Say("%s receives a ping", name)
	} else {
		r.w.Journal.Say("%s receives %s of booking %s", name, e.Type, Short(e.Booking.ID))
	}
	if late {
		return 0, errReceiver
	}
	return 200, nil
}

// Notifier returns the Notifier of a process.
func (w *World) Notifier(seat *Seat) traintravel.Notifier { return mail{w, seat} }

// Sender returns the WebhookSender of a process.
func (w *World) Sender(seat *Seat) traintravel.WebhookSender { return mail{w, seat} }

type mail struct {
	w    *World
	seat *Seat
}

// Notify implements traintravel.Notifier.
func (m mail) Notify(ctx context.Context, e traintravel.Event) error {
	status, err := m.w.Receivers.take(ctx, m.seat, TheNotifier, e)
	if err == nil && status != 200 {
		err = fmt.Errorf("sim: the receiver answered %d", status)
	}
	return err
}

// CheckURL implements traintravel.WebhookSender.
func (m mail) CheckURL(string) error { return nil }

// Send implements traintravel.WebhookSender.
func (m mail) Send(ctx context.Context, p traintravel.WebhookPost) (traintravel.WebhookAnswer, error) {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	// A post takes some time whenever it is, so that of several endpoints one comes first.
	time.Sleep(1 + time.Duration(m.w.Places.Draw("way to "+p.URL+" "+p.Event.ID.String()).Int64N(int64(5*time.Millisecond))))
	came := Post{WebhookPost: p, At: time.Now()}
	r := m.w.Receivers
	defer func() { // also if the receiver panics
		r.mu.Lock()
		defer r.mu.Unlock()
		g := r.got[p.URL][p.Event.ID]
		came.Taken = g != nil
		r.posts = append(r.posts, came)
	}()
	status, err := r.take(ctx, m.seat, p.URL, p.Event)
	if err == nil {
		came.Status = status
	}
	return traintravel.WebhookAnswer{Status: status, RetryAfter: m.wait(p, status)}, err
}

func (m mail) wait(p traintravel.WebhookPost, status int) time.Duration {
	if status != 503 {
		return 0
	}
	return chance.Between(m.w.Seed.At("wait "+p.URL, key(p.Event.ID)), time.Second, time.Hour)
}
