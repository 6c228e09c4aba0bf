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

	now           time.Time                      // or the last recorded time of the store's clock, if that is later
	subscribed    bool                           // whether anybody ever made a subscription
	subscriptions map[uuid.UUID]bool             // the IDs of existing subscriptions
	sweeps        map[uuid.UUID]int              // how many sweeps of each are scheduled
	unread        map[uuid.UUID]bool             // bookings of which a payment cannot be read
	served        map[uuid.UUID]int64            // when the next work on each subscription is due, in nanoseconds
	decoded       map[store.Key]*seats.Inventory // runs that bookings have places of, maxDecoded at most
}

func (a *auditor) say(kind FaultKind, key store.Key, format string, args ...any) {
	a.report.Found++
	if len(a.report.Faults) < maxFaults {
		key.ID = strings.Clone(key.ID)
		a.report.Faults = append(a.report.Faults, Fault{kind, key, fmt.Sprintf(format, args...)})
	}
}

// readable says whether a record was read without an error, and reports a fault if not.
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

// shaped says whether a key has the length of keys of its kind, and reports a fault if not.
func (a *auditor) shaped(key store.Key, n int) bool {
	if len(key.ID) != n {
		a.say(FaultUnknownKey, key, "the key has %d bytes, but keys of its kind have %d", len(key.ID), n)
		return false
	}
	return true
}

// pages passes the records of a table to fn, page by page, and reports progress.
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

// An inspection decodes a record, asks for the records that it must agree with, and returns a
// function that compares them once they are read: nil if nothing needs comparing.
type inspection func(key store.Key, value []byte, l *cited) (compare func())

// table inspects the records of a table, in batches that read the records they ask for in
// one round trip.
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

// cited holds the records that other records name, to be read in one round trip.
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

// fetch reads the records asked for with want.
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

// has says whether a record exists; at returns it.
func (l *cited) has(k store.Key) bool  { return l.values[k] != nil }
func (l *cited) at(k store.Key) []byte { return l.values[k] }
