package main

import (
	"net"
	"net/netip"
	"testing"
)

// One address has so many connections at a time, and a trusted proxy any number.
func TestConnectionsOfAnAddress(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		proxies []netip.Prefix
		kept    bool
	}{{nil, false}, {[]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, true}} {
		at, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer at.Close()
		crowd := newCrowd(at, c.proxies)
		accepted := make(chan net.Conn, 1)
		go func() {
			for {
				conn, err := crowd.Accept()
				if err != nil {
					return
				}
				accepted <- conn
			}
		}()
		dial := func() net.Conn {
			conn, err := net.Dial("tcp", at.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { conn.Close() })
			return conn
		}
		var last net.Conn
		for range mostConnections {
			dial()
			last = <-accepted
			defer last.Close()
		}
		more := dial()
		if c.kept {
			(<-accepted).Close()
			continue
		}
		if n, err := more.Read(make([]byte, 1)); err == nil || n > 0 {
			t.Error("one connection more than an address has is not closed")
		}
		last.Close()
		dial()
		(<-accepted).Close()
	}
}
