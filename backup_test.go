package traintravel_test

import (
	"context"
	"errors"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/store/boltstore"
	"github.com/traintravel/traintravel/store/memstore"
	"github.com/traintravel/traintravel/store/pgstore"
)

// A backup is what the store held at one instant, and the office goes on meanwhile and
// after.
func TestBackup(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		ctx := t.Context()
		o, _, paid := orderedOffice(t)
		if err := traintravel.Backup(ctx, store, o.store, traintravel.CopyOptions{}); err != nil { // to every store
			t.Fatal(err)
		}
		before := everything(t, store)
		if diff := cmp.Diff(everything(t, o.store), before); diff != "" {
			t.Fatal(diff)
		}
		p := o.at(store)
		copies := memstore.New()
		begun := false
		err := traintravel.Backup(ctx, copies, p.store, traintravel.CopyOptions{Progress: func(int64, int64) {
			switch store.(type) {
			case *boltstore.Store, *pgstore.Store: // in memory an update waits for the view
				if !begun {
					p.expect("cancelling", p.CancelBooking(ctx, anna, paid.ID), nil)
				}
				begun = true
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(before, everything(t, copies)); diff != "" {
			t.Errorf("it is not the instant at which it began:\n%s", diff)
		}
		o.at(copies).audit()
		if begun {
			p.stands(paid.ID, traintravel.Cancelled)
		}
		p.book(berta, p.trip('G', 'H', "R 4"))
		o.at(copies).stands(paid.ID, traintravel.Confirmed)
	})
}

// A backup goes into no store that has something, and comes from none that is closed.
func TestBackupRefused(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	o, _, _ := orderedOffice(t)
	full := everything(t, o.store)
	err := traintravel.Backup(ctx, o.store, filled(t, full), traintravel.CopyOptions{})
	if !errors.Is(err, traintravel.ErrHoldsData) || !maps.Equal(full, everything(t, o.store)) {
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
	err = traintravel.Backup(broken, target, o.store, traintravel.CopyOptions{Progress: func(done, _ int64) {
		if done > 0 {
			stop()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a backup that breaks off: %v", err)
	}
	if _, err := o.at(target).Bookings(ctx, anna, traintravel.Page{}); !errors.Is(err, traintravel.ErrCopying) {
		t.Errorf("half a backup is used: %v", err)
	}
	if err := traintravel.Backup(ctx, target, o.store, traintravel.CopyOptions{}); err != nil {
		t.Errorf("a backup made again: %v", err)
	}
	if diff := cmp.Diff(full, everything(t, target)); diff != "" {
		t.Error(diff)
	}
}
