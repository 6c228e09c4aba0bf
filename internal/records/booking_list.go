package records

import (
	"context"
	"time"

	"github.com/traintravel/traintravel/internal/tz"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
)

// ListBookings lists the live bookings of a caller, newest first, and what was left out
// because it cannot be read.
func ListBookings(ctx context.Context, from store.Store, by rail.Caller, p rail.Page, now time.Time, zones *tz.Zones) (_ rail.List[rail.Booking], left Omissions, err error) {
	p, err = p.Normalize()
	if err != nil {
		return rail.List[rail.Booking]{}, nil, err
	}
	after, err := p.Cursor(rail.BookingList, 16)
	if err != nil {
		return rail.List[rail.Booking]{}, nil, err
	}
	skip := p.Skip()
	var found []rail.Booking
	err = from.View(ctx, func(r store.Reader) error {
		found, left = nil, nil
		listed, err := ReadOwned(ctx, r, by.Subject, after)
		for err == nil && len(found) <= skip+p.Limit {
			var keys []store.Key
			if keys, err = listed.Next(min(skip+p.Limit+1, 100)); err != nil || len(keys) == 0 {
				break
			}
			var values [][]byte
			if values, err = r.Get(ctx, keys...); err != nil {
				break
			}
			for i, v := range values {
				b, err := DecodeBooking(v, zones)
				if err != nil {
					left.Add(keys[i], err)
					continue
				}
				if b.OwnedBy(by) && b.Live(now) {
					found = append(found, b)
				}
			}
		}
		return err
	})
	if err != nil {
		return rail.List[rail.Booking]{}, left, err
	}
	return rail.Cut(rail.BookingList, found, skip, p.Limit, func(b rail.Booking) string { return string(b.ID[:]) }), left, nil
}
