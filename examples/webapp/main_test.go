package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
)

// The program says where it is, answers there, and ends when it is told to: also where it
// listens on all addresses, of which none is one that people can open.
func TestRun(t *testing.T) {
	t.Parallel()
	for _, addr := range []string{"127.0.0.1:0", ":0"} {
		ctx, stop := context.WithCancel(t.Context())
		read, write := io.Pipe()
		ended := make(chan error, 1)
		go func() {
			ended <- run(ctx, []string{"--addr", addr, "--api", "http://127.0.0.1:1/"}, "", write, io.Discard)
		}()
		line, err := bufio.NewReader(read).ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		at, _, _ := strings.Cut(strings.TrimPrefix(line, "The booking site is at "), " ")
		resp, err := http.Get(at)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK || !strings.HasPrefix(at, "http://127.0.0.1:") {
			t.Errorf("%s at %s: status %s", addr, at, resp.Status)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

func TestRunRefuses(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	stop() // so that a site that starts ends at once
	for _, args := range [][]string{
		{"x"}, {"--nothing"}, {"--addr", "nowhere:x"}, {"--addr", "127.0.0.1:0", "--api", "ftp://x"}, {"--addr", "127.0.0.1:0", "--api", "http://x?y"},
		{"--addr", "127.0.0.1:0", "--base-url", "http://127.0.0.1:8090/shop"}, {"--addr", "127.0.0.1:0", "--base-url", "x"},
		{"--addr", "127.0.0.1:0", "--client-id", "mine"},                 // without its secret
		{"--addr", "127.0.0.1:0", "--base-url", "http://localhost:8090"}, // no redirect URI of the demo client
	} {
		if err := run(ctx, args, "", io.Discard, io.Discard); err == nil {
			t.Errorf("run with %q: no error", args)
		}
	}
}
