package transfer

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/codec"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
)

// ClosedKey returns the key of the record that exists while no service may use a store: a
// copy is filling it, or its data has moved away.
func ClosedKey() store.Key { return store.Key{Table: store.TableMeta, ID: "closed"} }

// A Closing is the content of that record.
type Closing struct {
	Moved   bool      // the data has moved away; otherwise a copy is filling the store
	Move    uuid.UUID // the same in both stores, and when a move is repeated
	Attempt uuid.UUID // one call of Copy
	Began   time.Time
	To      string // the target of the data, for people
}

const closingVersion = 1

// none says that the record is not there.
func (c Closing) none() bool { return c.Move == uuid.Nil }

// Encode returns the value to store under ClosedKey.
func (c Closing) Encode() []byte {
	e := codec.NewEncoder(closingVersion, 48+len(c.To))
	e.Flags(c.Moved)
	e.ID(c.Move)
	e.ID(c.Attempt)
	e.Time(c.Began)
	e.Str(c.To)
	return e.B
}

// DecodeClosing decodes the text of Encode.
func DecodeClosing(b []byte) (Closing, error) {
	d, _ := codec.NewDecoder("closed", closingVersion, b)
	c := Closing{Moved: d.Flags()[0], Move: d.ID(), Attempt: d.ID(), Began: d.Time(), To: d.Str()}
	return c, d.Done()
}

// err returns the error that services get.
func (c Closing) err() error {
	if c.Moved {
		return fmt.Errorf("%w to %s (%s)", rail.ErrMoved, c.To, c.Began.Format(time.RFC3339))
	}
	return fmt.Errorf("%w (it began at %s)", rail.ErrCopying, c.Began.Format(time.RFC3339))
}

// closedError is the error of a record that there is, nil of one that is not.
func closedError(b []byte) error {
	if b == nil {
		return nil
	}
	c, err := DecodeClosing(b)
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
	store.Store
	made  time.Time
	until atomic.Int64 // until when, reckoned from made, it is taken to be open
}

// Guard returns a store that behaves as for a Service: updates, and soon reads, fail with
// [rail.ErrMoved] after its data has moved, and with [rail.ErrCopying] while it is being
// filled (see [Copy]). It is for code that keeps its own data in the service's store, such
// as package sandbox.
func Guard(store store.Store) store.Store { return &guarded{Store: store, made: time.Now()} }

// fresh says whether the store was open a moment ago.
func (g *guarded) fresh() bool { return int64(time.Since(g.made)) < g.until.Load() }

// look reads through r with the record that tells whether the store is open.
func (g *guarded) look(ctx context.Context, r store.Reader, keys ...store.Key) ([][]byte, error) {
	until := time.Since(g.made) + openFor
	values, err := getOpen(ctx, r, keys)
	if err == nil {
		g.until.Store(int64(until))
	}
	return values, err
}

// getOpen reads keys and makes sure that the store is open, in one round trip.
func getOpen(ctx context.Context, r store.Reader, keys []store.Key) ([][]byte, error) {
	values, err := r.Get(ctx, append(slices.Clip(keys), ClosedKey())...)
	if err != nil {
		return nil, err
	}
	return values[:len(keys)], closedError(values[len(keys)])
}

// Get implements [store.Reader].
func (g *guarded) Get(ctx context.Context, keys ...store.Key) ([][]byte, error) {
	if g.fresh() {
		return g.Store.Get(ctx, keys...)
	}
	return g.look(ctx, g.Store, keys...)
}

// List implements [store.Reader].
func (g *guarded) List(ctx context.Context, r store.Range) ([]store.Record, error) {
	if !g.fresh() {
		if _, err := g.look(ctx, g.Store); err != nil {
			return nil, err
		}
	}
	return g.Store.List(ctx, r)
}

// View implements [store.Store].
func (g *guarded) View(ctx context.Context, fn func(store.Reader) error) error {
	return g.Store.View(ctx, func(r store.Reader) error {
		if !g.fresh() {
			if _, err := g.look(ctx, r); err != nil {
				return err
			}
		}
		return fn(r)
	})
}

// Update implements [store.Store].
func (g *guarded) Update(ctx context.Context, fn func(store.Tx) error) error {
	return g.Store.Update(ctx, func(tx store.Tx) error {
		t := guardedTx{Tx: tx, ctx: ctx}
		if err := fn(&t); err != nil {
			return err
		}
		return t.err
	})
}

// A guardedTx looks with its first read whether the store is open.
type guardedTx struct {
	store.Tx
	ctx    context.Context
	looked bool
	err    error
}

func (t *guardedTx) look(ctx context.Context, keys ...store.Key) (values [][]byte, err error) {
	t.looked = true
	values, t.err = getOpen(ctx, t.Tx, keys)
	return values, t.err
}

// Get implements [store.Reader].
func (t *guardedTx) Get(ctx context.Context, keys ...store.Key) ([][]byte, error) {
	if t.looked {
		return t.Tx.Get(ctx, keys...)
	}
	return t.look(ctx, keys...)
}

// List implements [store.Reader].
func (t *guardedTx) List(ctx context.Context, r store.Range) ([]store.Record, error) {
	if !t.looked {
		if _, err := t.look(ctx); err != nil {
			return nil, err
		}
	}
	return t.Tx.List(ctx, r)
}

// Put implements [store.Tx].
func (t *guardedTx) Put(k store.Key, v []byte) {
	t.beforeWrite()
	t.Tx.Put(k, v)
}

// Delete implements [store.Tx].
func (t *guardedTx) Delete(k store.Key) {
	t.beforeWrite()
	t.Tx.Delete(k)
}

func (t *guardedTx) beforeWrite() {
	if !t.looked {
		_, _ = t.look(t.ctx) // Update returns what comes of it
	}
}
