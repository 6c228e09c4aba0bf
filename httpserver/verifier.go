package httpserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lestrrat-go/jwx/v2/jwa"
	"github.com/lestrrat-go/jwx/v2/jws"

	"github.com/traintravel/traintravel"
)

// BuiltinIssuer is the issuer under which users of the built-in authorization server are
// stored, whatever its URL is, so that users keep their bookings if the URL changes. Other
// issuers cannot have this name, because it is not a URL.
const BuiltinIssuer = "builtin"

// VerifierOptions configures a [Verifier]. Issuer, Audience and Keys are required.
type VerifierOptions struct {
	// Issuer is the issuer whose tokens are accepted. The claim iss is compared with it
	// byte for byte.
	Issuer string

	// Audience is the required audience of tokens: one of the values of aud, compared byte
	// for byte.
	Audience string

	// Keys has the issuer's keys.
	Keys KeySource

	// ClientClaims are claims that mark a token of a client that acts for itself, without a
	// user (RFC 6749, section 4.4), in addition to those of well-known issuers: gty of
	// client-credentials, and idtyp of app. One of them is enough. No token of a user may have
	// them. It is not enough that sub and client_id are equal, because a user may have a client's
	// name. The built-in authorization server does not need them.
	ClientClaims []Claim

	// Revoked, if not nil, reports whether the tokens with a mark were revoked before they
	// expired: the mark is the claim sid, or jti if sid is missing. It is called for each
	// request, so it must be fast.
	Revoked func(mark string) bool

	// StoreAs is the value of Subject.Issuer. Empty means Issuer. For the built-in
	// authorization server it is [BuiltinIssuer].
	StoreAs string

	// TokenType is the required header typ, with or without "application/" before it. Empty
	// is at+jwt (RFC 9068). Another type, such as the JWT of Keycloak, does not distinguish
	// access tokens from others. Then the verifier refuses tokens with claims of ID tokens or
	// logout tokens (nonce, at_hash, c_hash, events), with a claim typ other than Bearer, or
	// with Audience as their client; and it uses azp if client_id is missing. Make sure that the
	// issuer's other tokens never name Audience.
	TokenType string

	// CacheSize is the number of verified tokens in the cache; one user of a client may have
	// a 64th of them. Zero is 32,768, which takes about 20 MB when full. A negative number
	// means no cache.
	CacheSize int

	// Now is real time. Nil is time.Now. Do not use a service's simulated clock: present
	// tokens are not valid in the past.
	Now func() time.Time
}

// A Claim is a claim of a token with a string value.
type Claim struct{ Name, Value string }

// clientClaims are those of well-known issuers that tell that a client acts for itself.
var clientClaims = []Claim{{"gty", "client-credentials"}, {"gty", "client_credentials"}, {"idtyp", "app"}}

// builtinClient is before the ID of a client, as the built-in authorization server writes
// the subject of one that acts for itself. No user's name there has a colon.
const builtinClient = "client:"

// accessTokenType is the typ of access tokens by RFC 9068.
const accessTokenType = "at+jwt"

// clockSkew is how far ahead the clock of an issuer may be.
const clockSkew = 60 * time.Second

// A Verifier is an [Authenticator] for JWT access tokens by RFC 9068, under the
// rules of RFC 8725. It is safe for concurrent use.
//
// A verified token is not verified again until it expires, drops out of the cache, or its key
// is withdrawn: see [KeySource]. The error of a refused token gives the reason and quotes only
// names of the token.
type Verifier struct {
	opts     VerifierOptions
	types    [2]string
	verifies map[jwa.SignatureAlgorithm]jws.Verifier
	cache    *tokenCache // nil is none
}

// NewVerifier returns a Verifier, or an error if its options are invalid. It does not
// fetch keys yet.
func NewVerifier(o VerifierOptions) (*Verifier, error) {
	if o.Issuer == "" || o.Audience == "" || o.Keys == nil {
		return nil, errors.New("a verifier needs an issuer, an audience and keys")
	}
	if o.StoreAs == "" {
		o.StoreAs = o.Issuer
		if o.Issuer == BuiltinIssuer {
			return nil, fmt.Errorf("the name %q is reserved for the built-in issuer: set StoreAs to another name", BuiltinIssuer)
		}
	}
	for _, claim := range o.ClientClaims {
		if claim.Name == "" || claim.Value == "" {
			return nil, errors.New("a claim of clients needs a name and a value")
		}
	}
	if o.StoreAs == BuiltinIssuer {
		o.ClientClaims = nil
	} else {
		o.ClientClaims = slices.Concat(clientClaims, o.ClientClaims)
	}
	if o.TokenType = strings.TrimPrefix(o.TokenType, "application/"); o.TokenType == "" {
		o.TokenType = accessTokenType
	}
	if o.CacheSize == 0 {
		o.CacheSize = 1 << 15
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	v := &Verifier{
		opts:     o,
		types:    [2]string{o.TokenType, "application/" + o.TokenType},
		verifies: map[jwa.SignatureAlgorithm]jws.Verifier{},
	}
	for _, alg := range tokenAlgorithms() {
		verifier, err := jws.NewVerifier(alg)
		if err != nil {
			return nil, err
		}
		v.verifies[alg] = verifier
	}
	if o.CacheSize > 0 {
		v.cache = newTokenCache(o.CacheSize)
	}
	return v, nil
}

// tokenAlgorithms lists what signatures are accepted. Each fits one kind of key, and
// none is symmetric.
func tokenAlgorithms() []jwa.SignatureAlgorithm {
	return []jwa.SignatureAlgorithm{jwa.RS256, jwa.PS256, jwa.ES256, jwa.EdDSA}
}

// badToken is the error of a token that is refused, and why.
func badToken(why string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrInvalidToken, fmt.Sprintf(why, args...))
}

// Authenticate verifies a token: see [Authenticator].
func (v *Verifier) Authenticate(ctx context.Context, token string) (Identity, error) {
	if len(token) > maxToken {
		return Identity{}, badToken("it has %d bytes, more than %d", len(token), maxToken)
	}
	now := v.opts.Now()
	if v.cache == nil {
		known, err := v.verify(ctx, token, now)
		if err != nil {
			return Identity{}, err
		}
		return v.unlessRevoked(known)
	}
	hash := hashToken(token)
	known := v.cache.find(&hash)
	switch {
	case known == nil:
	case !now.Before(known.identity.Expires):
		v.cache.forget(&hash)
		return Identity{}, badToken("it has expired")
	default:
		set, err := v.keys(ctx, false)
		if err != nil {
			return Identity{}, err
		}
		if known.signedBy(set) {
			return v.unlessRevoked(known)
		}
		v.cache.forget(&hash)
	}
	known, err := v.verify(ctx, token, now)
	if err != nil {
		return Identity{}, err
	}
	v.cache.remember(&hash, known)
	return v.unlessRevoked(known)
}

// unlessRevoked returns the identity of a valid token unless it was revoked.
func (v *Verifier) unlessRevoked(t *verified) (Identity, error) {
	if t.mark != "" && v.opts.Revoked(t.mark) {
		return Identity{}, badToken("it was revoked")
	}
	return t.identity, nil
}

// Ready says whether the Verifier has keys to verify tokens with: see [Readier]. It makes its
// source fetch them as a token would.
func (v *Verifier) Ready(ctx context.Context) error {
	_, err := v.keys(ctx, false)
	return err
}

// verify checks a token that is not in the cache. It checks the claims before the signature,
// so that a token that has expired, or is for another service, costs no cryptography and
// causes no fetch of keys.
func (v *Verifier) verify(ctx context.Context, token string, now time.Time) (*verified, error) {
	parts, err := splitToken(token)
	if err != nil {
		return nil, err
	}
	head, err := parseHeader(parts.header)
	if err != nil {
		return nil, err
	}
	if head.typ != v.types[0] && head.typ != v.types[1] {
		return nil, badToken("its typ is %.40q, not %q", head.typ, v.opts.TokenType)
	}
	verifier := v.verifies[head.alg]
	if verifier == nil {
		return nil, badToken("its alg %.40q is not accepted", string(head.alg))
	}
	c, err := parseClaims(parts.payload, v.opts.TokenType == accessTokenType, v.opts.ClientClaims)
	if err != nil {
		return nil, err
	}
	if err := v.check(c, now); err != nil {
		return nil, err
	}
	key, set, err := v.key(ctx, head)
	if err != nil {
		return nil, err
	}
	if err := verifier.Verify(parts.signed, parts.signature, key.public); err != nil {
		return nil, badToken("its signature is wrong")
	}
	known := &verified{
		identity: Identity{
			Caller: traintravel.Caller{
				Subject:   traintravel.Subject{Issuer: v.opts.StoreAs, ID: c.subject},
				Client:    c.client,
				ForItself: c.forItself || v.opts.StoreAs == BuiltinIssuer && c.subject == builtinClient+c.client,
			},
			Read: c.read, Write: c.write, Expires: c.expires,
		},
		key: key.mark,
	}
	if v.opts.Revoked != nil {
		known.mark = cmp.Or(c.session, c.id)
	}
	known.set.Store(set)
	return known, nil
}

// check checks the values of claims.
func (v *Verifier) check(c *tokenClaims, now time.Time) error {
	switch {
	case c.issuer != v.opts.Issuer:
		return badToken("its iss is %.100q", c.issuer)
	case !c.isFor(v.opts.Audience):
		return badToken("its aud does not name this service")
	case c.expires.IsZero():
		return badToken("it has no exp")
	case !now.Before(c.expires):
		return badToken("it has expired")
	case c.notBefore.After(now.Add(clockSkew)):
		return badToken("its nbf is in the future")
	case c.issued.After(now.Add(clockSkew)):
		return badToken("its iat is in the future")
	case c.subject == "":
		return badToken("it has no sub")
	case c.client == "":
		return badToken("it has no client_id")
	case c.party != "" && c.party != c.client:
		return badToken("its azp differs from its client_id")
	case c.client == v.opts.Audience && v.opts.TokenType != accessTokenType:
		return badToken("its audience is its own client, as in ID tokens")
	}
	return nil
}

// key finds the key that a header names. If the loaded keys do not include it, key asks the
// source to fetch again, which the source does only at intervals.
func (v *Verifier) key(ctx context.Context, head tokenHeader) (*publicKey, *KeySet, error) {
	set, err := v.keys(ctx, false)
	if err != nil {
		return nil, nil, err
	}
	key, err := set.find(head)
	if !errors.Is(err, errUnknownKey) {
		return key, set, err
	}
	if set, err = v.keys(ctx, true); err != nil {
		return nil, nil, err
	}
	key, err = set.find(head)
	return key, set, err
}

// keys asks the source, and makes sure that its errors wrap ErrUnavailable.
func (v *Verifier) keys(ctx context.Context, refresh bool) (*KeySet, error) {
	set, err := v.opts.Keys.Keys(ctx, refresh)
	switch {
	case err == nil && set == nil:
		return nil, fmt.Errorf("%w: no keys are loaded yet", ErrUnavailable)
	case err != nil && !errors.Is(err, ErrUnavailable):
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return set, err
}
