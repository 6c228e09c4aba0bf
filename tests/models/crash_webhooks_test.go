package models_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/need"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/sandbox"
	"github.com/traintravel/traintravel/store/memstore"
	"pgregory.net/rapid"
)

// A subscriber is a subscription and what its receiver must and may get.
type subscriber struct {
	traintravel.Subscription
	by    traintravel.Caller
	since int  // the step at which it was there
	over  bool // it may have been ended
	gone  bool // it has been, and its owner was told so
}

// A newsroom is two processes that sell and post on one store, with subscribers to what
// they sell. Every booking has a passenger of its own, so that one knows which it was
// though the process has died that made it.
type newsroom struct {
	*officetest.Office
	mail        *officetest.Mailroom
	offices     [2]*till
	steps       int
	subscribers []*subscriber
	passengers  map[string]int // at which step
	cancelled   map[string]int
	urls        int
	acted       map[string]bool // URL and event that must not come again
}

func newNewsroom(t officetest.Tester, store traintravel.Store) *newsroom {
	o := &officetest.Office{T: t, Store: store, Bank: &officetest.Bank{Gateway: sandbox.New()}, Post: &officetest.Post{}}
	o = o.Another()
	o.Clock.Set(officetest.Opens)
	o.Load(officetest.Network())
	n := &newsroom{
		Office: o, mail: &officetest.Mailroom{Answers: map[string]func(int) (traintravel.WebhookAnswer, error){}},
		passengers: map[string]int{}, cancelled: map[string]int{}, acted: map[string]bool{},
	}
	for i := range n.offices {
		n.offices[i] = &till{life: &life{Office: o.Another(), trip: o.TripID('F', 'G', "S 3"), mail: n.mail}}
		n.offices[i].Clock = o.Clock
		n.offices[i].restart()
	}
	return n
}

var bothEvents = []traintravel.EventType{traintravel.BookingCreated, traintravel.BookingCancelled}

func (n *newsroom) subscribe(l *till, by traintravel.Caller) {
	n.steps++
	n.urls++
	url := fmt.Sprint("https://hooks.example/", n.urls)
	survive(func() {
		sub, _, err := l.Subscribe(n.T.Context(), by, traintravel.NewSubscription{URL: url, Events: bothEvents})
		if err == nil {
			n.subscribers = append(n.subscribers, &subscriber{Subscription: sub, by: by, since: n.steps})
		}
	})
}

func (n *newsroom) end(l *till, s *subscriber, disable bool) {
	n.steps++
	s.over = true
	survive(func() {
		if disable {
			_, _ = l.ChangeSubscription(n.T.Context(), s.by, s.ID, traintravel.SubscriptionChange{Disabled: &disable})
		} else if l.Unsubscribe(n.T.Context(), s.by, s.ID) == nil {
			s.gone = true
		}
	})
}

func (n *newsroom) books(l *till, by traintravel.Caller) {
	n.steps++
	name := fmt.Sprint("passenger ", n.steps)
	n.passengers[name] = n.steps
	survive(func() {
		b, err := l.CreateBooking(n.T.Context(), by, traintravel.NewBooking{TripID: l.trip, PassengerName: name})
		if err == nil {
			l.sold = append(l.sold, b.ID)
		}
	})
}

func (n *newsroom) cancels(l *till, id uuid.UUID, by traintravel.Caller) {
	n.steps++
	name := n.Audit().Bookings[id].PassengerName
	if _, known := n.passengers[name]; known && n.cancelled[name] == 0 {
		n.cancelled[name] = n.steps
	}
	survive(func() { _ = l.CancelBooking(n.T.Context(), by, id) })
}

// works lets a process do what is due. What a receiver acknowledged to one that lives
// on does not come again.
func (n *newsroom) works(l *till, answer traintravel.WebhookAnswer, err error) {
	n.steps++
	for i := 1; i <= n.urls; i++ {
		n.mail.Answers[fmt.Sprint("https://hooks.example/", i)] = func(int) (traintravel.WebhookAnswer, error) { return answer, err }
	}
	before := len(n.mail.Posts)
	survive(func() { _ = l.RunDue(n.T.Context()) }) // what it fails to do is seen in the end
	for _, p := range n.mail.Posts[before:] {
		if n.acted[p.URL+p.Event.ID.String()] {
			n.T.Fatalf("%v came to %s again", p.Event.Type, p.URL)
		}
		for _, s := range n.subscribers {
			if s.URL == p.URL && s.gone {
				n.T.Fatalf("%v came to %s, which has ended", p.Event.Type, p.URL)
			}
		}
	}
	if !l.process.Dead() && err == nil && answer.Status == 200 {
		for _, p := range n.mail.Posts[before:] {
			n.acted[p.URL+p.Event.ID.String()] = true
		}
	}
}

// drain lets everything come to its end, and checks who got what.
func (n *newsroom) drain() {
	n.Audit()
	for _, l := range n.offices {
		l.restart()
	}
	for _, s := range n.subscribers { // dead letters are asked for again
		for page := (traintravel.Page{Number: 1, Limit: 100}); !s.over; page.Number++ {
			l, err := n.offices[0].Deliveries(n.T.Context(), s.by, s.ID, page)
			if err != nil {
				n.T.Fatal(err)
			}
			for _, d := range l.Items {
				if d.Status == traintravel.DeliveryDead {
					if _, err := n.offices[0].RetryDelivery(n.T.Context(), s.by, s.ID, d.ID, ""); err != nil {
						n.T.Fatal(err)
					}
				}
			}
			if len(l.Items) < 100 {
				break
			}
		}
	}
	for range 4 {
		for _, l := range n.offices {
			n.works(l, traintravel.WebhookAnswer{Status: 200}, nil)
		}
		n.Clock.Add(30 * time.Hour)
	}
	n.check()
}

func (n *newsroom) check() {
	books := n.Audit()
	if books.Deliveries != 0 {
		n.T.Fatalf("%d deliveries wait", books.Deliveries)
	}
	type arrival struct {
		url     string
		booking uuid.UUID
		event   traintravel.EventType
	}
	came, ids := map[arrival]uuid.UUID{}, map[uuid.UUID]arrival{}
	for _, p := range n.mail.Posts {
		e := p.Event
		a := arrival{p.URL, e.Booking.ID, e.Type}
		if id, ok := came[a]; ok && id != e.ID {
			n.T.Fatalf("%v came as %v and as %v", a, id, e.ID)
		}
		came[a] = e.ID
		what := arrival{"", a.booking, a.event}
		if other, ok := ids[e.ID]; ok && other != what {
			n.T.Fatalf("%v is the ID of %v and of %v", e.ID, other, what)
		}
		ids[e.ID] = what
	}
	for _, s := range n.subscribers {
		for _, b := range books.Bookings {
			concerns := b.Owner == s.Owner && !s.ByClient || s.ByClient && b.Client == s.Client
			wanted := concerns && !s.over && s.since < n.passengers[b.PassengerName]
			if _, got := came[arrival{s.URL, b.ID, traintravel.BookingCreated}]; got && !concerns || wanted && !got {
				n.T.Fatalf("%s, of step %d, got newBooking of %s: %t; it concerns it: %t", s.URL, s.since, b.PassengerName, got, concerns)
			}
			off := b.Status == traintravel.Cancelled
			wanted = off && concerns && !s.over && s.since < n.cancelled[b.PassengerName]
			if _, got := came[arrival{s.URL, b.ID, traintravel.BookingCancelled}]; got && !(off && concerns) || wanted && !got {
				n.T.Fatalf("%s, of step %d, got bookingCancelled of %s, which is %v: %t", s.URL, s.since, b.PassengerName, b.Status, got)
			}
		}
	}
}

// TestWebhooksCrash kills the process at every step, from subscribing to the last
// record of what was answered, and its successor at every step of its work, or at some
// of them.
func TestWebhooksCrash(t *testing.T) {
	t.Parallel()
	for a, more := 1, true; more; a++ {
		more = crashWebhooks(t, memstore.New(), a, 0)
		every := need.Stride(3)
		for b, more := 1+a%every, more; more; b += every {
			more = crashWebhooks(t, memstore.New(), a, b)
		}
	}
}

// TestWebhooksCrashOnEveryStore kills one process at a time.
func TestWebhooksCrashOnEveryStore(t *testing.T) {
	for n := 4; n < 30; n += 3 * need.Stride(2) {
		officetest.OnEveryStoreCase(t, fmt.Sprintf("at step %d", n), func(t *testing.T, store traintravel.Store) {
			crashWebhooks(t, store, n, 0)
		})
	}
}

// crashWebhooks kills one process at a step, and the next at one of its own unless that
// is zero. It returns false if the last of them has survived.
func crashWebhooks(t *testing.T, store traintravel.Store, first, second int) bool {
	n := newNewsroom(t, store)
	ok := traintravel.WebhookAnswer{Status: 200}
	live := func(l *till) {
		n.subscribe(l, officetest.Anna)
		n.subscribe(l, officetest.Berta)
		n.subscribe(l, officetest.Partner)
		n.books(l, officetest.Anna)
		n.books(l, officetest.Through)
		n.works(l, traintravel.WebhookAnswer{Status: 500}, nil)
		n.Clock.Add(10 * time.Second)
		for _, id := range l.sold {
			n.cancels(l, id, officetest.Anna)
		}
		n.works(l, ok, nil)
	}
	l := n.offices[0]
	l.process.DieAt, l.process.Panics = first, first%2 == 0
	live(l)
	if second > 0 {
		l.restart()
		l.process.DieAt, l.process.Panics = second, second%2 == 0
		n.works(l, ok, nil)
		n.Clock.Add(10 * time.Minute)
		n.works(l, ok, nil)
	}
	died := l.process.Dead()
	n.drain()
	return died
}

// TestWebhooksModel lets two processes die at any step of any sequence of subscribing,
// booking, cancelling, ending and posting to receivers that answer well, badly or not.
// In the end every event came to all who were to get it, and to nobody else.
func TestWebhooksModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := newNewsroom(t, memstore.New())
		who := rapid.SampledFrom([]traintravel.Caller{officetest.Anna, officetest.Berta, officetest.Through, officetest.Partner})
		office := func(t *rapid.T) *till {
			l := n.offices[rapid.IntRange(0, 1).Draw(t, "office")]
			if l.process.Dead() {
				l.restart()
			}
			if steps := rapid.IntRange(-8, 8).Draw(t, "dies after"); steps > 0 {
				l.process.DieAt, l.process.Panics = l.process.Steps+steps, rapid.Bool().Draw(t, "panics")
			}
			return l
		}
		t.Repeat(map[string]func(*rapid.T){
			"":          func(*rapid.T) { n.Audit() },
			"subscribe": func(t *rapid.T) { n.subscribe(office(t), who.Draw(t, "who")) },
			"book":      func(t *rapid.T) { n.books(office(t), who.Draw(t, "who")) },
			"end": func(t *rapid.T) {
				if len(n.subscribers) > 0 {
					n.end(office(t), rapid.SampledFrom(n.subscribers).Draw(t, "subscriber"), rapid.Bool().Draw(t, "disable"))
				}
			},
			"cancel": func(t *rapid.T) {
				l := office(t)
				if len(l.sold) > 0 {
					id := rapid.SampledFrom(l.sold).Draw(t, "booking")
					n.cancels(l, id, traintravel.Caller{Subject: n.Audit().Bookings[id].Owner})
				}
			},
			"work": func(t *rapid.T) {
				answer := traintravel.WebhookAnswer{Status: rapid.SampledFrom([]int{200, 200, 204, 503}).Draw(t, "status")}
				var err error
				if rapid.IntRange(0, 3).Draw(t, "silent") == 0 {
					answer, err = traintravel.WebhookAnswer{}, officetest.ErrLine
				}
				n.works(office(t), answer, err)
			},
			"time": func(t *rapid.T) {
				n.Clock.Add(rapid.SampledFrom([]time.Duration{time.Millisecond, time.Second, 7 * time.Second, 6 * time.Minute, time.Hour}).Draw(t, "by"))
			},
		})
		n.drain()
	})
}
