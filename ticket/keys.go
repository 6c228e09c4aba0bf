package ticket

import (
	"crypto/ecdsa"
	"encoding/base32"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/traintravel/traintravel/internal/jwk"
)

// Keys are public keys that verify tickets. The zero value has none. It is
// immutable, and safe for concurrent use.
type Keys struct {
	keys []verifyingKey
}

type verifyingKey struct {
	id     string
	public *ecdsa.PublicKey
	jwk    jwk.Key
}

// NewKeys returns a set of public keys on P-256, in this order.
func NewKeys(public ...*ecdsa.PublicKey) (Keys, error) {
	var set Keys
	for _, key := range public {
		k, err := jwk.Public(key)
		if err != nil {
			return Keys{}, fmt.Errorf("ticket: the key %w", err)
		}
		k.ID = keyID(k.Thumbprint())
		if set.find(k.ID) != nil {
			return Keys{}, fmt.Errorf("ticket: two keys have the ID %s", k.ID)
		}
		set.keys = append(set.keys, verifyingKey{k.ID, key, k})
	}
	return set, nil
}

// ParseKeys reads a JWK set (RFC 7517), as a server publishes it at
// /.well-known/ticket-keys. It skips keys of other types and for other uses.
func ParseKeys(text []byte) (Keys, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(text, &set); err != nil || set.Keys == nil {
		return Keys{}, errors.New("ticket: the text is not a JWK set")
	}
	var public []*ecdsa.PublicKey
	for n, text := range set.Keys {
		var k jwk.Key
		if err := json.Unmarshal(text, &k); err != nil {
			return Keys{}, fmt.Errorf("ticket: key %d is not a JSON Web Key", n+1)
		}
		if k.Type != "EC" || k.Curve != "P-256" || k.Use != "" && k.Use != "sig" || k.Alg != "" && k.Alg != "ES256" {
			continue
		}
		key, err := k.PublicKey()
		if err != nil {
			return Keys{}, fmt.Errorf("ticket: key %d %w", n+1, err)
		}
		if k.ID != keyID(k.Thumbprint()) {
			return Keys{}, fmt.Errorf("ticket: the kid of key %d is not its thumbprint, as that of ticket keys is", n+1)
		}
		public = append(public, key)
	}
	return NewKeys(public...)
}

// MarshalJSON returns a JWK set. Containers name keys by their IDs in it.
func (k Keys) MarshalJSON() ([]byte, error) {
	set := struct {
		Keys []jwk.Key `json:"keys"`
	}{[]jwk.Key{}}
	for _, key := range k.keys {
		set.Keys = append(set.Keys, key.jwk)
	}
	return json.Marshal(set)
}

// IDs returns the IDs of the keys, in order.
func (k Keys) IDs() []string {
	ids := make([]string, len(k.keys))
	for i, key := range k.keys {
		ids[i] = key.id
	}
	return ids
}

func (k Keys) find(id string) *ecdsa.PublicKey {
	if i := slices.IndexFunc(k.keys, func(key verifyingKey) bool { return key.id == id }); i >= 0 {
		return k.keys[i].public
	}
	return nil
}

// keyID is how containers name a key, in five characters: the beginning of its
// thumbprint (RFC 7638) in base32 (RFC 4648), so in capitals and digits, which can be
// typed and begin no option.
func keyID(thumbprint string) string {
	sum, err := base64.RawURLEncoding.DecodeString(thumbprint)
	if err != nil {
		panic(err) // we made it
	}
	return base32.StdEncoding.EncodeToString(sum)[:keyIDSize]
}
