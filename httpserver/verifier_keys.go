package httpserver

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/lestrrat-go/jwx/v2/jwa"
	"github.com/lestrrat-go/jwx/v2/jwk"
)

// A KeySource has the public keys of an issuer of tokens. It is safe for
// concurrent use.
type KeySource interface {
	// Keys returns the keys that are valid now, or an error wrapping [ErrUnavailable]. It is
	// called for each request, so it must be fast, and must return the same *KeySet until the
	// keys change. A key that the issuer withdrew must be gone within five minutes.
	//
	// If refresh is set, a token named a key that was not in the last set: a source that can
	// fetch keys again does so, unless it did a moment ago, and returns an error if that failed.
	Keys(ctx context.Context, refresh bool) (*KeySet, error)
}

// StaticKeys returns a source with fixed keys, such as those of an authorization server in
// the same process.
func StaticKeys(set *KeySet) KeySource { return staticKeys{set} }

type staticKeys struct{ set *KeySet }

func (s staticKeys) Keys(context.Context, bool) (*KeySet, error) { return s.set, nil }

// maxKeys is how many keys an issuer may have.
const maxKeys = 100

// A KeySet is the public keys of an issuer that can verify tokens. It does not
// change.
type KeySet struct {
	keys    []*publicKey
	marks   map[keyMark]bool
	skipped []string // why keys of the set are not among them
}

// A publicKey verifies signatures by one algorithm or, an RSA key that does not
// say by which, by two.
type publicKey struct {
	kid    string
	algs   []jwa.SignatureAlgorithm
	public any
	mark   keyMark
}

// A keyMark stands for a key: its thumbprint (RFC 7638).
type keyMark [sha256.Size]byte

var errUnknownKey = fmt.Errorf("%w: no key of the issuer matches it", ErrInvalidToken)

// ParseKeySet reads a JWK set (RFC 7517). It skips keys that cannot verify tokens: those of
// other types than RSA (2048 bits or more), P-256 and Ed25519, for another algorithm or use,
// or malformed.
func ParseKeySet(text []byte) (*KeySet, error) {
	var doc struct {
		Keys *[]jsontext.Value `json:"keys"`
	}
	if err := json.Unmarshal(text, &doc); err != nil || doc.Keys == nil {
		return nil, errors.New("this is not a JWK set")
	}
	if len(*doc.Keys) > maxKeys {
		return nil, fmt.Errorf("the JWK set has %d keys, more than %d", len(*doc.Keys), maxKeys)
	}
	set := &KeySet{marks: map[keyMark]bool{}}
	for i, raw := range *doc.Keys {
		k, err := parseKey(raw)
		if err != nil {
			set.skipped = append(set.skipped, fmt.Sprintf("key %d: %v", i+1, err))
			continue
		}
		set.keys = append(set.keys, k)
		set.marks[k.mark] = true
	}
	return set, nil
}

// parseKey reads one key. Its errors repeat nothing of it: it might be a secret.
func parseKey(raw []byte) (*publicKey, error) {
	parsed, err := jwk.ParseKey(raw)
	if err != nil {
		return nil, errors.New("a JWK of an unknown type")
	}
	if parsed.KeyType() == jwa.OctetSeq {
		return nil, errors.New("a symmetric key: want a public key, and keep this one secret")
	}
	if private, err := jwk.IsPrivateKey(parsed); private || err != nil {
		return nil, errors.New("a private key, which must not be published: replace it, as anybody can sign with it")
	}
	if ops := parsed.KeyOps(); len(ops) > 0 && !slices.Contains(ops, jwk.KeyOpVerify) {
		return nil, errors.New("its key_ops do not include verify")
	}
	if use := parsed.KeyUsage(); use != "" && use != "sig" {
		return nil, errors.New("its use is not sig")
	}
	key, err := parsed.PublicKey()
	if err != nil || key.Validate() != nil {
		return nil, errors.New("not a valid key")
	}
	k := &publicKey{kid: key.KeyID()}
	if err := key.Raw(&k.public); err != nil {
		return nil, errors.New("not a valid key")
	}
	switch p := k.public.(type) {
	case *rsa.PublicKey:
		if bits := p.N.BitLen(); bits < 2048 || bits > 8192 {
			return nil, fmt.Errorf("an RSA key of %d bits", bits)
		}
		if p.E < 3 || p.E%2 == 0 {
			return nil, errors.New("an RSA key with a bad exponent")
		}
		k.algs = []jwa.SignatureAlgorithm{jwa.RS256, jwa.PS256}
	case *ecdsa.PublicKey:
		if key.(jwk.ECDSAPublicKey).Crv() != jwa.P256 {
			return nil, errors.New("a curve other than P-256")
		}
		if _, err := p.ECDH(); err != nil {
			return nil, errors.New("not a point of its curve")
		}
		k.algs = []jwa.SignatureAlgorithm{jwa.ES256}
	case ed25519.PublicKey:
		if len(p) != ed25519.PublicKeySize {
			return nil, errors.New("not a key of Ed25519")
		}
		k.algs = []jwa.SignatureAlgorithm{jwa.EdDSA}
	default:
		return nil, errors.New("a key of an unsupported type")
	}
	if alg := key.Algorithm().String(); alg != "" {
		if !slices.Contains(k.algs, jwa.SignatureAlgorithm(alg)) {
			return nil, errors.New("its alg does not fit its type")
		}
		k.algs = []jwa.SignatureAlgorithm{jwa.SignatureAlgorithm(alg)}
	}
	mark, err := key.Thumbprint(crypto.SHA256)
	if err != nil {
		return nil, errors.New("it has no thumbprint")
	}
	copy(k.mark[:], mark)
	return k, nil
}

// find returns the only key that a header can mean.
func (s *KeySet) find(h tokenHeader) (*publicKey, error) {
	var found *publicKey
	known := false
	for _, k := range s.keys {
		if h.hasKid && k.kid != h.kid {
			continue
		}
		known = true
		if !slices.Contains(k.algs, h.alg) {
			continue
		}
		if found != nil {
			return nil, badToken("several keys of the issuer could have signed it")
		}
		found = k
	}
	switch {
	case found != nil:
		return found, nil
	case known && h.hasKid:
		return nil, badToken("its key is not for %s", h.alg)
	}
	return nil, errUnknownKey
}

// has says whether a key of the mark is in the set.
func (s *KeySet) has(m keyMark) bool { return s.marks[m] }
