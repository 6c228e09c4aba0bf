// Package keys reads and makes the keys file of a server: what must outlive a
// restart and must never lie in the database. It is JSON, belongs to one user
// (mode 0600), is replaced as a whole, and keeps members that this version does
// not know.
//
//	version         1
//	signing         JWKs (RFC 7517): the keys of the built-in issuer of tokens;
//	                the first signs, all verify
//	retired         when tokens of keys that signed before have run out, by key ID
//	tickets         JWKs: the keys of tickets; the first signs, all verify
//	fingerprint     base64url: the HMAC key for fingerprints of requests
//	webhook_secret  the operator's own webhook is signed with it
//	seal            base64url: the key that seals subscribers' secrets in the database
//	program_secret  of the built-in client for programs
//	issuer          the URL that the built-in issuer goes by
//	use             which data the file serves, as a [Use]
package keys

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/traintravel/traintravel/internal/jwk"
)

// version is that of files this package writes, and the newest it reads. A new
// member needs no new version.
const version = 1

// The names of the members.
const (
	nameVersion     = "version"
	nameSigning     = "signing"
	nameRetired     = "retired"
	nameTickets     = "tickets"
	nameFingerprint = "fingerprint"
	nameWebhook     = "webhook_secret"
	nameSeal        = "seal"
	nameProgram     = "program_secret"
	nameIssuer      = "issuer"
	nameUse         = "use"
)

// A Ring is the content of a keys file. It is safe for concurrent use, and no
// verb of fmt shows what is in it.
type Ring struct {
	path    string // "" is memory only
	created bool   // by the call of Create that returned this

	signing, tickets             []*ecdsa.PrivateKey
	retired                      map[string]time.Time
	fingerprint, seal            []byte
	webhookSecret, programSecret string

	members map[string]json.RawMessage // the file as read, with what is unknown here

	mu     sync.Mutex
	issuer string
	use    Use
}

// A Use says which data a keys file serves.
type Use struct {
	ID   string `json:"id,omitempty"`   // of the data; each copy of the data has the same
	Data string `json:"data,omitempty"` // the path of the data file; empty is a database
	Keys string `json:"keys,omitempty"` // the path that the keys file itself had then
}

// New makes fresh keys that no file holds.
func New() (*Ring, error) {
	signing, err := newKey()
	if err != nil {
		return nil, err
	}
	tickets, err := newKey()
	if err != nil {
		return nil, err
	}
	r := &Ring{
		signing:       []*ecdsa.PrivateKey{signing},
		tickets:       []*ecdsa.PrivateKey{tickets},
		fingerprint:   random(),
		seal:          random(),
		webhookSecret: newWebhookSecret(),
		programSecret: encodeBytes(random()),
		members:       map[string]json.RawMessage{},
	}
	signs, err := encodeKeys(r.signing)
	if err != nil {
		return nil, err
	}
	signsTickets, err := encodeKeys(r.tickets)
	if err != nil {
		return nil, err
	}
	for name, v := range map[string]any{
		nameVersion: version, nameSigning: signs, nameTickets: signsTickets,
		nameFingerprint: encodeBytes(r.fingerprint),
		nameSeal:        encodeBytes(r.seal),
		nameWebhook:     r.webhookSecret, nameProgram: r.programSecret,
	} {
		if r.members[name], err = json.Marshal(v); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// newKey makes a key whose ID no command takes for a flag.
func newKey() (*ecdsa.PrivateKey, error) {
	for {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil || !strings.HasPrefix(id(key), "-") {
			return key, err
		}
	}
}

func random() []byte {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails: it ends the process instead
	return b
}

func encodeBytes(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func newWebhookSecret() string { return "whsec_" + base64.StdEncoding.EncodeToString(random()) }

// Signing returns the keys of the built-in issuer, each an *ecdsa.PrivateKey on
// P-256. The first signs; tokens of all of them are good.
func (r *Ring) Signing() []crypto.Signer {
	keys := make([]crypto.Signer, len(r.signing))
	for i, key := range r.signing {
		keys[i] = key
	}
	return keys
}

// Live are the keys of the built-in issuer that are good at an instant: without those
// that signed before, once their tokens have run out.
func (r *Ring) Live(now time.Time) []crypto.Signer {
	return slices.DeleteFunc(r.Signing(), func(key crypto.Signer) bool { return r.out(key.(*ecdsa.PrivateKey), now) })
}

// out says whether all that a key has signed has run out.
func (r *Ring) out(key *ecdsa.PrivateKey, now time.Time) bool {
	until, ok := r.retired[id(key)]
	return ok && !now.Before(until)
}

// A State is that of a key.
type State struct {
	ID    string
	Until time.Time // what it has signed is good; zero for the key that signs
}

// States are those of the keys that [Ring.Live] returns.
func (r *Ring) States(now time.Time) []State {
	var states []State
	for _, key := range r.Live(now) {
		id := id(key.(*ecdsa.PrivateKey))
		states = append(states, State{id, r.retired[id]})
	}
	return states
}

// id is the one that a key has in files and tokens: its thumbprint.
func id(key *ecdsa.PrivateKey) string {
	k, err := jwk.Public(&key.PublicKey)
	if err != nil { // not for a key that was read or made here
		return ""
	}
	return k.Thumbprint()
}

// Tickets returns the keys of tickets. The first signs; tickets of all of them are
// good. A file that was made before there were tickets has none until [Create] is
// called for it.
func (r *Ring) Tickets() []*ecdsa.PrivateKey { return slices.Clone(r.tickets) }

// Public are the public keys of these.
func Public(private []*ecdsa.PrivateKey) []*ecdsa.PublicKey {
	public := make([]*ecdsa.PublicKey, len(private))
	for i, key := range private {
		public[i] = &key.PublicKey
	}
	return public
}

// Fingerprint returns the HMAC key for fingerprints of requests, 32 bytes.
func (r *Ring) Fingerprint() []byte { return append([]byte(nil), r.fingerprint...) }

// Prints tell whether two rings have keys in common, or had, and nothing that is
// secret.
type Prints struct {
	Fingerprint string   `json:"fingerprint"` // of the HMAC key
	Signing     []string `json:"signing,omitempty"`
}

// Prints returns those of the ring.
func (r *Ring) Prints() Prints {
	sum := sha256.Sum256(append([]byte("traintravel fingerprint key\x00"), r.fingerprint...))
	p := Prints{Fingerprint: encodeBytes(sum[:])}
	for _, key := range r.signing {
		p.Signing = append(p.Signing, id(key))
	}
	for _, id := range slices.Sorted(maps.Keys(r.retired)) {
		if !slices.Contains(p.Signing, id) {
			p.Signing = append(p.Signing, id)
		}
	}
	return p
}

// Created says whether the call of [Create] that returned this ring has made the file.
func (r *Ring) Created() bool { return r.created }

// WebhookSecret returns the secret of the operator's own webhook, in the form of
// Standard Webhooks (whsec_…). A file that an older version made may have none until
// [Create] is called for it.
func (r *Ring) WebhookSecret() string { return r.webhookSecret }

// Seal returns the key that seals the secrets of webhooks, 32 bytes. A file that was
// made before there were subscribers has none until [Create] is called for it.
func (r *Ring) Seal() []byte { return slices.Clone(r.seal) }

// ProgramSecret returns the secret of the built-in client for programs, or "" if
// the file has none.
func (r *Ring) ProgramSecret() string { return r.programSecret }

// Issuer returns the URL that the built-in issuer was recorded under, or "".
func (r *Ring) Issuer() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.issuer
}

// RecordIssuer records the URL of the built-in issuer, in the file if there is
// one. What another process has put there meanwhile stays.
func (r *Ring) RecordIssuer(issuer string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.issuer == issuer {
		return nil
	}
	if r.path != "" {
		if err := change(r.path, func(*Ring) (map[string]any, error) { return map[string]any{nameIssuer: issuer}, nil }); err != nil {
			return fmt.Errorf("recording the issuer in %s: %w", r.path, err)
		}
	}
	r.issuer = issuer
	return nil
}

// Use returns which data the keys serve; it is zero if none is recorded.
func (r *Ring) Use() Use {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.use
}

// Claim records which data the keys serve, in the file if there is one, unless check
// refuses that because of what is recorded there now.
func (r *Ring) Claim(use Use, check func(was Use) error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.use == use || r.path == "" {
		r.use = use
		return nil
	}
	err := change(r.path, func(now *Ring) (map[string]any, error) {
		return map[string]any{nameUse: use}, check(now.use)
	})
	if err != nil {
		return fmt.Errorf("recording the use of %s: %w", r.path, err)
	}
	r.use = use
	return nil
}

// Format writes nothing of what is in the ring, whatever the verb.
func (r *Ring) Format(f fmt.State, _ rune) { fmt.Fprint(f, "keys") }

// parse reads a keys file. Its errors repeat nothing of the file.
func parse(text []byte) (*Ring, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil || members == nil {
		return nil, errors.New("is not a JSON object")
	}
	var v int
	if err := json.Unmarshal(members[nameVersion], &v); err != nil || v < 1 {
		return nil, errors.New(`is not a keys file: it has no "version"`)
	}
	if v > version {
		return nil, fmt.Errorf("has version %d, but this version of traintravel reads versions up to %d: use a newer traintravel", v, version)
	}
	r := &Ring{members: maps.Clone(members)}
	var err error
	if r.signing, err = decodeKeys(members, nameSigning); err != nil {
		return nil, err
	}
	if len(r.signing) == 0 {
		return nil, errors.New(`has no key in "signing"`)
	}
	if err := member(members, nameRetired, &r.retired); err != nil {
		return nil, err
	}
	if _, ok := r.retired[id(r.signing[0])]; ok {
		return nil, errors.New(`lists the signing key in "retired"`)
	}
	if r.tickets, err = decodeKeys(members, nameTickets); err != nil {
		return nil, err
	}
	var print string
	if err := member(members, nameFingerprint, &print); err != nil {
		return nil, err
	}
	if r.fingerprint, err = base64.RawURLEncoding.DecodeString(print); err != nil || len(r.fingerprint) < 32 {
		return nil, errors.New(`"fingerprint" is not base64url of 32 bytes or more`)
	}
	var seal string
	if err := member(members, nameSeal, &seal); err != nil {
		return nil, err
	}
	if r.seal, err = base64.RawURLEncoding.DecodeString(seal); err != nil || len(r.seal) != 32 && seal != "" {
		return nil, errors.New(`"seal" is not base64url of 32 bytes`)
	}
	for name, to := range map[string]*string{nameWebhook: &r.webhookSecret, nameProgram: &r.programSecret, nameIssuer: &r.issuer} {
		if err := member(members, name, to); err != nil {
			return nil, err
		}
	}
	if err := member(members, nameUse, &r.use); err != nil {
		return nil, err
	}
	return r, nil
}

func encodeKeys(keys []*ecdsa.PrivateKey) ([]jwk.Key, error) {
	encoded := make([]jwk.Key, len(keys))
	for i, key := range keys {
		var err error
		if encoded[i], err = jwk.Private(key); err != nil {
			return nil, err
		}
	}
	return encoded, nil
}

func decodeKeys(members map[string]json.RawMessage, name string) ([]*ecdsa.PrivateKey, error) {
	var encoded []jwk.Key
	if err := member(members, name, &encoded); err != nil {
		return nil, err
	}
	var keys []*ecdsa.PrivateKey
	for i, k := range encoded {
		key, err := k.PrivateKey()
		if err != nil {
			return nil, fmt.Errorf("key %d in %q %w", i+1, name, err)
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// member reads one member; if it is absent, the value does not change.
func member(members map[string]json.RawMessage, name string, to any) error {
	raw, ok := members[name]
	if !ok {
		return nil
	}
	if json.Unmarshal(raw, to) != nil {
		return fmt.Errorf("%q has the wrong type", name)
	}
	return nil
}
