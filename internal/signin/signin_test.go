package signin_test

import (
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/traintravel/traintravel/httpserver"
	"github.com/traintravel/traintravel/httpserver/authserver"
	"github.com/traintravel/traintravel/internal/keys"
	"github.com/traintravel/traintravel/internal/signin"
)

// A new key is known as soon as a token names it, however lately the file was read.
func TestNewKeyAtOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "keys.json")
	ring, err := keys.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	server, err := authserver.New(authserver.Options{Issuer: "http://127.0.0.1:1", Keys: ring.Signing()})
	if err != nil {
		t.Fatal(err)
	}
	issuer, err := signin.NewIssuer(server, path, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	known := func(refresh bool) *httpserver.KeySet {
		set, err := issuer.Keys(t.Context(), refresh)
		if err != nil {
			t.Fatal(err)
		}
		return set
	}
	last := known(false)
	for range 3 {
		if err := keys.RotateSigning(path, time.Now(), time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		now := known(true)
		if now == last || known(true) != now {
			t.Error("the new key is not known, or the file is read again and again")
		}
		last = now
	}
}
