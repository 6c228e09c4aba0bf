package traintravel

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
)

// closedKey names the record that is there while no service may use a store: a
// copy is filling it, or its data has moved away.
var closedKey = Key{TableMeta, "closed"}

// A closing is what that record says.
type closing struct {
	moved   bool      // the data has; or else the store is being filled
	move    uuid.UUID // the same in both stores, and when a move is tried again
	attempt uuid.UUID // one call of Copy
	began   time.Time
	to      string // where the data goes, for people
}

const closingVersion = 1

// none says that the record is not there.
func (c closing) none() bool { return c.move == uuid.Nil }

func (c closing) encode() []byte {
	e := newEncoder(closingVersion, 48+len(c.to))
	e.flags(c.moved)
	e.id(c.move)
	e.id(c.attempt)
	e.time(c.began)
	e.str(c.to)
	return e.b
}

func decodeClosing(b []byte) (closing, error) {
	d, _ := newDecoder("closed", closingVersion, b)
	c := closing{moved: d.flags()[0], move: d.id(), attempt: d.id(), began: d.time(), to: d.str()}
	return c, d.done()
}

// err is what a service is told of it.
func (c closing) err() error {
	if c.moved {
		return fmt.Errorf("%w to %s (%s)", ErrMoved, c.to, c.began.Format(time.RFC3339))
	}
	return fmt.Errorf("%w (%s)", ErrCopying, c.began.Format(time.RFC3339))
}

// closedError is the error of a record that there is, nil of one that is not.
func closedError(b []byte) error {
	if b == nil {
		return nil
	}
	c, err := decodeClosing(b)
	if err != nil {
		return err
	}
	return c.err()
}

// openFor is how long a store that was open is taken to be so by reads.
const openFor = 2 * time.Second

// A guarded store is one that may be closed to the service. No update ever
// succeeds on a closed one; reads find out within openFor. It costs no round
// trip but those of reads that look again.
type guarded struct {
	Store
	made  time.Time
	until atomic.Int64 // until when, reckoned from made, it is taken to be open
}

// Guard returns the store as a [Service] sees it: updates, and soon reads, fail
// with [ErrMoved] or [ErrCopying] while its data has moved, or is being filled in
// (see [Copy]). It is for what keeps data of its own beside the service's, such as
// package sandbox.
func Guard(store Store) Store { return &guarded{Store: store, made: time.Now()} }

// fresh says whether the store was open a moment ago.
func (g *guarded) fresh() bool { return int64(time.Since(g.made)) < g.until.Load() }

// look reads through r with the record that tells whether the store is open.
func (g *guarded) look(ctx context.Context, r Reader, keys ...Key) ([][]byte, error) {
	until := time.Since(g.made) + openFor
	values, err := getOpen(ctx, r, keys)
	if err == nil {
		g.until.Store(int64(until))
	}
	return values, err
}

// getOpen reads keys and makes sure that the store is open, in one round trip.
func getOpen(ctx context.Context, r Reader, keys []Key) ([][]byte, error) {
	values, err := r.Get(ctx, append(slices.Clip(keys), closedKey)...)
	if err != nil {
		return nil, err
	}
	return values[:len(keys)], closedError(values[len(keys)])
}

// Get implements [Reader].
func (g *guarded) Get(ctx context.Context, keys ...Key) ([][]byte, error) {
	if g.fresh() {
		return g.Store.Get(ctx, keys...)
	}
	return g.look(ctx, g.Store, keys...)
}

// List implements [Reader].
func (g *guarded) List(ctx context.Context, r Range) ([]Record, error) {
	if !g.fresh() {
		if _, err := g.look(ctx, g.Store); err != nil {
			return nil, err
		}
	}
	return g.Store.List(ctx, r)
}

// View implements [Store].
func (g *guarded) View(ctx context.Context, fn func(Reader) error) error {
	return g.Store.View(ctx, func(r Reader) error {
		if !g.fresh() {
			if _, err := g.look(ctx, r); err != nil {
				return err
			}
		}
		return fn(r)
	})
}

// Update implements [Store].
func (g *guarded) Update(ctx context.Context, fn func(Tx) error) error {
	return g.Store.Update(ctx, func(tx Tx) error {
		t := guardedTx{Tx: tx, ctx: ctx}
		if err := fn(&t); err != nil {
			return err
		}
		return t.err
	})
}

// A guardedTx looks with its first read whether the store is open.
type guardedTx struct {
	Tx
	ctx    context.Context
	looked bool
	err    error
}

func (t *guardedTx) look(ctx context.Context, keys ...Key) (values [][]byte, err error) {
	t.looked = true
	values, t.err = getOpen(ctx, t.Tx, keys)
	return values, t.err
}

// Get implements [Reader].
func (t *guardedTx) Get(ctx context.Context, keys ...Key) ([][]byte, error) {
	if t.looked {
		return t.Tx.Get(ctx, keys...)
	}
	return t.look(ctx, keys...)
}

// List implements [Reader].
func (t *guardedTx) List(ctx context.Context, r Range) ([]Record, error) {
	if !t.looked {
		if _, err := t.look(ctx); err != nil {
			return nil, err
		}
	}
	return t.Tx.List(ctx, r)
}

// Put implements [Tx].
func (t *guardedTx) Put(k Key, v []byte) {
	t.beforeWrite()
	t.Tx.Put(k, v)
}

// Delete implements [Tx].
func (t *guardedTx) Delete(k Key) {
	t.beforeWrite()
	t.Tx.Delete(k)
}

func (t *guardedTx) beforeWrite() {
	if !t.looked {
		_, _ = t.look(t.ctx) // Update returns what comes of it
	}
}
