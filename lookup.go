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
}

// BookingHistory returns anybody's booking, whatever its status, and what was paid
// for it. ErrNotFound: there is none.
func (s *Service) BookingHistory(ctx context.Context, id uuid.UUID) (BookingHistory, error) {
	var h BookingHistory
	err := s.store.View(ctx, func(r Reader) (err error) {
		h = BookingHistory{}
		if h.Booking, err = s.readBooking(ctx, r, id); err != nil {
			return err
		}
		h.Payments, err = readPayments(ctx, r, Range{From: string(id[:]), To: afterPayments(id)})
		return err
	})
	return h, err
}

// FindBookings looks for anybody's bookings, whatever their status, by ID or by
// words that the passenger's name begins words with: case and accents do not
// matter. The newest come first, at most limit of them, and more says that there
// are others. By name it looks through all bookings until it has found enough.
//
// It returns an [*InvalidError] for a text without a letter or digit.
func (s *Service) FindBookings(ctx context.Context, text string, limit int) (found []Booking, more bool, err error) {
	if id, err := uuid.Parse(text); err == nil {
		b, err := s.readBooking(ctx, s.store, id)
		if errors.Is(err, ErrNotFound) {
			return nil, false, nil
		}
		if err != nil {
			return nil, false, err
		}
		return []Booking{b}, false, nil
	}
	words := fold.Words(fold.String(text))
	if len(words) == 0 {
		return nil, false, invalid("name", "has no letter and no digit")
	}
	for to := ""; ; {
		records, err := s.store.List(ctx, Range{Table: TableBookings, To: to, Reverse: true, Limit: batch})
		if err != nil {
			return nil, false, err
		}
		for _, rec := range records {
			b, err := decodeBooking(rec.Value, &s.zones)
			if err != nil {
				return nil, false, err
			}
			if !named(b.PassengerName, words) {
				continue
			}
			if len(found) == limit {
				return found, true, nil
			}
			found = append(found, b)
		}
		if len(records) < batch {
			return found, false, nil
		}
		to = records[len(records)-1].ID
	}
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
