package httpserver_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lestrrat-go/jwx/v2/jwa"
	"github.com/lestrrat-go/jwx/v2/jwk"
	"github.com/lestrrat-go/jwx/v2/jws"

	"github.com/traintravel/traintravel/httpserver"
)

const (
	issuerURL = "https://issuer.example/realm"
	audience  = "https://trains.example/api"
)

// A signingKey is a key of a test issuer.
type signingKey struct {
	kid     string
	alg     jwa.SignatureAlgorithm
	private any
}

// signingKeys are made once: RSA keys take their time.
var signingKeys = sync.OnceValue(func() map[string]signingKey {
	keys := map[string]signingKey{}
	add := func(kid string, alg jwa.SignatureAlgorithm, private any, err error) {
		if err != nil {
			panic(err)
		}
		keys[kid] = signingKey{kid, alg, private}
	}
	keys["ec"], keys["ec2"] = newECKey("ec"), newECKey("ec2")
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	add("p384", jwa.ES384, p384, err)
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	add("ed", jwa.EdDSA, ed, err)
	rsa2048, err := rsa.GenerateKey(rand.Reader, 2048)
	add("rs", jwa.RS256, rsa2048, err)
	add("ps", jwa.PS256, rsa2048, nil)
	rsa1024, err := rsa.GenerateKey(rand.Reader, 1024)
	add("weak", jwa.RS256, rsa1024, err)
	return keys
})

func newECKey(kid string) signingKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	return signingKey{kid, jwa.ES256, key}
}

// jwk returns the public key as the members of a JWK, some of them changed;
// nil takes a member away.
func (k signingKey) jwk(change map[string]any) map[string]any {
	key, err := jwk.FromRaw(k.private)
	if err == nil {
		key, err = key.PublicKey()
	}
	if err != nil {
		panic(err)
	}
	text, err := json.Marshal(key)
	if err != nil {
		panic(err)
	}
	members := map[string]any{"kid": k.kid, "use": "sig", "alg": k.alg}
	if err := json.Unmarshal(text, &members); err != nil {
		panic(err)
	}
	for name, v := range change {
		if members[name] = v; v == nil {
			delete(members, name)
		}
	}
	return members
}

func jwkSet(keys ...map[string]any) []byte {
	text, err := json.Marshal(map[string]any{"keys": append([]map[string]any{}, keys...)})
	if err != nil {
		panic(err)
	}
	return text
}

func keySet(t testing.TB, text []byte) *httpserver.KeySet {
	t.Helper()
	set, err := httpserver.ParseKeySet(text)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// allKeys is a set of every good key.
func allKeys(t testing.TB) *httpserver.KeySet {
	k := signingKeys()
	return keySet(t, jwkSet(k["ec"].jwk(nil), k["ec2"].jwk(nil), k["ed"].jwk(nil), k["rs"].jwk(nil), k["ps"].jwk(nil)))
}

// A draft is a token before it is signed. Both parts may be any text.
type draft struct {
	header, payload string
}

// goodDraft is a token of anna for the key, good for ten minutes.
func goodDraft(k signingKey) draft {
	now := time.Now().Unix()
	return draft{
		fmt.Sprintf(`{"alg":"%s","typ":"at+jwt","kid":"%s"}`, k.alg, k.kid),
		fmt.Sprintf(`{"iss":"%s","aud":"%s","sub":"anna","client_id":"shop","scope":"read write","iat":%d,"exp":%d,"jti":"1"}`,
			issuerURL, audience, now, now+600),
	}
}

// set gives a member of the payload another text, or takes it away with "".
func (d draft) set(name, text string) draft {
	d.payload = setMember(d.payload, name, text)
	return d
}

// head does the same with the header.
func (d draft) head(name, text string) draft {
	d.header = setMember(d.header, name, text)
	return d
}

func setMember(object, name, text string) string {
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(object), &members); err != nil {
		panic(err)
	}
	delete(members, name)
	var b strings.Builder
	for n, v := range members {
		fmt.Fprintf(&b, ",%q:%s", n, v)
	}
	if text != "" {
		fmt.Fprintf(&b, ",%q:%s", name, text)
	}
	return "{" + b.String()[1:] + "}"
}

// sign makes a true signature, by the algorithm of the key.
func (d draft) sign(k signingKey) string { return d.signBy(k.alg, k.private) }

func (d draft) signBy(alg jwa.SignatureAlgorithm, key any) string {
	input := base64.RawURLEncoding.EncodeToString([]byte(d.header)) + "." + base64.RawURLEncoding.EncodeToString([]byte(d.payload))
	return input + "." + base64.RawURLEncoding.EncodeToString(signBytes(alg, key, input))
}

func signBytes(alg jwa.SignatureAlgorithm, key any, input string) []byte {
	signer, err := jws.NewSigner(alg)
	if err != nil {
		panic(err)
	}
	signature, err := signer.Sign([]byte(input), key)
	if err != nil {
		panic(err)
	}
	return signature
}

func public(k signingKey) crypto.PublicKey { return k.private.(crypto.Signer).Public() }

// A testClock is real time, or stands still if it has a start, and can be set.
type testClock struct {
	start time.Time
	late  atomic.Int64
}

func (c *testClock) now() time.Time {
	now := c.start
	if now.IsZero() {
		now = time.Now()
	}
	return now.Add(time.Duration(c.late.Load()))
}
func (c *testClock) pass(d time.Duration) { c.late.Add(int64(d)) }

func newVerifier(t testing.TB, change ...func(*httpserver.VerifierOptions)) *httpserver.Verifier {
	t.Helper()
	o := httpserver.VerifierOptions{Issuer: issuerURL, Audience: audience}
	for _, c := range change {
		c(&o)
	}
	if o.Keys == nil {
		o.Keys = httpserver.StaticKeys(allKeys(t))
	}
	v, err := httpserver.NewVerifier(o)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func withKeys(keys httpserver.KeySource) func(*httpserver.VerifierOptions) {
	return func(o *httpserver.VerifierOptions) { o.Keys = keys }
}
