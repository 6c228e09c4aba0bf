package ticket

import (
	"crypto/ecdsa"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/big"
)

// The reasons why a container is not valid.
var (
	// ErrMalformed: it is not a container of the form that an Issuer makes.
	ErrMalformed = errors.New("this is not a ticket")
	// ErrUnknownKey: the key that it names is not in the set.
	ErrUnknownKey = errors.New("the ticket is signed with an unknown key")
	// ErrSignature: its signature is not by the key that it names.
	ErrSignature = errors.New("the ticket is forged or damaged")
)

// Verify returns the content of a container that one of the keys has signed, or else
// [ErrMalformed], [ErrUnknownKey] or [ErrSignature]. No byte of a container can be changed,
// added or removed without an error.
//
// Verify does not know whether the booking was cancelled, whether the same ticket was shown
// before, or what time it is: the caller compares the ride with the one being checked.
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
