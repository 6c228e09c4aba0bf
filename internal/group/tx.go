package group

import (
	"context"
	"errors"

	"github.com/traintravel/traintravel"
)

// A Write is a record to be put, or with a nil value one to be deleted.
type Write struct {
	Table traintravel.Table
	ID    string
	Value []byte
}

// A Tx is what one closure of an update reads and writes.
type Tx struct {
	Reader traintravel.Reader // what it reads
	Writes []Write            // in the order they came
	Err    error              // a mistake that fails the update, whatever its closure returns
}

// Get implements [traintravel.Reader].
func (t *Tx) Get(ctx context.Context, keys ...traintravel.Key) ([][]byte, error) {
	if err := t.readable(); err != nil {
		return nil, err
	}
	return t.Reader.Get(ctx, keys...)
}

// List implements [traintravel.Reader].
func (t *Tx) List(ctx context.Context, rg traintravel.Range) ([]traintravel.Record, error) {
	if err := t.readable(); err != nil {
		return nil, err
	}
	return t.Reader.List(ctx, rg)
}

func (t *Tx) readable() error {
	if len(t.Writes) == 0 {
		return nil
	}
	t.fail(traintravel.ErrReadAfterWrite)
	return traintravel.ErrReadAfterWrite
}

// Put implements [traintravel.Tx].
func (t *Tx) Put(key traintravel.Key, value []byte) {
	if value == nil {
		value = []byte{}
	}
	t.write(key, value)
}

// Delete implements [traintravel.Tx].
func (t *Tx) Delete(key traintravel.Key) { t.write(key, nil) }

func (t *Tx) write(key traintravel.Key, value []byte) {
	if err := traintravel.CheckKey(key, value); err != nil {
		t.fail(err)
	}
	t.Writes = append(t.Writes, Write{Table: key.Table, ID: key.ID, Value: value})
}

func (t *Tx) fail(err error) {
	if t.Err == nil {
		t.Err = err
	}
}

// ErrDead is returned to closures that let their Reader or Tx out.
var ErrDead = errors.New("a read after the closure returned")

// dead is what a Tx reads when its closure has returned.
type dead struct{}

func (dead) Get(context.Context, ...traintravel.Key) ([][]byte, error) { return nil, ErrDead }

func (dead) List(context.Context, traintravel.Range) ([]traintravel.Record, error) {
	return nil, ErrDead
}
