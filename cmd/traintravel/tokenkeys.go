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

// lookEvery is how often servers read their keys file. When a token names a key that they
// do not know, they look whether it is another file.
const lookEvery = 30 * time.Second

// tokensRunOut is how long the tokens of a key are about once it is to sign no more:
// they live for an hour, and servers have to notice.
const tokensRunOut = time.Hour + 2*lookEvery

func (p *program) tokenKeys() *cobra.Command {
	return keysCommand(keysUse{
		name: "token-keys", what: "access tokens", when: "half a minute from now",
		long: `List the keys of the built-in authorization server: the first signs access tokens.

To change the key, run 'token-keys rotate'. Servers need no restart: they look at the
file twice a minute. Tokens that the old key has signed stay good until they expire,
within the hour, and then it is gone. 'token-keys remove ID' retires it at once, if it
is in wrong hands.

Where servers have copies of the file, each needs the new one: until then it refuses
tokens that another signs with the new key.`,
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

// look reads the file unless somebody did so lately.
func (i *issuer) look() {
	if i.fresh() {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.fresh() { // nobody else did it meanwhile
		i.read()
	}
}

// lookAgain reads the file if it is not the one that was read. It costs little, whoever
// makes up keys.
func (i *issuer) lookAgain() {
	now, err := os.Stat(i.path)
	i.mu.Lock()
	defer i.mu.Unlock()
	if last := i.file; err != nil || last == nil || !os.SameFile(now, last) || now.Size() != last.Size() || !now.ModTime().Equal(last.ModTime()) {
		i.read()
	}
}

// read takes the keys from the file. One that is no good changes nothing.
func (i *issuer) read() {
	i.looked.Store(int64(time.Since(i.began)))
	i.file, _ = os.Stat(i.path) // before it is read: if it changes meanwhile, that is seen
	err := i.load()
	switch {
	case err == nil:
		i.trouble = ""
	case err.Error() != i.trouble:
		i.trouble = err.Error()
		i.log.Warn("the keys file cannot be read; the keys stay as they were", "error", err)
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
	i.log.Info("the keys that sign tokens have changed", "key", ring.States(time.Now())[0].ID)
	return nil
}
