package ledger

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/codec"
	"github.com/traintravel/traintravel/internal/ids"
	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
)

// tooMany says whether as many attempts to pay for a booking were declined as may be,
// with one that is about to be written, if there is one.
func (l *Ledger) tooMany(b *rail.Booking, with *records.Payment) (bool, error) {
	limit := l.books.Terms.Declines.Booking
	if limit < 0 {
		return false, nil
	}
	n := 0
	if with != nil && with.Declined() {
		n++
	}
	if b.LatestPayment != uuid.Nil && n < limit {
		found, err := l.Tx.List(l.Ctx, records.PaymentsOf(b.ID))
		if err != nil {
			return false, err
		}
		for _, rec := range found {
			p, err := records.DecodePayment(rec.Value)
			if err == nil && p.Declined() && (with == nil || p.ID != with.ID) {
				n++
			}
		}
	}
	return n >= limit, nil
}

// overdrawn is why a booking whose hold has ended cannot be paid.
func (l *Ledger) overdrawn(b *rail.Booking) error {
	switch many, err := l.tooMany(b, nil); {
	case err != nil:
		return err
	case many:
		return rail.ErrTooManyDeclines
	}
	return rail.ErrHoldExpired
}

// A countOf names a count and its limit.
type countOf struct {
	Key   store.Key
	Card  bool
	limit int
}

const (
	CardCount = 'c'
	UserCount = 'u'
	CountSize = 1 + sha256.Size // of a key
)

// Counts are those that count an attempt.
func (b *Books) Counts(by rail.Subject, source rail.Source) (all []countOf) {
	if limit := b.Terms.Declines.Card; limit > 0 {
		h := hmac.New(sha256.New, b.Terms.CardKey)
		if a := source.Bank; a != nil {
			ids.HashString(h, "account")
			ids.HashString(h, a.SortCode)
			ids.HashString(h, string(a.Number))
		} else {
			ids.HashString(h, "card")
			ids.HashString(h, string(source.Card.Number))
		}
		all = append(all, countOf{store.Key{Table: store.TableIdempotency, ID: string(h.Sum([]byte{CardCount}))}, true, limit})
	}
	if limit := b.Terms.Declines.User; limit > 0 {
		h := sha256.New()
		ids.HashString(h, by.Issuer)
		ids.HashString(h, by.ID)
		all = append(all, countOf{store.Key{Table: store.TableIdempotency, ID: string(h.Sum([]byte{UserCount}))}, false, limit})
	}
	return all
}

// NewCardKey is the key under which card numbers are hashed.
func NewCardKey(fingerprint []byte) []byte {
	if fingerprint != nil {
		return fingerprint
	}
	b := make([]byte, 32)
	_, _ = rand.Read(b) // it never fails
	return b
}

// readCounts reads counts and, in the same round trip, what else is about to be read.
func (l *Ledger) readCounts(counts []countOf, others ...store.Key) ([]records.DeclineCount, error) {
	keys := make([]store.Key, 0, len(counts)+len(others))
	for _, of := range counts {
		keys = append(keys, of.Key)
	}
	for _, k := range others {
		if k != (store.Key{}) {
			keys = append(keys, k)
		}
	}
	if err := l.fetch(keys...); err != nil {
		return nil, err
	}
	read := make([]records.DeclineCount, len(counts))
	for i, of := range counts {
		v, err := l.get(of.Key)
		if err != nil {
			return nil, err
		}
		if v == nil {
			continue
		}
		c, err := records.DecodeCount(v)
		switch {
		case err == nil:
			read[i] = c
		case errors.Is(err, codec.ErrNewerData):
			return nil, err
		} // one that is damaged is no reason to refuse money: it begins anew
	}
	return read, nil
}

// UnderWay puts an attempt off: those under way could reach the limit.
type UnderWay struct{ countOf }

func (e *UnderWay) Error() string { return "the outcome of other attempts is not known yet" }

// count adds an attempt to its counts, or refuses it.
func (l *Ledger) count(p *records.Payment, counts []countOf, read []records.DeclineCount) error {
	for i, of := range counts {
		c := &read[i]
		declined, err := l.refreshCount(c)
		switch {
		case err != nil:
			return err
		case declined >= of.limit:
			return &rail.DeclinesError{Card: of.Card, RetryAfter: c.Wait(of.limit, l.Now)}
		case len(c.Attempts) >= of.limit:
			return &UnderWay{of}
		}
		c.Attempts = append(c.Attempts, records.Counted{Booking: p.Booking, Payment: p.ID, At: l.Now})
		if c.Forget.IsZero() {
			c.Forget = l.Now.Add(records.DeclineWindow)
			l.Put(c.AgendaKey(of.Key), []byte(of.Key.ID))
		}
		l.Put(of.Key, c.Encode())
	}
	return nil
}

// refreshCount leaves in a count the attempts of the last hour that were declined or are
// under way, and returns how many were declined.
func (l *Ledger) refreshCount(c *records.DeclineCount) (declined int, err error) {
	c.Prune(l.Now)
	if len(c.Attempts) == 0 {
		return 0, nil
	}
	keys := make([]store.Key, len(c.Attempts))
	for i, a := range c.Attempts {
		keys[i] = records.PaymentKey(a.Booking, a.Payment)
	}
	values, err := l.Tx.Get(l.Ctx, keys...)
	if err != nil {
		return 0, err
	}
	kept := c.Attempts[:0]
	for i, a := range c.Attempts {
		p, err := records.DecodePayment(values[i])
		switch {
		case values[i] == nil:
			continue
		case err != nil || p.Declined(): // one that cannot be read may have been
			declined++
		case !p.Undecided():
			continue
		}
		kept = append(kept, a)
	}
	c.Attempts = kept
	return declined, nil
}

// ForgetCount removes a count that has nothing in it any more.
func (b *Books) ForgetCount(ctx context.Context, it records.Item) error {
	key := store.Key{Table: store.TableIdempotency, ID: string(it.Value)}
	return b.Update(ctx, b.Now(), func(l *Ledger) error {
		v, err := l.Tx.Get(l.Ctx, it.Key, key)
		if err != nil || v[0] == nil { // somebody else did it
			return err
		}
		l.Delete(it.Key)
		if v[1] == nil {
			return nil
		}
		c, err := records.DecodeCount(v[1])
		if errors.Is(err, codec.ErrNewerData) {
			return err
		}
		if c.Prune(l.Now); err != nil || len(c.Attempts) == 0 {
			l.Delete(key)
			return nil
		}
		c.Forget = c.Attempts[len(c.Attempts)-1].At.Add(records.DeclineWindow)
		l.Put(c.AgendaKey(key), it.Value)
		l.Put(key, c.Encode())
		return nil
	})
}
