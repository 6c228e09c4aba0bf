package traintravel

import (
	"context"
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

// LastInstant returns the latest instant of a service's clock that a store
// knows of, to the minute, or the zero time: a program that supplies
// Options.Now must not begin before it, lest what has happened be in the
// future.
func LastInstant(ctx context.Context, store Store) (last time.Time, err error) {
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

// keepClock records the service's clock now and then, and when ctx ends.
func (s *Service) keepClock(ctx context.Context) {
	for {
		if err := s.noteClock(ctx); err != nil {
			s.log.Warn("the clock was not recorded", "error", err)
		}
		if ctx.Err() != nil {
			return
		}
		sleep(ctx, recordClock)
	}
}

// noteClock records the service's clock, where no other service's was further on. It does so
// even if ctx has ended.
func (s *Service) noteClock(ctx context.Context) error {
	now := s.now()
	e := newEncoder(clockVersion, 9)
	e.time(now)
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer stop()
	return s.store.Update(ctx, func(tx Tx) error {
		last, err := readClock(ctx, tx)
		if err == nil && now.After(last) {
			tx.Put(clockKey, e.b)
		}
		return err
	})
}
