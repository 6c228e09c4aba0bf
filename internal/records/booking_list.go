package records

import (
	"context"
	"time"

	"github.com/traintravel/traintravel/internal/tz"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
)

// A Lister lists the bookings of a caller.
type Lister struct {
	Store store.Store
	By    rail.Caller
	Now   time.Time
	Zones *tz.Zones
}

// Bookings lists those that are Shown, newest first, and what was left out because it
// cannot be read.
func (l *Lister) Bookings(ctx context.Context, p rail.Page) (rail.List[rail.Booking], Omissions, error) {
	var left Omissions
	list, err := l.list(ctx, rail.BookingList, p, func(r store.Reader, after string, enough int) (found []rail.Booking, err error) {
		left = nil
		listed, err := readOwned(ctx, r, OwnerMark(l.By.Subject), after)
		if err != nil {
			return nil, err
		}
		return l.read(ctx, r, listed.Next, enough, (*rail.Booking).Shown, &left)
	})
	return list, left, err
}

// list reads a page of a list that begins after an ID.
func (l *Lister) list(ctx context.Context, kind rail.ListKind, p rail.Page, read func(r store.Reader, after string, enough int) ([]rail.Booking, error)) (_ rail.List[rail.Booking], err error) {
	p, err = p.Normalize()
	if err != nil {
		return rail.List[rail.Booking]{}, err
	}
	after, err := p.Cursor(kind, 16)
	if err != nil {
		return rail.List[rail.Booking]{}, err
	}
	skip := p.Skip()
	var found []rail.Booking
	err = l.Store.View(ctx, func(r store.Reader) error {
		found, err = read(r, after, skip+p.Limit+1)
		return err
	})
	if err != nil {
		return rail.List[rail.Booking]{}, err
	}
	return rail.Cut(kind, found, skip, p.Limit, func(b rail.Booking) string { return string(b.ID[:]) }), nil
}

// read reads bookings whose keys next returns, until it has enough of those that are wanted.
func (l *Lister) read(ctx context.Context, r store.Reader, next func(limit int) ([]store.Key, error), enough int, wanted func(*rail.Booking, time.Time) bool, left *Omissions) (found []rail.Booking, err error) {
	for len(found) < enough {
		keys, err := next(min(enough, 100))
		if err != nil || len(keys) == 0 {
			return found, err
		}
		values, err := r.Get(ctx, keys...)
		if err != nil {
			return found, err
		}
		for i, v := range values {
			b, err := DecodeBooking(v, l.Zones)
			if err != nil {
				left.Add(keys[i], err)
			} else if b.OwnedBy(l.By) && wanted(&b, l.Now) {
				found = append(found, b)
			}
		}
	}
	return found, nil
}
