package sandbox_test

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/sandbox"
)

func TestRefund(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	g := sandbox.New()
	paid, declined := charge(card("4242424242424242")), charge(card("4000000000000002"))
	must(t)(g.Charge(ctx, paid))
	must(t)(g.Charge(ctx, declined))

	part := traintravel.Refund{ID: uuid.New(), Charge: paid.ID, Amount: eur(4000)}
	for range 3 { // once, and twice again
		o, err := g.Refund(ctx, part)
		wantStatus(t, o, err, traintravel.Succeeded)
	}
	if o, err := g.Lookup(ctx, part.ID); err != nil || o.Status != traintravel.Succeeded {
		t.Errorf("Lookup tells %+v, %v", o, err)
	}
	for name, r := range map[string]traintravel.Refund{
		"more than is left":     {ID: uuid.New(), Charge: paid.ID, Amount: eur(1000)},
		"nothing":               {ID: uuid.New(), Charge: paid.ID},
		"zero":                  {ID: uuid.New(), Charge: paid.ID, Amount: eur(0)},
		"less than nothing":     {ID: uuid.New(), Charge: paid.ID, Amount: eur(-1)},
		"another currency":      {ID: uuid.New(), Charge: paid.ID, Amount: traintravel.Money{Amount: 1, Currency: "chf"}},
		"a declined charge":     {ID: uuid.New(), Charge: declined.ID, Amount: eur(1)},
		"a refund":              {ID: uuid.New(), Charge: part.ID, Amount: eur(1)},
		"no ID":                 {Charge: paid.ID, Amount: eur(1)},
		"the same ID, and more": {ID: part.ID, Charge: paid.ID, Amount: eur(4001)},
	} {
		if o, err := g.Refund(ctx, r); err == nil {
			t.Errorf("%s: %+v", name, o)
		}
	}
	unknown := traintravel.Refund{ID: uuid.New(), Charge: uuid.New(), Amount: eur(1)}
	for range 2 { // an error is not remembered
		if _, err := g.Refund(ctx, unknown); !errors.Is(err, traintravel.ErrNotFound) {
			t.Errorf("a refund of an unknown charge: %v", err)
		}
		if _, err := g.Lookup(ctx, unknown.ID); !errors.Is(err, traintravel.ErrNotFound) {
			t.Errorf("Lookup: %v", err)
		}
	}
	o, err := g.Refund(ctx, traintravel.Refund{ID: uuid.New(), Charge: paid.ID, Amount: eur(999)})
	wantStatus(t, o, err, traintravel.Succeeded)
	if b := balance(t, g, "eur"); b != eur(0) {
		t.Errorf("the balance is %s", b)
	}
}

func TestConcurrentRefundsStayWithinTheCharge(t *testing.T) {
	t.Parallel()
	g := sandbox.New()
	paid := charge(card("4242424242424242"))
	must(t)(g.Charge(t.Context(), paid))
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			_, _ = g.Refund(t.Context(), traintravel.Refund{ID: uuid.New(), Charge: paid.ID, Amount: eur(1000)})
			_ = movements(t, g)
		})
	}
	wg.Wait()
	if b := balance(t, g, "eur"); b != eur(999) {
		t.Errorf("the balance is %s", b)
	}
}

func TestCancelFences(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	g := sandbox.New()
	late := charge(card("4242424242424242"))
	for range 2 {
		o, err := g.Cancel(ctx, late.ID)
		wantStatus(t, o, err, traintravel.Failed)
		o, err = g.Charge(ctx, late)
		wantStatus(t, o, err, traintravel.Failed)
		o, err = g.Lookup(ctx, late.ID)
		wantStatus(t, o, err, traintravel.Failed)
	}
	if all := movements(t, g); len(all) != 0 {
		t.Errorf("movements: %+v", all)
	}

	paid := charge(card("4242424242424242"))
	must(t)(g.Charge(ctx, paid))
	o, err := g.Cancel(ctx, paid.ID)
	wantStatus(t, o, err, traintravel.Succeeded)
	if _, err := g.Cancel(ctx, uuid.Nil); err == nil {
		t.Error("no ID was fenced")
	}
}

func TestCancelOfPendingChargeEndsIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g, ch := sandbox.New(), charge(account("AT321904300235473204"))
		o, err := g.Charge(t.Context(), ch)
		wantStatus(t, o, err, traintravel.Pending)
		o, err = g.Cancel(t.Context(), ch.ID)
		wantStatus(t, o, err, traintravel.Failed)
		time.Sleep(2 * sandbox.SettleAfter)
		o, err = g.Lookup(t.Context(), ch.ID)
		wantStatus(t, o, err, traintravel.Failed)
		if b := balance(t, g, "eur"); b != eur(0) {
			t.Errorf("the balance is %s", b)
		}
	})
}
