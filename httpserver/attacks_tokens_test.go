package httpserver_test

import (
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/asn1"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"strings"

	"github.com/lestrrat-go/jwx/v2/jwa"
	"github.com/lestrrat-go/jwx/v2/jwe"
)

func encoded(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }

// badShapes are tokens that cannot be read as a JWS.
func (f *foreignIssuer) badShapes() []attack {
	k := signingKeys()["ec"]
	good := f.draft(k)
	token := good.sign(k)
	parts := strings.Split(token, ".")
	// A real JWE for the issuer's own key, with a good token in it.
	encrypted, err := jwe.Encrypt([]byte(token), jwe.WithKey(jwa.ECDH_ES, public(k)))
	if err != nil {
		panic(err)
	}
	of := func(bytes int) string { // a token of so many bytes
		for d := bytes * 3 / 4; ; d-- {
			if s := good.set("x", `"`+strings.Repeat("x", max(0, d-len(token)*3/4))+`"`).sign(k); len(s) <= bytes {
				return s
			}
		}
	}
	return []attack{
		{"one part", "x", "three parts"},
		{"two parts", parts[0] + "." + parts[1], "three parts"},
		{"four parts", token + ".x", "three parts"},
		{"a JWE", string(encrypted), "three parts"},
		{"no signature", parts[0] + "." + parts[1] + ".", "three parts"},
		{"no header", "." + parts[1] + "." + parts[2], "three parts"},
		{"no payload", parts[0] + ".." + parts[2], "three parts"},
		{"dots alone", "..", "three parts"},
		{"padding", token + "=", "character"},
		{"padding inside", parts[0] + "==." + parts[1] + "." + parts[2], "character"},
		{"a line break", token + "\n", "character"},
		{"a line break inside", parts[0] + ".\r\n" + parts[1] + "." + parts[2], "character"},
		{"NUL", token + "\x00", "character"},
		{"plain base64", parts[0] + "." + parts[1] + ".a+b/", "character"},
		{"a letter of other alphabets", strings.Replace(token, "e", "\u0435", 1), "character"},
		{"a part of one character over", parts[0] + "A." + parts[1] + "." + parts[2], "its"},
		{"JSON serialization", `{"payload":"` + parts[1] + `"}`, "character"},
		{"almost 8 KiB", of(8 << 10), ""},
		{"over 8 KiB", good.set("x", `"`+strings.Repeat("x", 8<<10)+`"`).sign(k), "bytes"},
		{"last character altered", token[:len(token)-1] + string(rune(token[len(token)-1]+1)), "base64url"},
		{"header an array", draft{`["alg"]`, good.payload}.sign(k), "object"},
		{"header goes on", draft{good.header + `{}`, good.payload}.sign(k), "data after"},
		{"header not UTF-8", draft{"{\"x\":\"\xff\"," + good.header[1:], good.payload}.sign(k), "duplicates"},
		{"header after a byte order mark", draft{"\ufeff" + good.header, good.payload}.sign(k), "object"},
		{"header with blanks", draft{" " + good.header + "\n", good.payload}.sign(k), ""},
		{"payload an array", draft{good.header, `[` + good.payload + `]`}.sign(k), "object"},
		{"payload a string", draft{good.header, `"x"`}.sign(k), "object"},
		{"payload a number", draft{good.header, `7`}.sign(k), "object"},
		{"payload null", draft{good.header, `null`}.sign(k), "object"},
		{"payload a token", draft{good.header, token}.sign(k), "object"},
		{"payload twice", draft{good.header, good.payload + good.payload}.sign(k), "data after"},
		{"payload with a comment", draft{good.header, good.payload + `//`}.sign(k), "data after"},
		{"payload with blanks", draft{good.header, "\t" + good.payload + " \r\n"}.sign(k), ""},
		{"payload not UTF-8", draft{good.header, "{\"x\":\"\xff\"," + good.payload[1:]}.sign(k), "duplicates"},
		{"payload with half a surrogate", draft{good.header, `{"x":"\ud800",` + good.payload[1:]}.sign(k), "duplicates"},
		{"payload with a control character", draft{good.header, "{\"x\":\"\x01\"," + good.payload[1:]}.sign(k), "duplicates"},
		{"payload cut", draft{good.header, good.payload[:len(good.payload)-1]}.sign(k), "duplicates"},
		{"payload deep", draft{good.header, `{"x":` + strings.Repeat("[", 2500) + strings.Repeat("]", 2500) + `,` + good.payload[1:]}.sign(k), ""},
		{"payload deep and open", draft{good.header, `{"x":` + strings.Repeat(`{"a":`, 900)}.sign(k), "duplicates"},
		{"duplicate sub", draft{good.header, `{"sub":"bert",` + good.payload[1:]}.sign(k), "duplicates"},
		{"duplicate sub, the same", draft{good.header, `{"sub":"anna",` + good.payload[1:]}.sign(k), "duplicates"},
		{"duplicate sub by escape", draft{good.header, `{"\u0073ub":"bert",` + good.payload[1:]}.sign(k), "duplicates"},
		{"duplicate claim of no use", draft{good.header, `{"x":1,"x":1,` + good.payload[1:]}.sign(k), "duplicates"},
		{"duplicate within a claim", draft{good.header, `{"x":{"y":1,"y":2},` + good.payload[1:]}.sign(k), "duplicates"},
		{"names that differ in case", draft{good.header, `{"Sub":"bert","SUB":"carl",` + good.payload[1:]}.sign(k), ""},
	}
}

// badHeaders are tokens whose header is not one of the issuer's access tokens.
func (f *foreignIssuer) badHeaders() []attack {
	k := signingKeys()
	ec, ed, rs, ps := k["ec"], k["ed"], k["rs"], k["ps"]
	good := f.draft(ec)
	spki, _ := x509.MarshalPKIXPublicKey(public(rs))
	pemText := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: spki})
	own, _ := json.Marshal(ec.jwk(nil))
	embedded, _ := json.Marshal(newECKey("evil").jwk(nil))
	hmac := func(alg jwa.SignatureAlgorithm, secret []byte) string {
		return f.draft(rs).head("alg", `"`+string(alg)+`"`).signBy(alg, secret)
	}
	unsigned := func(alg string) string {
		d := good.head("alg", `"`+alg+`"`)
		return encoded(d.header) + "." + encoded(d.payload) + "."
	}
	evil := `"` + f.URL + `/evil"`
	return []attack{
		{"ES256", good.sign(ec), ""},
		{"EdDSA", f.draft(ed).sign(ed), ""},
		{"RS256", f.draft(rs).sign(rs), ""},
		{"PS256", f.draft(ps).sign(ps), ""},
		{"alg none", unsigned("none"), "three parts"},
		{"alg NONE", unsigned("NONE"), "three parts"},
		{"alg none with a signature", good.head("alg", `"none"`).sign(ec), "alg"},
		{"alg None", good.head("alg", `"None"`).sign(ec), "alg"},
		{"alg nOnE", good.head("alg", `"nOnE"`).sign(ec), "alg"},
		{"alg NONE with a signature", good.head("alg", `"NONE"`).sign(ec), "alg"},
		{"alg empty", good.head("alg", `""`).sign(ec), "alg"},
		{"alg missing", good.head("alg", ``).sign(ec), "alg"},
		{"alg in lower case", good.head("alg", `"es256"`).sign(ec), "alg"},
		{"alg with NUL", good.head("alg", `"ES256\u0000"`).sign(ec), "alg"},
		{"alg a number", good.head("alg", `256`).sign(ec), "alg"},
		{"alg an array", good.head("alg", `["ES256"]`).sign(ec), "alg"},
		{"alg ES256K", good.head("alg", `"ES256K"`).sign(ec), "alg"},
		{"alg ES384", good.head("alg", `"ES384"`).head("kid", `"p384"`).sign(k["p384"]), "alg"},
		{"alg RS384", f.draft(rs).head("alg", `"RS384"`).signBy(jwa.RS384, rs.private), "alg"},
		{"alg RS512", f.draft(rs).head("alg", `"RS512"`).signBy(jwa.RS512, rs.private), "alg"},
		{"alg PS512", f.draft(ps).head("alg", `"PS512"`).signBy(jwa.PS512, ps.private), "alg"},
		{"HS256 with the public key in PEM", hmac(jwa.HS256, pemText), "alg"},
		{"HS256 with the public key in DER", hmac(jwa.HS256, spki), "alg"},
		{"HS384 with the public key in PEM", hmac(jwa.HS384, pemText), "alg"},
		{"HS256 with the modulus", hmac(jwa.HS256, rsaModulus(rs)), "alg"},
		{"HS256 with nothing", hmac(jwa.HS256, []byte{0}), "alg"},
		{"HS256 with the key in the set", good.head("alg", `"HS256"`).head("kid", `"unfit oct"`).signBy(jwa.HS256, rsaModulus(rs)), "alg"},
		{"ES256 by an RSA key", f.draft(rs).head("alg", `"ES256"`).sign(rs), "not for ES256"},
		{"RS256 by an EC key", good.head("alg", `"RS256"`).sign(ec), "not for RS256"},
		{"RS256 by a key for PS256", f.draft(ps).head("alg", `"RS256"`).signBy(jwa.RS256, rs.private), "not for RS256"},
		{"PS256 by a key for RS256", f.draft(rs).head("alg", `"PS256"`).signBy(jwa.PS256, rs.private), "not for PS256"},
		{"EdDSA by an EC key", good.head("alg", `"EdDSA"`).sign(ec), "not for EdDSA"},

		{"crit", good.head("crit", `["exp"]`).head("exp", `1`).sign(ec), "crit"},
		{"crit, empty", good.head("crit", `[]`).sign(ec), "crit"},
		{"crit null", good.head("crit", `null`).sign(ec), "crit"},
		{"b64 false", good.head("b64", `false`).head("crit", `["b64"]`).sign(ec), "its header has"},
		{"b64 false alone", good.head("b64", `false`).sign(ec), "b64"},
		{"jwk of another", f.draftBy(string(embedded)), "jwk"},
		{"jwk of the issuer", good.head("jwk", string(own)).sign(ec), "jwk"},
		{"jku", good.head("jku", evil).sign(ec), "jku"},
		{"x5u", good.head("x5u", evil).sign(ec), "x5u"},
		{"x5c", good.head("x5c", `["AA=="]`).sign(ec), "x5c"},
		{"x5t, which names a key and is none", good.head("x5t", `"abc"`).sign(ec), ""},
		{"zip", good.head("zip", `"DEF"`).sign(ec), "zip"},
		{"enc", good.head("enc", `"A128GCM"`).sign(ec), "enc"},
		{"nested", good.head("cty", `"JWT"`).sign(ec), "cty"},
		{"typ in full", good.head("typ", `"application/at+jwt"`).sign(ec), ""},
		{"typ missing", good.head("typ", ``).sign(ec), "typ"},
		{"typ JWT", good.head("typ", `"JWT"`).sign(ec), "typ"},
		{"typ of an ID token", good.head("typ", `"id+jwt"`).sign(ec), "typ"},
		{"typ of a logout token", good.head("typ", `"logout+jwt"`).sign(ec), "typ"},
		{"typ no string", good.head("typ", `["at+jwt"]`).sign(ec), "typ"},
		{"typ longer", good.head("typ", `"at+jwt;x=1"`).sign(ec), "typ"},
		{"duplicate alg", draft{`{"alg":"none",` + good.header[1:], good.payload}.sign(ec), "duplicates"},
		{"duplicate alg after", draft{good.header[:len(good.header)-1] + `,"alg":"ES256"}`, good.payload}.sign(ec), "duplicates"},
		{"duplicate alg by escape", draft{good.header[:len(good.header)-1] + `,"\u0061lg":"ES256"}`, good.payload}.sign(ec), "duplicates"},

		{"kid unknown", good.head("kid", `"other"`).sign(ec), "no key"},
		{"kid longer", good.head("kid", `"ec "`).sign(ec), "no key"},
		{"kid with NUL", good.head("kid", `"ec\u0000"`).sign(ec), "no key"},
		{"kid a path", good.head("kid", `"../../../dev/null"`).sign(ec), "no key"},
		{"kid of another key", good.head("kid", `"ec2"`).sign(ec), "signature"},
		{"kid empty", good.head("kid", `""`).sign(ec), "kid"},
		{"kid a number", good.head("kid", `1`).sign(ec), "kid"},
		{"kid null", good.head("kid", `null`).sign(ec), "kid"},
		{"no kid, two keys fit", good.head("kid", ``).sign(ec), "several keys"},
		{"no kid, one fits", f.draft(ed).head("kid", ``).sign(ed), ""},
	}
}

// draftBy is a token that is signed with a key of its own and says which in its header.
func (f *foreignIssuer) draftBy(jwk string) string {
	evil := newECKey("ec")
	return f.draft(evil).head("jwk", jwk).sign(evil)
}

// badClaims are tokens that say what none for this server says.
func (f *foreignIssuer) badClaims() []attack {
	k := signingKeys()["ec"]
	good := f.draft(k)
	now := f.clock.now().Unix()
	all := []attack{}
	add := func(name, claim, value, why string) {
		all = append(all, attack{name, good.set(claim, value).sign(k), why})
	}
	add("more claims", "groups", `["a",{"b":[1,null]}]`, "")
	for _, value := range []string{``, `""`, `"https://evil.example"`, `"` + f.URL + `/"`, `"` + strings.ToUpper(f.URL) + `"`, `"` + f.URL + `\u0000"`,
		`"` + strings.Replace(f.URL, "127.0.0.1", "localhost", 1) + `"`, `["` + f.URL + `"]`, `null`, `{}`, `1`} {
		add("iss "+value, "iss", value, "iss")
	}
	all = append(all, attack{"Iss", good.set("iss", ``).set("Iss", `"`+f.URL+`"`).sign(k), "iss"})
	add("aud alone in an array", "aud", `["`+audience+`"]`, "")
	add("aud among others", "aud", `["x", "`+audience+`"]`, "")
	for _, value := range []string{``, `""`, `"https://other.example"`, `"https://trains.example"`, `"` + audience + `/"`, `"` + strings.ToUpper(audience) + `"`,
		`"` + audience + ` https://other.example"`, `[]`, `["a","b"]`, `[""]`, `["` + audience + `",1]`, `["` + audience + `",null]`, `[["` + audience + `"]]`,
		`{"` + audience + `":1}`, `null`, `1`} {
		add("aud "+value, "aud", value, "aud")
	}

	for _, value := range []string{fmt.Sprint(now + 1), fmt.Sprintf("%d.25", now), fmt.Sprintf("%d.5e0", now+600), `253402300799`, `1e10`} {
		add("exp "+value, "exp", value, "")
	}
	add("exp missing", "exp", ``, "no exp")
	for _, value := range []string{fmt.Sprint(now), fmt.Sprintf("%d.0", now), fmt.Sprint(now - 1), fmt.Sprintf("%d.999", now-1), `1`, `1e-300`} {
		add("exp "+value, "exp", value, "expired")
	}
	for _, value := range []string{fmt.Sprintf(`"%d"`, now+60), `1e400`, `1e300`, `1e18`, `253402300800`, `1` + strings.Repeat("0", 400), `-1`, `-1e400`, `0`, `-0`, `-0.0`,
		`null`, `true`, `[` + fmt.Sprint(now+60) + `]`, `{}`, fmt.Sprint((now + 60) * 1000)} {
		add("exp "+value, "exp", value, "exp is not")
	}
	for _, text := range []string{`01`, `+1`, `NaN`, `Infinity`, `0x7fffffff`, `1.`, `.5`} { // no JSON
		all = append(all, attack{"exp " + text, draft{good.header, `{"exp":` + text + `,` + good.set("exp", "").payload[1:]}.sign(k), "its "})
	}
	for _, claim := range []string{"nbf", "iat"} {
		add(claim+" missing", claim, ``, "")
		add(claim+" a bit ahead", claim, fmt.Sprint(now+60), "")
		add(claim+" ahead", claim, fmt.Sprint(now+61), claim+" is in the future")
		add(claim+" a fraction ahead", claim, fmt.Sprintf("%d.001", now+60), claim+" is in the future")
		for _, value := range []string{`null`, fmt.Sprintf(`"%d"`, now), `1e400`, `-1`, `[]`} {
			add(claim+" "+value, claim, value, claim+" is not")
		}
	}
	for _, claim := range []string{"sub", "client_id"} {
		for _, value := range []string{`"x"`, `"Zoë 日本"`, `"auth0|5f7c8ec7c33c6c004bbafe82"`, `"` + strings.Repeat("a", 255) + `"`} {
			add(claim+" "+value, claim, value, "")
		}
		add(claim+" missing", claim, ``, claim)
		for _, value := range []string{`""`, `1`, `null`, `["x"]`, `{}`, `"` + strings.Repeat("a", 256) + `"`, `"a\nb"`, `"a\u0000"`, `"a\u007f"`, `"a\u0085"`, `"\u001b[2J"`} {
			add(claim+" "+value, claim, value, claim+" is not")
		}
	}
	for _, value := range []string{`["read","write"]`, `null`, `1`, `{"read":true}`} {
		add("scope "+value, "scope", value, "scope")
	}
	add("jti missing", "jti", ``, "")
	for _, value := range []string{`""`, `7`, `null`} {
		add("jti "+value, "jti", value, "jti")
	}
	for _, value := range []string{`{"jkt":"x"}`, `{"x5t#S256":"x"}`, `{}`, `null`} {
		add("cnf "+value, "cnf", value, "cnf")
	}
	return all
}

// badSignatures are good tokens that another, or nobody, has signed.
func (f *foreignIssuer) badSignatures() []attack {
	k := signingKeys()
	ec, ed, rs, ps := k["ec"], k["ed"], k["rs"], k["ps"]
	good := f.draft(ec)
	token := good.sign(ec)
	parts := strings.Split(token, ".")
	raw, _ := base64.RawURLEncoding.DecodeString(parts[2])
	with := func(k signingKey, signature []byte) string {
		token := f.draft(k).sign(k)
		return token[:strings.LastIndexByte(token, '.')+1] + encoded(string(signature))
	}
	signed := func(b []byte) string { return parts[0] + "." + parts[1] + "." + encoded(string(b)) }
	der, _ := asn1.Marshal(struct{ R, S *big.Int }{new(big.Int).SetBytes(raw[:32]), new(big.Int).SetBytes(raw[32:])})
	n := public(ec).(*ecdsa.PublicKey).Params().N.Bytes()
	plus := func(b []byte) []byte { // the same number modulo n
		sum := new(big.Int).Add(new(big.Int).SetBytes(b), new(big.Int).SetBytes(n)).Bytes()
		return sum[max(0, len(sum)-32):]
	}
	shifted := append(append([]byte{0}, raw[:32]...), append([]byte{0}, raw[32:]...)...)
	other := f.draft(ed).sign(ed)
	return []attack{
		{"its own", signed(raw), ""},
		{"by another key", good.sign(k["ec2"]), "signature"},
		{"by a key of nobody, under the name", good.sign(newECKey("ec")), "signature"},
		{"in DER", signed(der), "signature"},
		{"short", signed(raw[:63]), "signature"},
		{"long", signed(append(raw[:64:64], 0)), "signature"},
		{"with longer numbers", signed(shifted), "signature"},
		{"half", signed(raw[:32]), "signature"},
		{"of one byte", signed([]byte{0}), "signature"},
		{"zero", signed(make([]byte, 64)), "signature"},
		{"r = n, s = n", signed(append(append([]byte{}, n...), n...)), "signature"},
		{"r = 0", signed(append(make([]byte, 32), raw[32:]...)), "signature"},
		{"s = 0", signed(append(raw[:32:32], make([]byte, 32)...)), "signature"},
		{"r + n", signed(append(plus(raw[:32]), raw[32:]...)), "signature"},
		{"r and s changed round", signed(append(raw[32:64:64], raw[:32]...)), "signature"},
		{"of another token", parts[0] + "." + parts[1] + other[strings.LastIndexByte(other, '.'):], "signature"},
		{"another payload", parts[0] + "." + encoded(setMember(good.payload, "sub", `"bert"`)) + "." + parts[2], "signature"},
		{"the same payload, written otherwise", parts[0] + "." + encoded(" "+good.payload) + "." + parts[2], "signature"},
		{"another header", encoded(" "+good.header) + "." + parts[1] + "." + parts[2], "signature"},
		{"RSA zero", with(rs, make([]byte, 256)), "signature"},
		{"RSA one", with(rs, append(make([]byte, 255), 1)), "signature"},
		{"RSA short", with(rs, make([]byte, 10)), "signature"},
		{"RSA, all bits", with(rs, []byte(strings.Repeat("\xff", 256))), "signature"},
		{"PS256 zero", with(ps, make([]byte, 256)), "signature"},
		{"PS256 by PKCS 1", f.draft(ps).signBy(jwa.RS256, rs.private), "signature"},
		{"EdDSA zero", with(ed, make([]byte, 64)), "signature"},
		{"EdDSA short", with(ed, make([]byte, 63)), "signature"},
		{"EdDSA, the neutral point", with(ed, append([]byte{1}, make([]byte, 63)...)), "signature"},
	}
}
