package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/traintravel/traintravel/internal/pgtest"
)

// A server with other keys than earlier servers does not start, and says what to do. With
// --new-keys it starts, and then servers with the earlier keys do not.
func TestOtherKeys(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	one, other := filepath.Join(dir, "one.json"), filepath.Join(dir, "other.json")
	for _, where := range [][]string{
		{"--postgres", pgtest.Shared(t).NewDatabase(t)},
		{"--data", filepath.Join(dir, "trains.db")},
	} {
		serve := func(more ...string) []string { return append(append([]string{"serve"}, where...), more...) }
		refused := func(more ...string) {
			t.Helper()
			code, stdout, stderr := once(t, nil, append(serve(more...), "--addr", "127.0.0.1:0")...)
			if code != 1 || stdout != "" || !strings.Contains(stderr, "copy their keys file to "+more[1]) || !strings.Contains(stderr, "--new-keys") {
				t.Errorf("%v: %d, %s%s", more, code, stdout, stderr)
			}
		}
		start(t, serve("--keys", one)...).stop()
		refused("--keys", other)
		refused("--keys", other, "--issuer", "https://issuer.example", "--audience", "x")
		start(t, serve("--keys", one)...).stop()
		again := start(t, serve("--keys", other, "--new-keys")...)
		if got := again.stderr.String(); !strings.Contains(got, "new keys replaced") {
			t.Errorf("replaced without a word: %s", got)
		}
		again.stop()
		refused("--keys", one)
		start(t, serve("--keys", other)...).stop()
		for _, file := range []string{one, other} {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		}
		refused("--keys", one)
	}
}

// Servers of one database with different base URLs warn about it.
func TestOtherBase(t *testing.T) {
	t.Parallel()
	where := []string{"serve", "--postgres", pgtest.Shared(t).NewDatabase(t), "--keys", filepath.Join(t.TempDir(), "keys.json")}
	const says = "another base URL"
	for _, c := range []struct {
		base string
		warn bool
	}{{"http://one.example", false}, {"http://one.example", false}, {"http://two.example", true}, {"http://two.example", false}} {
		r := start(t, append(where, "--base-url", c.base, "--public-signin")...)
		r.call("", "GET", "/readyz", "", http.StatusOK)
		if got := r.stderr.String(); strings.Contains(got, says) != c.warn || c.warn && !strings.Contains(got, "before=http://one.example") {
			t.Errorf("%v: %s", c, got)
		}
		r.stop()
	}
}
