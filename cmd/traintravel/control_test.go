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

type checker = func(context.Context, checkRequest, func(done, total int64)) (*checked, error)

// listenTo has a server that checks answer for a data file.
func listenTo(t *testing.T, check checker) (data string) { return listenFor(t, duties{check: check}) }

// listenFor has a server that does duties answer for a data file.
func listenFor(t *testing.T, d duties) (data string) {
	t.Helper()
	data = filepath.Join(t.TempDir(), "trains.db")
	l, err := listenControl(data, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: d.handler(), ReadTimeout: 200 * time.Millisecond, WriteTimeout: 200 * time.Millisecond}
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { s.Close() })
	return data
}

// A job ends when its caller goes away.
func TestJobStopsWithItsCaller(t *testing.T) {
	t.Parallel()
	begun, over := make(chan struct{}), make(chan struct{})
	data := listenTo(t, func(ctx context.Context, _ checkRequest, _ func(int64, int64)) (*checked, error) {
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
	fmt.Fprintf(caller, "POST /check HTTP/1.1\r\nHost: server\r\nContent-Length: %d\r\n\r\n{}%*s", 2+blanks, blanks, "")
	<-begun
	time.Sleep(700 * time.Millisecond)
	caller.Close()
	select {
	case <-over:
	case <-time.After(5 * time.Second):
		t.Fatal("it goes on without its caller")
	}
}

// A job may take long.
func TestLongJob(t *testing.T) {
	t.Parallel()
	data := listenTo(t, func(context.Context, checkRequest, func(int64, int64)) (*checked, error) {
		time.Sleep(500 * time.Millisecond)
		return &checked{Found: 7}, nil
	})
	if rep, err := askServer[checkRequest, checked](t.Context(), asker{data: data, warn: io.Discard, soon: time.Minute, longest: time.Minute}, "/check", checkRequest{}, teller{}); err != nil || rep.Found != 7 {
		t.Errorf("%v, %v", rep, err)
	}
}
