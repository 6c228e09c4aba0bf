package traintravel

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"
)

// A ledger is one update at work: it loads records once, lets the rules change
// them, and writes at the end what changed, indexes and agenda included. It
// lives in the closure of a Store.Update.
type ledger struct {
	ctx        context.Context
	books      *books
	tx         Tx
	now        time.Time
	fetched    []fetched
	bookings   []*entry[Booking]
	payments   []*entry[payment]
	runs       []*runEntry
	events     []queued
	attempts   []Attempt // for the observer
	stopped    []Subscription
	arrivals   map[uuid.UUID][]incoming // what comes to queues: see fillQueues
	receivers  []*subscription          // those that have arrivals
	overflows  []overflow
	dead       []DeadReason // for the observer
	subscribed bool         // somebody has: see subscribedKey
	webhooks   bool         // a subscription is changed, or what is posted
	due        kinds        // what is put on the agenda
	puts       []write
	deletes    []Key
}

// A write is one that is no booking, payment or run.
type write struct {
	key   Key
	value []byte
}

// A fetched record was read before it was asked for. The value is nil if there is none.
type fetched struct {
	key   Key
	value []byte
}

// An entry is a record that was loaded to be changed, or that is new.
type entry[T any] struct {
	key    Key
	read   []byte // nil if the record is new
	before T      // what was read
	after  T
}

// damaged turns the absence of a record that must be there into an error that
// nobody takes for a mistake of the user's.
func damaged(err error) error {
	if errors.Is(err, ErrNotFound) {
		return errMissing
	}
	return err
}

// checkCurrent gives the update up if another timetable is in force.
func (l *ledger) checkCurrent(sn *snapshot) error {
	v, err := l.get(currentKey)
	if err != nil {
		return err
	}
	c, err := decodeCurrent(v)
	if err != nil {
		return err
	}
	if c.generation != sn.generation {
		return errStale
	}
	return nil
}

// fetch reads records in one round trip, which are asked for one by one then.
func (l *ledger) fetch(keys ...Key) error {
	values, err := l.tx.Get(l.ctx, keys...)
	if err != nil {
		return err
	}
	for i, k := range keys {
		l.fetched = append(l.fetched, fetched{k, values[i]})
	}
	return nil
}

func (l *ledger) hasFetched(k Key) bool {
	return slices.ContainsFunc(l.fetched, func(f fetched) bool { return f.key == k })
}

// get reads a record, nil if there is none, unless it was fetched.
func (l *ledger) get(k Key) ([]byte, error) {
	for i := range l.fetched {
		if f := &l.fetched[i]; f.key == k {
			return f.value, nil
		}
	}
	v, err := l.tx.Get(l.ctx, k)
	if err != nil {
		return nil, err
	}
	return v[0], nil
}

// load loads a record to be changed, unless it is among those that are loaded.
func load[T any](l *ledger, loaded *[]*entry[T], k Key, decode func([]byte) (T, error)) (*T, error) {
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
		return nil, ErrNotFound
	}
	is, err := decode(v)
	if err != nil {
		return nil, err
	}
	e := &entry[T]{key: k, read: v, before: is, after: is}
	*loaded = append(*loaded, e)
	return &e.after, nil
}

// booking loads a booking to be changed.
func (l *ledger) booking(id uuid.UUID) (*Booking, error) {
	return load(l, &l.bookings, bookingKey(id), l.books.decodeBooking)
}

// payment loads a payment of a booking to be changed.
func (l *ledger) payment(booking, id uuid.UUID) (*payment, error) {
	return load(l, &l.payments, paymentKey(booking, id), decodePayment)
}

func (l *ledger) newBooking(b Booking) *Booking {
	e := &entry[Booking]{key: bookingKey(b.ID), after: b}
	l.bookings = append(l.bookings, e)
	return &e.after
}

// newPayment adds a payment to those of its booking, after all that were there.
func (l *ledger) newPayment(b *Booking, p payment) *payment {
	b.PaymentCount++
	p.order = b.PaymentCount
	e := &entry[payment]{key: paymentKey(p.Booking, p.ID), after: p}
	l.payments = append(l.payments, e)
	return &e.after
}

// put and delete note writes that are no booking, payment or run.
func (l *ledger) put(k Key, v []byte) { l.puts = append(l.puts, write{k, v}) }
func (l *ledger) delete(k Key)        { l.deletes = append(l.deletes, k) }

// write hands everything that changed to the transaction, the deletes first: where rules
// have deleted a key and put it too, in whatever order, it has the value that was put.
func (l *ledger) write() {
	for _, k := range l.deletes {
		l.webhooks = l.webhooks || k.Table == TableWebhooks
		l.tx.Delete(k)
	}
	for _, e := range l.bookings {
		l.writeBooking(e)
	}
	for _, e := range l.payments {
		l.writePayment(e)
	}
	for _, e := range l.runs {
		if e.changed {
			e.inv.revision++
			l.tx.Put(runKey(e.id), e.inv.encode())
		}
	}
	for _, w := range l.puts {
		l.set(w.key, w.value)
	}
}

// set hands one record to the transaction.
func (l *ledger) set(k Key, v []byte) {
	if k.Table == TableAgenda {
		l.due |= kind(k.ID[0]).set()
	}
	l.webhooks = l.webhooks || k.Table == TableWebhooks
	l.tx.Put(k, v)
}

// writeBooking writes a booking that has changed, with its index and its place on the
// agenda.
func (l *ledger) writeBooking(e *entry[Booking]) {
	text := e.changed(encodeBooking)
	if text == nil {
		return
	}
	before, after := &e.before, &e.after
	l.moveItem(holdKey(before), holdKey(after), []byte{})
	if before.listed() && !after.listed() {
		l.tx.Delete(ownedKey(before))
	}
	if !before.listed() && after.listed() {
		l.tx.Put(ownedKey(after), []byte{})
	}
	l.tx.Put(e.key, text)
}

// writePayment writes a payment that has changed, with its place on the agenda.
func (l *ledger) writePayment(e *entry[payment]) {
	text := e.changed((*payment).encode)
	if text == nil {
		return
	}
	l.moveItem(e.before.agendaKey(), e.after.agendaKey(), e.after.Booking[:])
	l.tx.Put(e.key, text)
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

// moveItem moves an item of the agenda. The zero Key is nowhere.
func (l *ledger) moveItem(from, to Key, value []byte) {
	if from == to {
		return
	}
	if from != (Key{}) {
		l.tx.Delete(from)
	}
	if to != (Key{}) {
		l.set(to, bytes.Clone(value))
	}
}
