package traintravel_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/store/boltstore"
)

// killRoundsEnv says how often to kill a process, if not killRounds times.
const (
	killRoundsEnv = "TRAINTRAVEL_KILL_ROUNDS"
	killRounds    = 8
)

// TestKilled kills a process that sells, takes money and tells of it, at any
// moment, and then the next one on the same files, again and again. Whatever
// it has acknowledged is so, nothing is there twice, and once the last one may
// end its work in peace, money, places and events agree.
func TestKilled(t *testing.T) {
	if text := os.Getenv(killedEnv); text != "" {
		untilKilled(t, text)
		return
	}
	if runtime.GOOS == "windows" {
		t.Skip("no process is killed by a signal here")
	}
	t.Parallel()
	rounds, err := strconv.Atoi(cmp.Or(os.Getenv(killRoundsEnv), fmt.Sprint(killRounds)))
	if err != nil {
		t.Fatalf("%s: %v", killRoundsEnv, err)
	}
	w := &witness{
		T: t, dir: t.TempDir(), clock: opens,
		trips: map[string]uuid.UUID{}, booked: map[request]uuid.UUID{}, expired: map[uuid.UUID]bool{}, count: map[string]int{},
	}
	for round := range rounds {
		w.kill(round)
		w.look(fmt.Sprintf("after kill %d", round+1))
		w.arrive()
		if rand.N(2) == 0 {
			w.clock = w.clock.Add(2 * time.Minute) // until somebody starts the next one
		}
	}
	w.rest()
	w.look("in the end")
	w.settled()
	t.Logf("%d rounds: %v", rounds, w.count)
	for _, what := range []string{"booked", "paid", "cancelled", "expired", "confirmed", "in flight", "refunded"} {
		if w.count[what] == 0 {
			t.Errorf("none of all bookings was %s: the load is too light", what)
		}
	}
}

// A witness knows what the killed processes have said, and compares it with
// what they have left.
type witness struct {
	*testing.T
	dir   string
	clock time.Time // of the service

	said    []note
	asked   [killUsers][]request // what each user wanted last
	booked  map[request]uuid.UUID
	trips   map[string]uuid.UUID
	books   traintravel.Books  // as they were after the last kill
	expired map[uuid.UUID]bool // bookings that were found so

	bank, mail []note
	count      map[string]int
}

func (w *witness) path(file string) string { return filepath.Join(w.dir, file) }

// kill starts a process, hears what it says, and kills it at a random moment.
func (w *witness) kill(round int) {
	began := time.Now()
	do := orders{Dir: w.dir, Round: round, Ahead: w.clock.Sub(began)}
	for _, all := range w.asked {
		for _, q := range all {
			if q.Round >= round-2 {
				do.Again = append(do.Again, q)
			}
		}
	}
	text, err := json.Marshal(do)
	if err != nil {
		w.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		w.Fatal(err)
	}
	cmd := exec.CommandContext(w.Context(), exe, "-test.run=^TestKilled$", "-test.count=1", "-test.v=false")
	cmd.Env = append(os.Environ(), killedEnv+"="+string(text))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		w.Fatal(err)
	}
	defer stdin.Close()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		w.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		w.Fatal(err)
	}
	const early = 4 // of so many rounds the first is killed while it starts
	death := doom{kill: cmd.Process.Kill, enough: 100}
	var output strings.Builder // whatever else it says
	lines := bufio.NewScanner(stdout)
	for lines.Scan() { // to the end: what it said before the kill counts
		var n note
		if err := json.Unmarshal(lines.Bytes(), &n); err != nil {
			fmt.Fprintln(&output, lines.Text())
			continue
		}
		switch {
		case n.What == "begins" && round%early == 0:
			death.enough = 0
			death.after(rand.N(60 * time.Millisecond))
		case n.What == "ready" && round%early != 0:
			death.after(300*time.Millisecond + rand.N(300*time.Millisecond))
		}
		death.hear(n)
		w.hear(n)
	}
	_ = cmd.Wait()
	w.clock = w.clock.Add(time.Since(began))
	if !death.came() || strings.Contains(stderr.String(), "DATA RACE") || strings.Contains(stderr.String(), "could not be") {
		w.Fatalf("round %d: the process to be killed ended by itself, or with complaints:\n%s\n%s", round, output.String(), stderr.String())
	}
}

// A doom kills when the time has come and enough was done.
type doom struct {
	kill   func() error
	enough int

	mu   sync.Mutex
	done int
	dead bool
}

func (d *doom) hear(n note) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if n.What == "booked" || n.What == "paid" || n.What == "cancelled" {
		d.done++
	}
}

func (d *doom) after(wait time.Duration) {
	time.AfterFunc(wait, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.done < d.enough {
			d.after(time.Millisecond)
			return
		}
		d.dead = d.kill() == nil
	})
}

func (d *doom) came() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.dead
}

// hear takes down what the process has said.
func (w *witness) hear(n note) {
	q := n.Request
	switch n.What {
	case "broken":
		w.Errorf("the process says: %s", n.Name)
	case "trip":
		if was, ok := w.trips[n.Name]; ok && was != n.ID {
			w.Errorf("the trip %s has the ID %v, which was %v", n.Name, n.ID, was)
		}
		w.trips[n.Name] = n.ID
	case "asking":
		all := &w.asked[q.User]
		*all = append(*all, q)
		*all = (*all)[max(0, len(*all)-3):]
	case "booked":
		if was, ok := w.booked[q]; ok && was != n.Booking {
			w.Errorf("%s was answered with booking %v and now with %v", q.key(), was, n.Booking)
		}
		w.booked[q] = n.Booking
		w.said = append(w.said, n)
		w.count["booked"]++
	case "paid", "cancelled", "lapsed":
		w.said = append(w.said, n)
		w.count[n.What]++
	}
}

// look opens the files that a process has left, and compares them with each
// other and with what was said.
func (w *witness) look(when string) {
	if info, err := os.Stat(w.path(storeFile)); err == nil && info.Size() == 0 && len(w.said) == 0 {
		os.Remove(w.path(storeFile)) // killed before it began to make the store, which says that it may be removed
	}
	store, err := boltstore.Open(w.path(storeFile), nil)
	if err != nil {
		w.Fatalf("%s: %v", when, err)
	}
	books, err := traintravel.Audit(context.Background(), store)
	if err = errors.Join(err, store.Close()); err != nil {
		w.Errorf("%s the store is not sound:\n%v", when, err)
	}
	if w.bank, err = readPaper(w.path(bankFile)); err != nil {
		w.Fatal(err)
	}
	if w.mail, err = readPaper(w.path(mailFile)); err != nil {
		w.Fatal(err)
	}
	w.lookBack(books)
	w.books = books
	w.lookAtBookings()
	w.lookAtWords()
	w.lookAtBank()
	w.lookAtMail()
	if w.Failed() {
		w.Fatalf("%s: so far %v", when, w.count)
	}
}

// lookBack compares what is there with what was there before.
func (w *witness) lookBack(books traintravel.Books) {
	for id, b := range w.books.Bookings {
		was, is := b.Status, books.Bookings[id].Status
		switch {
		case is == was || was == traintravel.Held && is != 0:
		case was == traintravel.Expired && (is == traintravel.Confirmed || is == traintravel.Cancelled && books.Bookings[id].PaidBy != uuid.Nil):
		case was == traintravel.Confirmed && is == traintravel.Cancelled:
		default:
			w.Errorf("booking %v was %v and is %v", id, was, is)
		}
	}
	for id, p := range books.Payments {
		if w.books.Payments[id].ID == uuid.Nil && p.RefundOf == uuid.Nil && p.Status == traintravel.Pending {
			w.count["in flight"]++
		}
	}
	for id := range w.books.Payments {
		if _, ok := books.Payments[id]; !ok {
			w.Errorf("payment %v is lost", id)
		}
	}
}

// lookAtBookings: each is what its passenger asked for, and nobody has two.
func (w *witness) lookAtBookings() {
	for id, b := range w.books.Bookings {
		var q request
		if _, err := fmt.Sscanf(b.PassengerName, "round %d user %d request %d", &q.Round, &q.User, &q.N); err != nil {
			w.Fatalf("who is %q?", b.PassengerName)
		}
		if first, ok := w.booked[q]; ok && first != id {
			w.Errorf("%s is booking %v and also %v", q.key(), first, id)
		}
		if _, ok := w.booked[q]; !ok {
			w.booked[q] = id
			w.count["not answered"]++ // and perhaps it will be
		}
		if b.TripID != w.trips[q.trip()] || b.Owner != q.by().Subject {
			w.Errorf("booking %v of %v is for %v, want %v of %v, which is %s", id, b.Owner, b.TripID, w.trips[q.trip()], q.by().Subject, q.trip())
		}
		if b.Status == traintravel.Expired {
			w.expired[id] = true
		}
	}
}

// lookAtWords: what was acknowledged is so, or has lawfully become something
// else since.
func (w *witness) lookAtWords() {
	charged := map[uuid.UUID]bool{}
	for _, n := range w.bank {
		charged[n.Booking] = true
	}
	for _, n := range w.said {
		b, p := w.books.Bookings[n.Booking], w.books.Payments[n.ID]
		switch {
		case b.Status == 0:
			w.Errorf("%s was said of booking %v, which is lost", n.What, n.Booking)
		case n.What == "cancelled" && b.Status != traintravel.Cancelled:
			w.Errorf("booking %v was cancelled and is %v", b.ID, b.Status)
		case n.What == "lapsed" && (b.Status != traintravel.Held && b.Status != traintravel.Expired || b.LatestPayment != uuid.Nil || charged[b.ID]):
			w.Errorf("the hold of booking %v was over before it was paid, and it is %v, paid for: %t", b.ID, b.Status, charged[b.ID])
		case n.What == "paid" && (p.Booking != b.ID || p.Status != n.Status && n.Status != traintravel.Pending):
			w.Errorf("payment %v was %v and is %v", n.ID, n.Status, p.Status)
		case n.What == "paid" && n.Status == traintravel.Succeeded && (b.PaidBy != n.ID || b.Status != traintravel.Confirmed && b.Status != traintravel.Cancelled):
			w.Errorf("payment %v has succeeded; booking %v is %v, paid by %v", n.ID, b.ID, b.Status, b.PaidBy)
		}
	}
}

// lookAtBank: nothing was asked of the bank that is not on record, and what is
// on record as known is what the bank says.
func (w *witness) lookAtBank() {
	for _, n := range w.bank {
		p, ok := w.books.Payments[n.ID]
		if n.What != "fence" && (!ok || max(p.Amount.Amount, -p.Amount.Amount) != n.Amount || n.What != "refund" && p.Booking != n.Booking || p.RefundOf != n.Payment) {
			w.Errorf("the books of the bank have %q %v of %d, on record is %+v", n.What, n.ID, n.Amount, p)
		}
	}
	moved := w.moved()
	for id, p := range w.books.Payments {
		if is := moved[id].Status; p.Status == traintravel.Succeeded && is != p.Status || p.Status == traintravel.Failed && is == traintravel.Succeeded {
			w.Errorf("payment %v of %v is %v on record, and at the bank %q", id, p.Amount, p.Status, is)
		}
	}
}

// moved is what the bank has done, by ID: how each movement stands.
func (w *witness) moved() map[uuid.UUID]note {
	moved := map[uuid.UUID]note{}
	for _, n := range w.bank {
		if n.What != "asked" {
			moved[n.ID] = n
		}
	}
	return moved
}

// lookAtMail: nobody was told what did not happen, and an event has one ID.
func (w *witness) lookAtMail() {
	events, seen := map[uuid.UUID]note{}, map[note]bool{}
	for _, n := range w.mail {
		if was, ok := events[n.ID]; ok && was != n {
			w.Errorf("two events have one ID: %+v, %+v", was, n)
		}
		events[n.ID] = n
	}
	for _, n := range events {
		b, p := w.books.Bookings[n.Booking], w.books.Payments[n.Payment]
		ok := b.Status != 0
		switch traintravel.EventType(n.What) {
		case traintravel.BookingCreated:
		case traintravel.BookingConfirmed:
			ok = ok && b.PaidBy == n.Payment && p.Status == traintravel.Succeeded
		case traintravel.BookingCancelled:
			ok = ok && b.Status == traintravel.Cancelled
		case traintravel.BookingExpired:
			ok = ok && (b.Status == traintravel.Expired || b.PaidBy != uuid.Nil)
			w.expired[b.ID] = true
		case traintravel.PaymentFailed:
			ok = ok && p.Status != traintravel.Pending && p.Booking == b.ID
		default:
			ok = false
		}
		if !ok {
			w.Errorf("an event told of %s, but booking %v is %v, paid by %v", n.What, n.Booking, b.Status, b.PaidBy)
		}
		n.ID = uuid.Nil
		if seen[n] {
			w.Errorf("one event has two IDs: %+v", n)
		}
		seen[n] = true
	}
	w.count["told"], w.count["told again"] = len(events), len(w.mail)-len(events)
}

// arrive lets half of the charges that were on their way when the process died
// come to the bank after all. The others never do.
func (w *witness) arrive() {
	bank, err := openProvider(w.path(bankFile), false)
	if err != nil {
		w.Fatal(err)
	}
	defer bank.paper.file.Close()
	for _, n := range w.bank {
		if _, ok := bank.known[n.ID]; ok || n.What != "asked" {
			continue
		}
		if n.ID[14]%2 == 0 {
			w.count["charged after the kill"]++
			if _, err := bank.take(n); err != nil {
				w.Fatal(err)
			}
		}
	}
}

// rest lets a service do in peace all that the killed ones have left to do,
// while days pass.
func (w *witness) rest() {
	var clock clock
	a, err := openAgency(w.dir, false, traintravel.Options{Now: clock.now})
	if err != nil {
		w.Fatal(err)
	}
	ctx := w.Context()
	for _, later := range []time.Duration{0, 91 * time.Second, time.Hour, 25 * time.Hour, 25 * time.Hour} {
		w.clock = w.clock.Add(later)
		clock.set(w.clock)
		ctx, stop := context.WithTimeout(ctx, time.Minute)
		ended := make(chan error)
		go func() { ended <- a.Run(ctx) }()
		for due := 1; due > 0 && ctx.Err() == nil; {
			sleep(ctx, time.Millisecond)
			if due, _, err = w.agenda(ctx, a.store); err != nil {
				w.Fatal(err)
			}
		}
		if ctx.Err() != nil {
			w.Error("Run does not come to an end")
		}
		stop()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			w.Errorf("Run: %v", err)
		}
	}
	if _, all, err := w.agenda(ctx, a.store); all > 0 || err != nil {
		w.Errorf("after two days %d things are left to do, %v", all, err)
	}
	if err := a.close(); err != nil {
		w.Error(err)
	}
}

// agenda counts what is to be done, and of that what is due.
func (w *witness) agenda(ctx context.Context, store traintravel.Store) (due, all int, err error) {
	records, err := store.List(ctx, traintravel.Range{Table: traintravel.TableAgenda})
	for _, r := range records {
		if int64(binary.BigEndian.Uint64([]byte(r.ID[1:9]))) <= w.clock.UnixNano() {
			due++
		}
	}
	return due, len(records), err
}

// settled: nothing is open any more, every charge has bought a seat or was
// given back, and everybody was told of everything.
func (w *witness) settled() {
	told := map[note]bool{}
	for _, n := range w.mail {
		n.ID = uuid.Nil
		told[n] = true
	}
	expect := func(e traintravel.EventType, booking, payment uuid.UUID) {
		if !told[note{What: string(e), Booking: booking, Payment: payment}] {
			w.Errorf("nobody was told of %s of booking %v, which is %v", e, booking, w.books.Bookings[booking].Status)
		}
	}
	for id, b := range w.books.Bookings {
		w.count[b.Status.String()+" in the end"]++
		expect(traintravel.BookingCreated, id, uuid.Nil)
		if b.PaidBy != uuid.Nil {
			w.count["confirmed"]++
			expect(traintravel.BookingConfirmed, id, b.PaidBy)
		}
		if b.Status == traintravel.Cancelled {
			expect(traintravel.BookingCancelled, id, uuid.Nil)
		}
		if w.expired[id] {
			w.count["expired"]++
			expect(traintravel.BookingExpired, id, uuid.Nil)
		}
		if b.Status == traintravel.Held {
			w.Errorf("booking %v is still held", id)
		}
	}
	for id, p := range w.books.Payments {
		if p.RefundOf == uuid.Nil && p.Status == traintravel.Failed {
			w.count["failed"]++
			expect(traintravel.PaymentFailed, p.Booking, id)
		}
	}
	w.settledMoney()
}

func (w *witness) settledMoney() {
	moved := w.moved()
	back, balance := map[uuid.UUID][]int64{}, int64(0)
	for _, n := range moved {
		switch {
		case n.Status == traintravel.Pending:
			w.Errorf("the bank was never asked again what became of %v", n.ID)
		case n.Status != traintravel.Succeeded:
		case n.What == "refund":
			w.count["refunded"]++
			back[n.Payment] = append(back[n.Payment], n.Amount)
			balance -= n.Amount
		default:
			balance += n.Amount
		}
	}
	for id, n := range moved {
		if n.What != "charge" || n.Status != traintravel.Succeeded {
			continue
		}
		b := w.books.Bookings[n.Booking]
		kept := b.Status == traintravel.Confirmed && b.PaidBy == id
		if kept && len(back[id]) > 0 || !kept && !slices.Equal(back[id], []int64{n.Amount}) || n.Amount != b.Price.Amount {
			w.Errorf("%d was taken for booking %v of %v, which is %v, and given back: %v", n.Amount, b.ID, b.Price, b.Status, back[id])
		}
	}
	if books := w.books; books.Events > 0 || books.Open["eur"] != 0 || books.Owed["eur"] != 0 || books.Kept["eur"] != balance {
		w.Errorf("in the end %d events wait, open is %v, owed %v, kept %v, and the bank has %d", books.Events, books.Open, books.Owed, books.Kept, balance)
	}
}
