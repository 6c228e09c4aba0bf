// Package thishost tells what only programs on this machine can reach.
package thishost

import (
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// URL says whether the host of a URL is this machine for everybody that reads it (RFC 6761,
// section 6.3, for names).
func URL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && name(u.Hostname())
}

func name(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || err == nil && addr.Unmap().IsLoopback()
}

// Request says whether a request is from a program on this machine, such as a browser in which
// somebody opened the address: not through a proxy, not by a name that leads here and belongs to
// somebody else (DNS rebinding), and not from a page of another site.
func Request(r *http.Request) bool {
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !from.Addr().Unmap().IsLoopback() || !name((&url.URL{Host: r.Host}).Hostname()) {
		return false
	}
	for _, header := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-Prefix", "X-Real-Ip", "Via", "Origin"} {
		if r.Header[header] != nil {
			return false
		}
	}
	site := r.Header.Get("Sec-Fetch-Site")
	return site == "" || site == "none" || site == "same-origin"
}
