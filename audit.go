package traintravel

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
)

// CheckOptions are what Check may be told. The zero value works.
type CheckOptions struct {
	// AnyAmount says that a booking may have been paid with another amount than its
	// price, as [Options.AnyAmount] has it.
	AnyAmount bool
	// Progress, if not nil, is told how many of the records are checked, and of how
	// many, on the goroutine that called Check; first of none.
	Progress func(done, total int64)
}

// A CheckReport is what Check found.
type CheckReport struct {
	// Records is how many there are, by table.
	Records map[Table]int64
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
	Key Key
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
func Check(ctx context.Context, store Store, opts CheckOptions) (CheckReport, error) {
	a := auditor{
		ctx: ctx, opts: opts, report: CheckReport{Records: map[Table]int64{}},
		subscriptions: map[uuid.UUID]bool{}, sweeps: map[uuid.UUID]int{}, served: map[uuid.UUID]int64{},
		unread: map[uuid.UUID]bool{}, decoded: map[Key]*inventory{},
	}
	if a.opts.Progress == nil {
		a.opts.Progress = func(int64, int64) {}
	}
	err := store.View(ctx, func(r Reader) error {
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
	r           Reader
	opts        CheckOptions
	report      CheckReport
	zones       zones
	done, total int64

	now           time.Time           // or the last instant of the clock of the store, if that is later
	subscribed    bool                // somebody has, at some time
	subscriptions map[uuid.UUID]bool  // those there are
	sweeps        map[uuid.UUID]int   // how often each is on the agenda to be swept
	unread        map[uuid.UUID]bool  // bookings of which a payment cannot be read
	served        map[uuid.UUID]int64 // and when somebody works at it first, in nanos
	decoded       map[Key]*inventory  // runs that bookings have places of, maxDecoded at most
}

func (a *auditor) say(kind FaultKind, key Key, format string, args ...any) {
	a.report.Found++
	if len(a.report.Faults) < maxFaults {
		key.ID = strings.Clone(key.ID)
		a.report.Faults = append(a.report.Faults, Fault{kind, key, fmt.Sprintf(format, args...)})
	}
}

// all checks table by table. The agenda and the webhooks come before those that ask
// what was in them.
func (a *auditor) all() error {
	for _, t := range Tables() {
		err := eachPage(a.ctx, a.r, Range{Table: t}, func(page []Record) error {
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
	if last, err := readClock(a.ctx, a.r); err == nil && last.After(a.now) { // else it is reported where it stands
		a.now = last
	}
	v, err := a.r.Get(a.ctx, subscribedKey)
	if err != nil {
		return err
	}
	a.subscribed = v[0] != nil
	for _, step := range []struct {
		table Table
		check inspection
	}{
		{TableMeta, a.meta},
		{TableAgenda, a.agenda},
		{TableWebhooks, a.webhooks},
		{TableBookings, a.booking},
		{TableOwned, a.owned},
		{TableRuns, a.run},
		{TableIdempotency, a.idempotency},
		{TableDeliveries, a.deliveries},
		{TableSandbox, func(Key, []byte, *cited) func() { return nil }},
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
func (a *auditor) pages(t Table, fn func([]Record) error) error {
	return eachPage(a.ctx, a.r, Range{Table: t}, func(page []Record) error {
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
type inspection func(key Key, value []byte, l *cited) (compare func())

// table inspects the records of a table, so many at a time that what they want is read at
// once.
func (a *auditor) table(t Table, inspect inspection) error {
	return a.pages(t, func(page []Record) error {
		var l cited
		var compare []func()
		for i, rec := range page {
			if fn := inspect(Key{t, rec.ID}, rec.Value, &l); fn != nil {
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
func (a *auditor) readable(key Key, err error) bool {
	switch {
	case err == nil:
		return true
	case errors.Is(err, ErrNewerData):
		a.say(faultNewer, key, "%v", err)
	default:
		a.say(faultUnreadable, key, "%v", err)
	}
	return false
}

// shaped says whether a key has the length that those of its kind have, and reports
// it if not.
func (a *auditor) shaped(key Key, n int) bool {
	if len(key.ID) != n {
		a.say(faultUnknownKey, key, "the key has %d bytes, and those of its kind have %d", len(key.ID), n)
		return false
	}
	return true
}

// Cited are the records that others name, read all at once.
type cited struct {
	keys   []Key
	values map[Key][]byte
}

const lookupKeys = 1000 // read in one round trip

func (l *cited) want(keys ...Key) {
	for _, k := range keys {
		if _, ok := l.values[k]; !ok {
			if l.values == nil {
				l.values = map[Key][]byte{}
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
func (l *cited) has(k Key) bool  { return l.values[k] != nil }
func (l *cited) at(k Key) []byte { return l.values[k] }

// meta checks what the store says of itself.
func (a *auditor) meta(key Key, value []byte, _ *cited) func() {
	var err error
	switch {
	case key == closedKey:
		var c closing
		if c, err = decodeClosing(value); err == nil && !c.moved {
			a.say(faultHalfCopy, key, "the store was being filled since %s, and that has not come to its end", c.began.Format(time.RFC3339))
		}
	case key == originKey:
		_, err = uuid.FromBytes(value)
	case key == clockKey:
		var last time.Time
		if last, err = readClock(a.ctx, a.r); err == nil && !last.Before((LastDate + 1).Start(time.UTC)) {
			a.say(faultClock, key, "the clock was seen at %s, and the last day is %v", last.Format(time.RFC3339), LastDate)
		}
	case key == currentKey:
		_, err = decodeCurrent(value)
	case key == agreedKey, key == subscribedKey: // what is in them is others' business, or nothing
	case strings.HasPrefix(key.ID, serverPrefix):
		if a.shaped(key, len(serverPrefix)+16) {
			_, err = decodeServer(value)
		}
	default:
		a.say(faultUnknownKey, key, "nothing is known under this name")
	}
	a.readable(key, err)
	return nil
}
