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

// answer is what a request led to the first time.
type answer struct {
	booking uuid.UUID
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
	e.id(r.booking)
	e.id(r.payment)
	e.str(r.sealed)
	return e.b
}

func decodeRemembered(v []byte) (r remembered, err error) {
	d, version := newDecoder("idempotency", rememberedVersion, v)
	copy(r.mark[:], d.take(len(r.mark)))
	r.created, r.booking, r.payment = d.time(), d.id(), d.id()
	if version >= 2 {
		r.sealed = d.str()
	}
	return r, d.done()
}

// replay returns the first answer to a request that came before, or nil, and
// then has loaded the inventories of rides and made sure that their timetable
// is in force; all in one round trip.
func (l *ledger) replay(idem idempotency, sn *snapshot, rides []ride) (*answer, error) {
	keys := make([]Key, 0, 2+maxLegs)
	if !idem.none() {
		keys = append(keys, idem.key)
	}
	if len(rides) > 0 {
		keys = append(keys, currentKey)
	}
	for _, r := range rides {
		keys = append(keys, runKey(r.run()))
	}
	if len(keys) == 0 {
		return nil, nil
	}
	v, err := l.tx.Get(l.ctx, keys...)
	if err != nil {
		return nil, err
	}
	if !idem.none() {
		first, err := l.recall(idem, v[0])
		if first != nil || err != nil {
			return first, err
		}
		v = v[1:]
	}
	if len(rides) == 0 {
		return nil, nil
	}
	c, err := decodeCurrent(v[0])
	if err != nil {
		return nil, err
	}
	if c.generation != sn.generation {
		return nil, errStale
	}
	for _, r := range rides {
		l.runs = append(l.runs, &runEntry{id: r.run()})
	}
	return nil, l.decodeRuns(v[1:])
}

// recall reads what is remembered of a request, if it still counts.
func (l *ledger) recall(idem idempotency, v []byte) (*answer, error) {
	if v == nil {
		return nil, nil
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
	first := b.atCreation()
	first.Replayed = true
	l.bookings = nil // nothing to write
	return first, nil
}

// atCreation is the booking as CreateBooking returned it.
func (b *Booking) atCreation() Booking {
	first := *b
	first.Status, first.Changed, first.PinnedUntil = Held, first.Created, time.Time{}
	first.Confirmed, first.ByOperator, first.Refund = time.Time{}, false, Money{}
	first.LatestPayment, first.OpenPayment, first.PaidBy, first.PaymentCount = uuid.Nil, uuid.Nil, uuid.Nil, 0
	return first
}
