//go:build unix

package main

import (
	"net"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// The command and the server refuse a feed that is neither a file nor a folder, and tables that
// are not files.
func TestImportOfAPipe(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "pipe")
	folder := writeFeed(t, "1")
	for _, p := range []string{pipe, filepath.Join(folder, "frequencies.txt")} {
		if err := syscall.Mkfifo(p, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	socket := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()

	alone, served := filepath.Join(t.TempDir(), "alone.db"), filepath.Join(t.TempDir(), "served.db")
	r := start(t, "serve", "--data", served)
	for _, feed := range []string{pipe, folder, socket, "/dev/zero"} {
		for _, args := range [][]string{{"--data", alone}, {"--data", served}, {"--dry-run"}} {
			code, _, stderr := once(t, nil, append([]string{"import", feed}, args...)...)
			if code != 1 || !strings.Contains(stderr, "neither a file nor a folder") {
				t.Errorf("%s %v: %d, %s", feed, args, code, stderr)
			}
		}
	}
	if code := r.stop(); code != 0 {
		t.Errorf("stopped, it ends with %d: %s", code, r.stderr)
	}
}

// A pipe in place of data, a backup or keys is refused: to open one would wait for ever.
func TestPipesAreRefusedAsData(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pipe, data := filepath.Join(dir, "pipe"), filepath.Join(dir, "t.db")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if code := start(t, "serve", "--data", data).stop(); code != 0 {
		t.Fatal(code)
	}
	for _, args := range [][]string{
		{"serve", "--data", pipe, "--addr", "127.0.0.1:0"},
		{"serve", "--data", filepath.Join(dir, "new.db"), "--keys", pipe, "--addr", "127.0.0.1:0"},
		{"check", "--data", pipe},
		{"compact", "--data", pipe},
		{"backup", "--data", data, pipe},
		{"backup", "--data", data, pipe, "--force"},
		{"restore", pipe, "--data", filepath.Join(dir, "new.db")},
		{"restore", data, "--data", pipe},
		{"restore", data, "--data", pipe, "--force"},
		{"token", "--user", "anna", "--keys", pipe},
		{"token-keys", "--keys", pipe},
		{"ticket-keys", "rotate", "--keys", pipe},
	} {
		code, _, stderr := once(t, nil, args...)
		if code == 0 || !strings.Contains(stderr, pipe+" is not a") {
			t.Errorf("%v: %d, %s", args, code, stderr)
		}
	}
}
