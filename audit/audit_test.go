package audit_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/audit"
	"github.com/traintravel/traintravel/internal/audittest"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/store/memstore"
	"github.com/traintravel/traintravel/store/storetest"
)

// stage puts something of every kind into a store.
func stage(t *testing.T, store traintravel.Store) {
	o, m := officetest.WithWebhooks(t, store, func(o *traintravel.Options) {
		o.Webhooks.Operator = []traintravel.OperatorWebhook{{URL: officetest.OperatorsHook, Secrets: []traintravel.Secret{officetest.Operators}}}
	})
	m.Answers[officetest.Hook] = func(int) (traintravel.WebhookAnswer, error) { return traintravel.WebhookAnswer{Status: 500}, nil }
	o.Book(officetest.Anna, o.TripID('A', 'B', "R 5")) // expires
	o.Clock.Add(61 * time.Minute)
	o.Do()
	o.MustSubscribe(officetest.Anna, officetest.Hook)
	o.Book(officetest.Anna, o.TripID('A', 'B', "R 5"))
	o.Do() // and the delivery fails
	o.Book(officetest.Anna, o.TripID('A', 'D', "R 1"))
	o.MustPay(o.Book(officetest.Anna, o.TripID('A', 'D', "R 1")), traintravel.Succeeded)
	gone := o.Book(officetest.Anna, o.TripID('G', 'H', "R 4"))
	o.MustPay(gone, traintravel.Succeeded)
	o.Expect("cancelling", o.CancelBooking(t.Context(), officetest.Anna, gone.ID), nil)
	o.MustPay(o.Book(officetest.Berta, o.TripID('G', 'H', "R 4")), traintravel.Failed, officetest.Declined)
	later := o.Book(officetest.Anna, o.TripID('G', 'H', "R 4"))
	p, err := o.PayBooking(t.Context(), officetest.Anna, later.ID, traintravel.NewPayment{Amount: later.Price, IdempotencyKey: "key", Source: traintravel.Source{
		Bank: &traintravel.BankAccount{Name: "J. Doe", Number: "AT321904300235473204", AccountType: "individual", BankName: "Bank", Country: "AT"},
	}})
	if err != nil || p.Status != traintravel.Pending {
		t.Fatalf("paying later: %+v, %v", p, err)
	}
}

// travels puts bicycles, a journey with a change, and refunds of both kinds into a store.
func travels(t *testing.T, store traintravel.Store) {
	o := officetest.New(t, store, func(o *traintravel.Options) { o.Notifier = nil })
	o.Load(officetest.Timetable(officetest.Train("R 1", 8, "ABCD", officetest.Seats(4), officetest.Hooks(2)), officetest.Train("R 2", 12, "DEF", officetest.Seats(3)), officetest.Train("S 9", 15, "EFGH", officetest.Hooks(1)), officetest.Train("R 4", 17, "GH", officetest.Seats(3))))
	cycle := func(trip uuid.UUID) traintravel.Booking {
		b, err := o.CreateBooking(t.Context(), officetest.Anna, traintravel.NewBooking{TripID: trip, PassengerName: "Anna", HasBicycle: true})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	o.MustPay(cycle(o.TripID('A', 'D', "R 1")), traintravel.Succeeded)
	o.MustPay(o.Book(officetest.Anna, o.TripID('A', 'D', "R 1")), traintravel.Succeeded)
	o.MustPay(cycle(o.TripID('E', 'G', "S 9")), traintravel.Succeeded)
	o.Book(officetest.Anna, o.TripID('D', 'F', "R 2"))
	o.MustPay(o.Book(officetest.Anna, officetest.JoinTrips(o.TripID('A', 'D', "R 1"), o.TripID('D', 'F', "R 2"))), traintravel.Succeeded)
	gone := o.Book(officetest.Anna, o.TripID('G', 'H', "R 4"))
	o.MustPay(gone, traintravel.Succeeded)
	o.Expect("cancelling", o.CancelBooking(t.Context(), officetest.Anna, gone.ID), nil)
	o.MustPay(o.Book(officetest.Anna, o.TripID('G', 'H', "R 4")), traintravel.Succeeded)
	if _, err := o.CancelRun(t.Context(), o.RunOf("R 4").ID, traintravel.CancelRunOptions{}); err != nil {
		t.Fatal(err)
	}
	// Restoring the run is not a fault: who was cancelled stays so.
	o.Expect("restoring", o.RestoreRun(t.Context(), o.RunOf("R 4").ID), nil)
	o.Do()
}

// Whatever is done to a store by hand is found, and named for what it is.
func TestCheckFindsCorruptions(t *testing.T) {
	t.Parallel()
	todo := audit.FaultKinds()
	for _, part := range []struct {
		stage       func(*testing.T, traintravel.Store)
		corruptions []audittest.Corruption
	}{{stage, audittest.Corruptions}, {travels, audittest.TravelCorruptions}} {
		path := filepath.Join(t.TempDir(), "trains.db")
		part.stage(t, officetest.OpenBolt(t, path))
		sound, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range part.corruptions {
			todo = slices.DeleteFunc(todo, func(k traintravel.FaultKind) bool { return slices.Contains(c.Finds, k) })
			t.Run(c.Name, func(t *testing.T) {
				t.Parallel()
				findsCorruption(t, sound, c)
			})
		}
	}
	if len(todo) > 0 {
		t.Errorf("no corruption makes %v", todo)
	}
}

// findsCorruption does damage to a copy of a file that is sound, and expects Check to
// find it.
func findsCorruption(t *testing.T, sound []byte, c audittest.Corruption) {
	path := filepath.Join(t.TempDir(), "trains.db")
	if err := os.WriteFile(path, sound, 0o600); err != nil {
		t.Fatal(err)
	}
	store := officetest.OpenBolt(t, path)
	if report, err := traintravel.Check(t.Context(), store, traintravel.CheckOptions{}); err != nil || report.Found > 0 {
		t.Fatalf("before: %v, %v", report.Faults, err)
	}
	if err := audittest.Vandalize(t.Context(), store, c.Do); err != nil {
		t.Fatal(err)
	}
	report, err := traintravel.Check(t.Context(), store, traintravel.CheckOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var found []traintravel.FaultKind
	for _, f := range report.Faults {
		t.Logf("%v %s", f, f.Kind.Meaning())
		found = append(found, f.Kind)
		if f.Kind.Meaning() == "" || f.Text == "" || f.Key.ID == "" {
			t.Errorf("%+v", f)
		}
	}
	slices.Sort(found)
	if diff := cmp.Diff(c.Finds, slices.Compact(found)); diff != "" {
		t.Errorf("found are others (-want +got):\n%s", diff)
	}
}

// The runbook says of each kind what to do.
func TestRunbookKnowsFaults(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "docs", "operations.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range audit.FaultKinds() {
		if !strings.Contains(string(text), "`"+string(kind)+"`") {
			t.Errorf("the runbook says nothing of %s", kind)
		}
	}
}

// On every store Check counts what is there, and tells how far it is.
func TestCheckSound(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		stage(t, store)
		var last, total int64
		report, err := traintravel.Check(t.Context(), store, traintravel.CheckOptions{Progress: func(done, of int64) {
			if done < last || total != 0 && of != total {
				t.Errorf("%d of %d, and then %d of %d", last, total, done, of)
			}
			last, total = done, of
		}})
		if err != nil || report.Found != 0 || len(report.Faults) != 0 {
			t.Fatalf("%+v, %v", report, err)
		}
		var records int64
		for _, n := range report.Records {
			records += n
		}
		if last != total || total != records || report.Records[traintravel.TableBookings] != 7 {
			t.Errorf("%d of %d are checked of %+v", last, total, report.Records)
		}
	})
}

// A check that cannot go on says so, and does not take what it has not seen for sound.
func TestCheckIsInterrupted(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	stage(t, store)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	report, err := traintravel.Check(ctx, storetest.Twice(store), traintravel.CheckOptions{Progress: func(int64, int64) { stop() }})
	if !errors.Is(err, context.Canceled) || report.Records != nil {
		t.Errorf("%+v, %v", report, err)
	}
}

// Of very many faults the first are named and all are counted.
func TestCheckManyFaults(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	err := store.Update(t.Context(), func(tx traintravel.Tx) error {
		for i := range 1234 {
			tx.Put(traintravel.Key{Table: traintravel.TableBookings, ID: string([]byte{byte(i >> 8), byte(i)})}, nil)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	report, err := traintravel.Check(t.Context(), store, traintravel.CheckOptions{})
	if err != nil || report.Found != 1234 || len(report.Faults) != 1000 {
		t.Errorf("%d, %d, %v", report.Found, len(report.Faults), err)
	}
}
