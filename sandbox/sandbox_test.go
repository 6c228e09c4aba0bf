package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/sandbox"
)

func eur(cents int64) traintravel.Money { return traintravel.Money{Amount: cents, Currency: "eur"} }

func card(number traintravel.Secret) traintravel.Source {
	return traintravel.Source{Card: &traintravel.Card{
		Name: "J. Doe", Number: number, CVC: "123", ExpMonth: 12, ExpYear: 2030, Country: "GB",
	}}
}

func account(number traintravel.Secret) traintravel.Source {
	return traintravel.Source{Bank: &traintravel.BankAccount{
		Name: "J. Doe", Number: number, AccountType: traintravel.Individual, BankName: "Starling Bank", Country: "GB",
	}}
}

func charge(s traintravel.Source) traintravel.Charge {
	return traintravel.Charge{ID: uuid.New(), Booking: uuid.New(), Amount: eur(4999), Source: s}
}

// must passes an outcome on, and fails the test on an error.
func must(t *testing.T) func(traintravel.Outcome, error) traintravel.Outcome {
	return func(o traintravel.Outcome, err error) traintravel.Outcome {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
}

func movements(t *testing.T, g *sandbox.Gateway) []sandbox.Movement {
	t.Helper()
	all, err := g.Movements(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func balance(t *testing.T, g *sandbox.Gateway, currency string) traintravel.Money {
	t.Helper()
	sum, err := g.Balance(t.Context(), currency)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

func wantStatus(t *testing.T, o traintravel.Outcome, err error, want traintravel.PaymentStatus) {
	t.Helper()
	if err != nil || o.Status != want {
		t.Fatalf("got %+v, %v, want %s", o, err, want)
	}
}

func TestChargeOutcomes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		source traintravel.Source
		code   string // empty for a success
	}{
		{card("4242424242424242"), ""},
		{card("4242 4242 4242 4242"), ""},
		{card("4000056655665556"), ""},
		{card("5555555555554444"), ""},
		{card("378282246310005"), ""},
		{card("4000000000000002"), traintravel.CardDeclined},
		{card("4000 0000-0000 0002"), traintravel.CardDeclined},
		{card("4000000000009995"), traintravel.InsufficientFunds},
		{card("4000000000000069"), traintravel.ExpiredCard},
		{card("4000000000000127"), traintravel.IncorrectCVC},
		{card("4000000000000119"), traintravel.ProcessingError},
		{card("4242424242424241"), "invalid_source"},
		{traintravel.Source{}, "invalid_source"},
		{account("00012345"), ""},
		{account("AT611904300234573201"), ""},
		{account("GB33BUKB20201555555555"), ""},
		{account("AT861904300235473202"), "debit_not_authorized"},
		{account("at86 1904 3002 3547 3202"), "debit_not_authorized"},
	} {
		g := sandbox.New()
		ch := charge(c.source)
		o, err := g.Charge(t.Context(), ch)
		want := traintravel.Succeeded
		if c.code != "" {
			want = traintravel.Failed
		}
		if err != nil || o.Status != want || o.Failure.Code != c.code || (o.Failure.Message == "") != (c.code == "") {
			t.Errorf("%v%v: got %+v, %v, want code %q", c.source.Card, c.source.Bank, o, err, c.code)
		}
		if found, err := g.Lookup(t.Context(), ch.ID); err != nil || found != o {
			t.Errorf("Lookup tells %+v, %v, want %+v", found, err, o)
		}
	}
}

func TestAccountsThatSettleLater(t *testing.T) {
	t.Parallel()
	for number, want := range map[traintravel.Secret]traintravel.PaymentStatus{
		"AT321904300235473204": traintravel.Succeeded,
		"AT051904300235473205": traintravel.Failed,
	} {
		synctest.Test(t, func(t *testing.T) {
			g, ch := sandbox.New(), charge(account(number))
			o, err := g.Charge(t.Context(), ch)
			wantStatus(t, o, err, traintravel.Pending)
			if o.Failure != (traintravel.Failure{}) {
				t.Errorf("the failure is known before: %+v", o)
			}
			if _, err := g.Refund(t.Context(), traintravel.Refund{ID: uuid.New(), Charge: ch.ID, Amount: eur(1)}); err == nil {
				t.Error("a pending charge was refunded")
			}
			if b := balance(t, g, "eur"); b != eur(0) {
				t.Errorf("the balance is %s before", b)
			}
			time.Sleep(sandbox.SettleAfter - 1)
			o, err = g.Charge(t.Context(), ch)
			wantStatus(t, o, err, traintravel.Pending)
			time.Sleep(time.Nanosecond)
			o, err = g.Lookup(t.Context(), ch.ID)
			wantStatus(t, o, err, want)
			if seen := movements(t, g)[0].Outcome; seen != o {
				t.Errorf("Movements tells %+v, Lookup %+v", seen, o)
			}
		})
	}
}

// A second attempt after a lost answer charged again: the same ID acts once,
// however many ask at a time.
func TestChargeActsOnceForEachID(t *testing.T) {
	t.Parallel()
	g := sandbox.New()
	ch := charge(card("4242424242424242"))
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			if o, err := g.Charge(t.Context(), ch); err != nil || o.Status != traintravel.Succeeded {
				t.Errorf("got %+v, %v", o, err)
			}
		})
	}
	wg.Wait()
	if n := len(movements(t, g)); n != 1 {
		t.Errorf("%d movements", n)
	}
	if b := balance(t, g, "eur"); b != ch.Amount {
		t.Errorf("the balance is %s", b)
	}

	// The outcome stays, even if the source would decide otherwise now.
	ch.Source = card("4000000000000002")
	o, err := g.Charge(t.Context(), ch)
	wantStatus(t, o, err, traintravel.Succeeded)
}

func TestReusedIDIsAnError(t *testing.T) {
	t.Parallel()
	g := sandbox.New()
	first := charge(card("4242424242424242"))
	must(t)(g.Charge(t.Context(), first))
	other := first
	other.Amount = eur(5000)
	another := first
	another.Booking = uuid.New()
	currency := first
	currency.Amount.Currency = "chf"
	for _, ch := range []traintravel.Charge{other, another, currency} {
		if o, err := g.Charge(t.Context(), ch); err == nil {
			t.Errorf("got %+v", o)
		}
	}
	if o, err := g.Refund(t.Context(), traintravel.Refund{ID: first.ID, Charge: first.ID, Amount: first.Amount}); err == nil {
		t.Errorf("a refund with the charge's ID: %+v", o)
	}
	if b := balance(t, g, "eur"); b != first.Amount {
		t.Errorf("the balance is %s", b)
	}
}

func TestErrorsMoveNothing(t *testing.T) {
	t.Parallel()
	g := sandbox.New()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	ch := charge(card("4242424242424242"))
	_, errCharge := g.Charge(ended, ch)
	_, errLookup := g.Lookup(ended, ch.ID)
	_, errRefund := g.Refund(ended, traintravel.Refund{ID: uuid.New(), Charge: ch.ID, Amount: eur(1)})
	_, errCancel := g.Cancel(ended, ch.ID)
	for _, err := range []error{errCharge, errLookup, errRefund, errCancel} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	}
	for _, bad := range []traintravel.Charge{
		{Amount: eur(1), Source: ch.Source},
		{ID: uuid.New(), Amount: eur(-1), Source: ch.Source},
		{ID: uuid.New(), Source: ch.Source},
	} {
		if o, err := g.Charge(t.Context(), bad); err == nil {
			t.Errorf("%s: %+v", bad.Amount, o)
		}
	}
	if _, err := g.Lookup(t.Context(), ch.ID); !errors.Is(err, traintravel.ErrNotFound) {
		t.Errorf("Lookup: %v", err)
	}
	if all := movements(t, g); len(all) != 0 {
		t.Errorf("movements: %+v", all)
	}
}

func TestMovements(t *testing.T) {
	t.Parallel()
	g := sandbox.New()
	ch := charge(card("4242424242424242"))
	re := traintravel.Refund{ID: uuid.New(), Charge: ch.ID, Amount: eur(999)}
	done := must(t)(g.Charge(t.Context(), ch))
	must(t)(g.Refund(t.Context(), re))
	want := []sandbox.Movement{
		{ID: ch.ID, Booking: ch.Booking, Amount: eur(4999), Outcome: done},
		{ID: re.ID, Charge: ch.ID, Amount: eur(999), Outcome: done},
	}
	if diff := cmp.Diff(want, movements(t, g)); diff != "" {
		t.Error(diff)
	}
	if b := balance(t, g, "chf"); b != (traintravel.Money{Currency: "chf"}) {
		t.Errorf("the balance is %s", b)
	}
}

// Card numbers and codes turned up in audit trails: the gateway holds none.
func TestGatewayDoesNotKeepNumbers(t *testing.T) {
	t.Parallel()
	g := sandbox.New()
	must(t)(g.Charge(t.Context(), charge(card("4242424242424242"))))
	must(t)(g.Charge(t.Context(), charge(card("4242424242424241"))))
	for _, m := range movements(t, g) {
		if s := fmt.Sprintf("%+v", m); strings.Contains(s, "42424242") || strings.Contains(s, "J. Doe") {
			t.Error(s)
		}
	}
}
