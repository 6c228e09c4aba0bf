package ticket

import (
	"crypto/ecdsa"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/big"
)

// Why a container is not valid.
var (
	// ErrMalformed: it is not a container as an Issuer makes them.
	ErrMalformed = errors.New("this is not a ticket")
	// ErrUnknownKey: it names a key that is not in the set.
	ErrUnknownKey = errors.New("the ticket is signed with an unknown key")
	// ErrSignature: the key that it names has not signed it.
	ErrSignature = errors.New("the ticket is forged or damaged")
)

// Verify says what a container says if one of the keys has signed it, and else
// returns [ErrMalformed], [ErrUnknownKey] or [ErrSignature]. No byte of a container
// can be changed, added or removed without an error.
//
// It does not know of cancelled bookings, nor whether the same ticket was shown
// before, nor what time it is: the caller compares the ride with that at hand.
func (k Keys) Verify(container []byte) (Content, error) {
	e, err := decodeEnvelope(container)
	if err != nil {
		return Content{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	key := k.find(e.keyID)
	switch {
	case key == nil:
		return Content{}, fmt.Errorf("%w: %q", ErrUnknownKey, e.keyID)
	case !genuine(key, e):
		return Content{}, ErrSignature
	}
	payload, err := decompress(e.compressed)
	if err != nil {
		return Content{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	c, err := parsePayload(string(payload))
	if err != nil {
		return Content{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return c, nil
}

// genuine refuses the greater s of the two with which a signature verifies: only
// the smaller is issued.
func genuine(key *ecdsa.PublicKey, e envelope) bool {
	r, s := new(big.Int).SetBytes(e.signature[:32]), new(big.Int).SetBytes(e.signature[32:])
	digest := sha256.Sum256(e.compressed)
	return s.Cmp(half) <= 0 && ecdsa.Verify(key, digest[:], r, s)
}
