package traintravel_test

import (
	"errors"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/sandbox"
	"github.com/traintravel/traintravel/store/boltstore"
	"github.com/traintravel/traintravel/store/memstore"
)

// withSandbox opens an office on a store, at the sandbox that remembers there.
func (o *office) withSandbox(store traintravel.Store) *office {
	p := *o
	p.store, p.bank = store, &bank{Gateway: sandbox.Open(store)}
	return p.another()
}

// What one server has charged another one gives back.
func TestServersShareTheSandbox(t *testing.T) {
	onSharedStores(t, 2, func(t *testing.T, stores []traintravel.Store) {
		o := newOffice(t, stores[0]).withSandbox(stores[0])
		b := o.book(anna, o.trip('A', 'D', "R 1"))
		o.mustPay(b, traintravel.Succeeded)

		p := o.withSandbox(stores[1])
		if err := p.CancelBooking(t.Context(), anna, b.ID); err != nil {
			t.Fatal(err)
		}
		p.do()
		for _, q := range []*office{o, p} {
			refund, err := q.Payment(t.Context(), anna, b.ID)
			if err != nil || refund.Status != traintravel.Succeeded {
				t.Fatalf("%+v, %v", refund, err)
			}
			q.holds(0)
		}
		if books := o.audit(); books.Owed["eur"] != 0 {
			t.Errorf("owed: %v", books.Owed)
		}
	})
}

// A server dies after the sandbox has charged and before that was recorded. The
// next one on the same file finds the charge, and can give it back.
func TestSandboxOutlivesTheServer(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "trains.db")
	open := func() *boltstore.Store {
		store, err := boltstore.Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		return store
	}
	store := open()
	o := newOffice(t, memstore.New()).withSandbox(store)
	o.load(network())
	paid, killed := o.book(anna, o.trip('A', 'D', "R 1")), o.book(anna, o.trip('D', 'F', "R 2"))
	o.mustPay(paid, traintravel.Succeeded)
	o.bank.after = func(op string, _ uuid.UUID, _ *traintravel.Outcome) error {
		if op == "charge" {
			runtime.Goexit()
		}
		return nil
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_, err := o.pay(killed)
		t.Errorf("the server has survived: %v", err)
	}()
	<-gone
	o.stands(killed.ID, traintravel.Held)
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}

	store = open()
	defer store.Close()
	p := o.withSandbox(store)
	p.holds(paid.Price.Amount + killed.Price.Amount)
	p.clock.add(time.Minute)
	p.do()
	p.stands(killed.ID, traintravel.Confirmed)
	for _, b := range []traintravel.Booking{paid, killed} {
		if err := p.CancelBooking(t.Context(), anna, b.ID); err != nil {
			t.Fatal(err)
		}
	}
	p.do()
	p.holds(0)
	if books := p.audit(); books.Owed["eur"] != 0 || books.Open["eur"] != 0 {
		t.Errorf("owed %v, open %v", books.Owed, books.Open)
	}
}

// What the sandbox remembers moves with the other data, and nothing is charged
// at the place it has left.
func TestSandboxMoves(t *testing.T) {
	t.Parallel()
	from, to := memstore.New(), memstore.New()
	o := newOffice(t, memstore.New()).withSandbox(from)
	o.load(network())
	b := o.book(anna, o.trip('A', 'D', "R 1"))
	paid := o.mustPay(b, traintravel.Succeeded)
	if err := traintravel.Copy(t.Context(), to, from, traintravel.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	late := traintravel.Charge{ID: uuid.New(), Amount: b.Price, Source: visa(works)}
	if _, err := o.bank.Charge(t.Context(), late); !errors.Is(err, traintravel.ErrMoved) {
		t.Errorf("a charge where the data was: %v", err)
	}
	p := o.withSandbox(to)
	if out, err := p.bank.Lookup(t.Context(), paid.ID); err != nil || out.Status != traintravel.Succeeded {
		t.Errorf("%+v, %v", out, err)
	}
	if err := p.CancelBooking(t.Context(), anna, b.ID); err != nil {
		t.Fatal(err)
	}
	p.do()
	p.holds(0)
}
