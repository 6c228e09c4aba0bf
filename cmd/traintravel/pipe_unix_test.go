//go:build unix

package main

import (
	"net"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// What is neither a file nor a folder is refused, by the command and by the
// server, and so is a table in a folder that is none.
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
