package traintravel

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/fold"
)

// history returns a booking and what was paid for it.
func (d *desk) history(ctx context.Context, id uuid.UUID) (BookingHistory, error) {
	var h BookingHistory
	var left omissions
	err := d.books.store.View(ctx, func(r Reader) (err error) {
		h = BookingHistory{}
		if h.Booking, err = d.books.booking(ctx, r, id); err != nil {
			return err
		}
		h.Payments, left, err = readPayments(ctx, r, id)
		return err
	})
	h.Unreadable = d.books.omit(ctx, left)
	return h, err
}

// lookUp looks for bookings by ID or by words of the passenger's name.
func (d *desk) lookUp(ctx context.Context, text string, limit int) (FoundBookings, error) {
	if id, err := uuid.Parse(text); err == nil {
		b, err := d.books.booking(ctx, d.books.store, id)
		if errors.Is(err, ErrNotFound) {
			return FoundBookings{}, nil
		}
		if err != nil {
			return FoundBookings{}, err
		}
		return FoundBookings{Bookings: []Booking{b}}, nil
	}
	words := fold.Words(fold.String(text))
	if len(words) == 0 {
		return FoundBookings{}, invalid("name", "has no letter and no digit")
	}
	var f FoundBookings
	left, err := eachOf(ctx, d.books.store, Range{Table: TableBookings, Reverse: true}, d.books.bookingOf, func(b Booking) bool {
		switch {
		case !named(b.PassengerName, words):
		case len(f.Bookings) == limit:
			f.More = true
		default:
			f.Bookings = append(f.Bookings, b)
		}
		return !f.More
	})
	f.Unreadable = d.books.omit(ctx, left)
	if err != nil {
		return FoundBookings{}, err
	}
	return f, nil
}

// named says whether each of the words begins a word of a name.
func named(name string, words []string) bool {
	own := fold.Words(fold.String(name))
	for _, w := range words {
		if !slices.ContainsFunc(own, func(o string) bool { return strings.HasPrefix(o, w) }) {
			return false
		}
	}
	return true
}
