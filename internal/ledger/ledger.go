// Package ledger has the rules: what one update of a store does to bookings, places, payments,
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

// A Ledger is one update at work: it loads records once, lets the rules change
// them, and writes at the end what changed, indexes and agenda included. It
// lives in the closure of a Store.Update.
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
	arrivals   map[uuid.UUID][]incoming // what comes to queues: see fillQueues
	receivers  []*records.Subscription  // those that have arrivals
	overflows  []overflow
	dead       []rail.DeadReason // for the observer
	subscribed bool              // somebody has: see records.SubscribedKey
	Webhooks   bool              // a subscription is changed, or what is posted
	Due        records.Kinds     // what is put on the agenda
	puts       []write
	deletes    []store.Key
}

// A write is one that is not a booking, payment or run.
type write struct {
	key   store.Key
	value []byte
}

// A fetched record was read before it was asked for. The value is nil if there is none.
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

// An incoming is a delivery that comes to the queue of a subscription.
type incoming struct {
	records.Delivery
	// asked says that somebody asked for it, so that it is not the one that goes.
	asked bool
}

// An overflow is how many deliveries a subscription has lost to its dead letters because
// too many waited.
type overflow struct {
	sub uuid.UUID
	n   int
}

// CheckCurrent gives the update up if another timetable is in force.
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

// fetch reads records in one round trip, which are asked for one by one then.
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

// get reads a record, nil if there is none, unless it was fetched.
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

// load loads a record to be changed, unless it is among those that are loaded.
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

// write hands everything that changed to the transaction, the deletes first: where rules
// have deleted a key and put it too, in whatever order, it has the value that was put.
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

// set hands one record to the transaction.
func (l *Ledger) set(k store.Key, v []byte) {
	if k.Table == store.TableAgenda {
		l.Due |= records.Kind(k.ID[0]).Set()
	}
	l.Webhooks = l.Webhooks || k.Table == store.TableWebhooks
	l.Tx.Put(k, v)
}

// writeBooking writes a booking that has changed, with its index and its place on the
// agenda.
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

// writePayment writes a payment that has changed, with its place on the agenda.
func (l *Ledger) writePayment(e *entry[records.Payment]) {
	text := e.changed((*records.Payment).Encode)
	if text == nil {
		return
	}
	l.moveItem(e.before.AgendaKey(), e.after.AgendaKey(), e.after.Booking[:])
	l.Tx.Put(e.key, text)
}

// changed returns the record that is to be written: nil unless it is new, or another than
// the one that was read. One of a version before, which has another form, is compared as it
// would be written now.
func (e *entry[T]) changed(encode func(*T) []byte) []byte {
	text := encode(&e.after)
	if e.read == nil || !bytes.Equal(e.read, text) && (e.read[0] == text[0] || !bytes.Equal(encode(&e.before), text)) {
		return text
	}
	return nil
}

// moveItem moves an item of the agenda or of an index. The zero Key is nowhere.
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
