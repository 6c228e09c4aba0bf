package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/google/go-cmp/cmp"

	"github.com/traintravel/traintravel"
)

// Twice returns a store that finds closures which break the rules. It is for
// the tests of a store's users: run them on Twice(memstore.New()).
//
// In one Update it runs the closure twice. The writes of the first run are
// dropped; those of the second count. A closure that keeps something from one
// run to the next, or asks the clock or chance, thus shows: both runs read the
// same store, so they must read the same keys and ranges, write the same, and
// return the same error. If they do not, the update fails with an error that
// shows the difference.
//
// It lends each closure, that of a View too, a copy of the values it reads,
// and overwrites the copy when the closure returns. A closure that modifies a
// value fails; one that keeps a value finds rubbish in it.
//
// Beyond that it does what store does, at about twice the cost. It is a
// [traintravel.LocalStore] if store is.
func Twice(store traintravel.Store) traintravel.Store {
	if local, ok := store.(traintravel.LocalStore); ok {
		return localTwice{twice{store}, local}
	}
	return twice{store}
}

type localTwice struct {
	twice
	local traintravel.LocalStore
}

func (t localTwice) Claims() *traintravel.Claims { return t.local.Claims() }

type twice struct{ traintravel.Store }

func (t twice) View(ctx context.Context, fn func(traintravel.Reader) error) error {
	return t.Store.View(ctx, func(r traintravel.Reader) error {
		l := &lender{Reader: r}
		err := fn(l)
		if misuse := l.takeBack(); misuse != nil {
			return misuse
		}
		return err
	})
}

func (t twice) Update(ctx context.Context, fn func(traintravel.Tx) error) error {
	return t.Store.Update(ctx, func(tx traintravel.Tx) error {
		first, second := newTrial(tx), newTrial(tx)
		err1, err2 := first.run(fn), second.run(fn)
		if err := errors.Join(first.misuse, second.misuse); err != nil {
			return err
		}
		if first.cut || second.cut { // then they have not read the same
			return err2
		}
		if d := cmp.Diff(first.account(err1), second.account(err2)); d != "" {
			return fmt.Errorf("storetest: an update's closure did otherwise when it ran again (-first +second):\n%s", d)
		}
		if err2 != nil {
			return err2
		}
		second.apply(tx)
		return nil
	})
}

// A lender is a Reader that hands out copies and takes them back.
type lender struct {
	traintravel.Reader
	loans []loan
}

type loan struct{ own, lent []byte }

func (l *lender) lend(own []byte) []byte {
	if own == nil {
		return nil
	}
	lent := bytes.Clone(own)
	l.loans = append(l.loans, loan{own, lent})
	return lent
}

func (l *lender) Get(ctx context.Context, keys ...traintravel.Key) ([][]byte, error) {
	values, err := l.Reader.Get(ctx, keys...)
	lent := make([][]byte, len(values))
	for i, v := range values {
		lent[i] = l.lend(v)
	}
	return lent, err
}

func (l *lender) List(ctx context.Context, r traintravel.Range) ([]traintravel.Record, error) {
	records, err := l.Reader.List(ctx, r)
	lent := make([]traintravel.Record, len(records))
	for i, rec := range records {
		lent[i] = traintravel.Record{ID: rec.ID, Value: l.lend(rec.Value)}
	}
	return lent, err
}

// takeBack overwrites what was lent. It returns an error if the borrower had
// modified any.
func (l *lender) takeBack() (err error) {
	for _, loan := range l.loans {
		if !bytes.Equal(loan.own, loan.lent) {
			err = fmt.Errorf("storetest: a closure modified a value that it had read, %q", loan.own)
		}
		for i := range loan.lent {
			loan.lent[i] = 0xDB
		}
	}
	return err
}

// A trial is the Tx of one run, which keeps its writes to itself.
type trial struct {
	lender
	reads  map[string]bool // keys and ranges, in words
	writes []trialWrite
	late   bool  // it read after a write
	cut    bool  // a read failed
	misuse error // it modified what it had read
}

type trialWrite struct {
	key   traintravel.Key
	value []byte // nil deletes
}

func newTrial(r traintravel.Reader) *trial {
	return &trial{lender: lender{Reader: r}, reads: make(map[string]bool)}
}

// run runs fn and returns its error, or the one that the store would return.
func (t *trial) run(fn func(traintravel.Tx) error) error {
	err := fn(t)
	for i, w := range t.writes {
		t.writes[i].value = bytes.Clone(w.value) // it may be part of a loan
	}
	t.misuse = t.takeBack()
	if t.late && !errors.Is(err, traintravel.ErrReadAfterWrite) {
		return traintravel.ErrReadAfterWrite
	}
	return err
}

func (t *trial) Get(ctx context.Context, keys ...traintravel.Key) ([][]byte, error) {
	if len(t.writes) > 0 {
		t.late = true
		return nil, traintravel.ErrReadAfterWrite
	}
	for _, k := range keys {
		t.reads[fmt.Sprintf("%v %q", k.Table, k.ID)] = true
	}
	values, err := t.lender.Get(ctx, keys...)
	t.cut = t.cut || err != nil
	return values, err
}

func (t *trial) List(ctx context.Context, r traintravel.Range) ([]traintravel.Record, error) {
	if len(t.writes) > 0 {
		t.late = true
		return nil, traintravel.ErrReadAfterWrite
	}
	t.reads[fmt.Sprintf("%v from %q to %q, reverse: %t, limit: %d", r.Table, r.From, r.To, r.Reverse, r.Limit)] = true
	records, err := t.lender.List(ctx, r)
	t.cut = t.cut || err != nil
	return records, err
}

func (t *trial) Put(key traintravel.Key, value []byte) {
	if value == nil {
		value = []byte{}
	}
	t.writes = append(t.writes, trialWrite{key, value})
}

func (t *trial) Delete(key traintravel.Key) {
	t.writes = append(t.writes, trialWrite{key: key})
}

// apply makes the trial's writes.
func (t *trial) apply(tx traintravel.Tx) {
	for _, w := range t.writes {
		if w.value == nil {
			tx.Delete(w.key)
		} else {
			tx.Put(w.key, w.value)
		}
	}
}

// An account is what one run did, as far as it matters: the order of reads and
// the order of writes to several keys do not.
type account struct {
	Reads  map[string]bool
	Writes map[string]string
	Err    string
}

func (t *trial) account(err error) account {
	a := account{Reads: t.reads, Writes: make(map[string]string)}
	for _, w := range t.writes {
		a.Writes[fmt.Sprintf("%v %q", w.key.Table, w.key.ID)] = w.String()
	}
	if err != nil {
		a.Err = err.Error()
	}
	return a
}

func (w trialWrite) String() string {
	if w.value == nil {
		return "deleted"
	}
	return "put " + text(w.value)
}
