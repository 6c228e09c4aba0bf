package authserver

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// grants are what users consented to: codes that wait for their exchange, and
// families of refresh tokens. One lock guards both, so that a code that comes
// twice finds the family that it began.
type grants struct {
	key []byte // of refresh tokens

	mu       sync.Mutex
	codes    *shelf[*code]
	families *shelf[*family]
	revoked  *shelf[struct{}] // marks of access tokens

	anyRevoked atomic.Bool
}

// A grant is what a user allowed a client.
type grant struct {
	user   string
	client string
	scopes []string
	family string // of refresh tokens; its access tokens are marked with it
	from   origin // of the consent
}

// A code is one that was handed out, and what it is bound to.
type code struct {
	grant
	redirect  string
	challenge string
	expires   time.Time
	used      bool
}

// A family is all refresh tokens that follow from one code. The number of the
// one that is good is kept; whoever has one of a lower number has used it, or
// has stolen it.
type family struct {
	grant
	number uint32
}

func newGrants() *grants {
	return &grants{
		key:      random(32),
		codes:    newShelf[*code](codeMemory, mostKept),
		families: newShelf[*family](refreshLife, mostKept),
		revoked:  newShelf[struct{}](tokenLife, mostKept),
	}
}

// code keeps a consent and returns the code for it.
func (g *grants) code(c code, now time.Time) string {
	name := secret()
	c.expires = now.Add(codeLife)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.codes.put(hashed(name), c.from, &c, now)
	return name
}

// What a code or a refresh token turned out to be.
type outcome int

const (
	good   outcome = iota
	bad            // unknown, expired, or not bound to what came with it
	reused         // it was used before: what followed from it is revoked
)

// exchange turns a code into a grant and the first refresh token. A code is good
// for one try, right or wrong.
func (g *grants) exchange(name, client, redirect, verifier string, now time.Time) (grant, string, outcome) {
	g.mu.Lock()
	defer g.mu.Unlock()
	c, ok := g.codes.get(hashed(name), now)
	if !ok {
		return grant{}, "", bad
	}
	if c.used {
		g.end(c.family, c.from, now)
		return c.grant, "", reused
	}
	c.used = true
	sum := sha256.Sum256([]byte(verifier))
	if !now.Before(c.expires) || c.client != client || c.redirect != redirect ||
		subtle.ConstantTimeCompare([]byte(encode64(sum[:])), []byte(c.challenge)) != 1 {
		return grant{}, "", bad
	}
	c.family = string(random(familySize))
	g.families.put(c.family, c.from, &family{grant: c.grant}, now)
	return c.grant, g.refreshToken(c.family, 0), good
}

// refresh turns a refresh token into its grant and the next refresh token. The
// client may ask for fewer scopes than were granted, this time.
func (g *grants) refresh(token, client, scope string, now time.Time) (grant, string, outcome, *oauthError) {
	id, number, genuine := g.parseRefreshToken(token)
	g.mu.Lock()
	defer g.mu.Unlock()
	f, ok := g.families.get(id, now)
	if !genuine || !ok {
		return grant{}, "", bad, nil
	}
	if number != f.number || f.client != client { // used before, or in other hands
		g.end(id, f.from, now)
		return f.grant, "", reused, nil
	}
	this := f.grant
	this.family = id
	scopes, problem := scopesOf(scope, f.scopes)
	if problem != nil {
		return grant{}, "", bad, problem
	}
	this.scopes = scopes
	f.number++
	return this, g.refreshToken(id, f.number), good, nil
}

// revoke ends the family of a refresh token. It returns false if that belongs to
// another client.
func (g *grants) revoke(token, client string, now time.Time) bool {
	id, _, genuine := g.parseRefreshToken(token)
	g.mu.Lock()
	defer g.mu.Unlock()
	f, ok := g.families.get(id, now)
	if !genuine || !ok {
		return true
	}
	if f.client != client {
		return false
	}
	g.end(id, f.from, now)
	return true
}

// revokeAccess ends an access token by its mark, and the family that has it. It
// returns false if the token is another client's.
func (g *grants) revokeAccess(t accessToken, client string, now time.Time) bool {
	if t.Client != client {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	from := origin{user: t.Client + " " + t.Subject} // of a program's token, or one of the command line
	if id, err := base64.RawURLEncoding.DecodeString(t.Session); err == nil && len(id) == familySize {
		if f, ok := g.families.get(string(id), now); ok {
			from = f.from
		}
		g.end(string(id), from, now)
	}
	g.mark(t.mark(), from, now)
	return true
}

// end ends a family, with its access tokens. The caller has the lock.
func (g *grants) end(family string, from origin, now time.Time) {
	g.families.drop(family)
	if family != "" {
		g.mark(encode64([]byte(family)), from, now)
	}
}

func (g *grants) mark(mark string, from origin, now time.Time) {
	g.revoked.put(mark, from, struct{}{}, now)
	g.anyRevoked.Store(true)
}

// isRevoked says whether the access tokens with a mark are revoked.
func (g *grants) isRevoked(mark string, now time.Time) bool {
	if !g.anyRevoked.Load() {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	_, ok := g.revoked.get(mark, now)
	return ok
}

// A refresh token is the name of its family, its number, and a mark that shows
// that it was made here: an old one is told from an invented one without
// keeping either.
const (
	familySize = 16
	numberSize = 4
)

func (g *grants) refreshToken(family string, number uint32) string {
	b := binary.BigEndian.AppendUint32([]byte(family), number)
	return encode64(append(b, g.refreshMark(b)...))
}

func (g *grants) refreshMark(b []byte) []byte {
	h := hmac.New(sha256.New, g.key)
	_, _ = h.Write(b)
	return h.Sum(nil)
}

func (g *grants) parseRefreshToken(token string) (family string, number uint32, ok bool) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(b) != familySize+numberSize+sha256.Size {
		return "", 0, false
	}
	said, mark := b[:familySize+numberSize], b[familySize+numberSize:]
	if !hmac.Equal(mark, g.refreshMark(slices.Clip(said))) {
		return "", 0, false
	}
	return string(said[:familySize]), binary.BigEndian.Uint32(said[familySize:]), true
}
