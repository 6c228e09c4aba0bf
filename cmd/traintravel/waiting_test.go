package main

import (
	"context"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A command that waits for a database at its start says so and why, and so does a server that is
// stopped meanwhile.
func TestWaitsForPostgres(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var out, errs output
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, []string{"serve", "--postgres", "postgres://u:geheim@" + addr + "/db?sslmode=disable", "--addr", "127.0.0.1:0", "--keys", filepath.Join(t.TempDir(), "keys.json")}, &out, &errs, nil)
	}()
	for len(code) == 0 && !strings.Contains(errs.String(), "waiting for PostgreSQL") {
		time.Sleep(10 * time.Millisecond)
	}
	stop()
	got := <-code
	said := errs.String()
	if got != 1 || strings.Count(said, addr) < 2 || strings.Contains(said, "geheim") || !strings.Contains(said, "canceled while waiting for the database") {
		t.Errorf("%d, %s%s", got, &out, said)
	}
}
