// Package jwk writes and reads ECDSA keys on P-256 as JSON Web Keys (RFC 7517;
// RFC 7518, section 6.2), with no more than the standard library.
package jwk

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
)

// A Key is a key as it is in JSON: a private one has D.
type Key struct {
	Type  string `json:"kty"`
	Curve string `json:"crv"`
	X     string `json:"x"`
	Y     string `json:"y"`
	D     string `json:"d,omitempty"`
	Use   string `json:"use,omitempty"`
	Alg   string `json:"alg,omitempty"`
	ID    string `json:"kid,omitempty"`
}

// Public writes a public key, without an ID.
func Public(key *ecdsa.PublicKey) (Key, error) {
	if key.Curve != elliptic.P256() {
		return Key{}, errors.New("is not on the curve P-256")
	}
	point, err := key.Bytes() // 4, x, y
	if err != nil {
		return Key{}, err
	}
	return Key{
		Type: "EC", Curve: "P-256", Use: "sig", Alg: "ES256",
		X: base64.RawURLEncoding.EncodeToString(point[1:33]),
		Y: base64.RawURLEncoding.EncodeToString(point[33:]),
	}, nil
}

// Private writes a private key. Its ID is its thumbprint.
func Private(key *ecdsa.PrivateKey) (Key, error) {
	k, err := Public(&key.PublicKey)
	if err != nil {
		return Key{}, err
	}
	d, err := key.Bytes()
	if err != nil {
		return Key{}, err
	}
	k.D = base64.RawURLEncoding.EncodeToString(d)
	k.ID = k.Thumbprint()
	return k, nil
}

// Thumbprint is that of RFC 7638.
func (k Key) Thumbprint() string {
	sum := sha256.Sum256(fmt.Appendf(nil, `{"crv":"P-256","kty":"EC","x":%q,"y":%q}`, k.X, k.Y))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// PublicKey reads the public part of a key. Errors go after the key's name.
func (k Key) PublicKey() (*ecdsa.PublicKey, error) {
	if err := k.check(); err != nil {
		return nil, err
	}
	point := []byte{4}
	for _, text := range []string{k.X, k.Y} {
		part, err := base64.RawURLEncoding.Strict().DecodeString(text)
		if err != nil || len(part) != 32 {
			return nil, errors.New(`has an "x" or "y" that is not base64url of 32 bytes`)
		}
		point = append(point, part...)
	}
	key, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
	if err != nil {
		return nil, errors.New(`has an "x" and "y" that are not a point on P-256`)
	}
	return key, nil
}

// PrivateKey reads a private key, whose ID is its thumbprint if it has one.
// Errors continue a sentence that begins with the key's name, and quote nothing of the key.
func (k Key) PrivateKey() (*ecdsa.PrivateKey, error) {
	if err := k.check(); err != nil {
		return nil, err
	}
	d, err := base64.RawURLEncoding.DecodeString(k.D)
	if err != nil {
		return nil, errors.New(`has a "d" that is not base64url`)
	}
	key, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), d)
	if err != nil {
		return nil, errors.New(`has a "d" that is not a private key on P-256`)
	}
	again, err := Private(key)
	if err != nil {
		return nil, err
	}
	if k.X != again.X || k.Y != again.Y || k.ID != "" && k.ID != again.ID {
		return nil, errors.New(`has an "x", "y" or "kid" that does not belong to its "d"`)
	}
	return key, nil
}

func (k Key) check() error {
	if k.Type != "EC" || k.Curve != "P-256" {
		return errors.New("is not of type EC with the curve P-256")
	}
	return nil
}
