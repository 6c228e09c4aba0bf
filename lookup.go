package traintravel

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/fold"
)

// A BookingHistory is all that is known of a booking.
type BookingHistory struct {
	Booking Booking
	// Payments are attempts and refunds, the oldest first.
	Payments []Payment
	// Unreadable is how many of its payments could not be read. [Check] names them.
	Unreadable int
}

// BookingHistory returns anybody's booking, whatever its status, and what was paid
// for it. ErrNotFound: there is none.
func (s *Service) BookingHistory(ctx context.Context, id uuid.UUID) (BookingHistory, error) {
	var h BookingHistory
	var left omissions
	err := s.store.View(ctx, func(r Reader) (err error) {
		h = BookingHistory{}
		if h.Booking, err = s.books.booking(ctx, r, id); err != nil {
			return err
		}
		h.Payments, left, err = readPayments(ctx, r, id)
		return err
	})
	h.Unreadable = s.books.omit(ctx, left)
	return h, err
}

// FoundBookings is what [Service.LookUpBookings] has found.
type FoundBookings struct {
	Bookings []Booking // the newest first
	More     bool      // there are others
	// Unreadable is how many bookings could not be read, and so may be of that name.
	// [Check] names them.
	Unreadable int
}

// FindBookings is [Service.LookUpBookings] without the number of bookings that could
// not be read.
func (s *Service) FindBookings(ctx context.Context, text string, limit int) (found []Booking, more bool, err error) {
	f, err := s.LookUpBookings(ctx, text, limit)
	return f.Bookings, f.More, err
}

// LookUpBookings looks for anybody's bookings, whatever their status, by ID or by
// words that the passenger's name begins words with: case and accents do not
// matter. The newest come first, at most limit of them. By name it looks through all
// bookings until it has found enough.
//
// It returns an [*InvalidError] for a text without a letter or digit.
func (s *Service) LookUpBookings(ctx context.Context, text string, limit int) (FoundBookings, error) {
	if id, err := uuid.Parse(text); err == nil {
		b, err := s.books.booking(ctx, s.store, id)
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
	left, err := eachOf(ctx, s.store, Range{Table: TableBookings, Reverse: true}, s.books.bookingOf, func(b Booking) bool {
		switch {
		case !named(b.PassengerName, words):
		case len(f.Bookings) == limit:
			f.More = true
		default:
			f.Bookings = append(f.Bookings, b)
		}
		return !f.More
	})
	f.Unreadable = s.books.omit(ctx, left)
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
