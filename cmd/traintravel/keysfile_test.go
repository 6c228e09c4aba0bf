package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/traintravel/traintravel/internal/keys"
	"github.com/traintravel/traintravel/internal/pgtest"
)

// Two data files in one folder have a keys file each. The token command prints tokens of the
// right server, and each server accepts only its own tokens.
func TestKeysOfTwoDataFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, second := filepath.Join(dir, "traintravel.db"), filepath.Join(dir, "second.db")
	one := start(t, "serve", "--data", first)
	two := start(t, "serve", "--data", second)
	only(t, dir, "second.db", "second.db.sock", "second.keys.json", "traintravel.db", "traintravel.db.sock", "traintravel.keys.json")
	one.call(issue(t, "anna", first), "GET", "/bookings", "", 200)
	two.call(issue(t, "anna", second), "GET", "/bookings", "", 200)
	two.call(issue(t, "anna", first), "GET", "/bookings", "", 401)
}

// Each command refuses a keys file that belongs to another data file, and changes nothing. The
// advice in the message works.
func TestKeysFileTaken(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	start(t, "serve", "--data", in("traintravel.db")).stop()
	before := string(read(t, in("traintravel.keys.json")))
	for _, args := range [][]string{
		{"serve", "--addr", "127.0.0.1:0"},
		{"token", "--user", "anna"},
		{"token-keys", "rotate"},
		{"ticket-keys"},
	} {
		args = append(args, "--data", in("second.db"), "--keys", in("traintravel.keys.json"))
		code, stdout, stderr := once(t, nil, args...)
		if code != 1 || stdout != "" || !strings.Contains(stderr, "belongs to the data file "+in("traintravel.db")) || !strings.Contains(stderr, "give this data its own keys file, "+in("second.keys.json")) {
			t.Errorf("%v: %d, %s%s", args, code, stdout, stderr)
		}
	}
	if after := string(read(t, in("traintravel.keys.json"))); after != before {
		t.Error("the refused commands changed the keys file")
	}
	copyTo(t, in("traintravel.keys.json"), in("second.keys.json"))
	r := start(t, "serve", "--data", in("second.db"))
	r.call(issue(t, "anna", in("second.db")), "GET", "/bookings", "", 200)
	r.stop()
	start(t, "serve", "--data", in("traintravel.db")).stop()
}

// Data files that an older version had share the file of all get a file each, without
// another key.
func TestKeysFileShared(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	serve := func(data string, more ...string) []string {
		return append([]string{"serve", "--data", in(data), "--addr", "127.0.0.1:0", "--base-url", shownBase}, more...)
	}
	shared := in(oldKeys)
	start(t, serve("trains.db", "--keys", shared)...).stop()
	forgetUse(t, shared)
	start(t, serve("traintravel.db", "--keys", shared)...).stop()
	forgetUse(t, shared) // as if an older version had served both
	token := issue(t, "anna", in("traintravel.db"))

	// traintravel.db is there, so the file of that name is its own.
	code, _, stderr := once(t, nil, serve("trains.db")...)
	if code != 1 || !strings.Contains(stderr, "'cp -p "+shared+" "+in("trains.keys.json")+"'") || exists(in("trains.keys.json")) {
		t.Fatalf("%d, %s", code, stderr)
	}
	copyTo(t, shared, in("trains.keys.json"))
	r := start(t, serve("trains.db")...)
	r.call(token, "GET", "/bookings", "", 200)
	r.stop()
	start(t, serve("traintravel.db")...).stop()
}

// A data file with another name uses the keys file that an older version made beside it, until
// that is moved. The data file that would have the name may not use it.
func TestOldKeysFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	start(t, "serve", "--data", in("trains.db"), "--keys", in(oldKeys)).stop()
	forgetUse(t, in(oldKeys))
	r := start(t, "serve", "--data", in("trains.db"))
	r.call(issue(t, "anna", in("trains.db")), "GET", "/bookings", "", 200)
	r.stop()
	only(t, dir, "trains.db", oldKeys)

	start(t, "serve", "--data", in("third.db")).stop()
	only(t, dir, "third.db", "third.keys.json", "trains.db", oldKeys)

	refused := func() {
		t.Helper()
		code, _, stderr := once(t, nil, "serve", "--data", in("traintravel.db"), "--addr", "127.0.0.1:0")
		if code != 1 || !strings.Contains(stderr, "'mv "+in(oldKeys)+" "+in("trains.keys.json")+"'") {
			t.Errorf("%d, %s", code, stderr)
		}
	}
	refused()
	refused()
	if err := os.Rename(in(oldKeys), in("trains.keys.json")); err != nil {
		t.Fatal(err)
	}
	start(t, "serve", "--data", in("traintravel.db")).stop()
	start(t, "serve", "--data", in("trains.db")).stop()
}

// Data that is moved, copied, restored or replaced keeps its keys file.
func TestKeysFileFollows(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	rename := func(from, to string) {
		t.Helper()
		if err := os.Rename(in(from), in(to)); err != nil {
			t.Fatal(err)
		}
	}
	serve := func(data string, more ...string) {
		t.Helper()
		start(t, append([]string{"serve", "--data", in(data)}, more...)...).stop()
	}
	serve("a.db")
	rename("a.db", "b.db")
	code, _, stderr := once(t, nil, "serve", "--data", in("b.db"), "--addr", "127.0.0.1:0")
	if code != 1 || !strings.Contains(stderr, "cp -p "+in("a.keys.json")+" "+in("b.keys.json")) || exists(in("b.keys.json")) {
		t.Errorf("moved: %d, %s", code, stderr)
	}
	serve("b.db", "--keys", in("a.keys.json"))
	rename("a.keys.json", "b.keys.json")
	serve("b.db")
	copyTo(t, in("b.db"), in("c.db"))
	if code, _, stderr := once(t, nil, "serve", "--data", in("c.db"), "--keys", in("b.keys.json"), "--addr", "127.0.0.1:0"); code != 1 || !strings.Contains(stderr, "belongs to the data file") {
		t.Errorf("a copy beside it: %d, %s", code, stderr)
	}
	copyTo(t, in("b.keys.json"), in("c.keys.json"))
	serve("c.db")
	says(t, 0, "has all data", "backup", in("kept.db"), "--data", in("b.db"))
	says(t, 0, "restored ", "restore", in("kept.db"), "--data", in("b.db"), "--force")
	serve("b.db")
	out := says(t, 0, "No server can be started yet: the keys file "+in("b.keys.json")+" belongs to", "restore", in("kept.db"), "--data", in("d.db"), "--keys", in("b.keys.json"))
	if !strings.Contains(out, in("d.keys.json")) {
		t.Error(out)
	}
	if err := os.Remove(in("b.db")); err != nil {
		t.Fatal(err)
	}
	serve("b.db")
	if err := os.Mkdir(in("folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	rename("b.db", "folder/b.db")
	rename("b.keys.json", "folder/b.keys.json")
	serve("folder/b.db")
	if err := os.Remove(in("folder/b.keys.json")); err != nil {
		t.Fatal(err)
	}
	serve("folder/b.db", "--new-keys")
}

// Servers of one database share a keys file or have copies; those of another are refused.
func TestKeysFileOfDatabases(t *testing.T) {
	t.Parallel()
	cluster := pgtest.Shared(t)
	ring, copied := filepath.Join(t.TempDir(), "keys.json"), filepath.Join(t.TempDir(), "copy.json")
	serve := func(url, ring string) []string {
		return []string{"serve", "--postgres", url, "--keys", ring, "--base-url", shownBase, "--addr", "127.0.0.1:0"}
	}
	one := cluster.NewDatabase(t)
	first := start(t, serve(one, ring)...)
	start(t, serve(one, ring)...).stop()
	copyTo(t, ring, copied)
	start(t, serve(one, copied)...).stop()
	first.stop()
	code, _, stderr := once(t, nil, serve(cluster.NewDatabase(t), ring)...)
	if code != 1 || !strings.Contains(stderr, "belongs to another database") || !strings.Contains(stderr, "give --keys another file") {
		t.Errorf("another database: %d, %s", code, stderr)
	}
}

// The rule that decides to which data a keys file belongs, by what it records.
func TestTaken(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	here, there, gone := filepath.Join(dir, "here.db"), filepath.Join(dir, "there.db"), filepath.Join(dir, "gone.db")
	for _, file := range []string{here, there} {
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(dir, "link.db")
	if err := os.Link(there, link); err != nil {
		t.Fatal(err)
	}
	use := func(id, data string) keys.Use { return keys.Use{ID: id, Data: data, Keys: "k"} }
	for name, c := range map[string]struct {
		was, now keys.Use
		want     bool
	}{
		"never used":                {keys.Use{}, use("a", here), false},
		"the same":                  {use("a", here), use("a", here), false},
		"the same path, other data": {use("a", here), use("b", here), false},
		"other data":                {use("a", there), use("b", here), true},
		"a copy of the data":        {use("a", there), use("a", here), true},
		"data that is gone":         {use("a", gone), use("b", here), false},
		"another link to the file":  {use("a", there), use("a", link), false},
		"a copy of the keys":        {keys.Use{ID: "a", Data: there, Keys: "other"}, use("b", here), false},
		"one database":              {use("a", ""), use("a", ""), false},
		"two databases":             {use("a", ""), use("b", ""), true},
		"a database nobody asks":    {use("a", ""), use("", ""), false},
		"moved to a database":       {use("a", there), use("a", ""), false},
		"a file, then a database":   {use("a", there), use("b", ""), true},
		"moved from a database":     {use("a", ""), use("a", here), false},
		"a database, then a file":   {use("a", ""), use("b", here), true},
	} {
		if got := taken(c.was, c.now); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// forgetUse makes a keys file one that does not say which data it serves.
func forgetUse(t *testing.T, file string) {
	t.Helper()
	ring, err := keys.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := ring.Claim(keys.Use{}, func(keys.Use) error { return nil }); err != nil {
		t.Fatal(err)
	}
}

// Keys are not made where the data is to be.
func TestKeysInDataFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data := filepath.Join(dir, "t.db")
	for _, keys := range []string{data, filepath.Join(dir, ".", "x", "..", "t.db")} {
		says(t, 2, "--keys and --data both name", "serve", "--data", data, "--keys", keys, "--addr", "127.0.0.1:0")
	}
	only(t, dir)
}
