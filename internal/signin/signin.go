// Package signin is the built-in authorization server with the keys of a keys file, which may
// change while it runs.
package signin

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/traintravel/traintravel/httpserver"
	"github.com/traintravel/traintravel/httpserver/authserver"
	"github.com/traintravel/traintravel/internal/keys"
)

// LookEvery is how often servers read their keys file. When a token names an unknown key, they
// read it at once if it has changed.
const LookEvery = 30 * time.Second

// ProgramClient is the built-in client whose secret is in the keys file.
const ProgramClient = "traintravel-program"

// Server is the built-in authorization server with the keys and the clients of a ring.
func Server(ring *keys.Ring, o authserver.Options) (*authserver.Server, error) {
	o.Keys = ring.Live(time.Now())
	if secret := ring.ProgramSecret(); secret != "" {
		o.Clients = append(o.Clients, authserver.Client{ID: ProgramClient, Name: "A program", Secret: secret, Grants: []string{"client_credentials"}})
	}
	return authserver.New(o)
}

// An Issuer is the built-in authorization server with the keys that are in a keys file, as they
// change: it is a handler, and the source of keys for what checks tokens.
type Issuer struct {
	server *authserver.Server
	path   string // empty is none: the keys stay
	log    *slog.Logger
	began  time.Time
	set    atomic.Pointer[httpserver.KeySet]
	looked atomic.Int64 // when it last looked at the file: nanoseconds since began

	mu      sync.Mutex  // held while the file is read
	file    os.FileInfo // as it was read, or nil
	trouble string      // that was logged
}

// NewIssuer returns one that follows the keys file at a path; if that is empty, its keys stay.
func NewIssuer(server *authserver.Server, path string, log *slog.Logger) (*Issuer, error) {
	i := &Issuer{server: server, path: path, log: log, began: time.Now()}
	i.looked.Store(int64(-LookEvery))
	set, err := httpserver.ParseKeySet(server.JWKS())
	i.set.Store(set)
	return i, err
}

// ServeHTTP answers as the authorization server does.
func (i *Issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.look()
	i.server.ServeHTTP(w, r)
}

// Token makes an access token for a user: see [authserver.Server.IssueToken].
func (i *Issuer) Token(user string, scopes []string) (string, error) {
	i.look()
	return i.server.IssueToken(user, "", scopes, 0)
}

// Keys returns the keys that are good now: see [httpserver.KeySource].
func (i *Issuer) Keys(_ context.Context, refresh bool) (*httpserver.KeySet, error) {
	i.look()
	if refresh {
		i.lookAgain()
	}
	return i.set.Load(), nil
}

// look reads the file unless it was read lately.
func (i *Issuer) look() {
	if i.fresh() {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.fresh() { // another goroutine may have read it meanwhile
		i.read()
	}
}

// lookAgain reads the file if it has changed. This costs little, so strangers may name unknown
// keys.
func (i *Issuer) lookAgain() {
	if i.path == "" {
		return
	}
	now, err := os.Stat(i.path)
	i.mu.Lock()
	defer i.mu.Unlock()
	if last := i.file; err != nil || last == nil || !os.SameFile(now, last) || now.Size() != last.Size() || !now.ModTime().Equal(last.ModTime()) {
		i.read()
	}
}

// read takes the keys from the file. An invalid file changes nothing.
func (i *Issuer) read() {
	i.looked.Store(int64(time.Since(i.began)))
	i.file, _ = os.Stat(i.path) // before it is read: if it changes meanwhile, that is seen
	err := i.load()
	switch {
	case err == nil:
		i.trouble = ""
	case err.Error() != i.trouble:
		i.trouble = err.Error()
		i.log.Warn("keys file reload failed; the previous keys stay in use", "error", err)
	}
}

func (i *Issuer) fresh() bool {
	return i.path == "" || time.Since(i.began)-time.Duration(i.looked.Load()) < LookEvery
}

func (i *Issuer) load() error {
	ring, err := keys.Load(i.path)
	if err != nil {
		return err
	}
	before := i.server.JWKS()
	if err := i.server.SetKeys(ring.Live(time.Now())); err != nil {
		return err
	}
	now := i.server.JWKS()
	if bytes.Equal(before, now) {
		return nil
	}
	set, err := httpserver.ParseKeySet(now)
	if err != nil {
		return err
	}
	i.set.Store(set)
	i.log.Info("token signing key changed", "key", ring.States(time.Now())[0].ID)
	return nil
}
