package models_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/audittest"
	"github.com/traintravel/traintravel/internal/officetest"
	"pgregory.net/rapid"
)

// late lets a charge that was lost arrive, or the bank tell an outcome.
func (w *world) late(t *rapid.T) {
	if len(w.way)+len(w.unsettled) == 0 {
		t.Skip("nothing is late")
	}
	if len(w.way) > 0 && rapid.Bool().Draw(t, "arrives") {
		w.arrive(t)
		return
	}
	clear(w.unsettled)
}

func (w *world) arrive(t *rapid.T) {
	for _, l := range w.way { // attempts are watched for a day
		if w.offices[0].Clock.Now().Add(w.skew).After(l.since.Add(23 * time.Hour)) {
			continue
		}
		if _, err := w.bank().Gateway.Charge(t.Context(), l.charge); err != nil {
			t.Fatal(err)
		}
	}
	w.way = nil
}

// work lets an office do what is due, and works out what may have come of it.
func (w *world) work(t *rapid.T) {
	o, _, now := w.office(t)
	w.workAt(t, o, now)
}

func (w *world) workAt(t *rapid.T, o *officetest.Office, now time.Time) {
	o.Do()
	books := o.Audit()
	var bought []*ticket // whose money came late
	news := 0
	for _, k := range w.tickets {
		if k.lapsed(now) {
			k.Status, k.expired = traintravel.Expired, true
		}
		late := false
		for _, id := range k.attempts {
			is := books.Payments[id].Status
			if is == w.payments[id] {
				continue
			}
			news++
			if w.payment(t, k, books, id, now) && is == traintravel.Succeeded {
				late = true
			}
		}
		if late && (k.Status == traintravel.Held || k.Status == traintravel.Expired) {
			bought = append(bought, k)
		}
	}
	for _, k := range bought {
		w.bought(t, k, books, now, news == 1)
	}
}

// payment checks what was found out of an attempt, and what the bank knows. It says
// whether that was within a day of the end of the attempt or its booking.
func (w *world) payment(t *rapid.T, k *ticket, books audittest.Books, id uuid.UUID, now time.Time) (inTime bool) {
	was, p := w.payments[id], books.Payments[id]
	out, err := w.bank().Gateway.Lookup(t.Context(), p.ID)
	arrived := err == nil && out.Failure.Code != "canceled"
	switch {
	case w.unsettled[p.ID]:
		t.Fatalf("payment %v became %v, and the bank has not told", was, p.Status)
	case p.Status == traintravel.Succeeded && (was == traintravel.Pending || was == traintravel.Failed) && arrived && out.Status == p.Status:
	case p.Status == traintravel.Failed && was == traintravel.Pending && arrived && out.Status == p.Status:
	case p.Status == traintravel.Failed && was == traintravel.Pending && !arrived && (!now.Before(p.Created.Add(90*time.Second)) || k.Status != traintravel.Held):
	default:
		t.Fatalf("payment %v became %v after %v, and the bank says %v, %v", was, p.Status, now.Sub(p.Created), out, err)
	}
	w.payments[p.ID] = p.Status
	ended, failedBefore := w.ended[id]
	if !failedBefore {
		ended = k.until
	}
	inTime = now.Before(ended.Add(24 * time.Hour))
	if p.Status == traintravel.Failed {
		k.failures++
		w.ended[id] = p.Settled
	}
	if k.OpenPayment != p.ID {
		return inTime
	}
	k.OpenPayment, k.until = uuid.Nil, k.Expires
	// Unless another attempt succeeded a moment before, in the same round.
	kept := books.Bookings[k.ID].Status == traintravel.Confirmed && !slices.Contains(w.observer.Post.Of(k.ID), traintravel.BookingExpired)
	if p.Status == traintravel.Failed && k.lapsed(now) && !kept {
		k.Status, k.expired = traintravel.Expired, true
	}
	return inTime
}

// bought checks what a payment has bought that came late.
func (w *world) bought(t *rapid.T, k *ticket, books audittest.Books, now time.Time, alone bool) {
	is := books.Bookings[k.ID]
	mayBe, mustBe := now.Before(k.departs()), now.Before(k.departs()) && k.Status == traintravel.Held
	if k.Status == traintravel.Expired && alone && mayBe {
		mustBe = w.again(k, now)
		mayBe = mustBe
	}
	if got := is.Status == traintravel.Confirmed; got && !mayBe || !got && mustBe {
		t.Fatalf("a payment came late for a booking that was %v, and is %v now", k.Status, is.Status)
	}
	if is.Status != traintravel.Confirmed {
		k.expired = k.expired || k.Status == traintravel.Held
		k.Status = traintravel.Expired
		return
	}
	if k.Status == traintravel.Expired { // perhaps on other places
		ride := make([]section, len(k.legs))
		for i, l := range k.legs {
			ride[i] = l.section
		}
		k.legs = sold(ride, is, w.timetable)
		k.Legs = is.Legs
	}
	k.Status, k.confirmed = traintravel.Confirmed, true
}

// again says whether a booking that has lost its places finds some.
func (w *world) again(k *ticket, now time.Time) bool {
	for i, l := range k.legs {
		t := find(w.timetable, l.number)
		calls := line(t)
		if board, alight := k.Legs[i].Board, k.Legs[i].Alight; alight >= len(calls) || calls[board] != l.from || calls[alight] != l.to {
			return false
		}
		if len(t.Coaches) > 0 && len(w.free(l.section, now, k)) == 0 || k.HasBicycle && t.Hooks > 0 && !w.hookFree(l.section, now, k) {
			return false
		}
	}
	return true
}

// check compares everything with the model.
func (w *world) check(t *rapid.T) {
	w.observer.T, w.offices[0].T, w.offices[1].T = t, t, t
	books := w.observer.Audit()
	if len(books.Bookings) != len(w.tickets) {
		t.Fatalf("%d bookings, want %d", len(books.Bookings), len(w.tickets))
	}
	for i, k := range w.tickets {
		b := books.Bookings[k.ID]
		until := b.Expires
		if b.OpenPayment != uuid.Nil {
			until = b.PinnedUntil
		}
		if b.Status == traintravel.Confirmed && books.Payments[b.PaidBy].Amount != b.Price {
			t.Fatalf("booking %d of %v is paid by %v", i, b.Price, books.Payments[b.PaidBy].Amount)
		}
		if b.Status != k.Status || b.OpenPayment != k.OpenPayment || b.Status == traintravel.Held && !until.Equal(k.until) || b.Price != k.Price {
			t.Fatalf("booking %d is %v until %v, payment %v, want %v until %v, payment %v", i, b.Status, until, b.OpenPayment, k.Status, k.until, k.OpenPayment)
		}
		for j, l := range k.legs {
			if b.Legs[j].Coach != l.coach || b.Legs[j].Seat != l.seat {
				t.Fatalf("booking %d sits in %+v, want %+v", i, b.Legs[j], l)
			}
			for _, o := range w.tickets[:i] {
				other, has := o.has(l.section)
				if _, live := k.has(l.section); live && has && l.seat > 0 && other.coach == l.coach && other.seat == l.seat && other.overlaps(l.section) {
					t.Fatalf("coach %s, seat %d of %v is sold twice", l.coach, l.seat, l.section)
				}
			}
		}
	}
	w.checkMoney(t, books)
	w.checkLists(t)
	w.checkSeats(t)
}

// checkMoney: the bank has what the bookings keep, what is still to be given
// back, and what the service does not know of yet.
func (w *world) checkMoney(t *rapid.T, books audittest.Books) {
	want := books.Kept["eur"] + books.Owed["eur"]
	for _, m := range w.bank().Movements() {
		if m.Charge == uuid.Nil && m.Outcome.Status == traintravel.Succeeded && books.Payments[m.ID].Status != traintravel.Succeeded {
			want += m.Amount.Amount
		}
	}
	if got := w.bank().Balance("eur").Amount; got != want {
		t.Fatalf("the bank has %d, want %d", got, want)
	}
}

func (w *world) checkLists(t *rapid.T) {
	for _, o := range w.offices {
		for _, by := range []traintravel.Caller{officetest.Anna, officetest.Berta} {
			var want, got []string
			for _, k := range w.tickets {
				if k.by == by && (k.Status == traintravel.Confirmed || k.Status == traintravel.Held && !k.lapsed(o.Clock.Now())) {
					want = append(want, k.ID.String())
				}
			}
			list, err := o.Bookings(t.Context(), by, traintravel.Page{Limit: 100})
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range list.Items {
				got = append(got, b.ID.String())
			}
			slices.Sort(want)
			slices.Reverse(want)
			if !slices.Equal(got, want) {
				t.Fatalf("%s has the list %v, want %v", by.ID, got, want)
			}
		}
	}
}

// checkSeats: a trip shows as many seats as the model has free places.
func (w *world) checkSeats(t *rapid.T) {
	w.observer.Forget()
	w.observer.Clock.Set(w.offices[0].Clock.Now())
	for _, r := range rides {
		s := section{number: r[0][:3], from: r[0][4], to: r[0][5]}
		id, err := w.observer.Direct(t.Context(), s.number, traintravel.DateOf(officetest.Opens), officetest.Station(rune(s.from)), officetest.Station(rune(s.to)))
		if err != nil || len(r) > 1 {
			continue
		}
		trip, err := w.observer.Trip(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if want := len(w.free(s, w.observer.Clock.Now(), nil)); trip.Seats != want || trip.Reserved != (len(find(w.timetable, s.number).Coaches) > 0) {
			t.Fatalf("%v shows %d seats, want %d", s, trip.Seats, want)
		}
	}
}

// drain lets days pass, in which everything comes to its end.
func (w *world) drain(t *rapid.T) {
	clear(w.unsettled)
	if rapid.Bool().Draw(t, "the rest arrives") {
		w.arrive(t)
	}
	for _, by := range []time.Duration{0, 91 * time.Second, time.Hour, 3 * time.Hour, 26 * time.Hour, 26 * time.Hour} {
		w.set(w.offices[0].Clock.Now().Add(by))
		for _, o := range w.offices {
			o.T = t
			w.workAt(t, o, o.Clock.Now())
			w.check(t)
		}
	}
	books := w.observer.Audit()
	if books.Events != 0 || books.Open["eur"] != 0 || books.Owed["eur"] != 0 || books.Kept["eur"] != w.bank().Balance("eur").Amount {
		t.Fatalf("in the end %d events, open %v, owed %v, kept %v, balance %v", books.Events, books.Open, books.Owed, books.Kept, w.bank().Balance("eur"))
	}
	for _, k := range w.tickets {
		want := []traintravel.EventType{traintravel.BookingCreated}
		for event, happened := range map[traintravel.EventType]bool{
			traintravel.BookingConfirmed: k.confirmed, traintravel.BookingExpired: k.expired, traintravel.BookingCancelled: k.Status == traintravel.Cancelled,
		} {
			if happened {
				want = append(want, event)
			}
		}
		for range k.failures {
			want = append(want, traintravel.PaymentFailed)
		}
		slices.Sort(want)
		if got := w.observer.Post.Of(k.ID); !slices.Equal(got, want) || k.Status == traintravel.Held {
			t.Fatalf("%v of the booking are told, want %v; it is %v", got, want, fmt.Sprint(k.Status))
		}
	}
}
