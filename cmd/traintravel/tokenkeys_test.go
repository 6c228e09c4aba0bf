package main

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// The key that signs tokens is rotated while the server runs. Tokens of the old key stay valid
// until that is removed, and the server starts again with the remaining keys.
func TestTokenKeys(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "t.db")
	r := start(t, "serve", "--data", data)
	list := func(want int, a ...string) []string {
		t.Helper()
		code, stdout, stderr := once(t, nil, append([]string{"token-keys", "--data", data}, a...)...)
		if code != want {
			t.Fatalf("%v: %d, want %d: %s", a, code, want, stderr)
		}
		var ids []string
		for line := range strings.Lines(stdout) {
			id, does, _ := strings.Cut(line, " ")
			if (does == "signs and verifies\n") != (ids == nil) || ids != nil && !strings.HasPrefix(does, "verifies until ") {
				t.Errorf("%s", stdout)
			}
			ids = append(ids, id)
		}
		return ids
	}
	token := func() string {
		t.Helper()
		code, stdout, stderr := once(t, nil, "token", "--user", "anna", "--data", data)
		if code != 0 {
			t.Fatal(stderr)
		}
		return strings.TrimSpace(stdout)
	}
	status := func(token string) int {
		return r.ask("GET", "/stations", "Authorization", "Bearer "+token).StatusCode
	}
	accepted := func(token string) { // once the server has looked at the file
		t.Helper()
		for range 100 {
			if status(token) == http.StatusOK {
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
		t.Fatal("a token of the new key is refused")
	}
	published := func() string {
		t.Helper()
		resp, err := http.Get(r.base + "/oauth/jwks")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}

	first, old := list(0), token()
	if len(first) != 1 || status(old) != http.StatusOK {
		t.Fatal(first)
	}
	rotated := list(0, "rotate")
	if len(rotated) != 2 || rotated[1] != first[0] || !slices.Equal(list(0), rotated) {
		t.Fatalf("%v %v", first, rotated)
	}
	next := token()
	accepted(next)
	if status(old) != http.StatusOK {
		t.Error("a token of the old key is refused")
	}
	if set := published(); !strings.Contains(set, rotated[0]) || !strings.Contains(set, rotated[1]) {
		t.Errorf("published is %s", set)
	}
	list(1, "remove", rotated[0]) // it signs
	list(1, "remove", "nokey")
	list(1, "remove", "--", "-nokey")
	list(2, "remove")
	list(2, "rotate", "now")
	if left := list(0, "remove", first[0]); !slices.Equal(left, rotated[:1]) {
		t.Errorf("%v", left)
	}

	// A file that is no good changes nothing.
	file := ownKeys(data)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	write := func(text []byte) {
		t.Helper()
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(nil)
	copied := filepath.Join(t.TempDir(), "keys.json")
	if err := os.WriteFile(copied, text, 0o600); err != nil {
		t.Fatal(err)
	}
	_, _, _ = once(t, nil, "token-keys", "rotate", "--keys", copied)
	_, foreign, _ := once(t, nil, "token", "--user", "anna", "--keys", copied) // of a key that the server has not
	for range 100 {
		if status(strings.TrimSpace(foreign)) != http.StatusUnauthorized || strings.Contains(r.stderr.String(), "keys file reload failed") {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if !strings.Contains(r.stderr.String(), "keys file reload failed") || status(next) != http.StatusOK {
		t.Error(r.stderr.String())
	}
	write(text)

	list(0, "rotate")
	accepted(token())
	if status(old) != http.StatusUnauthorized || status(next) != http.StatusOK || strings.Contains(published(), first[0]) {
		t.Errorf("the removed key is good still: %s", published())
	}
	r.stop()
	list(0, "remove", rotated[0])
	r = start(t, "serve", "--data", data) // no key is one that the last start had, but it is known by what it had
	if status(token()) != http.StatusOK || status(next) != http.StatusUnauthorized {
		t.Error("after a restart")
	}
	if code, _, stderr := once(t, nil, "token-keys", "--keys", filepath.Join(t.TempDir(), "no.json")); code != 1 || !strings.Contains(stderr, "not found: start") {
		t.Errorf("%d %s", code, stderr)
	}
}
