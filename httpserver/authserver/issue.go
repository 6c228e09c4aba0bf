package authserver

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/lestrrat-go/jwx/v2/jwa"
	"github.com/lestrrat-go/jwx/v2/jwk"
	"github.com/lestrrat-go/jwx/v2/jws"
)

// A signer signs access tokens, and has the keys that verify them.
type signer struct {
	key crypto.Signer
	alg jwa.SignatureAlgorithm
	kid string
	set []byte // all public keys, as a JWK set
}

func newSigner(keys []crypto.Signer) (*signer, error) {
	if len(keys) == 0 {
		return nil, errNoKeys
	}
	set := jwk.NewSet()
	var first *signer
	for i, key := range keys {
		alg, err := algorithm(key.Public())
		if err != nil {
			return nil, fmt.Errorf("key %d: %w", i+1, err)
		}
		public, err := jwk.FromRaw(key.Public())
		if err != nil {
			return nil, fmt.Errorf("key %d: %w", i+1, err)
		}
		print, err := public.Thumbprint(crypto.SHA256)
		if err != nil {
			return nil, fmt.Errorf("key %d: %w", i+1, err)
		}
		kid := base64.RawURLEncoding.EncodeToString(print)
		err = errors.Join(public.Set(jwk.KeyIDKey, kid), public.Set(jwk.AlgorithmKey, alg),
			public.Set(jwk.KeyUsageKey, "sig"), set.AddKey(public))
		if err != nil {
			return nil, fmt.Errorf("key %d: %w", i+1, err)
		}
		if first == nil {
			first = &signer{key: key, alg: alg, kid: kid}
		}
	}
	var err error
	first.set, err = json.Marshal(set)
	return first, err
}

// algorithm is the one that a kind of key signs by.
func algorithm(public crypto.PublicKey) (jwa.SignatureAlgorithm, error) {
	switch p := public.(type) {
	case *ecdsa.PublicKey:
		if p.Curve == elliptic.P256() {
			return jwa.ES256, nil
		}
	case ed25519.PublicKey:
		return jwa.EdDSA, nil
	case *rsa.PublicKey:
		if p.N.BitLen() >= 2048 {
			return jwa.RS256, nil
		}
	}
	return "", errors.New("unsupported type of key: want P-256, Ed25519, or RSA of at least 2048 bits")
}

// accessToken holds the claims of an access token (RFC 9068, section 2.2).
type accessToken struct {
	Issuer   string `json:"iss"`
	Subject  string `json:"sub"`
	Audience string `json:"aud"`
	Client   string `json:"client_id"`
	Scope    string `json:"scope,omitempty"`
	Issued   int64  `json:"iat"`
	Expires  int64  `json:"exp"`
	ID       string `json:"jti"`
	Session  string `json:"sid,omitempty"` // the family of refresh tokens that it came with
}

// mark returns the ID by which a token is revoked: that of its session, or its own.
func (t accessToken) mark() string {
	if t.Session != "" {
		return t.Session
	}
	return t.ID
}

// IssueToken makes the access token that a user's consent would give to a client; "" is the
// [DemoClient]. The token is valid for ttl, at most an hour; zero is Options.TokenLife.
// Without scopes it allows nothing.
//
// IssueToken needs only the keys: a token made by one process is valid in another one with
// the same keys, issuer and audience.
func (s *Server) IssueToken(user, client string, scopes []string, ttl time.Duration) (string, error) {
	name, err := UserName(user)
	if err != nil {
		return "", fmt.Errorf("the user %.80q: %w", user, err)
	}
	if client == "" {
		client = DemoClient
	}
	if !isClientID(client) {
		return "", fmt.Errorf("%.80q is not a client ID", client)
	}
	for _, scope := range scopes {
		if !slices.Contains(Scopes(), scope) {
			return "", fmt.Errorf("unknown scope %.80q: want %s", scope, strings.Join(Scopes(), " or "))
		}
	}
	switch {
	case ttl == 0:
		ttl = s.opts.TokenLife
	case ttl < time.Second || ttl > tokenLife:
		return "", fmt.Errorf("invalid lifetime of the token: want 1s to %v, not %v", tokenLife, ttl)
	}
	return s.issue(grant{user: name, scopes: scopes}, client, ttl)
}

// Revoked says whether access tokens with a mark were revoked: the mark of a token is its claim
// sid, or jti if it has none. Servers that accept the tokens of this server should call it for
// each token. A restart forgets revocations, and other servers do not know them: there a
// revoked token is valid until it expires.
func (s *Server) Revoked(mark string) bool { return s.grants.isRevoked(mark, s.opts.Now()) }

// ours reads an access token that this server has signed, with any of its keys.
func (s *Server) ours(token string) (t accessToken, ok bool) {
	set, err := jwk.Parse(s.signer.Load().set)
	if err != nil {
		return t, false
	}
	payload, err := jws.Verify([]byte(token), jws.WithKeySet(set))
	if err != nil || json.Unmarshal(payload, &t) != nil || t.Issuer != s.opts.Issuer {
		return accessToken{}, false
	}
	return t, true
}

// issue signs an access token.
func (s *Server) issue(g grant, client string, ttl time.Duration) (string, error) {
	now, signer := s.opts.Now(), s.signer.Load()
	payload, err := json.Marshal(accessToken{
		Issuer: s.opts.Issuer, Subject: g.user, Audience: s.opts.Audience, Client: client,
		Scope: strings.Join(g.scopes, " "), Issued: now.Unix(), Expires: now.Add(ttl).Unix(), ID: uuid.NewString(),
		Session: encode64([]byte(g.family)),
	})
	if err != nil {
		return "", err
	}
	head := jws.NewHeaders()
	if err := errors.Join(head.Set(jws.TypeKey, "at+jwt"), head.Set(jws.KeyIDKey, signer.kid)); err != nil {
		return "", err
	}
	token, err := jws.Sign(payload, jws.WithKey(signer.alg, signer.key, jws.WithProtectedHeaders(head)))
	if err != nil {
		return "", fmt.Errorf("signing a token: %w", err)
	}
	return string(token), nil
}

// SetKeys changes the keys that sign access tokens: see [Options].Keys. The new keys must
// include those that signed before until their tokens have expired. If one of the keys is
// invalid, SetKeys returns an error and changes nothing.
func (s *Server) SetKeys(keys []crypto.Signer) error {
	signer, err := newSigner(keys)
	if err == nil {
		s.signer.Store(signer)
	}
	return err
}

// JWKS returns the public keys that verify access tokens, as a JWK set.
func (s *Server) JWKS() []byte { return slices.Clone(s.signer.Load().set) }

func (s *Server) jwks(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/jwk-set+json")
	w.Header().Set("Cache-Control", "public, max-age=60")
	_, _ = w.Write(s.signer.Load().set)
}

var errNoKeys = errors.New("an authorization server needs a key to sign with")
