package agenda

import (
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/codec"
	"github.com/traintravel/traintravel/internal/ids"
	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/internal/tz"
	"github.com/traintravel/traintravel/store"
)

// ClockKey returns the key of the record of the latest instant of a supplied clock.
func ClockKey() store.Key { return store.Key{Table: store.TableMeta, ID: "clock"} }

const (
	ClockVersion = 1
	// recordClock is how often Run records a supplied clock.
	recordClock = time.Minute
)

// LastInstant returns the latest instant that a store has recorded: that of a supplied clock,
// or when the newest booking was made.
func LastInstant(ctx context.Context, s store.Store) (last time.Time, err error) {
	err = s.View(ctx, func(r store.Reader) (err error) {
		if last, err = ReadClock(ctx, r); err != nil {
			return err
		}
		newest, err := r.List(ctx, store.Range{Table: store.TableBookings, Reverse: true, Limit: 1})
		if err != nil || len(newest) == 0 {
			return err
		}
		created := last
		if b, err := records.DecodeBooking(newest[0].Value, &tz.Zones{}); err == nil {
			created = b.Created
		} else if id, err := uuid.FromBytes([]byte(newest[0].ID)); err == nil {
			created = ids.TimeOf(id).Add(time.Millisecond) // which the ID rounds down
		}
		if created.After(last) {
			last = created
		}
		return nil
	})
	return last, err
}

// ReadClock returns the instant that WriteClock recorded, or the zero time.
func ReadClock(ctx context.Context, r store.Reader) (last time.Time, err error) {
	v, err := r.Get(ctx, ClockKey())
	if err != nil || v[0] == nil {
		return time.Time{}, err
	}
	d, _ := codec.NewDecoder("clock", ClockVersion, v[0])
	last = d.Time()
	return last, d.Done()
}

// WriteClock records the time of a clock, unless another service's clock was ahead. It does so
// even if ctx has ended.
func WriteClock(ctx context.Context, s store.Store, now time.Time) error {
	e := codec.NewEncoder(ClockVersion, 9)
	e.Time(now)
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer stop()
	return s.Update(ctx, func(tx store.Tx) error {
		last, err := ReadClock(ctx, tx)
		if err == nil && now.After(last) {
			tx.Put(ClockKey(), e.B)
		}
		return err
	})
}

// KeepClock records a clock at intervals, and when ctx ends.
func KeepClock(ctx context.Context, store store.Store, now func() time.Time, log *slog.Logger) {
	for {
		if err := WriteClock(ctx, store, now()); err != nil {
			log.Warn("recording the clock failed; will retry", "error", err)
		}
		if ctx.Err() != nil {
			return
		}
		Sleep(ctx, recordClock)
	}
}
