package audit

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/codec"
	"github.com/traintravel/traintravel/internal/seats"
	"github.com/traintravel/traintravel/internal/tz"
	"github.com/traintravel/traintravel/store"
)

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
