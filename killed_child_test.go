package traintravel_test

import (
	"bytes"
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
	"github.com/traintravel/traintravel/store/boltstore"
)

// This file is the process that TestKilled kills, and what it has around it
// that outlives it: a file for a store, one for the books of its payment
// provider, and one for the events that it was told of.

// A note is a line of one of the files, or of what the process says.
type note struct {
	What    string    // an event's type, or what was done, asked or moved
	ID      uuid.UUID `json:",omitzero"` // of the event, payment, refund or trip
	Booking uuid.UUID `json:",omitzero"`
	Payment uuid.UUID `json:",omitzero"` // what a refund gives back or an event is about
	Name    string    `json:",omitempty"`
	Status  traintravel.PaymentStatus
	Amount  int64 `json:",omitempty"`
	Request request
}

// A paper is a file of notes, each of which is there whole or does not count,
// whenever the process dies that writes it.
type paper struct{ file *os.File }

func openPaper(path string) (*paper, error) {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	return &paper{f}, nil
}

// write appends a note in one write. The line break that it begins with ends
// what a former process has left unfinished.
func (p *paper) write(n note) error {
	b, err := json.Marshal(n)
	if err != nil {
		return err
	}
	_, err = p.file.Write(append(append([]byte{'\n'}, b...), '\n'))
	return err
}

func readPaper(path string) ([]note, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	var notes []note
	for line := range bytes.Lines(b) {
		var n note
		if json.Unmarshal(line, &n) == nil {
			notes = append(notes, n)
		}
	}
	return notes, err
}

// A provider is a gateway whose books are on paper. Like a real one it knows
// after the death of a client what it has done for it.
type provider struct {
	paper *paper
	rough bool // takes its time, and loses requests and answers

	mu    sync.Mutex
	known map[uuid.UUID]note // what it has moved or fenced, as it stands
}

func openProvider(path string, rough bool) (*provider, error) {
	notes, err := readPaper(path)
	if err != nil {
		return nil, err
	}
	g := &provider{rough: rough, known: map[uuid.UUID]note{}}
	for _, n := range notes {
		if n.What != "asked" {
			g.known[n.ID] = n
		}
	}
	g.paper, err = openPaper(path)
	return g, err
}

var errLost = errors.New("the line is dead")

// travel is the way of a request or an answer, on which some get lost.
func (g *provider) travel(ctx context.Context, lost bool) error {
	if !g.rough {
		return nil
	}
	sleep(ctx, rand.N(20*time.Millisecond))
	if ctx.Err() == nil && lost {
		return errLost
	}
	return ctx.Err()
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// move enters a movement in the books, unless its ID is in there.
func (g *provider) move(n note) (traintravel.Outcome, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if was, ok := g.known[n.ID]; ok {
		if was.What != "fence" && (was.Amount != n.Amount || was.Booking != n.Booking || was.Payment != n.Payment) {
			return traintravel.Outcome{}, fmt.Errorf("%v came before, and was another", n.ID)
		}
		n = was
	} else if err := g.enter(n); err != nil {
		return traintravel.Outcome{}, err
	}
	return outcome(n), nil
}

func (g *provider) enter(n note) error {
	g.known[n.ID] = n
	return g.paper.write(n)
}

func outcome(n note) traintravel.Outcome {
	out := traintravel.Outcome{Status: n.Status}
	if n.Status == traintravel.Failed {
		out.Failure = traintravel.Failure{Code: traintravel.CardDeclined, Message: "No."}
	}
	return out
}

// take makes a charge that has arrived. What becomes of it follows from its ID.
func (g *provider) take(asked note) (traintravel.Outcome, error) {
	asked.What, asked.Status = "charge", traintravel.Succeeded
	switch asked.ID[15] % 16 {
	case 0, 1:
		asked.Status = traintravel.Failed
	case 2, 3:
		asked.Status = traintravel.Pending
	}
	return g.move(asked)
}

func (g *provider) Charge(ctx context.Context, c traintravel.Charge) (traintravel.Outcome, error) {
	asked := note{What: "asked", ID: c.ID, Booking: c.Booking, Amount: c.Amount.Amount}
	if err := g.paper.write(asked); err != nil {
		return traintravel.Outcome{}, err
	}
	if err := g.travel(ctx, c.ID[15]%16 == 4); err != nil {
		return traintravel.Outcome{}, err
	}
	out, err := g.take(asked)
	if err != nil {
		return out, err
	}
	return out, g.travel(ctx, c.ID[15]%16 == 5)
}

// Lookup settles a charge that is pending.
func (g *provider) Lookup(ctx context.Context, id uuid.UUID) (traintravel.Outcome, error) {
	if err := g.travel(ctx, false); err != nil {
		return traintravel.Outcome{}, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	n, ok := g.known[id]
	if !ok {
		return traintravel.Outcome{}, fmt.Errorf("%v: %w", id, traintravel.ErrNotFound)
	}
	if n.Status == traintravel.Pending {
		n.Status = traintravel.Succeeded
		if id[14]%4 == 0 {
			n.Status = traintravel.Failed
		}
		if err := g.enter(n); err != nil {
			return traintravel.Outcome{}, err
		}
	}
	return outcome(n), nil
}

func (g *provider) Refund(ctx context.Context, r traintravel.Refund) (traintravel.Outcome, error) {
	if err := g.travel(ctx, rand.N(16) == 0); err != nil {
		return traintravel.Outcome{}, err
	}
	out, err := g.move(note{What: "refund", ID: r.ID, Payment: r.Charge, Amount: r.Amount.Amount, Status: traintravel.Succeeded})
	if err != nil {
		return out, err
	}
	return out, g.travel(ctx, rand.N(16) == 0)
}

func (g *provider) Cancel(_ context.Context, id uuid.UUID) (traintravel.Outcome, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	n, ok := g.known[id]
	if !ok || n.Status == traintravel.Pending {
		if n.What, n.ID, n.Status = "charge", id, traintravel.Failed; !ok {
			n.What = "fence"
		}
		if err := g.enter(n); err != nil {
			return traintravel.Outcome{}, err
		}
	}
	return outcome(n), nil
}

// mail is a notifier that writes down what it is told.
func mail(p *paper, rough bool) traintravel.NotifierFunc {
	return func(_ context.Context, e traintravel.Event) error {
		if rough && rand.N(16) == 0 {
			return errLost
		}
		n := note{What: string(e.Type), ID: e.ID, Booking: e.Booking.ID}
		if e.Payment != nil {
			n.Payment = e.Payment.ID
		}
		return p.write(n)
	}
}

// hesitant is a store far away: there is time to die between a commit and the
// answer to it, and between two updates.
type hesitant struct{ traintravel.Store }

func (h hesitant) Update(ctx context.Context, fn func(traintravel.Tx) error) error {
	sleep(ctx, rand.N(5*time.Millisecond))
	err := h.Store.Update(ctx, fn)
	sleep(ctx, rand.N(5*time.Millisecond))
	return err
}

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
		withoutCancel(&opts)
	}
	opts.HoldFor, opts.ChargeTimeout = 200*time.Millisecond, 500*time.Millisecond
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

// trips are the IDs of what can be booked in a round and around it, by name.
func (a *agency) trips(ctx context.Context, round int) (map[string]uuid.UUID, error) {
	ids := map[string]uuid.UUID{}
	for day := max(0, round-2); day < round+3; day++ {
		for _, ride := range killedRides {
			var legs []uuid.UUID
			for _, leg := range ride {
				date := traintravel.DateOf(opens) + 30 + traintravel.Date(day%100)
				id, err := a.DirectTrip(ctx, leg[:3], date, station(rune(leg[4])), station(rune(leg[5])))
				if err != nil {
					return nil, fmt.Errorf("%s: %w", tripName(day, ride), err)
				}
				legs = append(legs, id)
			}
			ids[tripName(day, ride)] = traintravel.JoinTrips(legs...)
		}
	}
	return ids, nil
}

// killedNetwork has few places, so that there is a run for them. Every edition
// gives its trains other IDs and another order, and has one that no other has.
func killedNetwork(edition int) *traintravel.Timetable {
	trains := []traintravel.Train{
		train("R 1", 8, "ABCD", seats(3, 5), hooks(2)),
		train("R 2", 12, "DEF", seats(5)),
		train("S 3", 15, "FG"),
		train(fmt.Sprintf("X %d", edition), 9, "AH"),
	}
	rand.Shuffle(len(trains), func(i, j int) { trains[i], trains[j] = trains[j], trains[i] })
	for i := range trains {
		trains[i].ID = fmt.Sprintf("%d of %d", i, edition)
	}
	return timetable(trains...)
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
	d.ids, err = d.trips(ctx, d.Round)
	if errors.Is(err, traintravel.ErrNoTimetable) {
		if _, err = d.LoadTimetable(ctx, killedNetwork(0)); err == nil {
			d.ids, err = d.trips(ctx, d.Round)
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
	p, err := d.PayBooking(ctx, by, b.ID, traintravel.NewPayment{Amount: b.Price, Source: visa(works), IdempotencyKey: key})
	switch {
	case err == nil:
		d.say(note{What: "paid", Booking: b.ID, ID: p.ID, Status: p.Status})
		return p.Status
	case first && errors.Is(err, traintravel.ErrHoldExpired):
		d.say(note{What: "lapsed", Booking: b.ID})
	case first || !errors.Is(err, traintravel.ErrHoldExpired) && !errors.Is(err, traintravel.ErrNotFound) &&
		!errors.Is(err, traintravel.ErrAlreadyPaid) && !errors.Is(err, traintravel.ErrPaymentInProgress) && !errors.Is(err, traintravel.ErrKeyInUse):
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
