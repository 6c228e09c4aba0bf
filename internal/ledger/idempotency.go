package ledger

import (
	"crypto/hmac"
	"crypto/sha256"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/ids"
	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
)

// Idempotency binds a caller's key to the caller, the operation and the resource, and to a
// fingerprint of the content that write describes.
func (b *Books) Idempotency(by rail.Caller, key, resource string, write func(*records.Fingerprint)) (records.Idempotency, error) {
	if key == "" {
		return records.Idempotency{}, nil
	}
	if len(key) > 255 {
		return records.Idempotency{}, rail.Invalid("Idempotency-Key", "has %d bytes, more than 255", len(key))
	}
	h := sha256.New()
	for _, part := range []string{by.Issuer, by.ID, by.Client, resource, key} {
		ids.HashString(h, part)
	}
	f := records.Fingerprint{H: hmac.New(sha256.New, b.Terms.FingerprintKey)}
	write(&f)
	i := records.Idempotency{Key: store.Key{Table: store.TableIdempotency, ID: string(h.Sum(nil))}}
	f.H.Sum(i.Mark[:0])
	return i, nil
}

// Recall returns the first response to an earlier request with the same key, or nil if none is
// remembered.
func (l *Ledger) Recall(idem records.Idempotency) (*records.Answer, error) {
	if idem.None() {
		return nil, nil
	}
	v, err := l.get(idem.Key)
	if err != nil || v == nil {
		return nil, err
	}
	r, err := records.DecodeRemembered(v)
	switch {
	case err != nil:
		return nil, err
	case r.Expired(l.Now):
		return nil, nil
	case r.Mark != idem.Mark:
		return nil, rail.ErrKeyReused
	}
	return &r.Answer, nil
}

// Remember keeps the response to a request for the lifetime of its key.
func (l *Ledger) Remember(idem records.Idempotency, a records.Answer) {
	if idem.None() {
		return
	}
	l.Put(idem.Key, records.Remembered{Answer: a, Mark: idem.Mark, Created: l.Now}.Encode())
	l.Put(records.AgendaKey(records.KeyForgotten, l.Now.Add(records.KeyLife), ids.HashID("key", idem.Key.ID)), []byte(idem.Key.ID))
}

// firstAnswer returns the booking as CreateBooking first returned it.
func (l *Ledger) firstAnswer(id uuid.UUID) (rail.Booking, error) {
	b, err := l.Booking(id)
	if err != nil {
		return rail.Booking{}, records.Damaged(err)
	}
	first := atCreation(b)
	first.Replayed = true
	return first, nil
}
