package pgtest_test

import (
	"encoding/binary"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/traintravel/traintravel/internal/pgtest"
)

func TestProxy(t *testing.T) {
	t.Parallel()
	s := pgtest.Shared(t)
	db := s.NewDatabase(t)
	p := pgtest.NewProxy(t, s.Addr())
	via := pgtest.Via(db, p.Addr())
	want(t, via, "CREATE TABLE t (n int); SELECT count(*) FROM t", "0")
	want(t, strings.Replace(via, "sslmode=disable", "sslmode=prefer", 1), "SELECT 1", "1")

	lost := p.CutAt(pgtest.BeforeAnswer, "insert into")
	want(t, via, "SELECT 1", "1")
	fails(t, via, "INSERT INTO t VALUES (1)")
	<-lost
	want(t, via, "SELECT count(*) FROM t", "1")

	lost = p.CutAt(pgtest.BeforeRequest, "commit")
	fails(t, via, "BEGIN; INSERT INTO t VALUES (2); COMMIT")
	<-lost
	want(t, via, "SELECT count(*) FROM t", "1")

	p.Refuse(true)
	fails(t, via, "SELECT 1")
	p.Refuse(false)
	p.Delay(1)
	want(t, via, "SELECT 1", "1")
	p.Cut()
	want(t, via, "SELECT 1", "1")
}

// message makes a message of the protocol; the first of a connection has no kind.
func message(kind string, body string) string {
	return kind + string(binary.BigEndian.AppendUint32(nil, uint32(4+len(body)))) + body
}

// In a pipeline, the answer to one request is lost: those to earlier ones
// arrive, and the server has done it, though it was sent in several messages and
// prepared before.
func TestProxyPipeline(t *testing.T) {
	t.Parallel()
	const protocol = "\x00\x03\x00\x00"
	var (
		start   = message("", protocol+"user\x00anna\x00\x00")
		first   = message("P", "end\x00CoMMiT\x00\x00\x00") + message("P", "\x00SELECT 1\x00\x00\x00") + message("B", "\x00\x00") + message("E", "") + message("S", "")
		second  = message("B", "\x00end\x00") + message("E", "") + message("S", "")
		third   = message("Q", "SELECT 3\x00")
		ready   = message("Z", "I")
		greeted = message("R", "\x00\x00\x00\x00") + ready
		one     = message("D", "one") + ready
		two     = message("C", "COMMIT") + ready
	)
	for _, c := range []struct {
		name    string
		moment  pgtest.Moment
		arrives bool // the second request at the server
	}{
		{"answer", pgtest.BeforeAnswer, true},
		{"request", pgtest.BeforeRequest, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			server, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer server.Close()
			p := pgtest.NewProxy(t, server.Addr().String())
			sprung := p.CutAt(c.moment, "commit")
			client, err := net.Dial("tcp", p.Addr())
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			behind, err := server.Accept()
			if err != nil {
				t.Fatal(err)
			}
			defer behind.Close()
			swap := func(from, to net.Conn, text string) {
				t.Helper()
				if _, err := io.WriteString(from, text); err != nil {
					t.Fatal(err)
				}
				got := make([]byte, len(text))
				if _, err := io.ReadFull(to, got); err != nil || string(got) != text {
					t.Fatalf("%q came as %q, %v", text, got, err)
				}
			}
			swap(client, behind, start)
			swap(behind, client, greeted)
			if c.arrives { // all is sent before anything is answered
				swap(client, behind, first+second)
				swap(behind, client, one)
				if _, err := io.WriteString(behind, two); err != nil {
					t.Fatal(err)
				}
			} else {
				swap(client, behind, first)
				swap(behind, client, one)
				if _, err := io.WriteString(client, second); err != nil {
					t.Fatal(err)
				}
			}
			<-sprung
			if rest, _ := io.ReadAll(client); len(rest) > 0 {
				t.Errorf("the client hears %q", rest)
			}
			_, _ = io.WriteString(client, third)
			if rest, _ := io.ReadAll(behind); len(rest) > 0 {
				t.Errorf("the server hears %q", rest)
			}
		})
	}
}

// An invalid message ends its connection and nothing else.
func TestProxyRefusesInvalidMessages(t *testing.T) {
	t.Parallel()
	p := pgtest.NewProxy(t, pgtest.Shared(t).Addr())
	for _, text := range []string{"", "x", "\x00\x00\x00\x04", "\x00\x00\x00\x03", "\xff\xff\xff\xff", message("", "\x04\xd2\x16\x2e12345678")} {
		client, err := net.Dial("tcp", p.Addr())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(client, text); err != nil {
			t.Fatal(err)
		}
		if err := client.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, client)
		client.Close()
	}
	want(t, pgtest.Via(pgtest.Shared(t).NewDatabase(t), p.Addr()), "SELECT 1", "1")
}
