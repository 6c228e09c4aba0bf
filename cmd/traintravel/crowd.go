package main

import (
	"context"
	"crypto/tls"
	"hash/maphash"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/traintravel/traintravel/internal/fair"
)

const (
	// mostConnections is how many connections an address has at a time, and allConnections
	// how many all together have; beyond that those who have few may still have a few, up to
	// as many again. One over HTTP/2 takes 25 KiB of memory.
	mostConnections, allConnections = 1024, 4 * mostConnections
	// ownFiles are the files that the server has open beside connections of strangers.
	ownFiles = 512
	// An address may send so many bytes a second for each of so many requests, of which it
	// may have as many at a time or more; and once as many as in a second. What it sends
	// beyond is read later.
	bytesPerRequest, leastRequests = 256, 1024
	// So many bytes count for what makes work out of few: a read, a connection, and a
	// request over HTTP/2 that is taken back.
	readCost, connectionCost, takenBackCost = 128, 1 << 10, 1 << 10
)

// A crowd is a listener that shares connections and bandwidth fairly among addresses. A
// connection above the limit of its address is closed at once. Work that is done before a
// request is counted, such as handshakes, frames of HTTP/2 and refused requests, is limited by
// its bytes: they are read no faster than the address may send. Connections of trusted proxies
// are not limited: the proxy has to do that.
type crowd struct {
	net.Listener
	proxies []netip.Prefix
	seed    maphash.Seed
	open    *fair.Budget
	pace    *fair.Pace // of bytes; nil is no limit
}

// newCrowd returns a crowd for addresses with at most so many requests at a time; a negative
// number is no limit.
func newCrowd(l net.Listener, proxies []netip.Prefix, requests int) *crowd {
	c := &crowd{Listener: l, proxies: proxies, seed: maphash.MakeSeed(), open: fair.NewBudget(shares(filesAtOnce()))}
	if requests >= 0 {
		perSecond := bytesPerRequest * int64(max(requests, leastRequests))
		c.pace = fair.NewPace(perSecond, perSecond)
	}
	return c
}

// shares are the limits of connections of an address, and of all together, in a process that may
// have so many files open: some are reserved for the server itself.
func shares(files uint64) (each, all int64) {
	all = allConnections
	if files < 2*allConnections+ownFiles { // all have as many again
		all = max(4, int64(files)-ownFiles, int64(files)/2) / 2
	}
	return min(mostConnections, max(1, all/4)), all
}

// Accept waits for a connection within the limits.
func (c *crowd) Accept() (net.Conn, error) {
	for {
		conn, err := c.Listener.Accept()
		if err != nil {
			return nil, err
		}
		tcp, ok := conn.RemoteAddr().(*net.TCPAddr)
		if !ok { // on a Unix socket, of a proxy on this machine
			return conn, nil
		}
		addr := tcp.AddrPort().Addr().Unmap()
		if slices.ContainsFunc(c.proxies, func(p netip.Prefix) bool { return p.Contains(addr) }) {
			return conn, nil
		}
		who := fair.Caller(maphash.Comparable(c.seed, fair.Customer(addr)))
		if c.open.Take(who, 1) {
			one := &crowded{Conn: conn, in: c, who: who, left: make(chan struct{})}
			one.leave = sync.OnceFunc(func() {
				close(one.left)
				c.open.Give(who, 1)
			})
			one.spend(connectionCost)
			return one, nil
		}
		_ = conn.Close()
	}
}

// A crowded connection counts against the limits of its address.
type crowded struct {
	net.Conn
	in    *crowd
	who   fair.Caller
	left  chan struct{} // closed when the connection is
	leave func()
}

// Read returns data when the limit of the address allows it.
func (c *crowded) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if wait := c.spend(n); wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-c.left:
		}
	}
	return n, err
}

// spend counts bytes of the address, and returns how long it has to wait.
func (c *crowded) spend(n int) time.Duration {
	if c.in.pace == nil || n == 0 {
		return 0
	}
	return c.in.pace.Spend(c.who, int64(max(n, readCost)))
}

// Close lets the address open another connection.
func (c *crowded) Close() error {
	defer c.leave()
	return c.Conn.Close()
}

// connectionKey is the key of the connection in the context of its requests.
type connectionKey struct{}

// know puts a connection into the context of its requests: see [http.Server.ConnContext].
func (c *crowd) know(ctx context.Context, conn net.Conn) context.Context {
	if secured, ok := conn.(*tls.Conn); ok {
		conn = secured.NetConn()
	}
	return context.WithValue(ctx, connectionKey{}, conn)
}

// counting returns a handler that counts requests over HTTP/2 that their client cancels. Over
// HTTP/1 a client cancels by closing its connection.
func (c *crowd) counting(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if conn, ok := r.Context().Value(connectionKey{}).(*crowded); ok && r.ProtoMajor >= 2 && r.Context().Err() != nil {
				conn.spend(takenBackCost)
			}
		}()
		h.ServeHTTP(w, r)
	})
}
