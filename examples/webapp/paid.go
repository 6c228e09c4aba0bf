package main

import (
	"fmt"
	"slices"
	"strings"
)

// A paidError is that something failed after bookings were paid: people must know that
// before all else.
type paidError struct {
	paid []link // to the bookings
	of   int    // bookings
	err  error
}

func (e *paidError) Error() string {
	return fmt.Sprintf("%d of %d bookings are paid, but then: %v", len(e.paid), e.of, e.err)
}

func (e *paidError) Unwrap() error { return e.err }

// rememberPaid keeps for a while that a session has paid a booking, for when the API cannot
// be asked.
func (s *site) rememberPaid(user *session, b stub) {
	name := b.PassengerName + ", " + b.Journey.From + " to " + b.Journey.To
	s.paid.put(user.name+b.ID, link{name, "/bookings/" + b.ID}, s.now())
}

// afterPaying adds to an error which of the bookings the session has paid.
func (s *site) afterPaying(user *session, ids []string, err error) error {
	if err == nil {
		return nil
	}
	ids = once(ids)
	e := &paidError{of: len(ids), err: err}
	for _, id := range ids[:min(len(ids), mostTogether)] {
		if booking, ok := s.paid.get(user.name+id, s.now()); ok {
			e.paid = append(e.paid, booking)
		}
	}
	if len(e.paid) == 0 {
		return err
	}
	return e
}

// fault says what was paid, and then what failed.
func (e *paidError) fault() fault {
	f := faultOf(e.err)
	why := strings.TrimSuffix(f.Title, ".") + "."
	if len(e.paid) < e.of {
		f.Title = "A part of your payment went through"
		// What is said of the others is not so of all.
		f.Text = fmt.Sprintf("%d of %d bookings are paid. The others: %s %s", len(e.paid), e.of, why, strings.ReplaceAll(f.Text, "Nothing was charged", "Nothing more was charged"))
	} else {
		f.Title = "Your payment went through"
		f.Text = "Everything is paid: please do not pay again. Only this page cannot be shown at the moment. " + why
	}
	f.Links = slices.Clone(e.paid)
	f.Link, f.Next = "/bookings", "My bookings"
	return f
}
