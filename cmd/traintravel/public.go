package main

import (
	"fmt"
	"net"
	"net/netip"

	"github.com/traintravel/traintravel/internal/thishost"
)

// checkSignIn refuses the built-in sign-in, which asks for no password, on a server that other
// machines can reach. addr is the address that the server listens on, or nil if it is not
// known yet.
func (s *settings) checkSignIn(addr net.Addr) error {
	if s.issuer != "" || s.publicSign {
		return nil
	}
	why := s.public(addr)
	if why == "" {
		return nil
	}
	return usagef("the built-in sign-in asks for no password and is for this machine alone, but %s: give --issuer URL to use another authorization server, or --public-signin to let everyone sign in without a password", why)
}

// public says how other machines can reach the server, or "" if nothing shows that they can.
// A server that listens on a loopback address alone may be behind a proxy.
func (s *settings) public(addr net.Addr) string {
	switch {
	case addr != nil && !loopback(addr):
		return fmt.Sprintf("the server listens on %v", addr)
	case isBase(s.baseURL) && !thishost.URL(s.baseURL):
		return fmt.Sprintf("--base-url %.200q is not a loopback address", withoutSecrets(s.baseURL))
	case len(s.proxies) > 0:
		return "--trusted-proxy lets a proxy pass on requests from other machines"
	}
	return ""
}

// listened is the address that a server listens on with an --addr, or nil if it is a
// name, which has to be asked for.
func listened(flag string) net.Addr {
	host, service, err := net.SplitHostPort(flag)
	if err != nil {
		return nil
	}
	port, _ := net.LookupPort("tcp", service) // checkAddr refuses an invalid one
	if host == "" {
		return &net.TCPAddr{IP: net.IPv6unspecified, Port: port}
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return nil
	}
	return &net.TCPAddr{IP: ip.AsSlice(), Port: port, Zone: ip.Zone()}
}

// loopback says whether an address that a listener has is of this machine alone.
func loopback(a net.Addr) bool {
	tcp, ok := a.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}
