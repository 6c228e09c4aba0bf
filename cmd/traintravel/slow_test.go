package main

import (
	"bufio"
	"bytes"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// newProgram is a program whose clients may take an hour, and which nobody watches.
func newProgram(log io.Writer) *program {
	return &program{
		stdout: io.Discard, stderr: io.Discard, log: slog.New(slog.NewTextHandler(log, nil)), notify: func(string) {},
		waits: waits{header: time.Hour, request: time.Hour, answer: time.Hour, idle: time.Hour, leave: time.Hour, drain: time.Hour, deliver: time.Hour, end: time.Hour},
	}
}

// A slow client, in whatever way, loses the connection.
func TestSlowClients(t *testing.T) {
	t.Parallel()
	const moment = 20 * time.Millisecond
	for name, c := range map[string]struct {
		short func(*waits)
		do    func(net.Conn)
		last  string // of what the client gets
	}{
		"says nothing":       {func(w *waits) { w.header = moment }, func(net.Conn) {}, ""},
		"half of the header": {func(w *waits) { w.header = moment }, func(c net.Conn) { _, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n") }, ""},
		"a header that goes on": {func(w *waits) { w.header = moment }, func(c net.Conn) {
			_, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n")
			for err == nil {
				time.Sleep(moment / 4)
				_, err = io.WriteString(c, "X: y\r\n")
			}
		}, ""},
		"half of the body": {func(w *waits) { w.request = moment }, func(c net.Conn) {
			_, _ = io.WriteString(c, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n1")
		}, "cut"},
		"a body that goes on": {func(w *waits) { w.request = moment }, func(c net.Conn) {
			_, err := io.WriteString(c, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 999999\r\n\r\n")
			for err == nil {
				time.Sleep(moment / 4)
				_, err = io.WriteString(c, "1")
			}
		}, "cut"},
		"idle": {func(w *waits) { w.idle = moment }, func(c net.Conn) { _, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n") }, "read"},
		"idle in HTTP/2": {func(w *waits) { w.idle = moment }, func(c net.Conn) {
			_, _ = io.WriteString(c, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00") // and empty settings
		}, "\x00"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProgram(io.Discard)
			c.short(&p.waits)
			conn := p.serveOne(t, func(w http.ResponseWriter, r *http.Request) {
				if _, err := io.Copy(io.Discard, r.Body); err != nil {
					_, _ = io.WriteString(w, "cut")
					return
				}
				_, _ = io.WriteString(w, "read")
			})
			go c.do(conn)
			got, _ := io.ReadAll(conn) // until the server closes it: by a reset, if more was on its way
			if !bytes.Contains(got, []byte(c.last)) {
				t.Errorf("it got %q, want %q in it", got, c.last)
			}
		})
	}
}

// A client that does not read the response loses the connection too.
func TestSlowReader(t *testing.T) {
	t.Parallel()
	p := newProgram(io.Discard)
	p.waits.answer = 20 * time.Millisecond
	failed := make(chan error, 1)
	conn := p.serveOne(t, func(w http.ResponseWriter, _ *http.Request) {
		var err error
		for err == nil { // more than fits on the way
			_, err = w.Write(make([]byte, 1<<16))
		}
		failed <- err
	})
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	<-failed // and nothing was read
	_, _ = io.Copy(io.Discard, conn)
}

// serveOne serves, and returns a connection to the server.
func (p *program) serveOne(t *testing.T, handle http.HandlerFunc) net.Conn {
	t.Helper()
	l, err := listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := p.httpServer(handle)
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { s.Close() })
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// HTTP/2 is there without TLS, for clients that know it.
func TestHTTP2WithoutTLS(t *testing.T) {
	t.Parallel()
	conn := newProgram(io.Discard).serveOne(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Proto) })
	var only http.Protocols
	only.SetUnencryptedHTTP2(true)
	client := http.Client{Transport: &http.Transport{Protocols: &only}}
	defer client.CloseIdleConnections()
	for proto, client := range map[string]*http.Client{"HTTP/2.0": &client, "HTTP/1.1": http.DefaultClient} {
		resp, err := client.Get("http://" + conn.RemoteAddr().String())
		if err != nil {
			t.Fatal(err)
		}
		text, _ := bufio.NewReader(resp.Body).ReadString(0)
		if resp.Body.Close(); strings.TrimSpace(text) != proto {
			t.Errorf("it is %q, want %s", text, proto)
		}
	}
}
