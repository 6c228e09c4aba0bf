package keys

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
)

// jwkEC is a private key on P-256 as RFC 7518, section 6.2, writes it. Its ID is
// its thumbprint (RFC 7638).
type jwkEC struct {
	Type  string `json:"kty"`
	Curve string `json:"crv"`
	X     string `json:"x"`
	Y     string `json:"y"`
	D     string `json:"d"`
	Use   string `json:"use,omitempty"`
	Alg   string `json:"alg,omitempty"`
	ID    string `json:"kid,omitempty"`
}

func encodeKey(key *ecdsa.PrivateKey) (jwkEC, error) {
	d, err := key.Bytes()
	if err != nil {
		return jwkEC{}, err
	}
	point, err := key.PublicKey.Bytes() // 4, x, y
	if err != nil {
		return jwkEC{}, err
	}
	jwk := jwkEC{
		Type: "EC", Curve: "P-256", Use: "sig", Alg: "ES256",
		X: base64.RawURLEncoding.EncodeToString(point[1:33]),
		Y: base64.RawURLEncoding.EncodeToString(point[33:]),
		D: base64.RawURLEncoding.EncodeToString(d),
	}
	jwk.ID = jwk.thumbprint()
	return jwk, nil
}

func (j jwkEC) thumbprint() string {
	sum := sha256.Sum256(fmt.Appendf(nil, `{"crv":"P-256","kty":"EC","x":%q,"y":%q}`, j.X, j.Y))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

func (j jwkEC) decode() (*ecdsa.PrivateKey, error) {
	if j.Type != "EC" || j.Curve != "P-256" {
		return nil, errors.New("is not of type EC with the curve P-256")
	}
	d, err := base64.RawURLEncoding.DecodeString(j.D)
	if err != nil {
		return nil, errors.New(`has a "d" that is not base64url`)
	}
	key, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), d)
	if err != nil {
		return nil, errors.New(`has a "d" that is no private key on P-256`)
	}
	again, err := encodeKey(key)
	if err != nil {
		return nil, err
	}
	if j.X != again.X || j.Y != again.Y || j.ID != "" && j.ID != again.ID {
		return nil, errors.New(`has an "x", "y" or "kid" that does not belong to its "d"`)
	}
	return key, nil
}
