package desk_test

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/audittest"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/sandbox"
	"github.com/traintravel/traintravel/store/memstore"
	"github.com/traintravel/traintravel/store/storetest"
)

// planted is everything that a traveller or a gateway can put a text into, each with a mark
// of its own that is found wherever it comes to stand.
type planted struct {
	by       traintravel.Caller
	name     string
	card     traintravel.Source
	bank     traintravel.Source
	failure  traintravel.Failure
	url, key string
}

const marks = "Xaveria"

func plant() planted {
	mark := func(what string) string { return marks + "-" + what }
	card := officetest.Visa(officetest.Works)
	card.Card.Name, card.Card.Address1, card.Card.Address2 = mark("card"), mark("street"), mark("house")
	card.Card.City, card.Card.PostCode = mark("city"), mark("post")
	return planted{
		by:   traintravel.Caller{Subject: traintravel.Subject{Issuer: "https://id.example", ID: mark("user")}, Client: mark("user")},
		name: mark("passenger"),
		card: card,
		bank: traintravel.Source{Bank: &traintravel.BankAccount{
			Name: mark("account"), Number: "AT321904300235473204", AccountType: "individual", BankName: mark("bank"), Country: "AT",
		}},
		failure: traintravel.Failure{Code: mark("code"), Message: "The card of " + mark("message") + " was declined."},
		url:     "https://hooks.example/" + mark("url"),
		key:     mark("key"),
	}
}

// forms are how a text may be written in a record.
func forms(text string) []string {
	all := []string{text, strings.ToLower(text), hex.EncodeToString([]byte(text))}
	for shift := range 3 { // whatever stands before it
		encoded := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("x", shift) + text))
		all = append(all, encoded[4:len(encoded)-2])
	}
	return all
}

// remains lists the records of a store that hold a mark.
func remains(t *testing.T, store traintravel.Store) (found []string) {
	t.Helper()
	for _, table := range traintravel.Tables() {
		records, err := store.List(t.Context(), traintravel.Range{Table: table})
		if err != nil {
			t.Fatal(err)
		}
		for _, rec := range records {
			for _, form := range forms(marks) {
				if at := strings.Index(rec.ID+"\n"+string(rec.Value), form); at >= 0 {
					text := rec.ID + "\n" + string(rec.Value)
					found = append(found, fmt.Sprintf("%v: %q", table, text[at:min(len(text), at+20)]))
				}
			}
		}
	}
	return found
}

// erasing is a store with all that was planted in bookings and payments of all kinds, and
// with events of theirs that are delivered, dead and pending, at three endpoints.
func erasing(t *testing.T, store traintravel.Store) (*officetest.Office, *officetest.Mailroom) {
	own := func(path string) string { return "https://own.example/" + path }
	o, m := officetest.WithWebhooks(t, store, func(opts *traintravel.Options) {
		for _, path := range []string{"delivered", "dead", "pending"} {
			opts.Webhooks.Operator = append(opts.Webhooks.Operator, traintravel.OperatorWebhook{
				URL: own(path), Secrets: []traintravel.Secret{officetest.Operators}, Events: traintravel.EventTypes(),
			})
		}
	})
	o.Bank.Gateway = sandbox.Open(store)
	p, ctx := plant(), t.Context()
	m.Answers[own("dead")], m.Answers[own("pending")] = officetest.Answers(500), officetest.Answers(500)
	_, _, err := o.Subscribe(ctx, p.by, traintravel.NewSubscription{URL: p.url, Events: traintravel.EventTypes(), IdempotencyKey: p.key})
	if err != nil {
		t.Fatal(err)
	}
	book := func(trip uuid.UUID) traintravel.Booking {
		o.Clock.Add(time.Second)
		b, err := o.CreateBooking(ctx, p.by, traintravel.NewBooking{TripID: trip, PassengerName: p.name, IdempotencyKey: p.key})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	pay := func(b traintravel.Booking, s traintravel.Source, key string, want traintravel.PaymentStatus) {
		t.Helper()
		if got, err := o.PayBooking(ctx, p.by, b.ID, traintravel.NewPayment{Amount: b.Price, Source: s, IdempotencyKey: p.key + key}); err != nil || got.Status != want {
			t.Fatalf("%+v, %v", got, err)
		}
	}
	o.Bank.After = func(op string, _ uuid.UUID, out *traintravel.Outcome) error {
		if op == "charge" {
			*out = traintravel.Outcome{Status: traintravel.Failed, Failure: p.failure}
		}
		return nil
	}
	b := book(o.TripID('A', 'B', "R 1"))
	pay(b, p.card, "1", traintravel.Failed)
	o.Do() // tells the endpoints, of which two fail
	for range 10 {
		o.Clock.Add(30 * time.Hour)
		m.Answers[own("pending")] = officetest.Answers(200) // what comes is pending anew
		o.Do()
	}
	m.Answers[own("pending")] = officetest.Answers(500)
	o.Clock.Set(officetest.Opens.Add(2 * time.Second))
	p.key += "2"
	c := book(o.TripID('F', 'G', "S 3"))
	pay(c, p.card, "2", traintravel.Failed)
	o.Do()
	o.Bank.After = nil
	pay(c, p.card, "3", traintravel.Succeeded)
	p.key += "3"
	pay(book(o.TripID('F', 'G', "S 3")), p.bank, "4", traintravel.Pending)
	p.key += "4"
	if err := o.CancelBooking(ctx, p.by, book(o.TripID('F', 'G', "S 3")).ID); err != nil {
		t.Fatal(err)
	}
	o.Do()
	return o, m
}

// After an erasure nothing of what a traveller or a gateway has written is in the store, in
// no form and no table, and nothing of it is posted; what waited is posted without it.
func TestErasureLeavesNothing(t *testing.T) {
	t.Parallel()
	store := storetest.Twice(memstore.New())
	o, m := erasing(t, store)
	if len(remains(t, store)) < 9 {
		t.Fatalf("not enough is planted: %q", remains(t, store))
	}
	if err := audittest.Vandalize(t.Context(), store, audittest.CopyFailures); err != nil { // as an older version wrote
		t.Fatal(err)
	}
	o.Clock.Set(officetest.Opens.Add(72 * time.Hour))
	o.Bank.After = func(op string, _ uuid.UUID, out *traintravel.Outcome) error { return nil }
	o.Do() // settles the bank account
	done, err := o.EraseSubject(t.Context(), plant().by.Subject)
	if err != nil || done.Bookings != 4 || len(done.Kept) != 0 || done.Subscriptions != 1 {
		t.Fatalf("%+v, %v", done, err)
	}
	before := len(m.Posts)
	for _, sub := range operators(o) {
		if n, err := o.Desk().RetryDead(t.Context(), sub.ID); err != nil {
			t.Fatal(n, err)
		}
	}
	for range 3 {
		o.Do()
		o.Clock.Add(time.Hour)
	}
	if left := remains(t, store); len(left) > 0 {
		t.Errorf("what is left:\n%s", strings.Join(left, "\n"))
	}
	failed := 0
	for _, p := range m.Posts[before:] {
		if text := fmt.Sprintf("%+v %+v", p, p.Event.Payment); strings.Contains(text, marks) {
			t.Errorf("%s is posted with %s", p.Event.Type, text)
		}
		if p.Event.Type == traintravel.PaymentFailed {
			failed++
		}
	}
	if failed == 0 {
		t.Error("no event of a payment that failed is posted any more")
	}
}

func operators(o *officetest.Office) []traintravel.Subscription {
	o.T.Helper()
	l, err := o.Desk().Subscriptions(o.T.Context(), traintravel.Page{})
	if err != nil {
		o.T.Fatal(err)
	}
	return l.Items
}

// A code that the package names stays, for it says nothing of a person.
func TestErasureKeepsKnownCodes(t *testing.T) {
	t.Parallel()
	o := officetest.New(t, memstore.New())
	b := o.Book(officetest.Anna, o.TripID('A', 'B', "R 1"))
	p := o.MustPay(b, traintravel.Failed, officetest.Declined)
	o.Expect("cancelling", o.CancelBooking(t.Context(), officetest.Anna, b.ID), nil)
	if _, err := o.EraseSubject(t.Context(), officetest.Anna.Subject); err != nil {
		t.Fatal(err)
	}
	if got := o.Audit().Payments[p.ID].Failure; got != (traintravel.Failure{Code: traintravel.CardDeclined}) {
		t.Errorf("%+v", got)
	}
}

// Messages of the gateway after an erasure are not stored either: about a waiting refund, and
// about one that is made later because the run is cancelled.
func TestErasedTravellersAreNotNamed(t *testing.T) {
	t.Parallel()
	o := officetest.New(t, memstore.New())
	waits, travels := o.Book(officetest.Anna, o.TripID('A', 'B', "R 1")), o.Book(officetest.Anna, o.TripID('G', 'H', "R 4"))
	o.MustPay(waits, traintravel.Succeeded)
	o.MustPay(travels, traintravel.Succeeded)
	o.Expect("cancelling", o.CancelBooking(t.Context(), officetest.Anna, waits.ID), nil)
	o.Clock.Add(48 * time.Hour)
	if done, err := o.EraseSubject(t.Context(), officetest.Anna.Subject); err != nil || done.Bookings != 2 {
		t.Fatalf("%+v, %v", done, err)
	}
	if _, err := o.CancelRun(t.Context(), o.RunOf("R 4").ID, traintravel.CancelRunOptions{Past: true}); err != nil {
		t.Fatal(err)
	}
	asked := 0
	o.Bank.Before = func(op string, _ uuid.UUID) error {
		asked++
		return errors.New("there is no account of " + marks)
	}
	o.Do()
	if left := remains(t, o.Store); asked != 2 || len(left) > 0 {
		t.Errorf("the gateway was asked for %d refunds; what is left: %q", asked, left)
	}
}
