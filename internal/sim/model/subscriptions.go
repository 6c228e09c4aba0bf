package model

import (
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/sim/world"
)

const (
	// inFlight is how long a post may take that had begun before a subscription changed.
	inFlight = 17 * time.Second
	// overlap is for how long a secret signs that was replaced.
	overlap = 24 * time.Hour
	// clocksOff is how long before a subscription an event may have happened that it gets all the
	// same: the clock of the server that wrote the event may be behind.
	clocksOff = 2*time.Minute + 10*time.Second
	// fannedOut is how long it may take until an event is given to the subscriptions: nobody
	// may do that for 60 hours.
	fannedOut = 96 * time.Hour
	// deadFor is how long dead deliveries are listed.
	deadFor = 30 * 24 * time.Hour
)

// Known reports whether a subscription was made for sure and not ended.
func (s *Subscription) Known() bool { return s.ID != uuid.Nil && s.ended == 0 }

// AddOperator tells the model of an endpoint of the operator's.
func (m *Model) AddOperator(s *Subscription, secrets ...traintravel.Secret) {
	s.Operator, s.verified, s.created = true, time.Now(), time.Now()
	for _, x := range secrets {
		s.secrets = append(s.secrets, secret{x, time.Now(), time.Now()})
	}
	m.subs[s.URL] = s
}

// Subscribing says that a request to subscribe begins.
func (m *Model) Subscribing(s *Subscription) {
	s.open++
	s.created = time.Now()
	m.subs[s.URL] = s
}

// Subscribed is its answer.
func (m *Model) Subscribed(told Told, s *Subscription, got traintravel.Subscription, key traintravel.Secret, err error) {
	if Unanswered(err) {
		return
	}
	s.open = 0
	if err != nil {
		m.Fail("A1", "a subscription was answered with %v", err)
		return
	}
	if s.ID != uuid.Nil && (got.ID != s.ID || s.secrets[0].Secret != key) {
		m.Fail("I1", "one key made subscriptions %s and %s, or two secrets", world.Short(s.ID), world.Short(got.ID))
	}
	if got.URL != s.URL || got.Owner != s.By.Subject || got.Client != s.By.Client || !slices.Equal(got.Events, s.Events) || got.Disabled || got.ByClient != s.By.ForItself || key == "" {
		m.Fail("A1", "a subscription to %s was answered with %+v", s.URL, got)
	}
	if s.ID == uuid.Nil {
		s.ID, s.created, s.changed = got.ID, got.Created, told.End
		s.secrets = []secret{{key, got.Created.Add(-2 * m.terms.Skew), told.End}}
	}
}

// Ending says that a subscription begins to be ended, and Ended is the answer.
func (m *Model) Ending(s *Subscription) { s.ended, s.changed = max(s.ended, perhaps), time.Now() }

// Ended is the answer to the end of a subscription.
func (m *Model) Ended(told Told, s *Subscription, err error) {
	switch {
	case err == nil, errors.Is(err, traintravel.ErrNotFound) && s.ended != 0:
		if s.ended != certain {
			s.ended, s.endedAt = certain, told.End
		}
	case !Unanswered(err):
		m.Fail("A1", "the end of the subscription to %s was answered with %v", s.URL, err)
	}
}

// Changing says that a subscription begins to be disabled or enabled, and Changed is the answer.
func (m *Model) Changing(s *Subscription) { s.off, s.changed = max(s.off, perhaps), time.Now() }

// Changed is the answer to the change of a subscription.
func (m *Model) Changed(told Told, s *Subscription, off bool, got traintravel.Subscription, err error) {
	s.changed = told.End
	switch {
	case err == nil:
		if s.off = 0; off {
			s.off, s.offAt = certain, told.End
		}
		if got.Disabled != off || got.ID != s.ID {
			m.Fail("A1", "the subscription to %s was changed to %+v", s.URL, got)
		}
	default:
		m.HookAnswer(s, err, "the change of")
	}
}

// HookAnswer checks an error about a subscription.
func (m *Model) HookAnswer(s *Subscription, err error, what string) {
	if err == nil || Unanswered(err) || errors.Is(err, traintravel.ErrNotFound) && s.ended != 0 {
		return
	}
	m.Fail("A1", "%s the subscription to %s was answered with %v", what, s.URL, err)
}

// Renewing says that a new secret is asked for, and Renewed is the answer.
func (m *Model) Renewing(s *Subscription) { s.unsure = true }

// Renewed is the answer to the wish for a new secret.
func (m *Model) Renewed(told Told, s *Subscription, key traintravel.Secret, err error) {
	if err != nil {
		m.HookAnswer(s, err, "a new secret for")
		return
	}
	if slices.ContainsFunc(s.secrets, func(x secret) bool { return x.Secret == key }) {
		m.Fail("I2", "the subscription to %s got a secret anew that it had", s.URL)
	}
	s.secrets, s.unsure = append(s.secrets, secret{key, told.Begin, told.End}), false
}

// Posted checks a post to an endpoint.
func (m *Model) Posted(p world.Post) {
	s := m.subs[p.URL]
	if s == nil || p.Operator != s.Operator {
		m.Fail("E1", "%s was posted to %s, to which nobody subscribed", p.Event.Type, p.URL)
		return
	}
	if s.ended == certain && p.At.After(s.endedAt.Add(inFlight)) {
		m.Fail("E1", "%s was posted to %s, %v after its subscription was ended", p.Event.Type, s.URL, p.At.Sub(s.endedAt))
	}
	m.signed(s, p)
	if p.Event.Type == traintravel.Ping {
		if p.Status/100 == 2 && s.verified.IsZero() {
			s.verified = p.At
		}
		return
	}
	m.postedEvent(s, p)
}

func (m *Model) postedEvent(s *Subscription, p world.Post) {
	e := p.Event
	switch {
	case s.off == certain && p.At.After(s.offAt.Add(inFlight)):
		m.Fail("E1", "%s was posted to %s, %v after that was disabled", e.Type, s.URL, p.At.Sub(s.offAt))
	case s.verified.IsZero():
		m.Fail("E1", "%s was posted to %s, which has not answered a ping", e.Type, s.URL)
	case !slices.Contains(s.Events, e.Type):
		m.Fail("E1", "%s was posted to %s, which wants %v", e.Type, s.URL, s.Events)
	case e.Created.Add(clocksOff + 2*m.terms.Skew).Before(s.created):
		m.Fail("E1", "%s of booking %s was posted to %s, and happened %v before that subscribed", e.Type, world.Short(e.Booking.ID), s.URL, s.created.Sub(e.Created))
	}
	if s.trusted.IsZero() {
		s.trusted = p.At
	}
	about := eventKey{e.Type, e.Booking.ID, uuid.Nil}
	if e.Type == traintravel.PaymentFailed && e.Payment != nil {
		about.payment = e.Payment.ID
	}
	if id, known := m.eventIDs[about]; known && id != e.ID {
		m.Fail("E1", "%s of booking %s was posted as event %s and as %s", e.Type, world.Short(e.Booking.ID), world.Short(id), world.Short(e.ID))
	}
	m.eventIDs[about] = e.ID
	b := m.bookings[e.Booking.ID]
	if b == nil {
		if m.lost == 0 {
			m.Fail("E1", "%s of booking %s was posted to %s, which nobody made", e.Type, world.Short(e.Booking.ID), s.URL)
		}
		return
	}
	if !s.concerns(b, e.Booking.Client) {
		m.Fail("E1", "%s of booking %s of %s through %q was posted to %s of %+v", e.Type, world.Short(b.ID), b.Owner, e.Booking.Client, s.URL, s.By)
	}
	m.payload(b, e)
}

// concerns reports whether events of a booking are for a subscription.
func (s *Subscription) concerns(b *Booking, client string) bool {
	switch {
	case s.Operator:
		return true
	case s.By.ForItself:
		return client == s.By.Client
	}
	return b.Owner == s.By.ID
}

// signed checks which secrets sign a post: the newest, and the one before for a day.
func (m *Model) signed(s *Subscription, p world.Post) {
	if s.unsure || s.ID == uuid.Nil && !s.Operator {
		return
	}
	if s.Operator {
		if !slices.EqualFunc(p.Secrets, s.secrets, func(a traintravel.Secret, b secret) bool { return a == b.Secret }) {
			m.Fail("E1", "%s was signed for %s by %d secrets, not by those of the options", p.Event.Type, s.URL, len(p.Secrets))
		}
		return
	}
	for i, x := range s.secrets {
		replaced := i+1 < len(s.secrets) && s.secrets[i+1].known.Before(p.At.Add(-inFlight))
		if x.from.After(p.At) || replaced || p.Secrets[0] != x.Secret {
			continue
		}
		before := i > 0 && len(p.Secrets) == 2 && p.Secrets[1] == s.secrets[i-1].Secret
		age := p.At.Sub(x.from)
		switch {
		case i > 0 && age > overlap+2*m.terms.Skew+inFlight && before:
			m.Fail("E1", "%s was signed for %s by a secret that was replaced %v before", p.Event.Type, s.URL, age)
		case i > 0 && p.At.Sub(x.known) < overlap-2*m.terms.Skew && !before, !before && len(p.Secrets) > 1:
			m.Fail("E1", "%s was signed for %s by %d secrets, and the newest is %v old", p.Event.Type, s.URL, len(p.Secrets), age)
		}
		return
	}
	m.Fail("E1", "%s was signed for %s by none of the secrets that were current", p.Event.Type, s.URL)
}

// ReadSubscription is the answer to a question for a subscription.
func (m *Model) ReadSubscription(told Told, s *Subscription, got traintravel.Subscription, shut bool, err error) {
	if err != nil {
		m.HookAnswer(s, err, "a question for")
		return
	}
	if s.ended == certain || got.URL != s.URL || got.Disabled && s.off == 0 && !shut || !got.Disabled && s.off == certain {
		m.Fail("A1", "the subscription to %s is shown as %+v", s.URL, got)
	}
	if got.Unverified.IsZero() && s.trusted.IsZero() {
		s.trusted = told.End
		if s.verified.IsZero() {
			m.Fail("A1", "the subscription to %s is shown as verified, and its receiver has not answered a ping", s.URL)
		}
	}
}

// Delivered is the answer to a question for the deliveries of a subscription, of all pages.
func (m *Model) Delivered(told Told, s *Subscription, got []traintravel.Delivery, has func(uuid.UUID) bool, err error) {
	if err != nil {
		m.HookAnswer(s, err, "a question for the deliveries of")
		return
	}
	seen := map[uuid.UUID]bool{}
	for i, d := range got {
		if seen[d.ID] || d.Subscription != s.ID && !s.Operator {
			m.Fail("O1", "the deliveries to %s have %s of subscription %s, twice: %v", s.URL, world.Short(d.ID), world.Short(d.Subscription), seen[d.ID])
		}
		if seen[d.ID] = true; i > 0 && got[i-1].Created.Add(2*m.terms.Skew+time.Millisecond).Before(d.Created) {
			m.Fail("O1", "the deliveries to %s are out of order at %s", s.URL, world.Short(d.ID))
		}
		if d.Status == traintravel.DeliveryDelivered && !has(d.Event) {
			m.Fail("E1", "%s was delivered to %s, as is said, and did not come there", d.Type, s.URL)
		}
		if d.Status == traintravel.DeliveryPending && s.off == certain && d.Type != traintravel.Ping && told.Begin.After(s.offAt.Add(fannedOut)) {
			m.Fail("E1", "%s still waits for %s, which was disabled %v ago", d.Type, s.URL, told.Begin.Sub(s.offAt))
		}
	}
}

// Retried is the answer to the wish to post a delivery again.
func (m *Model) Retried(s *Subscription, was, got traintravel.Delivery, shut bool, err error) {
	switch {
	case err == nil:
		if got.Status != traintravel.DeliveryPending && !got.Replayed || was.Status == traintravel.DeliveryDelivered {
			m.Fail("A1", "a delivery to %s that was %s was tried again, and is %s", s.URL, was.Status, got.Status)
		}
	case errors.Is(err, traintravel.ErrDelivered):
		if was.Status == traintravel.DeliveryDead {
			m.Fail("A1", "a dead delivery to %s was refused as delivered", s.URL)
		}
	case errors.Is(err, traintravel.ErrDisabled):
		if s.off == 0 && !shut {
			m.Fail("A1", "a delivery to %s was refused as disabled", s.URL)
		}
	case errors.Is(err, traintravel.ErrUnverified):
		if !s.trusted.IsZero() {
			m.Fail("A1", "a delivery to %s was refused as not verified", s.URL)
		}
	case errors.Is(err, traintravel.ErrNotFound): // or its booking was removed
		if was.Dead != traintravel.DeadByRemoval && s.ended == 0 && was.Type == traintravel.Ping {
			m.Fail("A1", "a ping to %s was not found", s.URL)
		}
	default:
		m.HookAnswer(s, err, "a retry to")
	}
}

// SettledSubscription checks what a receiver has in the end, against the events that the
// Notifier has: all that it is entitled to, unless the delivery is listed as dead.
func (m *Model) SettledSubscription(s *Subscription, shut time.Time, events []world.Received, has map[uuid.UUID]bool, listed []traintravel.Delivery) {
	const waits = "waits" // for its next try
	of := map[uuid.UUID]traintravel.Delivery{}
	now, dead := time.Now(), map[uuid.UUID]traintravel.DeliveryStatus{}
	for _, d := range listed {
		of[d.Event] = d
		if dead[d.Event] = d.Status; d.Status == traintravel.DeliveryPending && d.Next.After(now.Add(-time.Hour)) {
			dead[d.Event] = waits
		}
	}
	for _, r := range events {
		e := r.Event
		b := m.bookings[e.Booking.ID]
		if b == nil || has[e.ID] || !slices.Contains(s.Events, e.Type) || !s.concerns(b, e.Booking.Client) || !m.entitled(s, e.Created, shut) {
			continue
		}
		if !s.Operator && m.mayBeErased(b, e.Created) { // nobody knows any more whose booking it was
			continue
		}
		switch status := dead[e.ID]; {
		case status == traintravel.DeliveryDead, status == waits:
		case status == "" && now.Sub(e.Created) > deadFor-48*time.Hour:
		default:
			m.Fail("E1", "%s of booking %s of %v did not come to %s, and the delivery is %q: %+v", e.Type, world.Short(b.ID), e.Created, s.URL, status, of[e.ID])
		}
	}
}

// entitled reports whether a subscription was entitled for sure to events of an instant.
func (m *Model) entitled(s *Subscription, at time.Time, shut time.Time) bool {
	switch {
	case s.Operator:
		return true
	case !s.Known() || s.off != 0 || at.Before(s.changed.Add(2*m.terms.Skew)):
		return false
	case !shut.IsZero() && shut.Before(at.Add(fannedOut)):
		return false
	}
	return !s.trusted.IsZero() && !at.Before(s.trusted)
}

// RefusedHook checks the answer to a stranger's question for a subscription.
func (m *Model) RefusedHook(s *Subscription, err error) {
	if !errors.Is(err, traintravel.ErrNotFound) && !Unanswered(err) {
		m.Fail("O1", "a stranger's question for the subscription to %s was answered with %v", s.URL, err)
	}
}

// EndingAll says that the operator begins to erase a user, whose subscriptions end, and EndedAll
// is the answer.
func (m *Model) EndingAll(owner string) {
	for _, s := range m.subs {
		if s.By.ID == owner && s.ended == 0 {
			m.Ending(s)
		}
	}
}

// EndedAll is the answer to a user's erasure.
func (m *Model) EndedAll(told Told, owner string, err error) {
	for _, s := range m.subs {
		if s.By.ID == owner && s.ended != certain && err == nil {
			s.ended, s.endedAt = certain, told.End
		}
	}
}
