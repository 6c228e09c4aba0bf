package httpserver_test

import (
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/asn1"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/lestrrat-go/jwx/v2/jwa"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/httpserver"
)

// What is good passes, by every algorithm, twice: afresh and from memory.
func TestVerifierAccepts(t *testing.T) {
	t.Parallel()
	k := signingKeys()
	now := time.Now().Unix()
	for name, token := range map[string]string{
		"ES256":            goodDraft(k["ec"]).sign(k["ec"]),
		"EdDSA":            goodDraft(k["ed"]).sign(k["ed"]),
		"RS256":            goodDraft(k["rs"]).sign(k["rs"]),
		"PS256":            goodDraft(k["ps"]).sign(k["ps"]),
		"long typ":         goodDraft(k["ec"]).head("typ", `"application/at+jwt"`).sign(k["ec"]),
		"several aud":      goodDraft(k["ec"]).set("aud", `["x", "`+audience+`"]`).sign(k["ec"]),
		"no iat":           goodDraft(k["ec"]).set("iat", "").sign(k["ec"]),
		"no jti":           goodDraft(k["ec"]).set("jti", "").sign(k["ec"]),
		"neither":          goodDraft(k["ec"]).set("jti", "").set("iat", "").sign(k["ec"]),
		"iat a bit ahead":  goodDraft(k["ec"]).set("iat", fmt.Sprint(now+60)).sign(k["ec"]),
		"nbf a bit ahead":  goodDraft(k["ec"]).set("nbf", fmt.Sprint(now+60)).sign(k["ec"]),
		"exp a fraction":   goodDraft(k["ec"]).set("exp", fmt.Sprintf("%d.25", now+600)).sign(k["ec"]),
		"more claims":      goodDraft(k["ec"]).set("groups", `["a",{"b":[1,null]}]`).sign(k["ec"]),
		"other scopes too": goodDraft(k["ec"]).set("scope", `"openid read x:y write"`).sign(k["ec"]),
		"x5t":              goodDraft(k["ec"]).head("x5t", `"abc"`).sign(k["ec"]),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := newVerifier(t, at(now))
			for range 2 {
				got, err := v.Authenticate(t.Context(), token)
				if err != nil {
					t.Fatal(err)
				}
				want := httpserver.Identity{
					Caller: traintravel.Caller{Subject: traintravel.Subject{Issuer: issuerURL, ID: "anna"}, Client: "shop"},
					Read:   true, Write: true, Expires: got.Expires,
				}
				if diff := cmp.Diff(want, got); diff != "" || got.Expires.Unix() < now+600 {
					t.Errorf("%v %s", got.Expires, diff)
				}
			}
		})
	}
}

// A token is allowed what its scope says in so many letters.
func TestVerifierScopes(t *testing.T) {
	t.Parallel()
	k := signingKeys()["ec"]
	v := newVerifier(t)
	for scope, want := range map[string][2]bool{
		``: {}, `""`: {}, `"read"`: {true, false}, `"write"`: {false, true}, `"write read"`: {true, true},
		`"READ Write"`: {}, `"read,write"`: {}, `"read\twrite"`: {}, `"readwrite"`: {}, `"read:all"`: {}, `"  read "`: {true, false},
	} {
		got, err := v.Authenticate(t.Context(), goodDraft(k).set("scope", scope).set("Scope", `"read write"`).sign(k))
		if err != nil || got.Read != want[0] || got.Write != want[1] {
			t.Errorf("scope %s: %v %v %v", scope, got.Read, got.Write, err)
		}
	}
}

// The built-in issuer is stored under its own name.
func TestVerifierStoreAs(t *testing.T) {
	t.Parallel()
	k := signingKeys()["ec"]
	v := newVerifier(t, func(o *httpserver.VerifierOptions) { o.StoreAs = httpserver.BuiltinIssuer })
	got, err := v.Authenticate(t.Context(), goodDraft(k).sign(k))
	if err != nil || got.Caller.Issuer != "builtin" {
		t.Errorf("%+v %v", got, err)
	}
}

// at stops the clock of a verifier.
func at(unix int64) func(*httpserver.VerifierOptions) {
	return func(o *httpserver.VerifierOptions) { o.Now = func() time.Time { return time.Unix(unix, 0) } }
}

// Every fault is refused, by a token in which nothing else is wrong, and for
// that reason.
func TestVerifierRefuses(t *testing.T) {
	t.Parallel()
	k := signingKeys()
	ec, rs := k["ec"], k["rs"]
	good := goodDraft(ec)
	token := good.sign(ec)
	now := time.Now().Unix()
	parts := strings.Split(token, ".")
	rawSignature, _ := base64.RawURLEncoding.DecodeString(parts[2])
	signed := func(b []byte) string {
		return parts[0] + "." + parts[1] + "." + base64.RawURLEncoding.EncodeToString(b)
	}
	der, _ := asn1.Marshal(struct{ R, S *big.Int }{new(big.Int).SetBytes(rawSignature[:32]), new(big.Int).SetBytes(rawSignature[32:])})
	spki, _ := x509.MarshalPKIXPublicKey(public(rs))
	pemText := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: spki})
	embedded, _ := json.Marshal(k["p384"].jwk(nil))
	own, _ := json.Marshal(ec.jwk(nil))
	hmac := func(secret []byte) string { return goodDraft(rs).head("alg", `"HS256"`).signBy(jwa.HS256, secret) }
	none := func(alg string) string {
		d := good.head("alg", `"`+alg+`"`)
		return base64.RawURLEncoding.EncodeToString([]byte(d.header)) + "." + base64.RawURLEncoding.EncodeToString([]byte(d.payload)) + "."
	}
	n := new(big.Int).Set(public(ec).(*ecdsa.PublicKey).Params().N).Bytes()

	for _, c := range []struct{ name, token, why string }{
		{"empty", "", "three parts"},
		{"one part", "x", "three parts"},
		{"two parts", parts[0] + "." + parts[1], "three parts"},
		{"four parts", token + ".x", "three parts"},
		{"a JWE", parts[0] + ".a.b.c.d", "three parts"},
		{"no signature", parts[0] + "." + parts[1] + ".", "three parts"},
		{"no header", "." + parts[1] + "." + parts[2], "three parts"},
		{"no payload", parts[0] + ".." + parts[2], "three parts"},
		{"padding", token + "=", "character"},
		{"a line break", token + "\n", "character"},
		{"a line break inside", parts[0] + ".\r\n" + parts[1] + "." + parts[2], "character"},
		{"a blank", " " + token, "character"},
		{"plain base64", parts[0] + "." + parts[1] + ".a+b/", "character"},
		{"a part of one character over", parts[0] + "A." + parts[1] + "." + parts[2], ""},
		{"over 8 KiB", good.set("x", `"`+strings.Repeat("x", 8<<10)+`"`).sign(ec), "bytes"},
		{"JSON serialization", `{"payload":"` + parts[1] + `"}`, "character"},

		{"alg none", none("none"), "three parts"},
		{"alg none with a signature", good.head("alg", `"none"`).sign(ec), "alg"},
		{"alg None", good.head("alg", `"None"`).sign(ec), "alg"},
		{"alg nOnE", good.head("alg", `"nOnE"`).sign(ec), "alg"},
		{"alg empty", good.head("alg", `""`).sign(ec), "alg"},
		{"alg missing", good.head("alg", ``).sign(ec), "alg"},
		{"alg in lower case", good.head("alg", `"es256"`).sign(ec), "alg"},
		{"alg a number", good.head("alg", `256`).sign(ec), "alg"},
		{"alg ES384", good.head("alg", `"ES384"`).head("kid", `"p384"`).sign(k["p384"]), "alg"},
		{"alg RS512", goodDraft(rs).head("alg", `"RS512"`).signBy(jwa.RS512, rs.private), "alg"},
		{"HS256 with the public key in PEM", hmac(pemText), "alg"},
		{"HS256 with the public key in DER", hmac(spki), "alg"},
		{"HS256 with nothing", hmac([]byte{0}), "alg"},
		{"ES256 by an RSA key", goodDraft(rs).head("alg", `"ES256"`).sign(rs), "not for ES256"},
		{"RS256 by a key for PS256", goodDraft(k["ps"]).head("alg", `"RS256"`).signBy(jwa.RS256, rs.private), "not for RS256"},
		{"EdDSA by an EC key", good.head("alg", `"EdDSA"`).sign(ec), "not for EdDSA"},

		{"crit", good.head("crit", `["exp"]`).head("exp", `1`).sign(ec), "crit"},
		{"crit, empty", good.head("crit", `[]`).sign(ec), "crit"},
		{"b64 false", good.head("b64", `false`).sign(ec), "b64"},
		{"jwk of another", good.head("jwk", string(embedded)).sign(k["p384"]), "jwk"},
		{"jwk of the issuer", good.head("jwk", string(own)).sign(ec), "jwk"},
		{"jku", good.head("jku", `"https://evil.example/"`).sign(ec), "jku"},
		{"x5u", good.head("x5u", `"https://evil.example/"`).sign(ec), "x5u"},
		{"x5c", good.head("x5c", `["AA=="]`).sign(ec), "x5c"},
		{"zip", good.head("zip", `"DEF"`).sign(ec), "zip"},
		{"enc", good.head("enc", `"A128GCM"`).sign(ec), "enc"},
		{"nested", good.head("cty", `"JWT"`).sign(ec), "cty"},
		{"typ missing", good.head("typ", ``).sign(ec), "typ"},
		{"typ JWT", good.head("typ", `"JWT"`).sign(ec), "typ"},
		{"typ of an ID token", good.head("typ", `"id+jwt"`).sign(ec), "typ"},
		{"typ no string", good.head("typ", `["at+jwt"]`).sign(ec), "typ"},
		{"typ longer", good.head("typ", `"at+jwt;x=1"`).sign(ec), "typ"},
		{"duplicate alg", draft{`{"alg":"none",` + good.header[1:], good.payload}.sign(ec), "duplicates"},
		{"duplicate alg after", draft{good.header[:len(good.header)-1] + `,"alg":"ES256"}`, good.payload}.sign(ec), "duplicates"},
		{"duplicate alg by escape", draft{good.header[:len(good.header)-1] + `,"\u0061lg":"ES256"}`, good.payload}.sign(ec), "duplicates"},
		{"header an array", draft{`["alg"]`, good.payload}.sign(ec), "object"},
		{"header goes on", draft{good.header + `{}`, good.payload}.sign(ec), "goes on"},
		{"header not UTF-8", draft{"{\"x\":\"\xff\"," + good.header[1:], good.payload}.sign(ec), "duplicates"},

		{"kid unknown", good.head("kid", `"other"`).sign(ec), "no key"},
		{"kid of another key", good.head("kid", `"ec2"`).sign(ec), "signature"},
		{"kid empty", good.head("kid", `""`).sign(ec), "kid"},
		{"kid a number", good.head("kid", `1`).sign(ec), "kid"},
		{"kid null", good.head("kid", `null`).sign(ec), "kid"},
		{"no kid, two keys fit", good.head("kid", ``).sign(ec), "several keys"},

		{"iss missing", good.set("iss", ``).sign(ec), "iss"},
		{"iss other", good.set("iss", `"https://evil.example"`).sign(ec), "iss"},
		{"iss with a slash", good.set("iss", `"`+issuerURL+`/"`).sign(ec), "iss"},
		{"iss in capitals", good.set("iss", `"`+strings.ToUpper(issuerURL)+`"`).sign(ec), "iss"},
		{"iss an array", good.set("iss", `["`+issuerURL+`"]`).sign(ec), "iss"},
		{"Iss", good.set("iss", ``).set("Iss", `"`+issuerURL+`"`).sign(ec), "iss"},
		{"aud missing", good.set("aud", ``).sign(ec), "aud"},
		{"aud empty", good.set("aud", `""`).sign(ec), "aud"},
		{"aud other", good.set("aud", `"https://other.example"`).sign(ec), "aud"},
		{"aud a prefix", good.set("aud", `"https://trains.example"`).sign(ec), "aud"},
		{"aud longer", good.set("aud", `"`+audience+`/"`).sign(ec), "aud"},
		{"aud none", good.set("aud", `[]`).sign(ec), "aud"},
		{"aud without us", good.set("aud", `["a","b"]`).sign(ec), "aud"},
		{"aud with a number", good.set("aud", `["`+audience+`",1]`).sign(ec), "aud"},
		{"aud nested", good.set("aud", `[["`+audience+`"]]`).sign(ec), "aud"},
		{"aud null", good.set("aud", `null`).sign(ec), "aud"},
		{"exp missing", good.set("exp", ``).sign(ec), "no exp"},
		{"exp past", good.set("exp", fmt.Sprint(now-1)).sign(ec), "expired"},
		{"exp within this second", good.set("exp", fmt.Sprintf("%d.0", now)).sign(ec), "expired"},
		{"exp now", good.set("exp", fmt.Sprint(now)).sign(ec), "expired"},
		{"exp a string", good.set("exp", fmt.Sprintf(`"%d"`, now+60)).sign(ec), "exp"},
		{"exp 1e400", good.set("exp", `1e400`).sign(ec), "exp"},
		{"exp 1e300", good.set("exp", `1e300`).sign(ec), "exp"},
		{"exp negative", good.set("exp", `-1`).sign(ec), "exp"},
		{"exp zero", good.set("exp", `0`).sign(ec), "exp"},
		{"exp null", good.set("exp", `null`).sign(ec), "exp"},
		{"exp true", good.set("exp", `true`).sign(ec), "exp"},
		{"exp in milliseconds", good.set("exp", fmt.Sprint((now+60)*1000)).sign(ec), "exp"},
		{"nbf ahead", good.set("nbf", fmt.Sprint(now+61)).sign(ec), "nbf"},
		{"nbf a string", good.set("nbf", `"1"`).sign(ec), "nbf"},
		{"iat ahead", good.set("iat", fmt.Sprint(now+61)).sign(ec), "iat"},
		{"iat null", good.set("iat", `null`).sign(ec), "iat"},
		{"iat a string", good.set("iat", fmt.Sprintf(`"%d"`, now)).sign(ec), "iat"},
		{"jti empty", good.set("jti", `""`).sign(ec), "jti"},
		{"jti a number", good.set("jti", `7`).sign(ec), "jti"},
		{"jti null", good.set("jti", `null`).sign(ec), "jti"},
		{"sub missing", good.set("sub", ``).sign(ec), "sub"},
		{"sub empty", good.set("sub", `""`).sign(ec), "sub"},
		{"sub a number", good.set("sub", `1`).sign(ec), "sub"},
		{"sub too long", good.set("sub", `"`+strings.Repeat("a", 256)+`"`).sign(ec), "sub"},
		{"sub with a line break", good.set("sub", `"a\nb"`).sign(ec), "sub"},
		{"client_id missing", good.set("client_id", ``).sign(ec), "client_id"},
		{"client_id empty", good.set("client_id", `""`).sign(ec), "client_id"},
		{"client_id null", good.set("client_id", `null`).sign(ec), "client_id"},
		{"scope an array", good.set("scope", `["read","write"]`).sign(ec), "scope"},
		{"scope null", good.set("scope", `null`).sign(ec), "scope"},
		{"cnf", good.set("cnf", `{"jkt":"x"}`).sign(ec), "cnf"},
		{"cnf null", good.set("cnf", `null`).sign(ec), "cnf"},
		{"duplicate sub", draft{good.header, `{"sub":"bert",` + good.payload[1:]}.sign(ec), "duplicates"},
		{"duplicate claim of no use", draft{good.header, `{"x":1,"x":1,` + good.payload[1:]}.sign(ec), "duplicates"},
		{"duplicate within a claim", draft{good.header, `{"x":{"y":1,"y":2},` + good.payload[1:]}.sign(ec), "duplicates"},
		{"payload an array", draft{good.header, `[` + good.payload + `]`}.sign(ec), "object"},
		{"payload a string", draft{good.header, `"x"`}.sign(ec), "object"},
		{"payload null", draft{good.header, `null`}.sign(ec), "object"},
		{"payload a token", draft{good.header, token}.sign(ec), "object"},
		{"payload twice", draft{good.header, good.payload + good.payload}.sign(ec), "goes on"},
		{"payload with a comment", draft{good.header, good.payload + `//`}.sign(ec), "goes on"},
		{"payload not UTF-8", draft{good.header, "{\"x\":\"\xff\"," + good.payload[1:]}.sign(ec), "duplicates"},
		{"payload cut", draft{good.header, good.payload[:len(good.payload)-1]}.sign(ec), "duplicates"},

		{"signed by another", good.sign(k["ec2"]), "signature"},
		{"signature in DER", signed(der), "signature"},
		{"signature short", signed(rawSignature[:63]), "signature"},
		{"signature long", signed(append(rawSignature[:64:64], 0)), "signature"},
		{"signature zero", signed(make([]byte, 64)), "signature"},
		{"signature r = n, s = n", signed(append(append([]byte{}, n...), n...)), "signature"},
		{"signature of s alone", signed(append(make([]byte, 32), rawSignature[32:]...)), "signature"},
		{"last character altered", token[:len(token)-1] + string(rune(token[len(token)-1]+1)), "base64url"},
		{"another payload", parts[0] + "." + base64.RawURLEncoding.EncodeToString([]byte(setMember(good.payload, "sub", `"bert"`))) + "." + parts[2], "signature"},
		{"RSA signature zero", rs.forge(make([]byte, 256)), "signature"},
		{"RSA signature one", rs.forge(append(make([]byte, 255), 1)), "signature"},
		{"RSA signature short", rs.forge(make([]byte, 10)), "signature"},
		{"EdDSA signature zero", k["ed"].forge(make([]byte, 64)), "signature"},
		{"EdDSA signature short", k["ed"].forge(make([]byte, 63)), "signature"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			v := newVerifier(t, at(now))
			if _, err := v.Authenticate(t.Context(), token); err != nil {
				t.Fatal("the token that is good:", err)
			}
			for range 2 {
				id, err := v.Authenticate(t.Context(), c.token)
				if !errors.Is(err, httpserver.ErrInvalidToken) || id != (httpserver.Identity{}) || !strings.Contains(err.Error(), c.why) {
					t.Errorf("%+v, %v; want the reason %q", id, err, c.why)
				}
			}
		})
	}
}

// forge is a good token with a signature of somebody's liking.
func (k signingKey) forge(signature []byte) string {
	token := goodDraft(k).sign(k)
	return token[:strings.LastIndexByte(token, '.')+1] + base64.RawURLEncoding.EncodeToString(signature)
}

// A verifier for another type of token takes that and no other.
func TestVerifierTokenType(t *testing.T) {
	t.Parallel()
	k := signingKeys()["ec"]
	v := newVerifier(t, func(o *httpserver.VerifierOptions) { o.TokenType = "JWT" })
	if _, err := v.Authenticate(t.Context(), goodDraft(k).head("typ", `"JWT"`).sign(k)); err != nil {
		t.Error(err)
	}
	if _, err := v.Authenticate(t.Context(), goodDraft(k).sign(k)); !errors.Is(err, httpserver.ErrInvalidToken) {
		t.Error(err)
	}
}

func TestVerifierOptions(t *testing.T) {
	t.Parallel()
	keys := httpserver.StaticKeys(allKeys(t))
	for _, o := range []httpserver.VerifierOptions{
		{}, {Issuer: "i", Audience: "a"}, {Issuer: "i", Keys: keys}, {Audience: "a", Keys: keys},
		{Issuer: httpserver.BuiltinIssuer, Audience: "a", Keys: keys},
	} {
		if _, err := httpserver.NewVerifier(o); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}
