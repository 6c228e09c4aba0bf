package kills_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/store/boltstore"
)

// An agency is a service on the files of a folder, with all that is around it.
type agency struct {
	*traintravel.Service
	store *boltstore.Store
	bank  *provider
	mail  *paper
}

const (
	storeFile = "trains.db"
	bankFile  = "bank"
	mailFile  = "mail"
)

// openAgency opens what is in a folder, and makes it if it is not there. In a
// rough world everything takes its time and now and then fails.
func openAgency(dir string, rough bool, opts traintravel.Options) (a *agency, err error) {
	a = &agency{}
	if a.store, err = boltstore.Open(filepath.Join(dir, storeFile), nil); err != nil {
		return nil, err
	}
	if a.bank, err = openProvider(filepath.Join(dir, bankFile), rough); err != nil {
		return nil, err
	}
	if a.mail, err = openPaper(filepath.Join(dir, mailFile)); err != nil {
		return nil, err
	}
	var store traintravel.Store = a.store
	if rough && rand.N(2) == 0 {
		store = hesitant{store}
	}
	opts.Gateway, opts.Notifier = a.bank, mail(a.mail, rough)
	if rough && rand.N(2) == 0 {
		officetest.WithoutCancel(&opts)
	}
	opts.HoldFor, opts.ChargeTimeout = 200*time.Millisecond, 500*time.Millisecond
	officetest.Unlimited(&opts)
	a.Service, err = traintravel.New(store, opts)
	return a, err
}

func (a *agency) close() error {
	return errors.Join(a.store.Close(), a.bank.paper.file.Close(), a.mail.file.Close())
}

// killedEnv holds, in a process that is to be killed, its orders.
const killedEnv = "TRAINTRAVEL_KILLED"

// killUsers is how many people use the process at once.
const killUsers = 12

// orders is what a process is to do until it is killed.
type orders struct {
	Dir   string
	Round int
	Ahead time.Duration // how far its clock is ahead of the true time
	Again []request     // of earlier processes, to be asked again
}

// A request is the n-th to book of a user in a round. It is the same whenever
// it is asked.
type request struct{ Round, User, N int }

// key is the request's idempotency key, and the passenger's name.
func (q request) key() string {
	return fmt.Sprintf("round %d user %d request %d", q.Round, q.User, q.N)
}

func (q request) by() traintravel.Caller {
	return traintravel.Caller{Subject: traintravel.Subject{ID: fmt.Sprint(q.User)}}
}

// trip names the trip that is asked for, as trips does.
func (q request) trip() string {
	r := rand.New(rand.NewPCG(uint64(q.Round)<<32|uint64(q.User), uint64(q.N)))
	return tripName(q.Round+r.IntN(3), killedRides[r.IntN(len(killedRides))])
}

// killedRides are what is booked: trains and the stations from and to.
var killedRides = [][]string{
	{"R 1 AB"}, {"R 1 AD"}, {"R 1 BD"}, {"R 1 CD"}, {"R 2 DE"}, {"R 2 DF"}, {"S 3 FG"}, {"R 1 AD", "R 2 DF"}, {"R 1 BD", "R 2 DE"},
}

func tripName(day int, ride []string) string {
	return fmt.Sprintf("%s on day %d", strings.Join(ride, ", "), day%100)
}

// killedTrips are the IDs of what can be booked in a round and around it, by name.
func killedTrips(ctx context.Context, store traintravel.Store, round int) (map[string]uuid.UUID, error) {
	ids := map[string]uuid.UUID{}
	for day := max(0, round-2); day < round+3; day++ {
		for _, ride := range killedRides {
			var legs []uuid.UUID
			for _, leg := range ride {
				date := traintravel.DateOf(officetest.Opens) + 30 + traintravel.Date(day%100)
				id, err := officetest.DirectTrip(ctx, store, leg[:3], date, officetest.Station(rune(leg[4])), officetest.Station(rune(leg[5])))
				if err != nil {
					return nil, fmt.Errorf("%s: %w", tripName(day, ride), err)
				}
				legs = append(legs, id)
			}
			ids[tripName(day, ride)] = officetest.JoinTrips(legs...)
		}
	}
	return ids, nil
}

// killedNetwork has few places, so that there is a run for them. Every edition
// gives its trains other IDs and another order, and has one that no other has.
func killedNetwork(edition int) *traintravel.Timetable {
	trains := []traintravel.Train{
		officetest.Train("R 1", 8, "ABCD", officetest.Seats(3, 5), officetest.Hooks(2)),
		officetest.Train("R 2", 12, "DEF", officetest.Seats(5)),
		officetest.Train("S 3", 15, "FG"),
		officetest.Train(fmt.Sprintf("X %d", edition), 9, "AH"),
	}
	rand.Shuffle(len(trains), func(i, j int) { trains[i], trains[j] = trains[j], trains[i] })
	for i := range trains {
		trains[i].ID = fmt.Sprintf("%d of %d", i, edition)
	}
	return officetest.Timetable(trains...)
}

// A doomed is a process at work.
type doomed struct {
	orders
	*agency
	ids map[string]uuid.UUID
}

// say writes to the one who kills the process, in one write.
func (d *doomed) say(n note) {
	b, err := json.Marshal(n)
	if err != nil {
		panic(err)
	}
	os.Stdout.Write(append(append([]byte{'\n'}, b...), '\n'))
}

// never says that something happened which must not.
func (d *doomed) never(format string, args ...any) {
	d.say(note{What: "broken", Name: fmt.Sprintf(format, args...)})
}

// untilKilled works until the process is killed or its parent is gone. An
// acknowledgement is written after the call has returned, and not before.
func untilKilled(t *testing.T, text string) {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // ends with the parent
		os.Exit(1)
	}()
	ctx := t.Context()
	d := &doomed{}
	if err := json.Unmarshal([]byte(text), &d.orders); err != nil {
		t.Fatal(err)
	}
	d.say(note{What: "begins"})
	opts := traintravel.Options{
		Now:    func() time.Time { return time.Now().Add(d.Ahead) },
		Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	}
	var err error
	if d.agency, err = openAgency(d.Dir, true, opts); err != nil {
		t.Fatal(err)
	}
	go d.Run(ctx)
	d.ids, err = killedTrips(ctx, d.store, d.Round)
	if errors.Is(err, traintravel.ErrNoTimetable) {
		if _, err = d.LoadTimetable(ctx, killedNetwork(0)); err == nil {
			d.ids, err = killedTrips(ctx, d.store, d.Round)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, id := range d.ids {
		d.say(note{What: "trip", Name: name, ID: id})
	}
	d.say(note{What: "ready"})
	for user := range killUsers {
		go d.use(ctx, user)
	}
	if d.Round%2 == 1 {
		go d.reload(ctx)
	}
	time.Sleep(time.Minute)
	t.Fatal("nobody killed me")
}

// reload replaces the timetable again and again.
func (d *doomed) reload(ctx context.Context) {
	for edition := d.Round * 1000; ; edition++ {
		sleep(ctx, rand.N(200*time.Millisecond))
		report, err := d.LoadTimetable(ctx, killedNetwork(edition))
		if err != nil || len(report.Stranded) > 0 {
			d.never("loading the timetable again: %v, %v", report, err)
		}
	}
}

// use is what one user does, one thing after another.
func (d *doomed) use(ctx context.Context, user int) {
	for _, q := range d.Again {
		if q.User == user {
			d.book(ctx, q)
		}
	}
	q := request{Round: d.Round, User: user}
	d.old(ctx, q.by())
	for ; ; q.N++ {
		sleep(ctx, rand.N(5*time.Millisecond))
		b, ok := d.book(ctx, q)
		if !ok {
			continue
		}
		by := q.by()
		switch rand.N(10) {
		case 0: // and is not heard of again
		case 1:
			d.cancel(ctx, by, b)
		case 2: // pays, and cancels in the same moment
			var wg sync.WaitGroup
			wg.Go(func() { d.pay(ctx, by, b, "pay", false) })
			sleep(ctx, rand.N(10*time.Millisecond))
			d.cancel(ctx, by, b)
			wg.Wait()
		case 3: // pays too late, or almost
			sleep(ctx, time.Until(b.Expires.Add(-d.Ahead-5*time.Millisecond+rand.N(10*time.Millisecond))))
			d.pay(ctx, by, b, "pay", true)
		case 4:
			d.old(ctx, by)
		default:
			if d.pay(ctx, by, b, "pay", true) == traintravel.Failed {
				d.pay(ctx, by, b, "pay again", false)
			}
			if rand.N(2) == 0 {
				d.cancel(ctx, by, b)
			}
		}
	}
}

// old pays or cancels what its user finds in its list.
func (d *doomed) old(ctx context.Context, by traintravel.Caller) {
	list, err := d.Bookings(ctx, by, traintravel.Page{Limit: 8})
	if err != nil {
		d.never("listing: %v", err)
	}
	for _, b := range list.Items {
		switch {
		case b.Status == traintravel.Held:
			d.pay(ctx, by, b, "pay", false)
		case rand.N(3) > 0:
			d.cancel(ctx, by, b)
		}
	}
}

func (d *doomed) book(ctx context.Context, q request) (traintravel.Booking, bool) {
	d.say(note{What: "asking", Request: q})
	b, err := d.CreateBooking(ctx, q.by(), traintravel.NewBooking{
		TripID: d.ids[q.trip()], PassengerName: q.key(), HasBicycle: q.N%8 == 0, IdempotencyKey: q.key(),
	})
	switch {
	case err == nil:
		d.say(note{What: "booked", Booking: b.ID, Request: q})
		return b, !b.Replayed
	case !errors.Is(err, traintravel.ErrSoldOut) && !errors.Is(err, traintravel.ErrNoBicycleSpace):
		d.never("booking: %v", err)
	}
	return b, false
}

// pay pays for a booking; first says that nobody has tried before.
func (d *doomed) pay(ctx context.Context, by traintravel.Caller, b traintravel.Booking, key string, first bool) traintravel.PaymentStatus {
	p, err := d.PayBooking(ctx, by, b.ID, traintravel.NewPayment{Amount: b.Price, Source: officetest.Visa(officetest.Works), IdempotencyKey: key})
	switch {
	case err == nil:
		d.say(note{What: "paid", Booking: b.ID, ID: p.ID, Status: p.Status})
		return p.Status
	case first && errors.Is(err, traintravel.ErrHoldExpired):
		d.say(note{What: "lapsed", Booking: b.ID})
	case first || !errors.Is(err, traintravel.ErrHoldExpired) && !errors.Is(err, traintravel.ErrNotFound) &&
		!errors.Is(err, traintravel.ErrAlreadyPaid) && !errors.Is(err, traintravel.ErrPaymentInProgress):
		d.never("paying: %v", err)
	}
	return ""
}

func (d *doomed) cancel(ctx context.Context, by traintravel.Caller, b traintravel.Booking) {
	switch err := d.CancelBooking(ctx, by, b.ID); {
	case err == nil:
		d.say(note{What: "cancelled", Booking: b.ID})
	case !errors.Is(err, traintravel.ErrNotFound) && !errors.Is(err, traintravel.ErrPaymentInProgress):
		d.never("cancelling: %v", err)
	}
}
