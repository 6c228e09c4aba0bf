package main

import (
	"context"
	"crypto/tls"
	"io"
	"math"
	"net"
	"net/http"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"
)

// One address has so many connections at a time, and a trusted proxy any number.
func TestConnectionsOfAnAddress(t *testing.T) {
	t.Parallel()
	most, _ := shares(filesAtOnce())
	for _, c := range []struct {
		proxies []netip.Prefix
		kept    bool
	}{{nil, false}, {[]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, true}} {
		at, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer at.Close()
		crowd := newCrowd(at, c.proxies, 0)
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
		for range most {
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

// In a process that may have few files open, strangers leave some of them.
func TestConnectionsLeaveFiles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		files     uint64
		each, all int64
	}{{math.MaxUint64, 1024, 4096}, {20_000, 1024, 4096}, {4096, 448, 1792}, {1024, 64, 256}, {256, 16, 64}, {0, 1, 2}} {
		if each, all := shares(c.files); each != c.each || all != c.all {
			t.Errorf("of %d files an address has %d and all %d connections, want %d and %d", c.files, each, all, c.each, c.all)
		}
	}
}

// A door is a listener to which connections come as they are told.
type door chan net.Conn

func (d door) Accept() (net.Conn, error) { return <-d, nil }
func (d door) Close() error              { return nil }
func (d door) Addr() net.Addr            { return nil }

// A visitor is a connection that says where it is from.
type visitor struct {
	net.Conn
	address string
}

func (v visitor) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.ParseIP(v.address)} }

// Bytes of an address beyond its limit are read later, on all of its connections and on no
// others.
func TestBytesOfAnAddressAreLimited(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		come := make(door, 1)
		crowd := newCrowd(come, []netip.Prefix{netip.MustParsePrefix("192.0.2.9/32")}, 0)
		accept := func(address string) (here, there net.Conn) {
			there, here = net.Pipe()
			come <- visitor{here, address}
			here, err := crowd.Accept()
			if err != nil {
				t.Fatal(err)
			}
			return here, there
		}
		takes := func(here, there net.Conn, n int) time.Duration {
			began := time.Now()
			go there.Write(make([]byte, n))
			if _, err := io.ReadFull(here, make([]byte, n)); err != nil {
				t.Fatal(err)
			}
			return time.Since(began)
		}
		const share = bytesPerRequest * leastRequests
		one, toOne := accept("192.0.2.1")
		two, toTwo := accept("192.0.2.1")
		if wait := takes(one, toOne, share-2*connectionCost); wait != 0 {
			t.Errorf("what an address may send at once takes %v", wait)
		}
		if wait := takes(two, toTwo, share/4).Round(time.Millisecond); wait != time.Second/4 {
			t.Errorf("on another connection a quarter of what comes in a second takes %v", wait)
		}
		other, toOther := accept("192.0.2.2")
		if wait := takes(other, toOther, share/2); wait != 0 {
			t.Errorf("another address waits %v", wait)
		}
		proxy, toProxy := accept("192.0.2.9")
		if wait := takes(proxy, toProxy, 2*share); wait != 0 {
			t.Errorf("a trusted proxy waits %v", wait)
		}

		wait := func() time.Duration { return crowd.pace.Spend(one.(*crowded).who, 0).Round(time.Millisecond) }
		taken, stop := context.WithCancel(crowd.know(t.Context(), tls.Server(one, &tls.Config{})))
		requests := []struct {
			ctx   context.Context
			major int
			costs bool
		}{{taken, 2, true}, {taken, 1, false}, {crowd.know(t.Context(), one), 2, false}}
		stop()
		for _, r := range requests {
			before := wait()
			crowd.counting(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})).
				ServeHTTP(nil, (&http.Request{ProtoMajor: r.major}).WithContext(r.ctx))
			if costs := wait() > before; costs != r.costs {
				t.Errorf("a request over HTTP/%d whose context has the error %v costs something: %v", r.major, r.ctx.Err(), costs)
			}
		}

		done := make(chan time.Duration)
		go func() { done <- takes(one, toOne, share) }()
		synctest.Wait()
		one.Close()
		if wait := <-done; wait != 0 {
			t.Errorf("a connection that is closed waits %v more", wait)
		}
	})
}
