// Package ledger has the rules: how one update of a store changes bookings, places, payments,
// events and deliveries, so that they always agree. It must not call a gateway or a receiver,
// or decide when an update happens.
package ledger

import (
	"bytes"
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/internal/seats"
	"github.com/traintravel/traintravel/internal/timetable"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
)

// A Ledger is one update in progress: it loads records once, lets the rules change them, and at
// the end writes those that have changed, with indexes and agenda. It exists in the closure of a
// Store.Update.
type Ledger struct {
	Ctx        context.Context
	books      *Books
	Tx         store.Tx
	Now        time.Time
	fetched    []fetched
	bookings   []*entry[rail.Booking]
	payments   []*entry[records.Payment]
	Runs       []*RunEntry
	events     []records.Queued
	Attempts   []rail.Attempt // for the observer
	Stopped    []rail.Subscription
	arrivals   map[uuid.UUID][]incoming // new entries of queues: see fillQueues
	receivers  []*records.Subscription  // those that have arrivals
	overflows  []overflow
	dead       []rail.DeadReason // for the observer
	subscribed bool              // subscriptions may exist: see records.SubscribedKey
	Webhooks   bool              // a subscription or a delivery has changed
	Due        records.Kinds     // the kinds of new agenda items
	puts       []write
	deletes    []store.Key
}

// A write is one that is not a booking, payment or run.
type write struct {
	key   store.Key
	value []byte
}

// A fetched record was read in advance. The value is nil if the record does not exist.
type fetched struct {
	key   store.Key
	value []byte
}

// An entry is a record that was loaded to be changed, or that is new.
type entry[T any] struct {
	key    store.Key
	read   []byte // nil if the record is new
	before T      // what was read
	after  T
}

// An incoming is a new delivery in the queue of a subscription.
type incoming struct {
	records.Delivery
	// asked says that somebody requested it, so that it is not dropped.
	asked bool
}

// An overflow is the number of deliveries of a subscription that became dead letters because
// too many waited.
type overflow struct {
	sub uuid.UUID
	n   int
}

// CheckCurrent aborts the update if another timetable is in force.
func (l *Ledger) CheckCurrent(sn *timetable.Snapshot) error {
	v, err := l.get(timetable.CurrentKey())
	if err != nil {
		return err
	}
	c, err := timetable.DecodeCurrent(v)
	if err != nil {
		return err
	}
	if c.Generation != sn.Generation {
		return timetable.ErrStale
	}
	return nil
}

// fetch reads records in one round trip, before they are loaded one by one.
func (l *Ledger) fetch(keys ...store.Key) error {
	values, err := l.Tx.Get(l.Ctx, keys...)
	if err != nil {
		return err
	}
	for i, k := range keys {
		l.fetched = append(l.fetched, fetched{k, values[i]})
	}
	return nil
}

func (l *Ledger) hasFetched(k store.Key) bool {
	return slices.ContainsFunc(l.fetched, func(f fetched) bool { return f.key == k })
}

// get reads a record unless it was fetched; nil if it does not exist.
func (l *Ledger) get(k store.Key) ([]byte, error) {
	for i := range l.fetched {
		if f := &l.fetched[i]; f.key == k {
			return f.value, nil
		}
	}
	v, err := l.Tx.Get(l.Ctx, k)
	if err != nil {
		return nil, err
	}
	return v[0], nil
}

// load loads a record to be changed, unless it is loaded already.
func load[T any](l *Ledger, loaded *[]*entry[T], k store.Key, decode func([]byte) (T, error)) (*T, error) {
	for _, e := range *loaded {
		if e.key == k {
			return &e.after, nil
		}
	}
	v, err := l.get(k)
	if err != nil {
		return nil, err
	}
	if v == nil {
		return nil, rail.ErrNotFound
	}
	is, err := decode(v)
	if err != nil {
		return nil, err
	}
	e := &entry[T]{key: k, read: v, before: is, after: is}
	*loaded = append(*loaded, e)
	return &e.after, nil
}

// Booking loads a booking to be changed.
func (l *Ledger) Booking(id uuid.UUID) (*rail.Booking, error) {
	return load(l, &l.bookings, records.BookingKey(id), l.books.decodeBooking)
}

// Payment loads a payment of a booking to be changed.
func (l *Ledger) Payment(booking, id uuid.UUID) (*records.Payment, error) {
	return load(l, &l.payments, records.PaymentKey(booking, id), records.DecodePayment)
}

func (l *Ledger) newBooking(b rail.Booking) *rail.Booking {
	e := &entry[rail.Booking]{key: records.BookingKey(b.ID), after: b}
	l.bookings = append(l.bookings, e)
	return &e.after
}

// newPayment adds a payment to those of its booking, after all that were there.
func (l *Ledger) newPayment(b *rail.Booking, p records.Payment) *records.Payment {
	b.PaymentCount++
	p.Order = b.PaymentCount
	e := &entry[records.Payment]{key: records.PaymentKey(p.Booking, p.ID), after: p}
	l.payments = append(l.payments, e)
	return &e.after
}

// Put notes a write that is not a booking, payment or run.
func (l *Ledger) Put(k store.Key, v []byte) { l.puts = append(l.puts, write{k, v}) }

// Delete notes that a record that is not a booking, payment or run is deleted.
func (l *Ledger) Delete(k store.Key) { l.deletes = append(l.deletes, k) }

// write passes all changes to the transaction, deletes first: if rules have both deleted and put
// a key, in any order, it has the value that was put.
func (l *Ledger) write() {
	for _, k := range l.deletes {
		l.Webhooks = l.Webhooks || k.Table == store.TableWebhooks
		l.Tx.Delete(k)
	}
	for _, e := range l.bookings {
		l.writeBooking(e)
	}
	for _, e := range l.payments {
		l.writePayment(e)
	}
	for _, e := range l.Runs {
		if e.Changed {
			e.Inv.Revision++
			l.Tx.Put(seats.RunKey(e.ID), e.Inv.Encode())
		}
	}
	for _, w := range l.puts {
		l.set(w.key, w.value)
	}
}

// set passes one record to the transaction.
func (l *Ledger) set(k store.Key, v []byte) {
	if k.Table == store.TableAgenda {
		l.Due |= records.Kind(k.ID[0]).Set()
	}
	l.Webhooks = l.Webhooks || k.Table == store.TableWebhooks
	l.Tx.Put(k, v)
}

// writeBooking writes a changed booking, with its index entries and its agenda item.
func (l *Ledger) writeBooking(e *entry[rail.Booking]) {
	text := e.changed(records.EncodeBooking)
	if text == nil {
		return
	}
	before, after := &e.before, &e.after
	l.moveItem(records.HoldKey(before), records.HoldKey(after), []byte{})
	l.moveItem(records.OwnedKey(before), records.OwnedKey(after), []byte{})
	if after.Reference != before.Reference {
		l.Tx.Put(records.ReferenceKey(after.Reference), after.ID[:])
	}
	l.Tx.Put(e.key, text)
}

// writePayment writes a changed payment, with its agenda item.
func (l *Ledger) writePayment(e *entry[records.Payment]) {
	text := e.changed((*records.Payment).Encode)
	if text == nil {
		return
	}
	l.moveItem(e.before.AgendaKey(), e.after.AgendaKey(), e.after.Booking[:])
	l.Tx.Put(e.key, text)
}

// changed returns the record to write: nil unless it is new or differs from the one that was
// read. A record of an earlier version, which has another encoding, is compared in the current
// encoding.
func (e *entry[T]) changed(encode func(*T) []byte) []byte {
	text := encode(&e.after)
	if e.read == nil || !bytes.Equal(e.read, text) && (e.read[0] == text[0] || !bytes.Equal(encode(&e.before), text)) {
		return text
	}
	return nil
}

// moveItem moves an item of the agenda or of an index. The zero Key means none.
func (l *Ledger) moveItem(from, to store.Key, value []byte) {
	if from == to {
		return
	}
	if from != (store.Key{}) {
		l.Tx.Delete(from)
	}
	if to != (store.Key{}) {
		l.set(to, bytes.Clone(value))
	}
}
