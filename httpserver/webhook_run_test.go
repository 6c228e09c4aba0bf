package httpserver_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// pipes connects to receivers that do as they like with a request once they have it.
func pipes(receivers map[string]func(net.Conn)) *http.Transport {
	return &http.Transport{
		DisableKeepAlives: true,
		DialTLSContext: func(_ context.Context, _, addr string) (net.Conn, error) {
			ours, theirs := net.Pipe()
			host, _, _ := strings.Cut(addr, ".")
			go func() {
				defer theirs.Close()
				req, err := http.ReadRequest(bufio.NewReader(theirs))
				if err != nil {
					return
				}
				if _, err := io.Copy(io.Discard, req.Body); err == nil {
					receivers[host](theirs)
				}
			}()
			return ours, nil
		},
	}
}

// Receivers that are slow, silent, malformed or never end, all at once: each gets what
// is due to it, and none holds up another.
func TestWebhookReceiversMisbehave(t *testing.T) {
	t.Parallel()
	says := func(text string) func(net.Conn) {
		return func(c net.Conn) { _, _ = io.WriteString(c, text) }
	}
	then := func(begin string, pause time.Duration, more string) func(net.Conn) {
		return func(c net.Conn) {
			for _, err := io.WriteString(c, begin); err == nil; _, err = io.WriteString(c, more) {
				time.Sleep(pause)
			}
		}
	}
	const ok, endless = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n"
	silent, none := "newBooking pending after 0: no answer", "newBooking pending after 1: no answer"
	arrived := "newBooking delivered after 1: 200"
	for name, c := range map[string]struct {
		does                     func(net.Conn)
		at1s, at9s, at14s, at16s string
	}{
		"quick":     {says(ok), arrived, arrived, arrived, arrived},
		"refusing":  {says("HTTP/1.1 500 No\r\n\r\n"), "newBooking pending after 1: 500", "newBooking pending after 1: 500", "newBooking pending after 1: 500", "newBooking pending after 1: 500"},
		"closing":   {says(""), none, none, none, none},
		"malformed": {says("200 OK\r\n\r\n"), none, none, none, none},
		"cut":       {says("HTTP/1.1 200 OK\r\nX: "), none, none, none, none},
		"huge":      {then(endless, 0, strings.Repeat("x", 1<<10)), arrived, arrived, arrived, arrived},
		"headers":   {then(endless[:17], 0, "X: "+strings.Repeat("x", 1<<10)+"\r\n"), none, none, none, none},
		"slow":      {then("", 10*time.Second, ok), silent, silent, arrived, arrived},
		"dripping":  {then(endless, time.Second, "x"), silent, silent, silent, arrived}, // the status counts
		"dribbling": {then("H", time.Second, ""), silent, silent, silent, none},
		"silent":    {then("", time.Hour, ""), silent, silent, silent, none},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, withWebhooks(pipes(map[string]func(net.Conn){"odd": c.does, "good": says(ok)})))
				odd, good := w.subscribe("anna-rw", "https://odd.example/"), w.subscribe("anna-rw", "https://good.example/")
				w.later(time.Second)
				ctx, stop := context.WithCancel(t.Context())
				var running sync.WaitGroup
				running.Go(func() { _ = w.service.Run(ctx) })
				begun := time.Now()
				w.book()
				time.Sleep(time.Second / 10) // until it is recorded
				synctest.Wait()
				w.expect(good, arrived)
				for _, at := range []struct {
					after time.Duration
					want  string
				}{{time.Second, c.at1s}, {9 * time.Second, c.at9s}, {14 * time.Second, c.at14s}, {16 * time.Second, c.at16s}} {
					time.Sleep(at.after - time.Since(begun))
					synctest.Wait()
					w.expect(odd, at.want)
				}
				stop()
				running.Wait()
				time.Sleep(time.Hour) // who sleeps wakes up
			})
		})
	}
}
