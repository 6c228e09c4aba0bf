package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"testing"
	"time"
)

type loader = func(context.Context, []string, feedOptions, func(done, total int64)) (*report, error)

// listenTo has a server that loads answer for a data file.
func listenTo(t *testing.T, load loader) (data string) {
	t.Helper()
	data = filepath.Join(t.TempDir(), "trains.db")
	l, err := listenControl(data, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: duties{load: load}.handler(), ReadTimeout: 200 * time.Millisecond, WriteTimeout: 200 * time.Millisecond}
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { s.Close() })
	return data
}

// A job ends when its caller goes away.
func TestJobEndsWithItsCaller(t *testing.T) {
	t.Parallel()
	begun, over := make(chan struct{}), make(chan struct{})
	data := listenTo(t, func(ctx context.Context, _ []string, _ feedOptions, _ func(int64, int64)) (*report, error) {
		close(begun)
		defer close(over)
		time.Sleep(500 * time.Millisecond) // longer than the timeouts, which are not its own
		if err := ctx.Err(); err != nil {
			t.Errorf("it ended before its caller: %v", err)
		}
		<-ctx.Done()
		return nil, ctx.Err()
	})
	path, err := socketPath(data)
	if err != nil {
		t.Fatal(err)
	}
	caller, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	const blanks = 50_000 // after the request, which nobody needs to read
	fmt.Fprintf(caller, "POST /import HTTP/1.1\r\nHost: server\r\nContent-Length: %d\r\n\r\n{}%*s", 2+blanks, blanks, "")
	<-begun
	time.Sleep(700 * time.Millisecond)
	caller.Close()
	select {
	case <-over:
	case <-time.After(5 * time.Second):
		t.Fatal("it goes on without its caller")
	}
}

// A job takes what it takes.
func TestLongJob(t *testing.T) {
	t.Parallel()
	data := listenTo(t, func(context.Context, []string, feedOptions, func(int64, int64)) (*report, error) {
		time.Sleep(500 * time.Millisecond)
		return &report{Trains: 7}, nil
	})
	if rep, err := askServer[importRequest, report](t.Context(), asker{data: data, warn: io.Discard, soon: time.Minute, longest: time.Minute}, "/import", importRequest{}, teller{}); err != nil || rep.Trains != 7 {
		t.Errorf("%v, %v", rep, err)
	}
}
