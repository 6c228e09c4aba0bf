package kills_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/audittest"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/store/boltstore"
)

// look opens the files that a process has left, and compares them with each
// other and with what was said.
func (w *witness) look(when string) {
	store, err := boltstore.Open(w.path(storeFile), nil)
	if err != nil {
		w.Fatalf("%s: %v", when, err)
	}
	books, err := audittest.Audit(context.Background(), store)
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
func (w *witness) lookBack(books audittest.Books) {
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
	var clock officetest.Clock
	a, err := openAgency(w.dir, false, traintravel.Options{Now: clock.Now})
	if err != nil {
		w.Fatal(err)
	}
	ctx := w.Context()
	for _, later := range []time.Duration{0, 91 * time.Second, time.Hour, 25 * time.Hour, 25 * time.Hour} {
		w.clock = w.clock.Add(later)
		clock.Set(w.clock)
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

// agenda counts what is to be done, and of that what is due. Unpaid bookings that wait
// to be removed, and the next pass over them, are left out: they are there for weeks.
func (w *witness) agenda(ctx context.Context, store traintravel.Store) (due, all int, err error) {
	records, err := store.List(ctx, traintravel.Range{Table: traintravel.TableAgenda})
	for _, r := range records {
		if r.ID[0] == 'u' || r.ID[0] == 'l' {
			continue
		}
		all++
		if int64(binary.BigEndian.Uint64([]byte(r.ID[1:9]))) <= w.clock.UnixNano() {
			due++
		}
	}
	return due, all, err
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
