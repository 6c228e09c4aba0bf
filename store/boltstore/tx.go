package boltstore

import (
	"context"

	"github.com/traintravel/traintravel"
)

// A tx is what one closure of an update reads and writes.
type tx struct {
	reader
	writes []write // in the order they came
	err    error   // a mistake that fails the update, whatever its closure returns
}

// Get implements [traintravel.Reader].
func (t *tx) Get(ctx context.Context, keys ...traintravel.Key) ([][]byte, error) {
	if err := t.readable(); err != nil {
		return nil, err
	}
	return t.reader.Get(ctx, keys...)
}

// List implements [traintravel.Reader].
func (t *tx) List(ctx context.Context, rg traintravel.Range) ([]traintravel.Record, error) {
	if err := t.readable(); err != nil {
		return nil, err
	}
	return t.reader.List(ctx, rg)
}

func (t *tx) readable() error {
	if len(t.writes) == 0 {
		return nil
	}
	t.fail(traintravel.ErrReadAfterWrite)
	return traintravel.ErrReadAfterWrite
}

// Put implements [traintravel.Tx].
func (t *tx) Put(key traintravel.Key, value []byte) {
	if value == nil {
		value = []byte{}
	}
	t.write(key, value)
}

// Delete implements [traintravel.Tx].
func (t *tx) Delete(key traintravel.Key) { t.write(key, nil) }

func (t *tx) write(key traintravel.Key, value []byte) {
	if err := traintravel.CheckKey(key, value); err != nil {
		t.fail(err)
	}
	t.writes = append(t.writes, write{table: key.Table, id: key.ID, value: value})
}

func (t *tx) fail(err error) {
	if t.err == nil {
		t.err = err
	}
}
