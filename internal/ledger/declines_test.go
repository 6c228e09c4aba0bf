package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/store/memstore"
)

// limits sets how many attempts may be declined: of a booking, with a card, of a user.
func limits(booking, card, user int) func(*traintravel.Options) {
	return func(o *traintravel.Options) {
		o.Declines = traintravel.DeclineLimits{Booking: booking, Card: card, User: user}
		o.FingerprintKey = []byte("a key")
	}
}

// otherDeclined is another card that the sandbox declines.
const otherDeclined traintravel.Secret = "4000000000009995"

// asked counts the charges that a bank is asked for.
func asked(b *officetest.Bank) *atomic.Int32 {
	var n atomic.Int32
	b.Before = func(op string, _ uuid.UUID) error {
		if op == "charge" {
			n.Add(1)
		}
		return nil
	}
	return &n
}

// limited expects an attempt to be refused because too many were declined within an hour.
func limited(o *officetest.Office, b traintravel.Booking, card traintravel.Secret, byCard bool, wait time.Duration) {
	o.T.Helper()
	_, err := o.Pay(b, card)
	refused, ok := errors.AsType[*traintravel.DeclinesError](err)
	if !ok || refused.Card != byCard || refused.RetryAfter != wait {
		o.T.Fatalf("paying: %+v, want a refusal for %v, because of the card: %v", err, wait, byCard)
	}
}

// The fifth declined attempt ends the hold, and says so ever after. Its place is free.
func TestDeclinesEndTheHold(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store)
		asked := asked(o.Bank)
		trip := o.TripID('D', 'E', "R 2")
		b := o.Book(officetest.Anna, trip)
		for i := range 5 {
			o.Clock.Add(time.Second)
			o.Stands(b.ID, traintravel.Held)
			n := traintravel.NewPayment{Amount: b.Price, Source: officetest.Visa(officetest.Declined), IdempotencyKey: fmt.Sprint(i)}
			for range 3 { // what is repeated does not count
				if p, err := o.PayBooking(t.Context(), officetest.Anna, b.ID, n); err != nil || p.Status != traintravel.Failed {
					t.Fatalf("attempt %d: %+v, %v", i, p, err)
				}
			}
		}
		o.Stands(b.ID, traintravel.Expired)
		for _, card := range []traintravel.Secret{officetest.Declined, officetest.Works} {
			_, err := o.Pay(b, card)
			o.Expect("paying once more", err, traintravel.ErrTooManyDeclines)
		}
		if got := asked.Load(); got != 5 {
			t.Errorf("the bank was asked %d times", got)
		}
		_, err := o.Booking(t.Context(), officetest.Anna, b.ID)
		o.Expect("reading the booking", err, traintravel.ErrNotFound)
		o.MustPay(o.Book(officetest.Berta, trip), traintravel.Succeeded)
		o.Do()
		o.Told(b.ID, traintravel.BookingExpired, traintravel.BookingCreated, traintravel.PaymentFailed, traintravel.PaymentFailed,
			traintravel.PaymentFailed, traintravel.PaymentFailed, traintravel.PaymentFailed)
	})
}

// A card that has expired is declined without asking the bank, and counts. An attempt
// that did not reach the bank does not.
func TestWhatCountsAsDeclined(t *testing.T) {
	t.Parallel()
	o := officetest.New(t, memstore.New(), limits(2, -1, -1))
	b := o.Book(officetest.Anna, o.TripID('A', 'D', "R 1"))
	for range 3 {
		o.Bank.Before = func(string, uuid.UUID) error { return officetest.ErrLine }
		o.MustPay(b, traintravel.Pending)
		o.Bank.Before = nil
		o.Clock.Add(3 * time.Minute)
		o.Do()
	}
	old := officetest.Visa(officetest.Works)
	old.Card.ExpYear = 2020
	for i := range 2 {
		o.Stands(b.ID, traintravel.Held)
		p, err := o.PayBooking(t.Context(), officetest.Anna, b.ID, traintravel.NewPayment{Amount: b.Price, Source: old})
		if err != nil || p.Failure.Code != traintravel.ExpiredCard {
			t.Fatalf("attempt %d: %+v, %v", i, p, err)
		}
	}
	o.Stands(b.ID, traintravel.Expired)
	_, err := o.Pay(b)
	o.Expect("paying", err, traintravel.ErrTooManyDeclines)
}

// The error of a hold that was not paid in time does not mention declines.
func TestExpiryIsNotReportedAsDeclines(t *testing.T) {
	t.Parallel()
	o := officetest.New(t, memstore.New())
	b := o.Book(officetest.Anna, o.TripID('A', 'D', "R 1"))
	o.MustPay(b, traintravel.Failed, officetest.Declined)
	o.Clock.Add(61 * time.Minute)
	o.Do()
	_, err := o.Pay(b)
	o.Expect("paying", err, traintravel.ErrHoldExpired)
}

// A card is declined a few times an hour, whoever has it, by any server and after a
// restart. Other cards of the same users go on.
func TestDeclinesOfACardAreLimited(t *testing.T) {
	officetest.OnSharedStores(t, 2, func(t *testing.T, stores []traintravel.Store) {
		o := officetest.New(t, stores[0], limits(-1, 3, -1))
		asked := asked(o.Bank)
		trip := o.TripID('F', 'G', "S 3")
		for i := range 3 {
			server := o.At(stores[i%2], limits(-1, 3, -1))
			server.MustPay(server.Book([]traintravel.Caller{officetest.Anna, officetest.Berta}[i%2], trip), traintravel.Failed, officetest.Declined)
			o.Clock.Add(10 * time.Minute)
		}
		b := o.Book(officetest.Anna, trip)
		limited(o, b, officetest.Declined, true, 30*time.Minute)
		limited(o, b, "4000 0000-0000 0002", true, 30*time.Minute)
		if got := asked.Load(); got != 3 {
			t.Errorf("the bank was asked %d times", got)
		}
		o.MustPay(b, traintravel.Failed, otherDeclined)
		o.Clock.Add(30*time.Minute - time.Nanosecond)
		o.Do()
		limited(o, b, officetest.Declined, true, time.Nanosecond)
		o.Clock.Add(time.Nanosecond)
		o.MustPay(b, traintravel.Failed, officetest.Declined) // the first is an hour ago
		limited(o, b, officetest.Declined, true, 10*time.Minute)
		for k, v := range officetest.Everything(t, stores[0]) {
			if strings.Contains(k.ID+v, string(officetest.Declined)) || strings.Contains(k.ID+v, string(otherDeclined)) {
				t.Errorf("%v has the number of a card", k)
			}
		}
		o.Audit()
		for range 2 {
			o.Clock.Add(time.Hour)
			o.Do()
		}
		for k := range officetest.Everything(t, stores[0]) {
			if k.Table == traintravel.TableIdempotency || k.Table == traintravel.TableAgenda && k.ID[0] == 'd' {
				t.Errorf("%v is left", k)
			}
		}
	})
}

// A user's payments are declined a few times an hour, whatever the card; others' go on.
// Successful payments do not count.
func TestDeclinesOfAUserAreLimited(t *testing.T) {
	t.Parallel()
	o := officetest.New(t, memstore.New(), limits(-1, -1, 2))
	trip := o.TripID('F', 'G', "S 3")
	for range 5 {
		o.MustPay(o.Book(officetest.Anna, trip), traintravel.Succeeded)
	}
	o.MustPay(o.Book(officetest.Anna, trip), traintravel.Failed, officetest.Declined)
	for range 5 {
		o.MustPay(o.Book(officetest.Anna, trip), traintravel.Succeeded)
	}
	o.MustPay(o.Book(officetest.Anna, trip), traintravel.Failed, otherDeclined)
	limited(o, o.Book(officetest.Anna, trip), officetest.Works, false, time.Hour)
	o.MustPay(o.Book(officetest.Berta, trip), traintravel.Failed, officetest.Declined)
	o.Clock.Add(-30 * time.Minute) // set back: nobody waits for more than the hour
	limited(o, o.Book(officetest.Anna, trip), officetest.Works, false, time.Hour)
}

// Attempts that run at the same time do not pass a limit together.
func TestDeclinesAtOnce(t *testing.T) {
	officetest.OnSharedStores(t, 2, func(t *testing.T, stores []traintravel.Store) {
		o := officetest.New(t, stores[0], limits(-1, 4, -1))
		offices := []*officetest.Office{o, o.At(stores[1], limits(-1, 4, -1))}
		var bookings []traintravel.Booking
		for range 12 {
			bookings = append(bookings, o.Book(officetest.Anna, o.TripID('F', 'G', "S 3")))
		}
		asked := asked(o.Bank)
		got := officetest.AtOnce(len(bookings), func(i int) error {
			p, err := offices[i%2].Pay(bookings[i], officetest.Declined)
			if _, ok := errors.AsType[*traintravel.DeclinesError](err); ok {
				return errors.New("limited")
			}
			return errors.Join(err, errors.New(string(p.Status)))
		})
		if n := int(asked.Load()); n != 4 || got["failed"] != 4 || got["limited"] != 8 {
			t.Errorf("the bank was asked %d times: %v", n, got)
		}
	})
}

// An attempt waits for those that could reach the limit, and is made when they have
// succeeded.
func TestAttemptsWaitForTheirTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := officetest.New(t, memstore.New(), limits(-1, 1, -1))
		trip := o.TripID('F', 'G', "S 3")
		first, second := o.Book(officetest.Anna, trip), o.Book(officetest.Berta, trip)
		o.Bank.During("charge", func() error {
			go func() { o.MustPay(second, traintravel.Succeeded) }()
			time.Sleep(time.Second)
			return nil
		}, nil)
		o.MustPay(first, traintravel.Succeeded)
		time.Sleep(time.Second)
		o.Stands(second.ID, traintravel.Confirmed)
	})
}

// An attempt waits as long as a gateway may take, then it is refused for a moment.
func TestAttemptsDoNotWaitForEver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := officetest.New(t, memstore.New(), limits(-1, 1, -1))
		trip := o.TripID('F', 'G', "S 3")
		second := o.Book(officetest.Berta, trip)
		o.Bank.During("charge", func() error { return officetest.ErrLine }, nil)
		o.MustPay(o.Book(officetest.Anna, trip), traintravel.Pending)
		began := time.Now()
		limited(o, second, officetest.Works, true, 5*time.Second)
		if waited := time.Since(began); waited != 30*time.Second {
			t.Errorf("it was refused after %v", waited)
		}
	})
}

// A payer who goes away does not wait, and has not paid.
func TestWaitingForATurnEnds(t *testing.T) {
	t.Parallel()
	o := officetest.New(t, memstore.New(), limits(-1, 1, -1))
	trip := o.TripID('F', 'G', "S 3")
	second := o.Book(officetest.Berta, trip)
	o.Bank.During("charge", func() error {
		ctx, stop := context.WithCancel(t.Context())
		stop()
		_, err := o.PayBooking(ctx, officetest.Berta, second.ID, traintravel.NewPayment{Amount: second.Price, Source: officetest.Visa(officetest.Works)})
		o.Expect("paying", err, context.Canceled)
		return nil
	}, nil)
	o.MustPay(o.Book(officetest.Anna, trip), traintravel.Succeeded)
	o.Stands(second.ID, traintravel.Held)
}

// A debit that the bank has accepted holds up nobody.
func TestDebitsUnderWayDoNotCount(t *testing.T) {
	t.Parallel()
	o := officetest.New(t, memstore.New(), limits(-1, 1, 1))
	for range 3 {
		b := o.Book(officetest.Anna, o.TripID('F', 'G', "S 3"))
		p, err := o.PayBooking(t.Context(), officetest.Anna, b.ID, traintravel.NewPayment{Amount: b.Price, Source: officetest.Iban("AT321904300235473204")})
		if err != nil || p.Status != traintravel.Pending {
			t.Fatalf("%+v, %v", p, err)
		}
	}
}

// Without a key for fingerprints, a service counts cards under a key that it makes.
func TestCardsAreCountedWithoutAKey(t *testing.T) {
	t.Parallel()
	o := officetest.New(t, memstore.New(), limits(-1, 1, -1), func(o *traintravel.Options) { o.FingerprintKey = nil })
	trip := o.TripID('F', 'G', "S 3")
	o.MustPay(o.Book(officetest.Anna, trip), traintravel.Failed, officetest.Declined)
	limited(o, o.Book(officetest.Anna, trip), officetest.Declined, true, time.Hour)
}

func TestDeclineLimitsAreChecked(t *testing.T) {
	t.Parallel()
	for _, d := range []traintravel.DeclineLimits{{Booking: 1001}, {Card: 1001}, {User: 1001}} {
		_, err := traintravel.New(memstore.New(), traintravel.Options{Declines: d})
		if e, ok := errors.AsType[*traintravel.InvalidError](err); !ok || !strings.HasPrefix(e.Field, "Options.Declines.") {
			t.Errorf("%+v: %v", d, err)
		}
	}
}
