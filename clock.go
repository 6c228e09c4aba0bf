package traintravel

import (
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"
)

// clockKey names the record of the latest instant a supplied clock has shown.
var clockKey = Key{TableMeta, "clock"}

const (
	clockVersion = 1
	// recordClock is how often Run records a supplied clock.
	recordClock = time.Minute
)

// lastInstant is LastInstant.
func lastInstant(ctx context.Context, store Store) (last time.Time, err error) {
	err = store.View(ctx, func(r Reader) (err error) {
		if last, err = readClock(ctx, r); err != nil {
			return err
		}
		newest, err := r.List(ctx, Range{Table: TableBookings, Reverse: true, Limit: 1})
		if err != nil || len(newest) == 0 {
			return err
		}
		created := last
		if b, err := decodeBooking(newest[0].Value, &zones{}); err == nil {
			created = b.Created
		} else if id, err := uuid.FromBytes([]byte(newest[0].ID)); err == nil {
			created = timeOf(id).Add(time.Millisecond) // which the ID rounds down
		}
		if created.After(last) {
			last = created
		}
		return nil
	})
	return last, err
}

func readClock(ctx context.Context, r Reader) (last time.Time, err error) {
	v, err := r.Get(ctx, clockKey)
	if err != nil || v[0] == nil {
		return time.Time{}, err
	}
	d, _ := newDecoder("clock", clockVersion, v[0])
	last = d.time()
	return last, d.done()
}

// writeClock records what a clock shows, where no other service's was further on. It does
// so even if ctx has ended.
func writeClock(ctx context.Context, store Store, now time.Time) error {
	e := newEncoder(clockVersion, 9)
	e.time(now)
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer stop()
	return store.Update(ctx, func(tx Tx) error {
		last, err := readClock(ctx, tx)
		if err == nil && now.After(last) {
			tx.Put(clockKey, e.b)
		}
		return err
	})
}

// keepClock records a clock now and then, and when ctx ends.
func keepClock(ctx context.Context, store Store, now func() time.Time, log *slog.Logger) {
	for {
		if err := writeClock(ctx, store, now()); err != nil {
			log.Warn("the clock was not recorded", "error", err)
		}
		if ctx.Err() != nil {
			return
		}
		sleep(ctx, recordClock)
	}
}
