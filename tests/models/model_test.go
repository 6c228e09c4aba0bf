package models_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/need"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/sandbox"
	"github.com/traintravel/traintravel/store/memstore"
	"github.com/traintravel/traintravel/store/storetest"
	"pgregory.net/rapid"
)

// TestModel does things at random, and compares the service after each with
// the model, and the store with itself.
func TestModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var store traintravel.Store = memstore.New()
		if rapid.Bool().Draw(t, "twice") {
			store = storetest.Twice(store)
		}
		compare(t, store, store)
	})
}

// TestModelOnEveryStore does some of that on stores which take longer, and with
// a store for each service.
func TestModelOnEveryStore(t *testing.T) {
	t.Parallel()
	for seed := range need.Sample(2, 5) {
		chance := make([]byte, 1<<16)
		_, _ = rand.NewChaCha8([32]byte{byte(seed)}).Read(chance)
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			officetest.OnSharedStores(t, 2, func(t *testing.T, stores []traintravel.Store) {
				rapid.MakeFuzz(func(t *rapid.T) { compare(t, stores[0], stores[1]) })(t, chance)
			})
		})
	}
}

// compare does things at random on a store that two services have opened.
func compare(t *rapid.T, first, second traintravel.Store) {
	w := newWorld(t, first, second)
	t.Repeat(map[string]func(*rapid.T){
		"":              w.check,
		"book":          w.book,
		"book again":    w.book,
		"book by an ID": w.bookOld,
		"pay":           w.pay,
		"pay again":     w.pay,
		"cancel":        w.cancel,
		"work":          w.work,
		"time":          w.time,
		"import":        w.load,
		"late":          w.late,
	})
	w.drain(t)
}

// A world is two offices with clocks apart, a bank, and the model.
type world struct {
	offices   [2]*officetest.Office
	observer  *officetest.Office
	skew      time.Duration // of the second clock
	timetable *traintravel.Timetable
	stale     [2]bool // an office may not know the timetable yet
	tickets   []*ticket
	known     []knownTrip
	way       []lost
	payments  map[uuid.UUID]traintravel.PaymentStatus // attempts, as last seen
	ended     map[uuid.UUID]time.Time                 // attempts that were given up, or whose booking ended
	unsettled map[uuid.UUID]bool                      // charges of which the bank does not tell the outcome yet
	ids       uint64
}

// A lost charge is on its way to the bank.
type lost struct {
	charge traintravel.Charge
	since  time.Time
}

// A knownTrip is an ID that somebody has seen, and what it meant.
type knownTrip struct {
	id    uuid.UUID
	ride  []section
	lines []string
}

func newWorld(t *rapid.T, first, second traintravel.Store) *world {
	w := &world{
		timetable: variants[0], unsettled: map[uuid.UUID]bool{}, payments: map[uuid.UUID]traintravel.PaymentStatus{}, ended: map[uuid.UUID]time.Time{},
		skew: rapid.SampledFrom([]time.Duration{0, 3 * time.Second, 7 * time.Minute}).Draw(t, "skew"),
	}
	fences := rapid.Bool().Draw(t, "fences")
	options := func(opts *traintravel.Options) {
		opts.NewID = func() uuid.UUID { w.ids++; return uuid.UUID{6: 0x40, 8: 0x80, 15: byte(w.ids), 14: byte(w.ids >> 8)} }
		opts.PendingFor = pendingFor
		officetest.Unlimited(opts)
		if !fences {
			officetest.WithoutCancel(opts)
		}
	}
	o := &officetest.Office{T: t, Store: first, Bank: &officetest.Bank{Gateway: sandbox.New()}, Post: &officetest.Post{}}
	w.offices[0] = o.Another(options)
	o.Store = second
	w.offices[1] = o.Another(options)
	w.observer = o.Another()
	w.set(officetest.Opens)
	w.offices[0].Load(w.timetable)
	w.offices[0].Bank.After = func(_ string, id uuid.UUID, out *traintravel.Outcome) error {
		if w.unsettled[id] {
			*out = traintravel.Outcome{Status: traintravel.Pending}
		}
		return nil
	}
	return w
}

func (w *world) set(now time.Time) {
	w.offices[0].Clock.Set(now)
	w.offices[1].Clock.Set(now.Add(w.skew))
}

func (w *world) bank() *officetest.Bank { return w.offices[0].Bank }

// office draws one of the offices, and what its clock shows.
func (w *world) office(t *rapid.T) (*officetest.Office, int, time.Time) {
	i := rapid.IntRange(0, 1).Draw(t, "office")
	w.offices[i].T = t
	return w.offices[i], i, w.offices[i].Clock.Now()
}

func (w *world) ticket(t *rapid.T) *ticket {
	if len(w.tickets) == 0 {
		t.Skip("no booking yet")
	}
	return w.tickets[rapid.IntRange(max(0, len(w.tickets)-6), len(w.tickets)-1).Draw(t, "booking")]
}

// rides are what is asked for: on one train, or on two with a change in D.
var rides = [][]string{{"R 1 AD"}, {"R 1 AB"}, {"R 1 BC"}, {"R 1 CD"}, {"R 1 AC"}, {"R 1 BD"}, {"R 2 DF"}, {"R 2 DE"}, {"R 2 EF"}, {"S 3 FG"}, {"R 1 AD", "R 2 DF"}, {"R 1 CD", "R 2 DE"}}

func (w *world) book(t *rapid.T) {
	o, i, _ := w.office(t)
	o.Forget()
	w.stale[i] = false
	day := rapid.IntRange(0, 1).Draw(t, "day")
	trip := knownTrip{}
	var ids []uuid.UUID
	for _, r := range rapid.SampledFrom(rides).Draw(t, "ride") {
		s := section{number: r[:3], day: day, from: r[4], to: r[5]}
		id, err := o.Direct(t.Context(), s.number, traintravel.DateOf(officetest.Opens)+traintravel.Date(day), officetest.Station(rune(s.from)), officetest.Station(rune(s.to)))
		l := line(find(w.timetable, s.number))
		if exists := strings.IndexByte(l, s.from) >= 0 && strings.IndexByte(l, s.to) >= 0; exists != (err == nil) {
			t.Fatalf("%v: %v, and the line is %q", s, err, l)
		}
		if err != nil {
			t.Skip("there is no such ride")
		}
		ids, trip.ride, trip.lines = append(ids, id), append(trip.ride, s), append(trip.lines, l)
	}
	trip.id = officetest.JoinTrips(ids...)
	w.known = append(w.known, trip)
	w.ask(t, o, i, trip)
}

// bookOld books by an ID from perhaps another timetable.
func (w *world) bookOld(t *rapid.T) {
	if len(w.known) == 0 {
		t.Skip("no ID yet")
	}
	o, i, _ := w.office(t)
	w.ask(t, o, i, rapid.SampledFrom(w.known).Draw(t, "trip"))
}

func (w *world) ask(t *rapid.T, o *officetest.Office, i int, trip knownTrip) {
	now := o.Clock.Now()
	n := traintravel.NewBooking{TripID: trip.id, PassengerName: "Anna", HasBicycle: rapid.Bool().Draw(t, "bicycle")}
	by := rapid.SampledFrom([]traintravel.Caller{officetest.Anna, officetest.Berta}).Draw(t, "caller")
	b, err := o.CreateBooking(t.Context(), by, n)
	if err != nil && w.stale[i] { // it may be refused by the old timetable
		o.Forget()
		b, err = o.CreateBooking(t.Context(), by, n)
	}
	w.stale[i] = false

	var want error
	departs := trip.ride[0].departs()
	for j, s := range trip.ride {
		if line(find(w.timetable, s.number)) != trip.lines[j] {
			want = traintravel.ErrNotFound
		}
	}
	if want == nil && !departs.After(now) {
		want = traintravel.ErrDeparted
	}
	if want == nil {
		want = w.refusal(trip.ride, n.HasBicycle, now)
	}
	if !errors.Is(err, want) {
		t.Fatalf("booking %v: %v, want %v", trip.ride, err, want)
	}
	if err != nil {
		return
	}
	if !b.Legs[0].Origin.Time.Equal(departs) || len(b.Legs) != len(trip.ride) {
		t.Fatalf("booked %+v, not %v", b.Legs, trip.ride)
	}
	k := &ticket{Booking: b, by: by, legs: sold(trip.ride, b, w.timetable), until: b.Expires}
	for j, l := range k.legs {
		if b.Legs[j].Origin.Station != officetest.Station(rune(l.from)) || b.Legs[j].Destination.Station != officetest.Station(rune(l.to)) {
			t.Fatalf("booked %+v, not %v", b.Legs[j], l.section)
		}
		free := w.free(l.section, now, nil)
		if reserved := len(find(w.timetable, l.number).Coaches) > 0; reserved != (l.seat > 0) || reserved && !slices.Contains(free, place{l.coach, l.seat}) {
			t.Fatalf("sold %+v, and free are %v", l, free)
		}
	}
	w.take(k.legs, now)
	w.tickets = append(w.tickets, k)
}

// pay tries to pay, and the bank takes the money, declines, keeps the outcome
// to itself, or loses the question or the answer.
func (w *world) pay(t *rapid.T) {
	k := w.ticket(t)
	o, _, now := w.office(t)
	card := rapid.SampledFrom([]traintravel.Secret{officetest.Works, officetest.Declined}).Draw(t, "card")
	fault := rapid.SampledFrom([]string{"", "", "question lost", "answer lost", "unsettled"}).Draw(t, "fault")
	var want error
	switch {
	case k.Status == traintravel.Cancelled:
		want = traintravel.ErrNotFound
	case k.Status == traintravel.Confirmed:
		want = traintravel.ErrAlreadyPaid
	case k.Status == traintravel.Expired || k.lapsed(now):
		want = traintravel.ErrHoldExpired
	case k.OpenPayment != uuid.Nil:
		want = traintravel.ErrPaymentInProgress
	}
	asked, inner := uuid.Nil, w.bank().After
	w.bank().Before = func(op string, id uuid.UUID) error {
		if asked = id; fault == "question lost" {
			w.way = append(w.way, lost{traintravel.Charge{ID: id, Booking: k.ID, Amount: k.Price, Source: officetest.Visa(card)}, now})
			return officetest.ErrLine
		}
		if fault == "unsettled" {
			w.unsettled[id] = true
		}
		return nil
	}
	w.bank().After = func(op string, id uuid.UUID, out *traintravel.Outcome) error {
		if fault == "answer lost" {
			return officetest.ErrLine
		}
		return inner(op, id, out)
	}
	p, err := o.PayBooking(t.Context(), k.by, k.ID, traintravel.NewPayment{Amount: k.Price, Source: officetest.Visa(card)})
	w.bank().Before, w.bank().After = nil, inner
	if !errors.Is(err, want) || (err == nil) != (asked != uuid.Nil) {
		t.Fatalf("paying: %v, want %v; the bank was asked: %v", err, want, asked)
	}
	if err != nil {
		return
	}
	status := traintravel.Pending
	switch {
	case fault != "":
		k.OpenPayment = p.ID
		k.until = latest(k.Expires, earliest(now.Add(pendingFor), k.departs()))
	case card == officetest.Declined:
		status = traintravel.Failed
		k.failures++
	default:
		status = traintravel.Succeeded
		k.Status, k.confirmed = traintravel.Confirmed, true
	}
	if p.Status != status {
		t.Fatalf("the payment is %v, want %v", p.Status, status)
	}
	k.attempts = append(k.attempts, p.ID)
	w.payments[p.ID] = p.Status
}

func (w *world) cancel(t *rapid.T) {
	k := w.ticket(t)
	o, _, now := w.office(t)
	var want error
	switch {
	case k.Status == traintravel.Cancelled || k.Status == traintravel.Expired || k.lapsed(now):
		want = traintravel.ErrNotFound
	case k.OpenPayment != uuid.Nil:
		want = traintravel.ErrPaymentInProgress
	case k.Status == traintravel.Confirmed && !now.Before(k.departs()):
		want = traintravel.ErrDeparted
	}
	if err := o.CancelBooking(t.Context(), k.by, k.ID); !errors.Is(err, want) {
		t.Fatalf("cancelling: %v, want %v", err, want)
	}
	if want == nil {
		k.Status = traintravel.Cancelled
	}
}

func (w *world) time(t *rapid.T) {
	by := rapid.SampledFrom([]time.Duration{
		time.Second, 31 * time.Second, 2 * time.Minute, 30 * time.Minute, time.Hour, 3 * time.Hour, 9 * time.Hour, -time.Second, -10 * time.Minute,
	}).Draw(t, "by")
	w.set(w.offices[0].Clock.Now().Add(by))
}

func (w *world) load(t *rapid.T) {
	o, i, _ := w.office(t)
	w.timetable = rapid.SampledFrom(variants).Draw(t, "timetable")
	report, err := o.LoadTimetable(t.Context(), w.timetable)
	if err != nil {
		t.Fatal(err)
	}
	w.stale[i], w.stale[1-i] = false, true
	var got, want []string
	for _, s := range report.Stranded {
		got = append(got, fmt.Sprint(s.Booking, s.Run.Date))
	}
	for _, k := range w.tickets {
		for _, l := range k.legs {
			t := find(w.timetable, l.number)
			if _, has := k.has(l.section); has && (l.seat > 0 || l.hook) && (t == nil || !l.fits(t)) {
				want = append(want, fmt.Sprint(k.ID, traintravel.DateOf(officetest.Opens)+traintravel.Date(l.day)))
			}
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) && w.offices[0].Clock.Now().Before(officetest.Opens.AddDate(0, 0, 1)) { // later, the first day is over
		t.Fatalf("stranded %v, want %v", got, want)
	}
}
