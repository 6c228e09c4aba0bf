// Package audit checks whether everything in a store agrees: bookings with places, payments
// with bookings, deliveries with subscriptions, and every reference with what it leads to. It
// only reads. It must not mend what it finds, or charge, sell or send anything.
package audit

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/agenda"
	"github.com/traintravel/traintravel/internal/codec"
	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/internal/seats"
	"github.com/traintravel/traintravel/internal/timetable"
	"github.com/traintravel/traintravel/internal/tz"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
	"github.com/traintravel/traintravel/transfer"
)

// CheckOptions are what Check may be told. The zero value works.
type CheckOptions struct {
	// AnyAmount says that a booking may have been paid with another amount than its
	// price, as Options.AnyAmount has it.
	AnyAmount bool
	// Progress, if not nil, is told how many of the records are checked, and of how
	// many, on the goroutine that called Check; first of none.
	Progress func(done, total int64)
}

// A CheckReport is what Check found.
type CheckReport struct {
	// Records is how many there are, by table.
	Records map[store.Table]int64
	// Faults are what is wrong, in the order in which it was found; the first thousand.
	Faults []Fault
	// Found is how many faults there are, those not in Faults included.
	Found int64
}

// A Fault is one thing that is wrong with a store.
type Fault struct {
	Kind FaultKind
	// Key is that of the record that is wrong or, if one is missing, of the one that
	// needs it.
	Key store.Key
	// Text says in one sentence what is wrong with it. It holds IDs, and no names.
	Text string
}

// String is the fault in one line.
func (f Fault) String() string {
	return fmt.Sprintf("%s: %v: %s", f.Kind, f.Key, f.Text)
}

const maxFaults = 1000 // that are kept

// Check reads all of a store, as it is at one instant, and reports every record that
// does not agree with the others: places with bookings, both ways; indexes and the
// agenda with what they are of; payments and refunds with bookings; events with what
// has happened; deliveries with subscriptions; the timetable with its registry. What
// package sandbox remembers is counted, and no more.
//
// Faults are no error: an error says that the check did not come to its end. Services
// may work on the store meanwhile. It takes the memory of one timetable and some
// megabytes, and of webhooks some bytes each, however many bookings there are.
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

// An auditor is one call of Check.
type auditor struct {
	ctx         context.Context
	r           store.Reader
	opts        CheckOptions
	report      CheckReport
	zones       tz.Zones
	done, total int64

	now           time.Time                      // or the last instant of the clock of the store, if that is later
	subscribed    bool                           // somebody has, at some time
	subscriptions map[uuid.UUID]bool             // those there are
	sweeps        map[uuid.UUID]int              // how often each is on the agenda to be swept
	unread        map[uuid.UUID]bool             // bookings of which a payment cannot be read
	served        map[uuid.UUID]int64            // and when somebody works at it first, in nanos
	decoded       map[store.Key]*seats.Inventory // runs that bookings have places of, maxDecoded at most
}

func (a *auditor) say(kind FaultKind, key store.Key, format string, args ...any) {
	a.report.Found++
	if len(a.report.Faults) < maxFaults {
		key.ID = strings.Clone(key.ID)
		a.report.Faults = append(a.report.Faults, Fault{kind, key, fmt.Sprintf(format, args...)})
	}
}

// all checks table by table. The agenda and the webhooks come before those that ask
// what was in them.
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
	if last, err := agenda.ReadClock(a.ctx, a.r); err == nil && last.After(a.now) { // else it is reported where it stands
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

// pages hands the records of a table to fn, and tells progress.
func (a *auditor) pages(t store.Table, fn func([]store.Record) error) error {
	return store.EachPage(a.ctx, a.r, store.Range{Table: t}, func(page []store.Record) error {
		if err := fn(page); err != nil {
			return err
		}
		a.done += int64(len(page))
		a.opts.Progress(a.done, a.total)
		return nil
	})
}

// An inspection decodes a record, wants those that it is to agree with, and returns what
// compares them when they are read: nil if there is nothing to compare.
type inspection func(key store.Key, value []byte, l *cited) (compare func())

// table inspects the records of a table, so many at a time that what they want is read at
// once.
func (a *auditor) table(t store.Table, inspect inspection) error {
	return a.pages(t, func(page []store.Record) error {
		var l cited
		var compare []func()
		for i, rec := range page {
			if fn := inspect(store.Key{Table: t, ID: rec.ID}, rec.Value, &l); fn != nil {
				compare = append(compare, fn)
			}
			if len(l.keys) < lookupKeys && i+1 < len(page) {
				continue
			}
			if err := a.fetch(&l); err != nil {
				return err
			}
			for _, fn := range compare {
				fn()
			}
			clear(l.values)
			compare = nil
		}
		return nil
	})
}

// readable says whether a record was read without an error, and reports it if not.
func (a *auditor) readable(key store.Key, err error) bool {
	switch {
	case err == nil:
		return true
	case errors.Is(err, codec.ErrNewerData):
		a.say(FaultNewer, key, "%v", err)
	default:
		a.say(FaultUnreadable, key, "%v", err)
	}
	return false
}

// shaped says whether a key has the length that those of its kind have, and reports
// it if not.
func (a *auditor) shaped(key store.Key, n int) bool {
	if len(key.ID) != n {
		a.say(FaultUnknownKey, key, "the key has %d bytes, and those of its kind have %d", len(key.ID), n)
		return false
	}
	return true
}

// Cited are the records that others name, read all at once.
type cited struct {
	keys   []store.Key
	values map[store.Key][]byte
}

const lookupKeys = 1000 // read in one round trip

func (l *cited) want(keys ...store.Key) {
	for _, k := range keys {
		if _, ok := l.values[k]; !ok {
			if l.values == nil {
				l.values = map[store.Key][]byte{}
			}
			l.values[k] = nil
			l.keys = append(l.keys, k)
		}
	}
}

// fetch reads what is wanted.
func (a *auditor) fetch(l *cited) error {
	for len(l.keys) > 0 {
		part := l.keys[:min(len(l.keys), lookupKeys)]
		l.keys = l.keys[len(part):]
		values, err := a.r.Get(a.ctx, part...)
		if err != nil {
			return err
		}
		for i, k := range part {
			l.values[k] = values[i]
		}
	}
	return nil
}

// has says whether a record is there; at returns it.
func (l *cited) has(k store.Key) bool  { return l.values[k] != nil }
func (l *cited) at(k store.Key) []byte { return l.values[k] }

// meta checks what the store says of itself.
func (a *auditor) meta(key store.Key, value []byte, _ *cited) func() {
	var err error
	switch {
	case key == transfer.ClosedKey():
		var c transfer.Closing
		if c, err = transfer.DecodeClosing(value); err == nil && !c.Moved {
			a.say(FaultHalfCopy, key, "the store was being filled since %s, and that has not come to its end", c.Began.Format(time.RFC3339))
		}
	case key == transfer.OriginKey():
		_, err = uuid.FromBytes(value)
	case key == agenda.ClockKey():
		var last time.Time
		if last, err = agenda.ReadClock(a.ctx, a.r); err == nil && !last.Before((rail.LastDate + 1).Start(time.UTC)) {
			a.say(FaultClock, key, "the clock was seen at %s, and the last day is %v", last.Format(time.RFC3339), rail.LastDate)
		}
	case key == timetable.CurrentKey():
		_, err = timetable.DecodeCurrent(value)
	case key == transfer.AgreedKey(), key == records.SubscribedKey(): // what is in them is others' business, or nothing
	case strings.HasPrefix(key.ID, agenda.ServerPrefix):
		if a.shaped(key, len(agenda.ServerPrefix)+16) {
			_, err = agenda.DecodeServer(value)
		}
	default:
		a.say(FaultUnknownKey, key, "nothing is known under this name")
	}
	a.readable(key, err)
	return nil
}
