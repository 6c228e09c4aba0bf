package main

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// A backup is not written through a symbolic link, whatever it leads to and with --force
// too. A data file that is a link is followed by restore and compact, and stays one.
func TestLinksToFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	start(t, "serve", "--data", in("t.db"), "--keys", in("t.keys.json")).stop()
	says(t, 0, "all data", "backup", in("kept.db"), "--data", in("t.db"))
	if err := os.WriteFile(in("precious"), []byte("of somebody else"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"foreign.db": in("precious"), "older.db": in("kept.db"), "nothing.db": in("none")} {
		if err := os.Symlink(to, in(name)); err != nil && runtime.GOOS == "windows" {
			t.Skip("Windows creates symbolic links only for administrators and in developer mode: ", err)
		} else if err != nil {
			t.Fatal(err)
		}
	}
	before := read(t, in("kept.db"))
	for _, name := range []string{"foreign.db", "older.db", "nothing.db"} {
		for _, force := range [][]string{nil, {"--force"}} {
			says(t, 1, in(name)+" is a symbolic link", append([]string{"backup", in(name), "--data", in("t.db")}, force...)...)
		}
		if _, err := os.Readlink(in(name)); err != nil {
			t.Error(err)
		}
	}
	if got := string(read(t, in("precious"))); got != "of somebody else" || string(before) != string(read(t, in("kept.db"))) || exists(in("none")) {
		t.Errorf("what a link leads to was written: %q", got)
	}

	if err := errors.Join(os.Mkdir(in("disk"), 0o700), os.Rename(in("t.db"), in("disk/real.db")), os.Symlink(in("disk/real.db"), in("t.db"))); err != nil {
		t.Fatal(err)
	}
	flags := []string{"--data", in("t.db")}
	says(t, 0, "compacted from ", append([]string{"compact"}, flags...)...)
	says(t, 0, "restored ", append([]string{"restore", in("kept.db"), "--force"}, flags...)...)
	says(t, 0, "signs", append([]string{"token-keys", "rotate"}, flags...)...)
	if to, err := os.Readlink(in("t.db")); err != nil || to != in("disk/real.db") {
		t.Errorf("the link leads to %q, %v", to, err)
	}
	only(t, in("disk"), "real.db")
	says(t, 1, "is a symbolic link", "restore", in("kept.db"), "--force", "--data", in("nothing.db"))
	code, _, stderr := once(t, nil, "serve", "--data", in("nothing.db"), "--addr", "127.0.0.1:0")
	if code != 1 || !strings.Contains(stderr, "a file that does not exist") || exists(in("none")) {
		t.Errorf("a link to nothing is served: %d, %s", code, stderr)
	}
}

// Compact and restore refuse a data file with two hard links, because it would become two files,
// and both could be served. A backup may have two: writing it again leaves the older one under
// the other name.
func TestHardLinks(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("on Windows, boltstore does not count the hard links of a file")
	}
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	start(t, "serve", "--data", in("t.db"), "--keys", in("t.keys.json")).stop()
	says(t, 0, "all data", "backup", in("kept.db"), "--data", in("t.db"))
	if err := os.Link(in("t.db"), in("h.db")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"t.db", "h.db"} {
		refused := in(name) + " has 2 hard links, and the old data would stay under the other names: remove those first"
		says(t, 1, refused, "compact", "--data", in(name))
		says(t, 1, refused, "restore", in("kept.db"), "--force", "--data", in(name))
	}
	first, err := os.Stat(in("t.db"))
	second, err2 := os.Stat(in("h.db"))
	if err := errors.Join(err, err2); err != nil || !os.SameFile(first, second) {
		t.Fatalf("the names lead to two files, %v", err)
	}
	only(t, dir, "h.db", "kept.db", "t.db", "t.keys.json")

	if err := errors.Join(os.Remove(in("h.db")), os.Link(in("kept.db"), in("older.db"))); err != nil {
		t.Fatal(err)
	}
	older := read(t, in("older.db"))
	says(t, 0, "compacted from ", "compact", "--data", in("t.db"))
	says(t, 0, "all data", "backup", in("kept.db"), "--force", "--data", in("t.db"))
	if string(older) != string(read(t, in("older.db"))) {
		t.Error("the older backup was written to")
	}
	says(t, 0, "restored ", "restore", in("older.db"), "--force", "--data", in("t.db"))
}
