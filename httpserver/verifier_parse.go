package httpserver

import (
	"bytes"
	"encoding/base64"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/lestrrat-go/jwx/v2/jwa"
)

// maxToken is how many bytes a token may have.
const maxToken = 8 << 10

// maxTokenName is how many bytes a sub or a client_id may have.
const maxTokenName = 255

// A compactToken is a JWS in compact serialization, taken apart (RFC 7515, 7.1).
type compactToken struct {
	header, payload, signature []byte
	signed                     []byte // what the signature is over
}

// splitToken takes a token apart. It is stricter than decoders are: no line breaks,
// no padding, no bits set where base64url has none.
func splitToken(token string) (compactToken, error) {
	var c compactToken
	for i := range len(token) {
		switch b := token[i]; {
		case 'a' <= b && b <= 'z', 'A' <= b && b <= 'Z', '0' <= b && b <= '9', b == '-', b == '_', b == '.':
		default:
			return c, badToken("it has a character that tokens cannot have")
		}
	}
	header, rest, _ := strings.Cut(token, ".")
	payload, signature, _ := strings.Cut(rest, ".")
	if header == "" || payload == "" || signature == "" || strings.Contains(signature, ".") {
		return c, badToken("it does not have three parts") // a JWE has five
	}
	for _, part := range []struct {
		to   *[]byte
		text string
	}{{&c.header, header}, {&c.payload, payload}, {&c.signature, signature}} {
		b, err := base64.RawURLEncoding.Strict().DecodeString(part.text)
		if err != nil {
			return c, badToken("a part of it is not base64url")
		}
		*part.to = b
	}
	c.signed = []byte(token[:len(header)+1+len(payload)])
	return c, nil
}

// A tokenHeader is what a JOSE header says.
type tokenHeader struct {
	alg    jwa.SignatureAlgorithm
	typ    string
	kid    string
	hasKid bool
}

func parseHeader(text []byte) (tokenHeader, error) {
	var h tokenHeader
	err := tokenObject("header", text, func(name string, v jsontext.Value) error {
		switch name {
		case "alg":
			s, ok := jsonString(v)
			h.alg = jwa.SignatureAlgorithm(s)
			return needClaim(ok, name)
		case "typ":
			var ok bool
			h.typ, ok = jsonString(v)
			return needClaim(ok, name)
		case "kid":
			var ok bool
			h.kid, ok = jsonString(v)
			h.hasKid = true
			return needClaim(ok && h.kid != "", name)
		case "crit", "b64", // extensions, and we know none
			"jwk", "jku", "x5u", "x5c", // keys of whoever made it
			"enc", "zip", "cty": // it is encrypted, compressed or nested
			return badToken("its header has %s, which is not accepted", name)
		}
		return nil
	})
	return h, err
}

// tokenClaims are the claims of an access token that matter here (RFC 9068, 2.2).
type tokenClaims struct {
	issuer, subject, client    string
	id, session                string // jti and sid
	party                      string // azp, where it counts
	audience                   []string
	expires, notBefore, issued time.Time // zero is absent
	read, write                bool
	forItself                  bool // the client, without a user
}

// parseClaims reads the claims of a token. If its type does not say that it is an
// access token, they must not say that it is another. Any of the claims of clients tells
// that the client acts for itself.
func parseClaims(text []byte, access bool, ofClients []Claim) (*tokenClaims, error) {
	c := new(tokenClaims)
	err := tokenObject("payload", text, func(name string, v jsontext.Value) error {
		var ok bool
		for _, claim := range ofClients {
			if claim.Name == name {
				value, ok := jsonString(v)
				c.forItself = c.forItself || ok && value == claim.Value
			}
		}
		switch name {
		case "iss":
			c.issuer, ok = jsonString(v)
		case "sub":
			c.subject, ok = jsonString(v)
			ok = ok && nameable(c.subject)
		case "client_id":
			c.client, ok = jsonString(v)
			ok = ok && nameable(c.client)
		case "aud":
			c.audience, ok = jsonStrings(v)
		case "exp":
			c.expires, ok = numericDate(v)
		case "nbf":
			c.notBefore, ok = numericDate(v)
		case "iat":
			c.issued, ok = numericDate(v)
		case "jti":
			c.id, ok = jsonString(v)
			ok = ok && c.id != ""
		case "sid":
			c.session, _ = jsonString(v)
			ok = true // other issuers have what they like there
		case "scope":
			var s string
			s, ok = jsonString(v)
			for _, scope := range strings.Split(s, " ") {
				c.read = c.read || scope == "read"
				c.write = c.write || scope == "write"
			}
		case "cnf":
			return badToken("it is bound to a key (cnf), and came as a bearer token")
		default:
			if !access {
				return c.kind(name, v)
			}
			ok = true
		}
		return needClaim(ok, name)
	})
	if c.client == "" {
		c.client = c.party
	}
	return c, err
}

// kind checks a claim that other kinds of tokens than access tokens have, and reads azp, which
// names the client in access tokens that do not follow RFC 9068.
func (c *tokenClaims) kind(name string, v jsontext.Value) error {
	switch name {
	case "azp":
		var ok bool
		c.party, ok = jsonString(v)
		return needClaim(ok && nameable(c.party), name)
	case "nonce", "at_hash", "c_hash", "events":
		return badToken("it has %s, so it is not an access token", name)
	case "typ": // of Keycloak, where the others are ID, Refresh, Logout, ...
		if s, ok := jsonString(v); !ok || s != "Bearer" {
			return badToken("its claim typ is %.40q, not Bearer", s)
		}
	}
	return nil
}

// isFor says whether the audience is among those of the token.
func (c *tokenClaims) isFor(audience string) bool {
	for _, a := range c.audience {
		if a == audience {
			return true
		}
	}
	return false
}

// tokenObject calls member for each member of a JSON object. Duplicate names at any
// depth, invalid UTF-8, and anything before or after the object, are errors.
func tokenObject(what string, text []byte, member func(name string, v jsontext.Value) error) error {
	d := jsontext.NewDecoder(bytes.NewBuffer(text))
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return badToken("its %s is not a JSON object", what)
	}
	for d.PeekKind() == '"' {
		t, err := d.ReadToken()
		if err != nil {
			return badToken("its %s is not JSON without duplicates", what)
		}
		name := t.String()
		v, err := d.ReadValue()
		if err != nil {
			return badToken("its %s is not JSON without duplicates", what)
		}
		if err := member(name, v); err != nil {
			return err
		}
	}
	if _, err := d.ReadToken(); err != nil {
		return badToken("its %s is not JSON without duplicates", what)
	}
	if _, err := d.ReadToken(); err != io.EOF {
		return badToken("its %s has data after the JSON object", what)
	}
	return nil
}

func needClaim(ok bool, name string) error {
	if !ok {
		return badToken("its %s is not valid", name)
	}
	return nil
}

// jsonString returns a JSON string.
func jsonString(v jsontext.Value) (string, bool) {
	if v.Kind() != '"' {
		return "", false
	}
	b, err := jsontext.AppendUnquote(nil, v)
	return string(b), err == nil
}

// jsonStrings returns a JSON string or an array of them.
func jsonStrings(v jsontext.Value) ([]string, bool) {
	if v.Kind() != '[' {
		s, ok := jsonString(v)
		return []string{s}, ok
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(v))
	if _, err := d.ReadToken(); err != nil {
		return nil, false
	}
	var all []string
	for d.PeekKind() == '"' {
		t, err := d.ReadToken()
		if err != nil {
			return nil, false
		}
		all = append(all, t.String())
	}
	return all, d.PeekKind() == ']' // anything else in it is not a string
}

// numericDate returns a NumericDate (RFC 7519): seconds since 1970, perhaps with a
// fraction, up to the year 9999.
func numericDate(v jsontext.Value) (time.Time, bool) {
	if v.Kind() != '0' {
		return time.Time{}, false
	}
	f, err := strconv.ParseFloat(string(v), 64)
	if err != nil || !(f > 0 && f < 253402300800) {
		return time.Time{}, false
	}
	seconds, fraction := math.Modf(f)
	return time.Unix(int64(seconds), int64(fraction*1e9)), true
}

// nameable says whether a name can stand in a record and a log.
func nameable(s string) bool {
	return s != "" && len(s) <= maxTokenName && strings.IndexFunc(s, func(r rune) bool { return r < ' ' || 0x7f <= r && r < 0xa0 }) < 0
}
