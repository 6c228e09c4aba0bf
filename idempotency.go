package traintravel

import (
	"crypto/hmac"
	"crypto/sha256"
	"hash"
	"time"

	"github.com/google/uuid"
)

// keyLife is how long an idempotency key is remembered.
const keyLife = 24 * time.Hour

// idempotency is a request that may have come before. The zero value is one
// that its caller did not mark.
type idempotency struct {
	key  Key
	mark [sha256.Size]byte // of the request's content
}

func (i idempotency) none() bool { return i.key == (Key{}) }

// idempotency binds a caller's key to the caller and to what is asked of which
// resource, and marks the content that write describes.
func (b *books) idempotency(by Caller, key, resource string, write func(*fingerprint)) (idempotency, error) {
	if key == "" {
		return idempotency{}, nil
	}
	if len(key) > 255 {
		return idempotency{}, invalid("Idempotency-Key", "has %d bytes, more than 255", len(key))
	}
	h := sha256.New()
	for _, part := range []string{by.Issuer, by.ID, by.Client, resource, key} {
		hashString(h, part)
	}
	f := fingerprint{h: hmac.New(sha256.New, b.terms.fingerprintKey)}
	write(&f)
	i := idempotency{key: Key{TableIdempotency, string(h.Sum(nil))}}
	f.h.Sum(i.mark[:0])
	return i, nil
}

// A fingerprint tells requests apart without keeping what they hold.
type fingerprint struct{ h hash.Hash }

func (f *fingerprint) str(s string)   { hashString(f.h, s) }
func (f *fingerprint) id(v uuid.UUID) { f.h.Write(v[:]) }

func (f *fingerprint) flags(flags ...bool) {
	e := encoder{}
	e.flags(flags...)
	f.h.Write(e.b)
}

func (f *fingerprint) money(m Money) {
	e := &encoder{}
	addMoney(e, m)
	f.h.Write(e.b)
}

// source marks all of a source but its code. Without a key of its own the
// fingerprint could be searched for the number, so it takes the masked one.
func (f *fingerprint) source(s Source, keyed bool) {
	if !keyed {
		s = s.Masked()
	}
	e := &encoder{}
	addSource(e, s)
	if s.Card != nil {
		e.str(s.Card.Address1)
		e.str(s.Card.Address2)
	}
	f.h.Write(e.b)
}

// answer is what a request led to the first time.
type answer struct {
	about   uuid.UUID // the booking or the subscription
	payment uuid.UUID // nil UUID unless it paid
	sealed  string    // a subscription and its secret, as told; empty before version 2
}

type remembered struct {
	answer
	mark    [sha256.Size]byte
	created time.Time
}

// expired says whether a request is not answered with it any more.
func (r *remembered) expired(now time.Time) bool { return !now.Before(r.created.Add(keyLife)) }

// Version 2 has what was told of a subscription.
const rememberedVersion = 2

func (r remembered) encode() []byte {
	e := newEncoder(rememberedVersion, 80+len(r.sealed))
	e.b = append(e.b, r.mark[:]...)
	e.time(r.created)
	e.id(r.about)
	e.id(r.payment)
	e.str(r.sealed)
	return e.b
}

func decodeRemembered(v []byte) (r remembered, err error) {
	d, version := newDecoder("idempotency", rememberedVersion, v)
	copy(r.mark[:], d.take(len(r.mark)))
	r.created, r.about, r.payment = d.time(), d.id(), d.id()
	if version >= 2 {
		r.sealed = d.str()
	}
	return r, d.done()
}

// recall returns the first answer to a request that came before and still counts, or nil.
func (l *ledger) recall(idem idempotency) (*answer, error) {
	if idem.none() {
		return nil, nil
	}
	v, err := l.get(idem.key)
	if err != nil || v == nil {
		return nil, err
	}
	r, err := decodeRemembered(v)
	switch {
	case err != nil:
		return nil, err
	case r.expired(l.now):
		return nil, nil
	case r.mark != idem.mark:
		return nil, ErrKeyReused
	}
	return &r.answer, nil
}

// remember keeps the answer to a request for as long as its key lives.
func (l *ledger) remember(idem idempotency, a answer) {
	if idem.none() {
		return
	}
	l.put(idem.key, remembered{answer: a, mark: idem.mark, created: l.now}.encode())
	l.put(agendaKey(keyForgotten, l.now.Add(keyLife), hashID("key", idem.key.ID)), []byte(idem.key.ID))
}

// firstAnswer is what CreateBooking answered when it made the booking.
func (l *ledger) firstAnswer(id uuid.UUID) (Booking, error) {
	b, err := l.booking(id)
	if err != nil {
		return Booking{}, damaged(err)
	}
	first := atCreation(b)
	first.Replayed = true
	return first, nil
}
