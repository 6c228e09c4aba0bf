package records

import (
	"crypto/sha256"
	"hash"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/codec"
	"github.com/traintravel/traintravel/internal/ids"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
)

// KeyLife is how long an idempotency key is remembered.
const KeyLife = 24 * time.Hour

// Idempotency is a request that may have come before. The zero value is one
// that its caller did not mark.
type Idempotency struct {
	Key  store.Key
	Mark [sha256.Size]byte // of the request's content
}

// None says whether the caller did not mark the request.
func (i Idempotency) None() bool { return i.Key == (store.Key{}) }

// A Fingerprint tells requests apart without keeping what they hold.
type Fingerprint struct{ H hash.Hash }

func (f *Fingerprint) Str(s string)   { ids.HashString(f.H, s) }
func (f *Fingerprint) ID(v uuid.UUID) { f.H.Write(v[:]) }

// Flags adds up to eight flags.
func (f *Fingerprint) Flags(flags ...bool) {
	e := codec.Encoder{}
	e.Flags(flags...)
	f.H.Write(e.B)
}

// Money adds an amount of a currency.
func (f *Fingerprint) Money(m rail.Money) {
	e := &codec.Encoder{}
	addMoney(e, m)
	f.H.Write(e.B)
}

// Source marks all of a source but its code. Without a key of its own the
// fingerprint could be searched for the number, so it takes the masked one.
func (f *Fingerprint) Source(s rail.Source, keyed bool) {
	if !keyed {
		s = s.Masked()
	}
	e := &codec.Encoder{}
	addSource(e, s)
	if s.Card != nil {
		e.Str(s.Card.Address1)
		e.Str(s.Card.Address2)
	}
	f.H.Write(e.B)
}

// Answer is what a request led to the first time.
type Answer struct {
	About   uuid.UUID // the booking or the subscription
	Payment uuid.UUID // nil UUID unless it paid
	Sealed  string    // a subscription and its secret, as told; empty before version 2
}

// Remembered is the record of a request that was answered.
type Remembered struct {
	Answer
	Mark    [sha256.Size]byte
	Created time.Time
}

// Expired says whether a request is not answered with it any more.
func (r *Remembered) Expired(now time.Time) bool { return !now.Before(r.Created.Add(KeyLife)) }

// Version 2 has what was told of a subscription.
const rememberedVersion = 2

// Encode returns the record.
func (r Remembered) Encode() []byte {
	e := codec.NewEncoder(rememberedVersion, 80+len(r.Sealed))
	e.B = append(e.B, r.Mark[:]...)
	e.Time(r.Created)
	e.ID(r.About)
	e.ID(r.Payment)
	e.Str(r.Sealed)
	return e.B
}

// DecodeRemembered reads what Remembered.Encode wrote.
func DecodeRemembered(v []byte) (r Remembered, err error) {
	d, version := codec.NewDecoder("idempotency", rememberedVersion, v)
	copy(r.Mark[:], d.Take(len(r.Mark)))
	r.Created, r.About, r.Payment = d.Time(), d.ID(), d.ID()
	if version >= 2 {
		r.Sealed = d.Str()
	}
	return r, d.Done()
}
