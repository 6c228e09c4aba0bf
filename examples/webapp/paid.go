package main

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
