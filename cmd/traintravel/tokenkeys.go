package main

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/traintravel/traintravel/httpserver"
	"github.com/traintravel/traintravel/httpserver/authserver"
	"github.com/traintravel/traintravel/internal/keys"
)

// lookEvery is how often servers read their keys file. When a token names an unknown key, they
// read it at once if it has changed.
const lookEvery = 30 * time.Second

// tokensRunOut is how long tokens of a key can be valid after it was rotated out: they live for
// an hour, and servers take a while to notice.
const tokensRunOut = time.Hour + 2*lookEvery

func (p *program) tokenKeys() *cobra.Command {
	return keysCommand(keysUse{
		name: "token-keys", what: "access tokens", when: "within half a minute",
		long: `List the keys of the built-in authorization server: the first signs access tokens.

To change the key, run 'token-keys rotate'. Servers need no restart: they read the file
twice a minute. Tokens signed by the old key stay valid until they expire, within an
hour; then the key is removed. If the key has leaked, 'token-keys remove ID' retires it
at once.

If servers have copies of the file, copy the new one to each of them: until then it
refuses tokens that another server signs with the new key.`,
		list: p.listTokenKeys,
		rotate: func(path string) error {
			now := time.Now()
			return keys.RotateSigning(path, now, now.Add(tokensRunOut))
		},
		remove: func(path, id string) error { return keys.RemoveSigning(path, id, time.Now()) },
	})
}

func (p *program) listTokenKeys(path string) error {
	ring, err := keys.Load(path)
	if err != nil {
		return err
	}
	for _, key := range ring.States(time.Now()) {
		does := "signs and verifies"
		if !key.Until.IsZero() {
			does = "verifies until " + key.Until.Format(time.RFC3339)
		}
		if _, err := fmt.Fprintf(p.stdout, "%s %s\n", key.ID, does); err != nil {
			return err
		}
	}
	return nil
}

// An issuer is the built-in authorization server with the keys that are in the keys
// file, as they change: it is a handler, and the source of keys for what checks tokens.
type issuer struct {
	server *authserver.Server
	path   string
	log    *slog.Logger
	began  time.Time
	set    atomic.Pointer[httpserver.KeySet]
	looked atomic.Int64 // when it last looked at the file: nanoseconds since began

	mu      sync.Mutex  // of who looks
	file    os.FileInfo // as it was read, or nil
	trouble string      // that was logged
}

func newIssuer(server *authserver.Server, path string, log *slog.Logger) (*issuer, error) {
	i := &issuer{server: server, path: path, log: log, began: time.Now()}
	i.looked.Store(int64(-lookEvery))
	set, err := httpserver.ParseKeySet(server.JWKS())
	i.set.Store(set)
	return i, err
}

// ServeHTTP answers as the authorization server does.
func (i *issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.look()
	i.server.ServeHTTP(w, r)
}

// Keys returns the keys that are good now: see [httpserver.KeySource].
func (i *issuer) Keys(_ context.Context, refresh bool) (*httpserver.KeySet, error) {
	i.look()
	if refresh {
		i.lookAgain()
	}
	return i.set.Load(), nil
}

// look reads the file unless it was read lately.
func (i *issuer) look() {
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
func (i *issuer) lookAgain() {
	now, err := os.Stat(i.path)
	i.mu.Lock()
	defer i.mu.Unlock()
	if last := i.file; err != nil || last == nil || !os.SameFile(now, last) || now.Size() != last.Size() || !now.ModTime().Equal(last.ModTime()) {
		i.read()
	}
}

// read takes the keys from the file. An invalid file changes nothing.
func (i *issuer) read() {
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

func (i *issuer) fresh() bool {
	return time.Since(i.began)-time.Duration(i.looked.Load()) < lookEvery
}

func (i *issuer) load() error {
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
