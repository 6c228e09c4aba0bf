package desk

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/codec"
	"github.com/traintravel/traintravel/internal/fold"
	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
)

// History returns a booking and its payments.
func (d *Desk) History(ctx context.Context, id uuid.UUID) (rail.BookingHistory, error) {
	var h rail.BookingHistory
	var left records.Omissions
	err := d.Books.Store.View(ctx, func(r store.Reader) (err error) {
		h = rail.BookingHistory{}
		if h.Booking, err = d.Books.Booking(ctx, r, id); err != nil {
			return err
		}
		h.Payments, left, err = records.ReadPayments(ctx, r, id)
		return err
	})
	h.Unreadable = d.Books.Omit(ctx, left)
	return h, err
}

// LookUp finds bookings by ID, by reference, or by words of the passenger's name.
func (d *Desk) LookUp(ctx context.Context, text string, limit int) (rail.FoundBookings, error) {
	if id, err := uuid.Parse(text); err == nil {
		b, err := d.Books.Booking(ctx, d.Books.Store, id)
		if errors.Is(err, rail.ErrNotFound) {
			return rail.FoundBookings{}, nil
		}
		if err != nil {
			return rail.FoundBookings{}, err
		}
		return rail.FoundBookings{Bookings: []rail.Booking{b}}, nil
	}
	if b, err := d.referred(ctx, text); err != nil || b != nil {
		return rail.FoundBookings{Bookings: b}, err
	}
	words := fold.Words(fold.String(text))
	if len(words) == 0 {
		return rail.FoundBookings{}, rail.Invalid("name", "has neither a letter nor a digit")
	}
	end := idEnd(text)
	var f rail.FoundBookings
	left, err := records.EachOf(ctx, d.Books.Store, store.Range{Table: store.TableBookings, Reverse: true}, d.Books.BookingOf, func(b rail.Booking) bool {
		switch {
		case !named(b.PassengerName, words) && (end == "" || !strings.HasSuffix(b.ID.String(), end)):
		case len(f.Bookings) == limit:
			f.More = true
		default:
			f.Bookings = append(f.Bookings, b)
		}
		return !f.More
	})
	f.Unreadable = d.Books.Omit(ctx, left)
	if err != nil {
		return rail.FoundBookings{}, err
	}
	return f, nil
}

// idEnd returns the text as the end of a booking's ID, empty if it is not one. Tickets show
// this of bookings without a reference.
func idEnd(text string) string {
	text = strings.ToLower(text)
	if len(text) != 17 {
		return ""
	}
	if _, err := uuid.Parse("00000000-0000-0000-" + text); err != nil {
		return ""
	}
	return text
}

// referred returns the booking of a reference: none if it does not exist, or the text is not a
// reference.
func (d *Desk) referred(ctx context.Context, text string) (found []rail.Booking, err error) {
	ref, ok := rail.ParseReference(text)
	if !ok {
		return nil, nil
	}
	err = d.Books.Store.View(ctx, func(r store.Reader) error {
		found = nil
		v, err := r.Get(ctx, records.ReferenceKey(ref))
		if err != nil || v[0] == nil {
			return err
		}
		id, err := uuid.FromBytes(v[0])
		if err != nil {
			return fmt.Errorf("the record of reference %s: %w", ref, codec.ErrDamaged)
		}
		b, err := d.Books.Booking(ctx, r, id)
		if errors.Is(err, rail.ErrNotFound) {
			return nil
		}
		found = []rail.Booking{b}
		return err
	})
	if err != nil {
		return nil, err
	}
	return found, nil
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
