package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/traintravel/traintravel"
)

// testAsker asks the server of a data file, and waits for it.
func testAsker(data string) asker {
	return asker{data: data, warn: io.Discard, soon: time.Minute, longest: time.Minute}
}

// small is a handover of a timetable without trains.
func small() *handover {
	return &handover{Report: &report{Trains: 7}, Options: feedOptions{Verbose: true}, timetable: &traintravel.Timetable{}}
}

// A server gets the timetable, the report and the flags of the command that has read the feed.
// While it loads one it refuses another, and reads none of its bytes.
func TestHandOver(t *testing.T) {
	t.Parallel()
	begun, end := make(chan struct{}), make(chan struct{})
	data := listenFor(t, duties{load: func(_ context.Context, h *handover) (*report, error) {
		if h.timetable == nil || !h.Options.Verbose {
			t.Errorf("the server got %+v", h)
		}
		begun <- struct{}{}
		<-end
		return h.Report, nil
	}})
	first := make(chan error)
	go func() {
		rep, err := testAsker(data).handOver(t.Context(), small())
		if err == nil && rep.Trains != 7 {
			err = fmt.Errorf("the report has %d trains", rep.Trains)
		}
		first <- err
	}()
	<-begun
	if _, err := testAsker(data).handOver(t.Context(), small()); err == nil || !strings.Contains(err.Error(), "another import is in progress") {
		t.Errorf("a second import: %v", err)
	}
	close(end)
	if err := <-first; err != nil {
		t.Error(err)
	}
}

// A transfer that is truncated, or claims to be longer than it is or may be, loads nothing, and
// the server accepts the next one.
func TestHandOverBroken(t *testing.T) {
	t.Parallel()
	loaded := 0
	data := listenFor(t, duties{load: func(_ context.Context, h *handover) (*report, error) { loaded++; return h.Report, nil }})
	socket, err := socketPath(data)
	if err != nil {
		t.Fatal(err)
	}
	head := func(n uint32, rest string) string { return string(binary.BigEndian.AppendUint32(nil, n)) + rest }
	for what, c := range map[string]struct {
		claimed int64
		body    string
		want    string
	}{
		"the command was killed while it sent": {100_000, head(2, "{}") + "half", ""},
		"no head":                              {2, "no", "400"},
		"a head beyond the body":               {6, head(3, "{}"), "400"},
		"a report without end":                 {2 << 30, head(1<<30, ""), "too large, or incomplete"},
		"a timetable without end":              {4 + 2 + maxTimetable + 1, head(2, "{}"), "too large, or incomplete"},
		"no report":                            {6, head(2, "{}"), "400"},
		"no JSON":                              {6, head(2, "x}"), "400"},
		"no timetable":                         {17, head(13, `{"Report":{}}`), "400"},
		"a timetable that is none":             {20, head(13, `{"Report":{}}`) + "\x01xx", "400"},
	} {
		conn, err := net.Dial("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "POST /timetable HTTP/1.1\r\nHost: server\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", c.claimed, c.body)
		_ = conn.(*net.UnixConn).CloseWrite()
		got, err := io.ReadAll(conn)
		if err != nil || !strings.Contains(string(got), c.want) || strings.Contains(string(got), " 200 ") {
			t.Errorf("%s: %v, %s", what, err, got)
		}
		conn.Close()
	}
	if _, err := testAsker(data).handOver(t.Context(), small()); err != nil || loaded != 1 {
		t.Errorf("after these: %v, and %d were loaded", err, loaded)
	}
}

// A command reports that the server has another version. It reads no feed for a server that it
// may not call, or for a file that cannot exist.
func TestHandOverToOthers(t *testing.T) {
	t.Parallel()
	data := listenFor(t, duties{})
	err := testAsker(data).do(t.Context(), "POST", "/import", []byte("{}"), nil)
	if err == nil || !strings.Contains(err.Error(), "runs another version") {
		t.Errorf("an old request: %v", err)
	}
	nowhere := filepath.Join(t.TempDir(), "none", "t.db")
	if err := testAsker(nowhere).listens(t.Context()); !errors.Is(err, errNoServer) {
		t.Errorf("%v", err)
	}
	code, _, stderr := once(t, nil, "import", filepath.Join(t.TempDir(), "no.zip"), "--data", nowhere)
	if code != 1 || !strings.Contains(stderr, "cannot use its folder") {
		t.Errorf("%d, %s", code, stderr)
	}
}

// A running server opens no feed: the feed may be unreadable for it, and uses none of its
// memory.
func TestServerDoesNotReadFeeds(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "trains.db")
	r := start(t, "serve", "--data", data)
	feed := writeFeed(t, "1")
	var said report
	data2 := listenFor(t, duties{load: func(_ context.Context, h *handover) (*report, error) {
		if err := os.RemoveAll(feed); err != nil { // by now all is read
			t.Error(err)
		}
		said = *h.Report
		return h.Report, nil
	}})
	if code, out, stderr := once(t, nil, "import", feed, "--data", data2); code != 0 || said.Trains != 1 {
		t.Errorf("%d, %s%s", code, out, stderr)
	}
	if code, out, stderr := once(t, nil, "import", writeFeed(t, "1"), "--data", data); code != 0 || !strings.Contains(out, "1 train") {
		t.Errorf("%d, %s%s", code, out, stderr)
	}
	_, token, _ := once(t, nil, "token", "--user", "anna", "--data", data)
	if n := len(r.call(strings.TrimSpace(token), "GET", "/stations", "", 200)["data"].([]any)); n != 2 {
		t.Errorf("%d stations", n)
	}
}
