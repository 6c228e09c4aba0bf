package ticket_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/ticket"
)

func TestVerify(t *testing.T) {
	t.Parallel()
	key, older := newKey(t), newKey(t)
	both, err := ticket.NewKeys(&key.PublicKey, &older.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []*ticket.Issuer{issuer(t, key), issuer(t, older)} {
		for leg := range 2 {
			tk := sample(t, func(b *traintravel.Booking) { b.HasBicycle, b.HasDog = leg == 0, true })
			got, err := both.Verify(container(t, k, tk, leg))
			if err != nil {
				t.Fatal(err)
			}
			l := tk.Booking.Legs[leg]
			want := ticket.Content{
				Booking: tk.Booking.ID, Reference: ticket.ReferenceOf(tk.Booking), Leg: leg, Legs: 2, Issued: tk.Paid,
				Passenger: "Zoë Müller", HasBicycle: leg == 0, HasDog: true,
				Operator: l.Operator, Train: l.Number, Coach: l.Coach, Seat: l.Seat,
				Origin: l.Origin.Name, Departure: l.Origin.Time, Destination: l.Destination.Name, Arrival: l.Destination.Time,
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
			if g, w := got.Arrival.Format(time.RFC3339), l.Destination.Time.Format(time.RFC3339); g != w {
				t.Errorf("arrival %s, want %s", g, w)
			}
		}
	}
}

// The named errors, and what they are for.
func TestVerifyRefuses(t *testing.T) {
	t.Parallel()
	key, other := newKey(t), newKey(t)
	keys, err := ticket.NewKeys(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	code := container(t, issuer(t, key), sample(t, nil), 0)
	stranger := container(t, issuer(t, other), sample(t, nil), 0)
	forged := slices.Concat(code[:14], stranger[14:]) // our key's name, another's signature
	negative := slices.Clone(code)                    // (r, n-s) verifies with any ECDSA
	n := new(big.Int).Sub(key.Params().N, new(big.Int).SetBytes(code[46:78]))
	n.FillBytes(negative[46:78])
	for name, c := range map[string]struct {
		code []byte
		want error
	}{
		"nothing":                {nil, ticket.ErrMalformed},
		"text":                   {[]byte(strings.Repeat("ticket ", 100)), ticket.ErrMalformed},
		"version 01":             {slices.Concat([]byte("#UT01"), code[5:]), ticket.ErrMalformed},
		"another company":        {slices.Concat(code[:5], []byte("0080"), code[9:]), ticket.ErrMalformed},
		"another length":         {slices.Concat(code[:78], []byte("0001"), code[82:]), ticket.ErrMalformed},
		"a length with a sign":   {slices.Concat(code[:78], []byte("+"), code[79:]), ticket.ErrMalformed},
		"huge":                   {make([]byte, 1<<20), ticket.ErrMalformed},
		"a stranger's key":       {stranger, ticket.ErrUnknownKey},
		"a stranger's signature": {forged, ticket.ErrSignature},
		"the other s":            {negative, ticket.ErrSignature},
		"no signature":           {slices.Concat(code[:14], make([]byte, 64), code[78:]), ticket.ErrSignature},
	} {
		if got, err := keys.Verify(c.code); !errors.Is(err, c.want) || got != (ticket.Content{}) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if _, err := (ticket.Keys{}).Verify(code); !errors.Is(err, ticket.ErrUnknownKey) {
		t.Errorf("no keys: %v", err)
	}
}

// No byte can be another, be missing, or be added.
func TestEveryByteCounts(t *testing.T) {
	t.Parallel()
	key, other := newKey(t), newKey(t)
	keys, err := ticket.NewKeys(&key.PublicKey, &other.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	code := container(t, issuer(t, key), sample(t, nil), 0)
	if _, err := keys.Verify(code); err != nil {
		t.Fatal(err)
	}
	bad := func(what string, at int, changed []byte) {
		t.Helper()
		if _, err := keys.Verify(changed); err == nil {
			t.Errorf("%s at %d is valid", what, at)
		}
	}
	for at := range code {
		for _, to := range []byte{code[at] ^ 1, code[at] ^ 0x80, code[at] ^ 0x20, code[at] + 1, code[at] - 1, 0, ' ', '0', 0xff} {
			if changed := slices.Clone(code); to != code[at] {
				changed[at] = to
				bad("a changed byte", at, changed)
			}
		}
		bad("the end", at, code[:at])
		bad("the beginning", at, code[at+1:])
		bad("a byte left out", at, slices.Delete(slices.Clone(code), at, at+1))
		bad("a byte doubled", at, slices.Insert(slices.Clone(code), at, code[at]))
		bad("a byte inserted", at, slices.Insert(slices.Clone(code), at, 0))
	}
	for _, more := range []string{"\x00", " ", "\n", "0", string(code), strings.Repeat("\x00", 100)} {
		bad("more", len(code), append(slices.Clone(code), more...))
	}
	if !bytes.Equal(code[:5], []byte("#UT02")) {
		t.Error("the container was changed")
	}
}

func TestKeySet(t *testing.T) {
	t.Parallel()
	key, older := newKey(t), newKey(t)
	set, err := ticket.NewKeys(&key.PublicKey, &older.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), `"d"`) {
		t.Errorf("a private key: %s", text)
	}
	again, err := ticket.ParseKeys(text)
	if err != nil || !slices.Equal(again.IDs(), set.IDs()) || len(set.IDs()) != 2 {
		t.Errorf("%v %v", again.IDs(), err)
	}
	code := container(t, issuer(t, older), sample(t, nil), 0)
	if _, err := again.Verify(code); err != nil {
		t.Error(err)
	}
	if id := string(code[9:14]); id != set.IDs()[1] {
		t.Errorf("the container names key %q", id)
	}
	one, err := ticket.NewKeys(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := one.Verify(code); !errors.Is(err, ticket.ErrUnknownKey) {
		t.Errorf("a removed key: %v", err)
	}
	if none, err := json.Marshal(ticket.Keys{}); err != nil || string(none) != `{"keys":[]}` {
		t.Errorf("%s %v", none, err)
	}
	others := `{"keys":[{"kty":"RSA","n":"AQAB","e":"AQAB"},{"kty":"EC","crv":"P-384"},{"kty":"EC","crv":"P-256","use":"enc"}]}`
	if set, err := ticket.ParseKeys([]byte(others)); err != nil || len(set.IDs()) != 0 {
		t.Errorf("other keys: %v %v", set.IDs(), err)
	}
	for _, bad := range []string{
		``, `[]`, `{}`, `{"keys":1}`, `{"keys":[1]}`,
		`{"keys":[{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}]}`,
		strings.Replace(string(text), `"kid":"`, `"kid":"x`, 1),
		strings.Replace(string(text), `"x":"`, `"x":"=`, 1),
		strings.Replace(string(text), `"keys":[`, `"keys":[`+strings.TrimSuffix(strings.TrimPrefix(string(text), `{"keys":[`), `]}`)+`,`, 1),
	} {
		if _, err := ticket.ParseKeys([]byte(bad)); err == nil {
			t.Errorf("%s was read", bad)
		}
	}
}

// FuzzVerify: nothing makes it panic, and nothing but what was signed is valid. The
// key is always the same, since the fuzzer runs in several processes.
func FuzzVerify(f *testing.F) {
	key, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), bytes.Repeat([]byte{7}, 32))
	if err != nil {
		f.Fatal(err)
	}
	keys, err := ticket.NewKeys(&key.PublicKey)
	if err != nil {
		f.Fatal(err)
	}
	var signed []ticket.Content
	for leg := range 2 {
		code := container(f, issuer(f, key), sample(f, nil), leg)
		c, err := keys.Verify(code)
		if err != nil {
			f.Fatal(err)
		}
		signed = append(signed, c)
		f.Add(code)
	}
	f.Fuzz(func(t *testing.T, code []byte) {
		c, err := keys.Verify(code)
		if err == nil && !slices.ContainsFunc(signed, func(s ticket.Content) bool { return cmp.Equal(s, c) }) {
			t.Errorf("%+v", c)
		}
	})
}

// FuzzParseKeys: no set makes reading it panic, and what is read can be written.
func FuzzParseKeys(f *testing.F) {
	keys, err := ticket.NewKeys(&newKey(f).PublicKey)
	if err != nil {
		f.Fatal(err)
	}
	text, err := json.Marshal(keys)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"keys":[{"kty":"RSA"},{"kty":"EC","crv":"P-256","x":"","y":""}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		keys, err := ticket.ParseKeys(text)
		if err != nil {
			return
		}
		text, err = json.Marshal(keys)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := ticket.ParseKeys(text); err != nil || !slices.Equal(again.IDs(), keys.IDs()) {
			t.Errorf("written as %s: %v", text, err)
		}
	})
}

// A keyStore signs with a key that does not leave it.
type keyStore struct {
	crypto.Signer
	sign func(random io.Reader, digest []byte) ([]byte, error)
}

func (k keyStore) Sign(random io.Reader, digest []byte, _ crypto.SignerOpts) ([]byte, error) {
	return k.sign(random, digest)
}

func TestIssuerKeys(t *testing.T) {
	t.Parallel()
	key, other := newKey(t), newKey(t)
	keys, err := ticket.NewKeys(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	failed := errors.New("the key store is away")
	for name, c := range map[string]struct {
		sign func(random io.Reader, digest []byte) ([]byte, error)
		good bool
	}{
		"a key store":            {func(r io.Reader, d []byte) ([]byte, error) { return key.Sign(r, d, crypto.SHA256) }, true},
		"one that is away":       {func(io.Reader, []byte) ([]byte, error) { return nil, failed }, false},
		"one with another key":   {func(r io.Reader, d []byte) ([]byte, error) { return other.Sign(r, d, crypto.SHA256) }, false},
		"one that signs nothing": {func(io.Reader, []byte) ([]byte, error) { return nil, nil }, false},
		"one that says more": {func(r io.Reader, d []byte) ([]byte, error) {
			s, err := key.Sign(r, d, crypto.SHA256)
			return append(s, 0), err
		}, false},
	} {
		i, err := ticket.NewIssuer(keyStore{key, c.sign})
		if err != nil {
			t.Fatal(err)
		}
		for range 20 { // half of all signatures have the greater s
			code, err := i.Container(sample(t, nil), 0)
			if (err == nil) != c.good {
				t.Fatalf("%s: %v", name, err)
			}
			if _, err := keys.Verify(code); c.good && err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}

	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []crypto.Signer{nil, p384, edwards} {
		if _, err := ticket.NewIssuer(bad); err == nil {
			t.Errorf("%T signs tickets", bad)
		}
	}
	i := issuer(t, key)
	if _, err := i.Container(sample(t, func(b *traintravel.Booking) { b.Status = traintravel.Held }), 0); !errors.Is(err, traintravel.ErrNotPaid) {
		t.Errorf("a hold: %v", err)
	}
	for _, leg := range []int{-1, 2} {
		if _, err := i.Container(sample(t, nil), leg); err == nil {
			t.Errorf("leg %d has a ticket", leg)
		}
	}
}
