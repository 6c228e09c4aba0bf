// Package audit checks whether the records of a store are consistent: bookings with places,
// payments with bookings, deliveries with subscriptions, and every reference with its target.
// It only reads. It must not repair anything, or charge, sell or send anything.
package audit

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/agenda"
	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/internal/seats"
	"github.com/traintravel/traintravel/internal/timetable"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
	"github.com/traintravel/traintravel/transfer"
)

// Check reads one snapshot of a store completely, and reports every record that is
// inconsistent with others: places and bookings, in both directions; indexes and the agenda
// with their records; payments and refunds with bookings; events with what happened;
// deliveries with subscriptions; the timetable with its registry. It only counts the records
// of package sandbox.
//
// Faults are not errors: an error means that the check did not complete. Services may use the
// store meanwhile. Check uses the memory of one timetable, some megabytes, and some bytes for
// each webhook, however many bookings the store has.
func Check(ctx context.Context, s store.Store, opts CheckOptions) (CheckReport, error) {
	a := auditor{
		ctx: ctx, opts: opts, report: CheckReport{Records: map[store.Table]int64{}},
		subscriptions: map[uuid.UUID]bool{}, sweeps: map[uuid.UUID]int{}, served: map[uuid.UUID]int64{},
		unread: map[uuid.UUID]bool{}, decoded: map[store.Key]*seats.Inventory{},
	}
	if a.opts.Progress == nil {
		a.opts.Progress = func(int64, int64) {}
	}
	err := s.View(ctx, func(r store.Reader) error {
		a.r = r
		return a.all()
	})
	if err != nil {
		return CheckReport{}, fmt.Errorf("checking the store: %w", err)
	}
	return a.report, nil
}

// all checks table by table: the agenda and the webhooks first, as the checks of other
// tables use their results.
func (a *auditor) all() error {
	for _, t := range store.Tables() {
		err := store.EachPage(a.ctx, a.r, store.Range{Table: t}, func(page []store.Record) error {
			a.report.Records[t] += int64(len(page))
			a.total += int64(len(page))
			return nil
		})
		if err != nil {
			return err
		}
	}
	a.opts.Progress(0, a.total)
	a.now = time.Now()
	if last, err := agenda.ReadClock(a.ctx, a.r); err == nil && last.After(a.now) { // else reported when that record itself is checked
		a.now = last
	}
	v, err := a.r.Get(a.ctx, records.SubscribedKey())
	if err != nil {
		return err
	}
	a.subscribed = v[0] != nil
	for _, step := range []struct {
		table store.Table
		check inspection
	}{
		{store.TableMeta, a.meta},
		{store.TableAgenda, a.agenda},
		{store.TableWebhooks, a.webhooks},
		{store.TableBookings, a.booking},
		{store.TableOwned, a.owned},
		{store.TableReferences, a.reference},
		{store.TableRuns, a.run},
		{store.TableIdempotency, a.idempotency},
		{store.TableDeliveries, a.deliveries},
		{store.TableSandbox, func(store.Key, []byte, *cited) func() { return nil }},
	} {
		if err := a.table(step.table, step.check); err != nil {
			return err
		}
	}
	a.sweepless()
	if err := a.payments(); err != nil {
		return err
	}
	return a.timetable()
}

// meta checks the records about the store itself.
func (a *auditor) meta(key store.Key, value []byte, _ *cited) func() {
	var err error
	switch {
	case key == transfer.ClosedKey():
		var c transfer.Closing
		if c, err = transfer.DecodeClosing(value); err == nil && !c.Moved {
			a.say(FaultHalfCopy, key, "the copy into this store began at %s and was not completed", c.Began.Format(time.RFC3339))
		}
	case key == transfer.OriginKey():
		_, err = uuid.FromBytes(value)
	case key == agenda.ClockKey():
		var last time.Time
		if last, err = agenda.ReadClock(a.ctx, a.r); err == nil && !last.Before((rail.LastDate + 1).Start(time.UTC)) {
			a.say(FaultClock, key, "the recorded clock is %s, later than the last date that the service supports, %v", last.Format(time.RFC3339), rail.LastDate)
		}
	case key == timetable.CurrentKey():
		_, err = timetable.DecodeCurrent(value)
	case key == transfer.AgreedKey(), key == records.SubscribedKey(): // checked elsewhere, or empty
	case strings.HasPrefix(key.ID, agenda.ServerPrefix):
		if a.shaped(key, len(agenda.ServerPrefix)+16) {
			_, err = agenda.DecodeServer(value)
		}
	default:
		a.say(FaultUnknownKey, key, "unknown key")
	}
	a.readable(key, err)
	return nil
}
