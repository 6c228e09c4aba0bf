package keys

import (
	"crypto"
	"crypto/ecdsa"
	"errors"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// The key that signs tokens can be changed: the old one verifies until its tokens have
// run out, and by what is left of it the ring is known for the one that it was.
func TestRotateSigning(t *testing.T) {
	t.Parallel()
	path := file(t)
	before := create(t, path)
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	rotate := func(at time.Time) *Ring {
		t.Helper()
		if err := RotateSigning(path, at, at.Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		r, err := Load(path)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	ids := func(keys []crypto.Signer) (ids []string) {
		for _, key := range keys {
			ids = append(ids, id(key.(*ecdsa.PrivateKey)))
		}
		return ids
	}
	first := ids(before.Signing())[0]
	r := rotate(now)
	second := ids(r.Signing())[0]
	if got := ids(r.Live(now.Add(59 * time.Minute))); !slices.Equal(got, []string{second, first}) || first == second {
		t.Errorf("live are %v", got)
	}
	if got := ids(r.Live(now.Add(time.Hour))); !slices.Equal(got, []string{second}) {
		t.Errorf("live are %v an hour later", got)
	}
	if got := r.States(now); !slices.Equal(got, []State{{second, time.Time{}}, {first, now.Add(time.Hour)}}) {
		t.Errorf("states are %v", got)
	}
	r = rotate(now.Add(30 * time.Minute))
	third := ids(r.Signing())[0]
	if got := ids(r.Live(now.Add(59 * time.Minute))); !slices.Equal(got, []string{third, second, first}) {
		t.Errorf("live are %v", got)
	}
	r = rotate(now.Add(80 * time.Minute))
	fourth := ids(r.Signing())[0]
	if got := ids(r.Signing()); !slices.Equal(got, []string{fourth, third, second}) {
		t.Errorf("a key that has run out is kept: %v", got)
	}
	for _, c := range []struct{ name, why string }{{fourth, "signs"}, {first, "not found"}, {"x", "not found"}} {
		if err := RemoveSigning(path, c.name, now); err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("removing %s: %v", c.name, err)
		}
	}
	if err := RemoveSigning(path, third, now); err != nil {
		t.Fatal(err)
	}
	r, err := Load(path)
	if err != nil || !slices.Equal(ids(r.Signing()), []string{fourth, second}) {
		t.Errorf("%v %v", ids(r.Signing()), err)
	}
	if prints := r.Prints().Signing; len(prints) != 4 || prints[0] != fourth || !slices.Contains(prints, first) || !slices.Contains(prints, third) {
		t.Errorf("prints %v", prints)
	}
	if !slices.Equal(ids(create(t, path).Signing()), ids(r.Signing())) || r.WebhookSecret() != before.WebhookSecret() || !equal(r.Tickets()[0], before.Tickets()[0]) {
		t.Error("something else has changed")
	}
	edit(t, path, func(m map[string]any) { m["retired"] = map[string]any{fourth: now} })
	if _, err := Load(path); err == nil || !strings.Contains(err.Error(), "retired") {
		t.Errorf("a retired key signs: %v", err)
	}
	if err := RotateSigning(path+".no", now, now); err == nil || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// An ID can be given to a command as it is.
func TestIDsAreNoFlags(t *testing.T) {
	t.Parallel()
	for range 500 { // of drawn keys one in 64 has such an ID
		key, err := newKey()
		if err != nil {
			t.Fatal(err)
		}
		if id := id(key); len(id) != 43 || strings.HasPrefix(id, "-") {
			t.Fatalf("%q", id)
		}
	}
}

// A change through a symbolic link changes the keys file and keeps the link.
func TestChangeThroughALink(t *testing.T) {
	t.Parallel()
	path := file(t)
	create(t, path)
	link := path + ".link"
	if err := os.Symlink(path, link); err != nil && runtime.GOOS == "windows" {
		t.Skip("on Windows only administrators can create symbolic links: ", err)
	} else if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	if err := RotateSigning(link, now, now.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, link} {
		if r, err := Load(name); err != nil || len(r.Signing()) != 2 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if to, err := os.Readlink(link); err != nil || to != path {
		t.Errorf("the link leads to %q: %v", to, err)
	}
}
