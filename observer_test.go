package traintravel_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/store/memstore"
)

// The observer gets each report once, however often the store runs closures.
func TestObserver(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		w := &officetest.Watcher{}
		o := officetest.New(t, store).Another(w.Observe, officetest.Unlimited, officetest.KeepUnpaid)
		b := o.Book(officetest.Anna, o.TripID('A', 'D', "R 1"))
		o.MustPay(b, traintravel.Failed, officetest.Declined)
		o.MustPay(b, traintravel.Succeeded)
		if _, err := o.Pay(b); !errors.Is(err, traintravel.ErrAlreadyPaid) {
			t.Fatal(err)
		}
		o.Book(officetest.Berta, o.TripID('A', 'D', "R 1"))
		if err := o.CancelBooking(t.Context(), officetest.Anna, b.ID); err != nil {
			t.Fatal(err)
		}
		o.Post.Before = func(e traintravel.Event) error {
			if e.Type == traintravel.BookingConfirmed {
				return errors.New("the line is busy")
			}
			return nil
		}
		o.Clock.Add(59 * time.Minute)
		o.Do()
		o.Post.Before = nil
		o.Clock.Add(time.Minute)
		o.Do()
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
			if diff := cmp.Diff(want, w.Said(word)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", word, diff)
			}
		}
	})
}

// Attempts at subscribers are told with what was answered.
func TestObserverOfDeliveries(t *testing.T) {
	t.Parallel()
	w := &officetest.Watcher{}
	o, m := officetest.WithWebhooks(t, memstore.New(), w.Observe)
	o.MustSubscribe(officetest.Anna, officetest.Hook)
	m.Answers[officetest.Hook] = officetest.Answers(500)
	o.Book(officetest.Anna, o.TripID('A', 'D', "R 1"))
	o.Do()
	m.Answers[officetest.Hook] = officetest.Answers(200)
	o.Clock.Add(10 * time.Second)
	o.Do()
	m.Answers[officetest.Hook] = officetest.Answers(410)
	o.Book(officetest.Anna, o.TripID('A', 'D', "R 1"))
	o.Do()
	want := []string{"notifier=false dead 410 after 0s", "notifier=false delivered 200 after 10s", "notifier=false pending 500 after 0s"}
	got := slices.DeleteFunc(w.Said("attempt"), func(l string) bool { return strings.HasPrefix(l, "notifier=true") })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// State tells how much waits, and since when.
func TestState(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		before := time.Now().Add(-time.Millisecond)
		o, m := officetest.WithWebhooks(t, store)
		trip := o.TripID('A', 'D', "R 1")
		o.MustSubscribe(officetest.Anna, officetest.Hook)
		m.Answers[officetest.Hook] = officetest.Answers(500)
		first := o.Book(officetest.Anna, trip)
		o.Bank.Before = func(op string, _ uuid.UUID) error { return errors.New("the bank is closed") }
		o.Post.Before = func(traintravel.Event) error { return errors.New("the line is busy") }
		o.Clock.Add(time.Minute)
		second := o.Book(officetest.Anna, trip)
		o.MustPay(second, traintravel.Pending)
		o.Do()
		st, err := o.State(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if at := st.Timetable.Loaded; at.Before(before) || at.After(time.Now()) {
			t.Errorf("the timetable was loaded at %v", at)
		}
		st.Timetable.Loaded = time.Time{}
		tt := officetest.Network()
		want := traintravel.State{
			At:         o.Clock.Now().UTC(),
			Timetable:  traintravel.TimetableState{Stations: len(tt.Stations), Trains: len(tt.Trains), Last: officetest.LastDay},
			Holds:      2,
			Payments:   traintravel.Waiting{Count: 1, Oldest: second.Created},
			Events:     traintravel.Waiting{Count: 2, Oldest: first.Created},
			Deliveries: traintravel.Waiting{Count: 2, Oldest: first.Created},
		}
		if diff := cmp.Diff(want, st); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}

		o.Bank.Before, o.Post.Before, m.Answers[officetest.Hook] = nil, nil, officetest.Answers(200)
		o.Clock.Add(30 * time.Minute)
		o.Do()
		o.MustPay(second, traintravel.Succeeded) // the first attempt has failed
		o.Bank.Before = func(op string, _ uuid.UUID) error { return errors.New("the bank is closed") }
		if err := o.CancelBooking(t.Context(), officetest.Anna, second.ID); err != nil {
			t.Fatal(err)
		}
		o.Do()
		o.Clock.Add(30 * time.Minute)
		o.Bank.Before = nil
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
func TestStateOfAnEmptyStore(t *testing.T) {
	t.Parallel()
	s, err := traintravel.New(memstore.New(), traintravel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if st, err := s.State(t.Context()); err != nil || st != (traintravel.State{At: st.At}) {
		t.Errorf("%+v, %v", st, err)
	}
}
