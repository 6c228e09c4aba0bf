package traintravel

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"time"

	"github.com/google/uuid"
)

// Declined payments are bounded, because whoever has stolen card numbers tries them out
// by paying small sums. A booking has a number of declined attempts for all its life; a
// card or account, and a user, have a number for each hour.
//
// A declineCount lists the latest attempts with one card or of one user. It does not say
// what became of them: their records do. So an attempt is added before the gateway is
// asked, and nothing has to be written here when its outcome is known. Attempts that run
// at the same time count, and cannot pass the limit together: those that could wait for
// their turn.

// DeclineLimits bounds declined attempts to pay. An attempt that did not reach the
// gateway does not count; one whose outcome is not known yet does. In each field, zero is
// the default and a number below zero is no limit; more than 1000 is refused. Attempts
// that could pass a limit together are made one after another.
type DeclineLimits struct {
	// Booking is how many attempts to pay for one booking may be declined. The last of
	// them ends the hold; later attempts are refused with ErrTooManyDeclines. Zero is 5.
	Booking int

	// Card is how many attempts with one card, or from one bank account, may be declined
	// within an hour. More are refused with a [*DeclinesError]. Zero is 20.
	//
	// Cards are told apart by a keyed hash of their number, kept for two hours at most.
	// Its key is Options.FingerprintKey. Without that each Service makes a key of its own
	// in memory: then services that share a store do not see each other's counts, and a
	// restart forgets them.
	Card int

	// User is the same for each user, whatever the card. Zero is 50. A program that pays
	// for many travellers as one user may need more.
	User int
}

// A DeclinesError refuses an attempt to pay because too many were declined within an
// hour. Nothing was charged.
type DeclinesError struct {
	// Card says that the limit is that of the card or account, and not of the user.
	Card bool
	// RetryAfter is how long it takes until another attempt is allowed, above zero.
	RetryAfter time.Duration
}

// Error says whose limit was reached.
func (e *DeclinesError) Error() string {
	if e.Card {
		return "too many payments with this card or account were declined within an hour"
	}
	return "too many payments of this user were declined within an hour"
}

// maxDeclines is what a count can hold.
const maxDeclines = 1000

// check fills in the defaults.
func (d *DeclineLimits) check() error {
	for _, l := range []struct {
		name  string
		value *int
		zero  int
	}{{"Booking", &d.Booking, 5}, {"Card", &d.Card, 20}, {"User", &d.User, 50}} {
		if *l.value > maxDeclines {
			return invalid("Options.Declines."+l.name, "%d is more than %d: a number below zero is no limit", *l.value, maxDeclines)
		}
		if *l.value == 0 {
			*l.value = l.zero
		}
	}
	return nil
}

// The failures of attempts of which the gateway has seen nothing: there was no time left to
// ask it, or it never heard of the charge.
var (
	notAttempted = Failure{ProcessingError, "The payment was not attempted in time. Try again."}
	neverArrived = Failure{ProcessingError, "The payment did not reach the bank. Nothing was charged."}
)

// declined says whether the payment is an attempt that was declined, and not one that no
// gateway has seen.
func (p *Payment) declined() bool {
	return p.RefundOf == uuid.Nil && p.Status == Failed && p.Failure != notAttempted && p.Failure != neverArrived
}

// tooMany says whether as many attempts to pay for a booking were declined as may be,
// with one that is about to be written, if there is one.
func (l *ledger) tooMany(b *Booking, with *payment) (bool, error) {
	limit := l.books.terms.declines.Booking
	if limit < 0 {
		return false, nil
	}
	n := 0
	if with != nil && with.declined() {
		n++
	}
	if b.LatestPayment != uuid.Nil && n < limit {
		records, err := l.tx.List(l.ctx, paymentsOf(b.ID))
		if err != nil {
			return false, err
		}
		for _, rec := range records {
			p, err := decodePayment(rec.Value)
			if err == nil && p.declined() && (with == nil || p.ID != with.ID) {
				n++
			}
		}
	}
	return n >= limit, nil
}

// overdrawn is why a booking whose hold has ended cannot be paid.
func (l *ledger) overdrawn(b *Booking) error {
	switch many, err := l.tooMany(b, nil); {
	case err != nil:
		return err
	case many:
		return ErrTooManyDeclines
	}
	return ErrHoldExpired
}

// A countOf names a count and its limit.
type countOf struct {
	key   Key
	card  bool
	limit int
}

const (
	cardCount = 'c'
	userCount = 'u'
	countSize = 1 + sha256.Size // of a key
)

// counts are those that count an attempt.
func (b *books) counts(by Subject, source Source) (all []countOf) {
	if limit := b.terms.declines.Card; limit > 0 {
		h := hmac.New(sha256.New, b.terms.cardKey)
		if a := source.Bank; a != nil {
			hashString(h, "account")
			hashString(h, a.SortCode)
			hashString(h, string(a.Number))
		} else {
			hashString(h, "card")
			hashString(h, string(source.Card.Number))
		}
		all = append(all, countOf{Key{TableIdempotency, string(h.Sum([]byte{cardCount}))}, true, limit})
	}
	if limit := b.terms.declines.User; limit > 0 {
		h := sha256.New()
		hashString(h, by.Issuer)
		hashString(h, by.ID)
		all = append(all, countOf{Key{TableIdempotency, string(h.Sum([]byte{userCount}))}, false, limit})
	}
	return all
}

// newCardKey is the key under which card numbers are hashed.
func newCardKey(fingerprint []byte) []byte {
	if fingerprint != nil {
		return fingerprint
	}
	b := make([]byte, 32)
	_, _ = rand.Read(b) // it never fails
	return b
}

// readCounts reads counts and, in the same round trip, what else is about to be read.
func (l *ledger) readCounts(counts []countOf, others ...Key) ([]declineCount, error) {
	keys := make([]Key, 0, len(counts)+len(others))
	for _, of := range counts {
		keys = append(keys, of.key)
	}
	for _, k := range others {
		if k != (Key{}) {
			keys = append(keys, k)
		}
	}
	if err := l.fetch(keys...); err != nil {
		return nil, err
	}
	read := make([]declineCount, len(counts))
	for i, of := range counts {
		v, err := l.get(of.key)
		if err != nil {
			return nil, err
		}
		if v == nil {
			continue
		}
		c, err := decodeCount(v)
		switch {
		case err == nil:
			read[i] = c
		case errors.Is(err, ErrNewerData):
			return nil, err
		} // one that is damaged is no reason to refuse money: it begins anew
	}
	return read, nil
}

// underWay puts an attempt off: those under way could reach the limit.
type underWay struct{ countOf }

func (e *underWay) Error() string { return "the outcome of other attempts is not known yet" }

// count adds an attempt to its counts, or refuses it.
func (l *ledger) count(p *payment, counts []countOf, read []declineCount) error {
	for i, of := range counts {
		c := &read[i]
		declined, err := l.refreshCount(c)
		switch {
		case err != nil:
			return err
		case declined >= of.limit:
			return &DeclinesError{Card: of.card, RetryAfter: c.wait(of.limit, l.now)}
		case len(c.attempts) >= of.limit:
			return &underWay{of}
		}
		c.attempts = append(c.attempts, counted{p.Booking, p.ID, l.now})
		if c.forget.IsZero() {
			c.forget = l.now.Add(declineWindow)
			l.put(c.agendaKey(of.key), []byte(of.key.ID))
		}
		l.put(of.key, c.encode())
	}
	return nil
}

// refreshCount leaves in a count the attempts of the last hour that were declined or are
// under way, and returns how many were declined.
func (l *ledger) refreshCount(c *declineCount) (declined int, err error) {
	c.prune(l.now)
	if len(c.attempts) == 0 {
		return 0, nil
	}
	keys := make([]Key, len(c.attempts))
	for i, a := range c.attempts {
		keys[i] = paymentKey(a.booking, a.payment)
	}
	values, err := l.tx.Get(l.ctx, keys...)
	if err != nil {
		return 0, err
	}
	kept := c.attempts[:0]
	for i, a := range c.attempts {
		p, err := decodePayment(values[i])
		switch {
		case values[i] == nil:
			continue
		case err != nil || p.declined(): // one that cannot be read may have been
			declined++
		case !p.undecided():
			continue
		}
		kept = append(kept, a)
	}
	c.attempts = kept
	return declined, nil
}

// forgetCount removes a count that has nothing in it any more.
func (b *books) forgetCount(ctx context.Context, it item) error {
	key := Key{TableIdempotency, string(it.value)}
	return b.update(ctx, b.now(), func(l *ledger) error {
		v, err := l.tx.Get(l.ctx, it.key, key)
		if err != nil || v[0] == nil { // somebody else did it
			return err
		}
		l.delete(it.key)
		if v[1] == nil {
			return nil
		}
		c, err := decodeCount(v[1])
		if errors.Is(err, ErrNewerData) {
			return err
		}
		if c.prune(l.now); err != nil || len(c.attempts) == 0 {
			l.delete(key)
			return nil
		}
		c.forget = c.attempts[len(c.attempts)-1].at.Add(declineWindow)
		l.put(c.agendaKey(key), it.value)
		l.put(key, c.encode())
		return nil
	})
}
