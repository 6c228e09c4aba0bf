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

// proxied are the headers, beside X-Forwarded and what begins with it, and those of Cloudflare,
// that proxies add to a request, and Origin, which pages of other sites send.
var proxied = map[string]bool{
	"Forwarded": true, "Via": true, "Origin": true, "X-Real-Ip": true, "X-Client-Ip": true, "X-Cluster-Client-Ip": true,
	"X-Original-Forwarded-For": true, "X-Original-Host": true, "Client-Ip": true, "True-Client-Ip": true, "Fastly-Client-Ip": true,
	"X-Envoy-External-Address": true, "X-Proxyuser-Ip": true, "X-Azure-Clientip": true, "Fly-Client-Ip": true, "Cdn-Loop": true,
}

// Request says whether a request is from a program on this machine, such as a browser in which
// somebody opened the address: not through a proxy, not by a name that leads here and belongs to
// somebody else (DNS rebinding), and not from a page of another site.
func Request(r *http.Request) bool {
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !from.Addr().Unmap().IsLoopback() || !name((&url.URL{Host: r.Host}).Hostname()) {
		return false
	}
	if !r.ProtoAtLeast(1, 1) { // browsers speak later versions, and many proxies this one
		return false
	}
	for header := range r.Header {
		if proxied[header] || strings.HasPrefix(header, "X-Forwarded") || strings.HasPrefix(header, "Cf-") {
			return false
		}
	}
	site, dest := r.Header.Get("Sec-Fetch-Site"), r.Header.Get("Sec-Fetch-Dest")
	return (site == "" || site == "none" || site == "same-origin") && (dest == "" || dest == "document")
}
