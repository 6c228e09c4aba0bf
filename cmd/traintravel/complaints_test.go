package main

import (
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// However many errors of clients net/http reports, the log has one line a second, with the
// number of errors that it leaves out. It has all panics.
func TestComplaintsAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var text strings.Builder
		c := &complaints{log: slog.New(slog.NewTextHandler(&text, nil))}
		complain := func(what string) {
			if _, err := c.Write([]byte(what + "\n")); err != nil {
				t.Fatal(err)
			}
		}
		for range 300 {
			complain("http: TLS handshake error from 192.0.2.1:1: EOF")
			time.Sleep(10 * time.Millisecond)
		}
		complain("http: panic serving 192.0.2.1:1: oops")
		complain("the last")
		lines := strings.Split(strings.TrimSpace(text.String()), "\n")
		if len(lines) != 5 {
			t.Fatalf("of complaints of 3 seconds, a panic and one more there are %d lines:\n%s", len(lines), text.String())
		}
		for i, want := range []string{`msg="http: TLS handshake error from 192.0.2.1:1: EOF"`, "unlogged=99", "unlogged=99", "panic", `msg="the last" unlogged=99`} {
			if !strings.Contains(lines[i], want) {
				t.Errorf("line %d is %s, want %s", i+1, lines[i], want)
			}
		}
	})
}
