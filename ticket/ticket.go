// Package ticket makes train tickets of confirmed bookings, and verifies them.
//
// The content of a ticket is signed in a container by UIC leaflet 918.3, which travellers show
// as an Aztec code. An [Issuer] has the private key and makes containers; [Keys] are the public
// keys, with which [Keys.Verify] checks offline whether a container is genuine. Only the
// server knows whether the booking was cancelled later.
package ticket

import (
	"cmp"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/asn1"
	"errors"
	"fmt"
	"io"
	"math/big"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
)

// An Issuer signs tickets. It is safe for concurrent use if its key is.
type Issuer struct {
	key     crypto.Signer
	public  *ecdsa.PublicKey
	id      string
	zlib    compressor
	buffers bufferPool
}

// NewIssuer returns an issuer that signs with an ECDSA key on P-256: an *ecdsa.PrivateKey, or
// one in a key store.
func NewIssuer(key crypto.Signer) (*Issuer, error) {
	if key == nil {
		return nil, errors.New("ticket: an issuer needs a key")
	}
	public, ok := key.Public().(*ecdsa.PublicKey)
	if !ok {
		return nil, fmt.Errorf("ticket: the issuer's key is a %T: want an ECDSA key on P-256", key.Public())
	}
	keys, err := NewKeys(public)
	if err != nil {
		return nil, err
	}
	return &Issuer{key: key, public: public, id: keys.keys[0].id}, nil
}

// Container returns the signed container of one leg of a ticket, counted from 0: the content
// of an Aztec code, a few hundred bytes. Its time of issue is when the booking was paid. Names
// that are too long for the layout that all readers know are truncated there; the issuer's
// own block has more of them.
//
// It returns [traintravel.ErrNotPaid] for a booking that is not confirmed.
func (i *Issuer) Container(t traintravel.Ticket, leg int) ([]byte, error) {
	if t.Booking.Status != traintravel.Confirmed {
		return nil, traintravel.ErrNotPaid
	}
	if leg < 0 || leg >= len(t.Booking.Legs) {
		return nil, fmt.Errorf("ticket: the booking has no leg %d", leg)
	}
	compressed, err := i.zlib.compress(payload(contentOf(t, leg)))
	if err != nil {
		return nil, err
	}
	signature, err := i.sign(compressed)
	if err != nil {
		return nil, err
	}
	return envelope{keyID: i.id, signature: signature, compressed: compressed}.encode(), nil
}

// ReferenceOf returns the name of a booking on tickets: its reference or, if it has none, the
// end of its ID.
func ReferenceOf(b traintravel.Booking) string { return cmp.Or(b.Reference, Reference(b.ID)) }

// Reference returns the name on tickets of a booking without a reference: the end of its ID.
func Reference(booking uuid.UUID) string { return booking.String()[19:] }

// order is that of P-256, half is half of it rounded down.
var (
	order = elliptic.P256().Params().N
	half  = new(big.Int).Rsh(order, 1)
)

// randomness is what a key signs with: keys of package ecdsa need none, and sign the
// same ticket alike whenever it is asked for (RFC 6979).
func (i *Issuer) randomness() io.Reader {
	if _, ok := i.key.(*ecdsa.PrivateKey); ok {
		return nil
	}
	return rand.Reader
}

// sign returns r and s in 32 bytes each. Of s and its negative, which verifies as
// well, it takes the smaller: a container has one good signature of its bytes.
func (i *Issuer) sign(message []byte) ([64]byte, error) {
	var signature [64]byte
	digest := sha256.Sum256(message)
	der, err := i.key.Sign(i.randomness(), digest[:], crypto.SHA256)
	if err != nil {
		return signature, fmt.Errorf("ticket: signing: %w", err)
	}
	var rs struct{ R, S *big.Int }
	rest, err := asn1.Unmarshal(der, &rs)
	if err != nil || len(rest) > 0 || !ecdsa.VerifyASN1(i.public, digest[:], der) {
		return signature, errors.New("ticket: signing: the key gave no signature of its own")
	}
	if rs.S.Cmp(half) > 0 {
		rs.S.Sub(order, rs.S)
	}
	rs.R.FillBytes(signature[:32])
	rs.S.FillBytes(signature[32:])
	return signature, nil
}
