package traintravel_test

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
func (b *bank) asked() *atomic.Int32 {
	var n atomic.Int32
	b.before = func(op string, _ uuid.UUID) error {
		if op == "charge" {
			n.Add(1)
		}
		return nil
	}
	return &n
}

// limited expects an attempt to be refused because too many were declined within an hour.
func (o *office) limited(b traintravel.Booking, card traintravel.Secret, byCard bool, wait time.Duration) {
	o.t.Helper()
	_, err := o.pay(b, card)
	refused, ok := errors.AsType[*traintravel.DeclinesError](err)
	if !ok || refused.Card != byCard || refused.RetryAfter != wait {
		o.t.Fatalf("paying: %+v, want a refusal for %v, because of the card: %v", err, wait, byCard)
	}
}

// The fifth declined attempt ends the hold, and says so ever after. Its place is free.
func TestDeclinesEndTheHold(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := newOffice(t, store)
		asked := o.bank.asked()
		trip := o.trip('D', 'E', "R 2")
		b := o.book(anna, trip)
		for i := range 5 {
			o.clock.add(time.Second)
			o.stands(b.ID, traintravel.Held)
			n := traintravel.NewPayment{Amount: b.Price, Source: visa(declined), IdempotencyKey: fmt.Sprint(i)}
			for range 3 { // what is repeated does not count
				if p, err := o.PayBooking(t.Context(), anna, b.ID, n); err != nil || p.Status != traintravel.Failed {
					t.Fatalf("attempt %d: %+v, %v", i, p, err)
				}
			}
		}
		o.stands(b.ID, traintravel.Expired)
		for _, card := range []traintravel.Secret{declined, works} {
			_, err := o.pay(b, card)
			o.expect("paying once more", err, traintravel.ErrTooManyDeclines)
		}
		if got := asked.Load(); got != 5 {
			t.Errorf("the bank was asked %d times", got)
		}
		_, err := o.Booking(t.Context(), anna, b.ID)
		o.expect("reading the booking", err, traintravel.ErrNotFound)
		o.mustPay(o.book(berta, trip), traintravel.Succeeded)
		o.do()
		o.told(b.ID, traintravel.BookingExpired, traintravel.BookingCreated, traintravel.PaymentFailed, traintravel.PaymentFailed,
			traintravel.PaymentFailed, traintravel.PaymentFailed, traintravel.PaymentFailed)
	})
}

// A card that has expired is declined without asking the bank, and counts. An attempt
// that did not reach the bank does not.
func TestWhatCountsAsDeclined(t *testing.T) {
	t.Parallel()
	o := newOffice(t, memstore.New(), limits(2, -1, -1))
	b := o.book(anna, o.trip('A', 'D', "R 1"))
	for range 3 {
		o.bank.before = func(string, uuid.UUID) error { return errLine }
		o.mustPay(b, traintravel.Pending)
		o.bank.before = nil
		o.clock.add(3 * time.Minute)
		o.do()
	}
	old := visa(works)
	old.Card.ExpYear = 2020
	for i := range 2 {
		o.stands(b.ID, traintravel.Held)
		p, err := o.PayBooking(t.Context(), anna, b.ID, traintravel.NewPayment{Amount: b.Price, Source: old})
		if err != nil || p.Failure.Code != traintravel.ExpiredCard {
			t.Fatalf("attempt %d: %+v, %v", i, p, err)
		}
	}
	o.stands(b.ID, traintravel.Expired)
	_, err := o.pay(b)
	o.expect("paying", err, traintravel.ErrTooManyDeclines)
}

// A hold that was not paid in time is not said to have been declined too often.
func TestFewDeclinesAreNotTheReason(t *testing.T) {
	t.Parallel()
	o := newOffice(t, memstore.New())
	b := o.book(anna, o.trip('A', 'D', "R 1"))
	o.mustPay(b, traintravel.Failed, declined)
	o.clock.add(61 * time.Minute)
	o.do()
	_, err := o.pay(b)
	o.expect("paying", err, traintravel.ErrHoldExpired)
}

// A card is declined a few times an hour, whoever has it, by any server and after a
// restart. Other cards of the same users go on.
func TestACardIsDeclinedAFewTimesAnHour(t *testing.T) {
	onSharedStores(t, 2, func(t *testing.T, stores []traintravel.Store) {
		o := newOffice(t, stores[0], limits(-1, 3, -1))
		asked := o.bank.asked()
		trip := o.trip('F', 'G', "S 3")
		for i := range 3 {
			server := o.at(stores[i%2], limits(-1, 3, -1))
			server.mustPay(server.book([]traintravel.Caller{anna, berta}[i%2], trip), traintravel.Failed, declined)
			o.clock.add(10 * time.Minute)
		}
		b := o.book(anna, trip)
		o.limited(b, declined, true, 30*time.Minute)
		o.limited(b, "4000 0000-0000 0002", true, 30*time.Minute)
		if got := asked.Load(); got != 3 {
			t.Errorf("the bank was asked %d times", got)
		}
		o.mustPay(b, traintravel.Failed, otherDeclined)
		o.clock.add(30*time.Minute - time.Nanosecond)
		o.do()
		o.limited(b, declined, true, time.Nanosecond)
		o.clock.add(time.Nanosecond)
		o.mustPay(b, traintravel.Failed, declined) // the first is an hour ago
		o.limited(b, declined, true, 10*time.Minute)
		for k, v := range everything(t, stores[0]) {
			if strings.Contains(k.ID+v, string(declined)) || strings.Contains(k.ID+v, string(otherDeclined)) {
				t.Errorf("%v has the number of a card", k)
			}
		}
		o.audit()
		for range 2 {
			o.clock.add(time.Hour)
			o.do()
		}
		for k := range everything(t, stores[0]) {
			if k.Table == traintravel.TableIdempotency || k.Table == traintravel.TableAgenda && k.ID[0] == 'd' {
				t.Errorf("%v is left", k)
			}
		}
	})
}

// A user's payments are declined a few times an hour, whatever the card; others' go on.
// What succeeds does not count.
func TestAUserIsDeclinedAFewTimesAnHour(t *testing.T) {
	t.Parallel()
	o := newOffice(t, memstore.New(), limits(-1, -1, 2))
	trip := o.trip('F', 'G', "S 3")
	for range 5 {
		o.mustPay(o.book(anna, trip), traintravel.Succeeded)
	}
	o.mustPay(o.book(anna, trip), traintravel.Failed, declined)
	for range 5 {
		o.mustPay(o.book(anna, trip), traintravel.Succeeded)
	}
	o.mustPay(o.book(anna, trip), traintravel.Failed, otherDeclined)
	o.limited(o.book(anna, trip), works, false, time.Hour)
	o.mustPay(o.book(berta, trip), traintravel.Failed, declined)
	o.clock.add(-30 * time.Minute) // set back: nobody waits for more than the hour
	o.limited(o.book(anna, trip), works, false, time.Hour)
}

// Attempts that run at the same time do not pass a limit together.
func TestDeclinesAtOnce(t *testing.T) {
	onSharedStores(t, 2, func(t *testing.T, stores []traintravel.Store) {
		o := newOffice(t, stores[0], limits(-1, 4, -1))
		offices := []*office{o, o.at(stores[1], limits(-1, 4, -1))}
		var bookings []traintravel.Booking
		for range 12 {
			bookings = append(bookings, o.book(anna, o.trip('F', 'G', "S 3")))
		}
		asked := o.bank.asked()
		got := atOnce(len(bookings), func(i int) error {
			p, err := offices[i%2].pay(bookings[i], declined)
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
		o := newOffice(t, memstore.New(), limits(-1, 1, -1))
		trip := o.trip('F', 'G', "S 3")
		first, second := o.book(anna, trip), o.book(berta, trip)
		o.bank.during("charge", func() error {
			go func() { o.mustPay(second, traintravel.Succeeded) }()
			time.Sleep(time.Second)
			return nil
		}, nil)
		o.mustPay(first, traintravel.Succeeded)
		time.Sleep(time.Second)
		o.stands(second.ID, traintravel.Confirmed)
	})
}

// An attempt waits as long as a gateway may take, then it is refused for a moment.
func TestAttemptsDoNotWaitForEver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(t, memstore.New(), limits(-1, 1, -1))
		trip := o.trip('F', 'G', "S 3")
		second := o.book(berta, trip)
		o.bank.during("charge", func() error { return errLine }, nil)
		o.mustPay(o.book(anna, trip), traintravel.Pending)
		began := time.Now()
		o.limited(second, works, true, 5*time.Second)
		if waited := time.Since(began); waited != 30*time.Second {
			t.Errorf("it was refused after %v", waited)
		}
	})
}

// A payer who goes away does not wait, and has not paid.
func TestWaitingForATurnEnds(t *testing.T) {
	t.Parallel()
	o := newOffice(t, memstore.New(), limits(-1, 1, -1))
	trip := o.trip('F', 'G', "S 3")
	second := o.book(berta, trip)
	o.bank.during("charge", func() error {
		ctx, stop := context.WithCancel(t.Context())
		stop()
		_, err := o.PayBooking(ctx, berta, second.ID, traintravel.NewPayment{Amount: second.Price, Source: visa(works)})
		o.expect("paying", err, context.Canceled)
		return nil
	}, nil)
	o.mustPay(o.book(anna, trip), traintravel.Succeeded)
	o.stands(second.ID, traintravel.Held)
}

// A debit that the bank has accepted holds up nobody.
func TestDebitsUnderWayDoNotCount(t *testing.T) {
	t.Parallel()
	o := newOffice(t, memstore.New(), limits(-1, 1, 1))
	for range 3 {
		b := o.book(anna, o.trip('F', 'G', "S 3"))
		p, err := o.PayBooking(t.Context(), anna, b.ID, traintravel.NewPayment{Amount: b.Price, Source: iban("AT321904300235473204")})
		if err != nil || p.Status != traintravel.Pending {
			t.Fatalf("%+v, %v", p, err)
		}
	}
}

// Without a key for fingerprints, a service counts cards under a key that it makes.
func TestCardsAreCountedWithoutAKey(t *testing.T) {
	t.Parallel()
	o := newOffice(t, memstore.New(), limits(-1, 1, -1), func(o *traintravel.Options) { o.FingerprintKey = nil })
	trip := o.trip('F', 'G', "S 3")
	o.mustPay(o.book(anna, trip), traintravel.Failed, declined)
	o.limited(o.book(anna, trip), declined, true, time.Hour)
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
