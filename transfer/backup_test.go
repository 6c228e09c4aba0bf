package transfer_test

import (
	"context"
	"errors"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/store/boltstore"
	"github.com/traintravel/traintravel/store/memstore"
	"github.com/traintravel/traintravel/store/pgstore"
)

// A backup is what the store held at one instant, and the office goes on meanwhile and
// after.
func TestBackup(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		ctx := t.Context()
		o, _, paid := orderedOffice(t)
		if err := traintravel.Backup(ctx, store, o.Store, traintravel.CopyOptions{}); err != nil { // to every store
			t.Fatal(err)
		}
		before := officetest.Everything(t, store)
		if diff := cmp.Diff(officetest.Everything(t, o.Store), before); diff != "" {
			t.Fatal(diff)
		}
		p := o.At(store)
		copies := memstore.New()
		begun := false
		err := traintravel.Backup(ctx, copies, p.Store, traintravel.CopyOptions{Progress: func(int64, int64) {
			switch store.(type) {
			case *boltstore.Store, *pgstore.Store: // in memory an update waits for the view
				if !begun {
					p.Expect("cancelling", p.CancelBooking(ctx, officetest.Anna, paid.ID), nil)
				}
				begun = true
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(before, officetest.Everything(t, copies)); diff != "" {
			t.Errorf("it is not the instant at which it began:\n%s", diff)
		}
		o.At(copies).Audit()
		if begun {
			p.Stands(paid.ID, traintravel.Cancelled)
		}
		p.Book(officetest.Berta, p.TripID('G', 'H', "R 4"))
		o.At(copies).Stands(paid.ID, traintravel.Confirmed)
	})
}

// A backup goes into no store that has something, and comes from none that is closed.
func TestBackupRefused(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	o, _, _ := orderedOffice(t)
	full := officetest.Everything(t, o.Store)
	err := traintravel.Backup(ctx, o.Store, filled(t, full), traintravel.CopyOptions{})
	if !errors.Is(err, traintravel.ErrHoldsData) || !maps.Equal(full, officetest.Everything(t, o.Store)) {
		t.Errorf("into a store that has something: %v", err)
	}
	moved := filled(t, full)
	if err := traintravel.Copy(ctx, memstore.New(), moved, traintravel.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	target := memstore.New()
	if err := traintravel.Backup(ctx, target, moved, traintravel.CopyOptions{}); !errors.Is(err, traintravel.ErrMoved) {
		t.Errorf("of a store that has moved: %v", err)
	}
	broken, stop := context.WithCancel(ctx)
	err = traintravel.Backup(broken, target, o.Store, traintravel.CopyOptions{Progress: func(done, _ int64) {
		if done > 0 {
			stop()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a backup that breaks off: %v", err)
	}
	if _, err := o.At(target).Bookings(ctx, officetest.Anna, traintravel.Page{}); !errors.Is(err, traintravel.ErrCopying) {
		t.Errorf("half a backup is used: %v", err)
	}
	if err := traintravel.Backup(ctx, target, o.Store, traintravel.CopyOptions{}); err != nil {
		t.Errorf("a backup made again: %v", err)
	}
	if diff := cmp.Diff(full, officetest.Everything(t, target)); diff != "" {
		t.Error(diff)
	}
}
