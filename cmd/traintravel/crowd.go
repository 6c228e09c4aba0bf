package main

import (
	"hash/maphash"
	"net"
	"net/netip"
	"slices"
	"sync"

	"github.com/traintravel/traintravel/internal/fair"
)

// mostConnections is how many connections an address has at a time. All together have
// sixteen times as many, and beyond that those who have few may still have a few.
const mostConnections = 1024

// A crowd is a listener whose connections no address can take from the others: one too
// many is closed at once. What comes through a trusted proxy is the proxy's to bound.
type crowd struct {
	net.Listener
	proxies []netip.Prefix
	seed    maphash.Seed
	open    *fair.Budget
}

func newCrowd(l net.Listener, proxies []netip.Prefix) *crowd {
	return &crowd{l, proxies, maphash.MakeSeed(), fair.NewBudget(mostConnections, 16*mostConnections)}
}

// Accept waits for a connection that there is room for.
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
			return &crowded{Conn: conn, leave: sync.OnceFunc(func() { c.open.Give(who, 1) })}, nil
		}
		_ = conn.Close()
	}
}

// A crowded connection is one that its address has.
type crowded struct {
	net.Conn
	leave func()
}

// Close gives room to another connection of the address.
func (c *crowded) Close() error {
	defer c.leave()
	return c.Conn.Close()
}
