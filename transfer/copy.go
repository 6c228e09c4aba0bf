// Package transfer copies a store into another, and moves the data of one to another: it closes
// stores while it works and marks which of them holds the data. It must not know what the
// records mean, except those that it writes itself.
package transfer

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
)

// CopyOptions configures Copy. The zero value is valid.
type CopyOptions struct {
	// To names the target for people, in the error that services on the source get from then
	// on. It must not contain a secret.
	To string
	// Progress, if not nil, is called with the number of records copied and verified, and
	// their total, on the goroutine that called Copy; the first call reports zero.
	Progress func(done, total int64)
}

// Copy moves all data of a store to another, of the same or another kind:
// bookings, payments, timetable, idempotency keys, and due work. IDs and page
// cursors do not change.
//
// At no time do services sell from both stores, or from half of the data. Copy first
// closes the source: services on it get [rail.ErrMoved] from their next update on. Then
// it fills the target in chunks, while services on that get [rail.ErrCopying], reads it
// again, compares, and opens it. Copy may be interrupted at any moment. If it can, it
// reopens the source; if the process is killed, both stores stay closed. Called again with
// the same two stores, it starts over. [Reopen] opens the source if you decide not to move.
//
// Copy refuses a target that has records of its own with [rail.ErrHoldsData], and a target
// that is the source of another copy with ErrMoved as well. It refuses a source that has
// moved to another target with ErrMoved; also if it moved to this target but another source
// took that over, which is possible until a copy is complete. If the source has already
// moved to this target, Copy does nothing and does not call Progress. Of several concurrent
// calls for one target only the last continues.
func Copy(ctx context.Context, to, from store.Store, opts CopyOptions) error {
	c := newCopying(to, from, opts)
	if done, err := c.take(ctx); done || err != nil {
		return err
	}
	err := c.seal(ctx)
	if err == nil {
		err = c.fill(ctx, from)
	}
	if err != nil {
		if e := c.unseal(ctx); e != nil {
			err = fmt.Errorf("%w; and the source stays closed: %w", err, e)
		}
		return err
	}
	if err := c.open(ctx); err != nil {
		return fmt.Errorf("all is copied, but the target could not be opened; copy again: %w", err)
	}
	return nil
}

// Backup copies one snapshot of a store into an empty target. Services on the source
// continue; what they do meanwhile is not in the backup. Until everything is copied and
// verified, the target is closed, and services on it get [rail.ErrCopying]. Backup may be
// interrupted at any moment; called again for the same target, it starts over. It refuses a
// target that has records of its own with [rail.ErrHoldsData], and a closed source with
// [rail.ErrMoved] or ErrCopying.
//
// Services must not sell from both stores: they would sell places twice.
func Backup(ctx context.Context, to, from store.Store, opts CopyOptions) error {
	c := newCopying(to, from, opts)
	if _, err := c.claim(ctx, nil); err != nil {
		return err
	}
	err := from.View(ctx, func(r store.Reader) error {
		if mark, err := readClosing(ctx, r); err != nil || !mark.none() {
			return cmp.Or(err, mark.err())
		}
		return c.fill(ctx, r)
	})
	if err != nil {
		return err
	}
	return c.update(ctx, func(tx store.Tx) { tx.Delete(ClosedKey()) })
}

// Reopen opens a store whose data has moved, or was about to move, so that services
// can use it again. It does not contain what the target has sold since, and two stores
// that sell the same trains sell places twice. So Reopen first closes the target, if it is
// not nil, permanently: services on it get [rail.ErrMoved] from their next update on. It
// refuses a target that the data has not moved to, and changes nothing. Pass a nil target if
// the target is lost or will not be used. If the store has not moved, Reopen changes nothing
// and returns an error.
func Reopen(ctx context.Context, s, target store.Store) error {
	mark, err := readClosing(ctx, s)
	if err == nil {
		err = mark.mayReopen()
	}
	if err != nil {
		return err
	}
	if target != nil {
		if err := mark.closeTarget(ctx, target); err != nil {
			return err
		}
	}
	return s.Update(ctx, func(tx store.Tx) error {
		now, err := readClosing(ctx, tx)
		if err == nil {
			err = now.mayReopen()
		}
		if err != nil {
			return err
		}
		tx.Delete(ClosedKey())
		return nil
	})
}

func (c Closing) mayReopen() error {
	switch {
	case c.none():
		return errors.New("the data of the store has not moved")
	case !c.Moved:
		return c.err()
	}
	return nil
}

// closeTarget closes the store that the data has moved to. One that is closed,
// because the copy did not come to its end, stays so.
func (c Closing) closeTarget(ctx context.Context, target store.Store) error {
	c.Attempt, c.To = uuid.New(), "the store that it had come from"
	return target.Update(ctx, func(tx store.Tx) error {
		now, err := readClosing(ctx, tx)
		if err != nil || !now.none() {
			return err
		}
		origin, err := tx.Get(ctx, OriginKey())
		if err != nil {
			return err
		}
		if !bytes.Equal(origin[0], c.Move[:]) {
			return errors.New("the data has not moved to that target: name the one that it has moved to, or none if it is lost")
		}
		tx.Put(ClosedKey(), c.Encode())
		return nil
	})
}

// readClosing is zero of a store that is open.
func readClosing(ctx context.Context, r store.Reader) (Closing, error) {
	v, err := r.Get(ctx, ClosedKey())
	if err != nil || v[0] == nil {
		return Closing{}, err
	}
	return DecodeClosing(v[0])
}

// OriginKey returns the key of the record that identifies the move by which a store got its
// data.
func OriginKey() store.Key { return store.Key{Table: store.TableMeta, ID: "origin"} }

// copying is one call of Copy.
type copying struct {
	to, from    store.Store
	mark        Closing // of the target; of the source too, but that it has moved
	progress    func(done, total int64)
	done, total int64
}

func newCopying(to, from store.Store, opts CopyOptions) *copying {
	c := &copying{to: to, from: from, progress: opts.Progress}
	c.mark = Closing{Move: uuid.New(), Attempt: uuid.New(), Began: time.Now().UTC().Truncate(time.Second), To: cmp.Or(opts.To, "another store")}
	if c.progress == nil {
		c.progress = func(int64, int64) {}
	}
	return c
}

// take closes the target for this copy, unless it is none, or the data is there.
func (c *copying) take(ctx context.Context) (done bool, err error) {
	before, err := readClosing(ctx, c.from)
	if err != nil {
		return false, err
	}
	var again error // the error of a source that is closed
	if !before.none() {
		again = before.err()
		if !before.Moved {
			return false, fmt.Errorf("the source: %w", again)
		}
		c.mark.Move = before.Move
	}
	return c.claim(ctx, again)
}

// claim closes the target. Again is the error of a source that is closed, or nil.
func (c *copying) claim(ctx context.Context, again error) (done bool, err error) {
	err = c.to.Update(ctx, func(tx store.Tx) error {
		done = false
		half, err := readClosing(ctx, tx)
		switch {
		case err != nil:
			return err
		case half.Moved:
			return fmt.Errorf("the target: %w: %w", rail.ErrHoldsData, half.err())
		case half.none():
			done, err = c.mayFill(ctx, tx, again)
		case again != nil && half.Move != c.mark.Move:
			err = fmt.Errorf("%w; in this target there is half a copy of another store", again)
		}
		if err == nil && !done {
			tx.Put(ClosedKey(), c.mark.Encode())
		}
		return err
	})
	return done, err
}

// mayFill says whether a target that is open may be filled: it is empty, and the
// source has not moved to another one. Or else that the source has moved to it.
func (c *copying) mayFill(ctx context.Context, tx store.Tx, again error) (done bool, err error) {
	origin, err := tx.Get(ctx, OriginKey())
	switch {
	case err != nil:
		return false, err
	case again != nil && bytes.Equal(origin[0], c.mark.Move[:]):
		return true, nil
	case again != nil && origin[0] != nil:
		return false, fmt.Errorf("%w; in this target there is what has moved from another store", again)
	case again != nil:
		return false, again
	}
	for _, t := range store.Tables() {
		some, err := tx.List(ctx, store.Range{Table: t, Limit: 1})
		if err != nil {
			return false, err
		}
		if len(some) > 0 {
			return false, fmt.Errorf("%w (there is something in its table %v)", rail.ErrHoldsData, t)
		}
	}
	return false, nil
}

// seal closes the source. From here on nothing in it changes.
func (c *copying) seal(ctx context.Context) error {
	return c.from.Update(ctx, func(tx store.Tx) error {
		now, err := readClosing(ctx, tx)
		if err != nil {
			return err
		}
		if !now.none() && (!now.Moved || now.Move != c.mark.Move) {
			return fmt.Errorf("the source: %w", now.err())
		}
		seal := c.mark
		seal.Moved = true
		tx.Put(ClosedKey(), seal.Encode())
		return nil
	})
}

// unseal opens the source again, if it is closed by this copy.
func (c *copying) unseal(ctx context.Context) error {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer stop()
	return c.from.Update(ctx, func(tx store.Tx) error {
		now, err := readClosing(ctx, tx)
		if err == nil && now.Moved && now.Attempt == c.mark.Attempt {
			tx.Delete(ClosedKey())
		}
		return err
	})
}

// open gives the target, which is complete, to services.
func (c *copying) open(ctx context.Context) error {
	return c.update(ctx, func(tx store.Tx) {
		tx.Delete(ClosedKey())
		tx.Put(OriginKey(), bytes.Clone(c.mark.Move[:]))
	})
}

// update writes to the target as long as it is this copy's.
func (c *copying) update(ctx context.Context, write func(store.Tx)) error {
	return c.to.Update(ctx, func(tx store.Tx) error {
		now, err := readClosing(ctx, tx)
		if err != nil {
			return err
		}
		if now.Moved || now.Attempt != c.mark.Attempt {
			return errors.New("another copy into the target has begun meanwhile")
		}
		write(tx)
		return nil
	})
}
