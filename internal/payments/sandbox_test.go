package payments_test

import (
	"errors"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/sandbox"
	"github.com/traintravel/traintravel/store/boltstore"
	"github.com/traintravel/traintravel/store/memstore"
)

// withSandbox opens an office on a store, at the sandbox that remembers there.
func withSandbox(o *officetest.Office, store traintravel.Store) *officetest.Office {
	p := *o
	p.Store, p.Bank = store, &officetest.Bank{Gateway: sandbox.Open(store)}
	return p.Another()
}

// A server can refund a charge of another server.
func TestServersShareTheSandbox(t *testing.T) {
	officetest.OnSharedStores(t, 2, func(t *testing.T, stores []traintravel.Store) {
		o := withSandbox(officetest.New(t, stores[0]), stores[0])
		b := o.Book(officetest.Anna, o.TripID('A', 'D', "R 1"))
		o.MustPay(b, traintravel.Succeeded)

		p := withSandbox(o, stores[1])
		if err := p.CancelBooking(t.Context(), officetest.Anna, b.ID); err != nil {
			t.Fatal(err)
		}
		p.Do()
		for _, q := range []*officetest.Office{o, p} {
			refund, err := q.Payment(t.Context(), officetest.Anna, b.ID)
			if err != nil || refund.Status != traintravel.Succeeded {
				t.Fatalf("%+v, %v", refund, err)
			}
			q.BankHolds(0)
		}
		if books := o.Audit(); books.Owed["eur"] != 0 {
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
	o := withSandbox(officetest.New(t, memstore.New()), store)
	o.Load(officetest.Network())
	paid, killed := o.Book(officetest.Anna, o.TripID('A', 'D', "R 1")), o.Book(officetest.Anna, o.TripID('D', 'F', "R 2"))
	o.MustPay(paid, traintravel.Succeeded)
	o.Bank.After = func(op string, _ uuid.UUID, _ *traintravel.Outcome) error {
		if op == "charge" {
			runtime.Goexit()
		}
		return nil
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_, err := o.Pay(killed)
		t.Errorf("the server has survived: %v", err)
	}()
	<-gone
	o.Stands(killed.ID, traintravel.Held)
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}

	store = open()
	defer store.Close()
	p := withSandbox(o, store)
	p.BankHolds(paid.Price.Amount + killed.Price.Amount)
	p.Clock.Add(time.Minute)
	p.Do()
	p.Stands(killed.ID, traintravel.Confirmed)
	for _, b := range []traintravel.Booking{paid, killed} {
		if err := p.CancelBooking(t.Context(), officetest.Anna, b.ID); err != nil {
			t.Fatal(err)
		}
	}
	p.Do()
	p.BankHolds(0)
	if books := p.Audit(); books.Owed["eur"] != 0 || books.Open["eur"] != 0 {
		t.Errorf("owed %v, open %v", books.Owed, books.Open)
	}
}

// The records of the sandbox move with the other data, and nothing is charged in the old store.
func TestSandboxMoves(t *testing.T) {
	t.Parallel()
	from, to := memstore.New(), memstore.New()
	o := withSandbox(officetest.New(t, memstore.New()), from)
	o.Load(officetest.Network())
	b := o.Book(officetest.Anna, o.TripID('A', 'D', "R 1"))
	paid := o.MustPay(b, traintravel.Succeeded)
	if err := traintravel.Copy(t.Context(), to, from, traintravel.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	late := traintravel.Charge{ID: uuid.New(), Amount: b.Price, Source: officetest.Visa(officetest.Works)}
	if _, err := o.Bank.Charge(t.Context(), late); !errors.Is(err, traintravel.ErrMoved) {
		t.Errorf("a charge where the data was: %v", err)
	}
	p := withSandbox(o, to)
	if out, err := p.Bank.Lookup(t.Context(), paid.ID); err != nil || out.Status != traintravel.Succeeded {
		t.Errorf("%+v, %v", out, err)
	}
	if err := p.CancelBooking(t.Context(), officetest.Anna, b.ID); err != nil {
		t.Fatal(err)
	}
	p.Do()
	p.BankHolds(0)
}
