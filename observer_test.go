package traintravel_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/store/memstore"
)

// A watcher is an observer that writes down what it is told.
type watcher struct {
	mu    sync.Mutex
	lines []string
}

func (w *watcher) note(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lines = append(w.lines, fmt.Sprintf(format, args...))
}

// said are the lines that begin with a word, sorted.
func (w *watcher) said(word string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var lines []string
	for _, l := range w.lines {
		if rest, ok := strings.CutPrefix(l, word+" "); ok {
			lines = append(lines, rest)
		}
	}
	slices.Sort(lines)
	return lines
}

func (w *watcher) observe(o *traintravel.Options) {
	o.Observer = traintravel.Observer{
		Begin: func(ctx context.Context, op string) (context.Context, func(error)) {
			return ctx, func(err error) { w.note("operation %s: %v", op, err) }
		},
		Booking: func(ctx context.Context, c traintravel.BookingChange) {
			w.note("booking %v to %v", c.From, c.To)
		},
		Payment: func(ctx context.Context, c traintravel.PaymentChange) {
			w.note("payment refund=%v %q to %q", c.Refund, c.From, c.To)
		},
		Attempt: func(_ context.Context, a traintravel.Attempt) {
			w.note("attempt notifier=%v %s %d after %v", a.Notifier, a.Status, a.Answered, a.Lag)
		},
	}
}

// Who observes is told of each thing once, whatever a store makes of closures.
func TestObserver(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		w := &watcher{}
		o := newOffice(t, store).another(w.observe, unlimited, keepUnpaid)
		b := o.book(anna, o.trip('A', 'D', "R 1"))
		o.mustPay(b, traintravel.Failed, declined)
		o.mustPay(b, traintravel.Succeeded)
		if _, err := o.pay(b); !errors.Is(err, traintravel.ErrAlreadyPaid) {
			t.Fatal(err)
		}
		o.book(berta, o.trip('A', 'D', "R 1"))
		if err := o.CancelBooking(t.Context(), anna, b.ID); err != nil {
			t.Fatal(err)
		}
		o.post.before = func(e traintravel.Event) error {
			if e.Type == traintravel.BookingConfirmed {
				return errors.New("the line is busy")
			}
			return nil
		}
		o.clock.add(59 * time.Minute)
		o.do()
		o.post.before = nil
		o.clock.add(time.Minute)
		o.do()
		for word, want := range map[string][]string{
			"booking": {"confirmed to cancelled", "held to confirmed", "held to expired", "unknown to held", "unknown to held"},
			"payment": {
				`refund=false "" to "pending"`, `refund=false "" to "pending"`, `refund=false "pending" to "failed"`, `refund=false "pending" to "succeeded"`,
				`refund=true "" to "pending"`, `refund=true "pending" to "succeeded"`,
			},
			"operation": {
				"CancelBooking: <nil>", "CreateBooking: <nil>", "CreateBooking: <nil>",
				"PayBooking: <nil>", "PayBooking: <nil>", "PayBooking: " + traintravel.ErrAlreadyPaid.Error(),
				"Run.deliver: <nil>", "Run.deliver: <nil>", "Run.deliver: <nil>", "Run.deliver: <nil>", "Run.deliver: <nil>",
				"Run.deliver: <nil>", "Run.deliver: <nil>", "Run.endHold: <nil>", "Run.followPayment: <nil>",
			},
			"attempt": {
				"notifier=true delivered 0 after 0s", "notifier=true delivered 0 after 1h0m0s", "notifier=true delivered 0 after 59m0s",
				"notifier=true delivered 0 after 59m0s", "notifier=true delivered 0 after 59m0s", "notifier=true delivered 0 after 59m0s",
				"notifier=true pending 0 after 59m0s",
			},
		} {
			if diff := cmp.Diff(want, w.said(word)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", word, diff)
			}
		}
	})
}

// Attempts at subscribers are told with what was answered.
func TestObserverOfDeliveries(t *testing.T) {
	t.Parallel()
	w := &watcher{}
	o, m := withWebhooks(t, memstore.New(), w.observe)
	o.subscribe(anna, hook)
	m.answers[hook] = answers(500)
	o.book(anna, o.trip('A', 'D', "R 1"))
	o.do()
	m.answers[hook] = answers(200)
	o.clock.add(10 * time.Second)
	o.do()
	m.answers[hook] = answers(410)
	o.book(anna, o.trip('A', 'D', "R 1"))
	o.do()
	want := []string{"notifier=false dead 410 after 0s", "notifier=false delivered 200 after 10s", "notifier=false pending 500 after 0s"}
	got := slices.DeleteFunc(w.said("attempt"), func(l string) bool { return strings.HasPrefix(l, "notifier=true") })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// State tells how much waits, and since when.
func TestState(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		before := time.Now().Add(-time.Millisecond)
		o, m := withWebhooks(t, store)
		trip := o.trip('A', 'D', "R 1")
		o.subscribe(anna, hook)
		m.answers[hook] = answers(500)
		first := o.book(anna, trip)
		o.bank.before = func(op string, _ uuid.UUID) error { return errors.New("the bank is closed") }
		o.post.before = func(traintravel.Event) error { return errors.New("the line is busy") }
		o.clock.add(time.Minute)
		second := o.book(anna, trip)
		o.mustPay(second, traintravel.Pending)
		o.do()
		st, err := o.State(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if at := st.Timetable.Loaded; at.Before(before) || at.After(time.Now()) {
			t.Errorf("the timetable was loaded at %v", at)
		}
		st.Timetable.Loaded = time.Time{}
		tt := network()
		want := traintravel.State{
			At:         o.clock.now().UTC(),
			Timetable:  traintravel.TimetableState{Stations: len(tt.Stations), Trains: len(tt.Trains), Last: lastDay},
			Holds:      2,
			Payments:   traintravel.Waiting{Count: 1, Oldest: second.Created},
			Events:     traintravel.Waiting{Count: 2, Oldest: first.Created},
			Deliveries: traintravel.Waiting{Count: 2, Oldest: first.Created},
		}
		if diff := cmp.Diff(want, st); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}

		o.bank.before, o.post.before, m.answers[hook] = nil, nil, answers(200)
		o.clock.add(30 * time.Minute)
		o.do()
		o.mustPay(second, traintravel.Succeeded) // the first attempt has failed
		o.bank.before = func(op string, _ uuid.UUID) error { return errors.New("the bank is closed") }
		if err := o.CancelBooking(t.Context(), anna, second.ID); err != nil {
			t.Fatal(err)
		}
		o.do()
		o.clock.add(30 * time.Minute)
		o.bank.before = nil
		if st, err = o.State(t.Context()); err != nil {
			t.Fatal(err)
		}
		st.At, st.Timetable = time.Time{}, traintravel.TimetableState{}
		want = traintravel.State{Holds: 1, Refunds: traintravel.Waiting{Count: 1, Oldest: second.Created.Add(30 * time.Minute)}}
		if diff := cmp.Diff(want, st); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// A store without a timetable has a state too.
func TestStateOfNothing(t *testing.T) {
	t.Parallel()
	s, err := traintravel.New(memstore.New(), traintravel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if st, err := s.State(t.Context()); err != nil || st != (traintravel.State{At: st.At}) {
		t.Errorf("%+v, %v", st, err)
	}
}
