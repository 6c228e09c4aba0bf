package httpserver

import (
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"strconv"
	"strings"
)

// A base begins the links: scheme://host, and path, which is empty or begins
// with a slash and does not end with one. All of it may stand in JSON, XML and
// HTML as it is.
type base struct {
	scheme, host, path string
	text               string
}

func (b base) String() string { return b.scheme + "://" + b.host + b.path }

// parseBase reads Options.BaseURL.
func parseBase(text string) (base, error) {
	u, err := url.Parse(text)
	if err != nil {
		return base{}, errors.New("is not a URL")
	}
	b := base{scheme: u.Scheme, host: u.Host, path: strings.TrimRight(u.EscapedPath(), "/")}
	switch {
	case b.scheme != "http" && b.scheme != "https" || u.Hostname() == "":
		return base{}, errors.New("is not an absolute http or https URL")
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return base{}, errors.New("has a user, a query or a fragment")
	case !isHost(b.host) || b.path != "" && !isPrefix(b.path) || !strings.HasSuffix(text, u.EscapedPath()): // the last if a character was not escaped
		return base{}, errors.New("has characters that are not allowed in a URL, or must be percent-encoded")
	}
	b.text = b.String()
	return b, nil
}

// baseOf returns what begins the links of an answer: the server's own base,
// of which a trusted proxy may replace the scheme, the host and the path.
func (s *Server) baseOf(r *http.Request) string {
	if len(s.proxies) == 0 || !s.trusted(remote(r)) {
		return s.base.text
	}
	b := s.base
	if v := strings.ToLower(lastOf(r.Header["X-Forwarded-Proto"])); v == "http" || v == "https" {
		b.scheme = v
	}
	if v := lastOf(r.Header["X-Forwarded-Host"]); isHost(v) {
		b.host = v
	}
	if v := strings.TrimRight(lastOf(r.Header["X-Forwarded-Prefix"]), "/"); isPrefix(v) && isClean(v) {
		b.path = v
	}
	return b.String()
}

// client returns the address that a request comes from: the nearest one that
// is not a trusted proxy.
func (s *Server) client(r *http.Request) netip.Addr {
	addr := remote(r)
	if len(s.proxies) == 0 || !s.trusted(addr) {
		return addr
	}
	headers := r.Header["X-Forwarded-For"]
	for i := len(headers) - 1; i >= 0; i-- {
		rest := headers[i]
		for rest != "" {
			var hop string
			if at := strings.LastIndexByte(rest, ','); at >= 0 {
				rest, hop = rest[:at], rest[at+1:]
			} else {
				rest, hop = "", rest
			}
			next, ok := parseHop(strings.TrimSpace(hop))
			if !ok {
				return addr
			}
			if addr = next; !s.trusted(addr) {
				return addr
			}
		}
	}
	return addr
}

// parseHop reads an address of X-Forwarded-For, which some send with a port.
func parseHop(s string) (netip.Addr, bool) {
	if a, err := netip.ParseAddr(strings.Trim(s, "[]")); err == nil {
		return a.Unmap().WithZone(""), true
	}
	if a, err := netip.ParseAddrPort(s); err == nil {
		return a.Addr().Unmap().WithZone(""), true
	}
	return netip.Addr{}, false
}

// remote is the address of the connection's other end, the zero Addr if it has
// none, as over a unix socket.
func remote(r *http.Request) netip.Addr {
	a, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return a.Addr().Unmap().WithZone("")
}

func (s *Server) trusted(a netip.Addr) bool {
	for _, p := range s.proxies {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// lastOf returns the last element of a list header: the one that the nearest
// proxy wrote. Those before it may be the client's own invention.
func lastOf(headers []string) string {
	if len(headers) == 0 {
		return ""
	}
	s := headers[len(headers)-1]
	return strings.TrimSpace(s[strings.LastIndexByte(s, ',')+1:])
}

// isHost accepts a host, with a port or without, of characters that need no
// escaping.
func isHost(s string) bool {
	if s == "" || len(s) > 300 || !consistsOf(s, "-.:[]_") {
		return false
	}
	u, err := url.Parse("http://" + s)
	if err != nil || u.Host != s {
		return false
	}
	_, ok := hostInBrowser(u)
	return ok
}

// hostInBrowser is the host of an http or https URL as browsers write it: in lower
// case, with its port unless that is the scheme's own. It returns false for what
// is not a name, an address or a port.
func hostInBrowser(u *url.URL) (string, bool) {
	if strings.IndexFunc(u.Host, func(r rune) bool { return r > 0x7F }) >= 0 { // in lower case some are ASCII
		return "", false
	}
	host, port := strings.ToLower(u.Hostname()), u.Port()
	addr, err := netip.ParseAddr(host)
	switch {
	case strings.HasPrefix(u.Host, "["):
		if err != nil || !addr.Is6() || addr.Zone() != "" {
			return "", false
		}
		host = "[" + addr.String() + "]"
	case err != nil && !isName(host):
		return "", false
	}
	if port == "" {
		return host, true
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return "", false
	}
	if u.Scheme == "http" && n == 80 || u.Scheme == "https" && n == 443 {
		return host, true
	}
	return host + ":" + strconv.FormatUint(n, 10), true
}

// isName accepts a name of labels with dots between. Browsers read one that ends
// with a number as an address.
func isName(host string) bool {
	labels := strings.Split(strings.TrimSuffix(host, "."), ".")
	for _, l := range labels {
		if l == "" || len(l) > 63 || !consistsOf(l, "-_") {
			return false
		}
	}
	last := labels[len(labels)-1]
	hex, ok := strings.CutPrefix(last, "0x")
	return strings.Trim(last, "0123456789") != "" && (!ok || strings.Trim(hex, "0123456789abcdef") != "")
}

// isPrefix accepts a path of plain characters, in absolute form.
func isPrefix(s string) bool {
	return s != "" && s[0] == '/' && len(s) <= 300 && !strings.Contains(s, "//") && consistsOf(s, "/-._~%")
}

// isClean says whether clients leave a path as it is: none of its parts is empty
// or leads elsewhere, however they are written.
func isClean(s string) bool {
	plain, err := url.PathUnescape(s)
	return err == nil && path.Clean(plain) == plain
}

// consistsOf says whether s has letters, digits and others alone.
func consistsOf(s, others string) bool {
	for i := range len(s) {
		c := s[i]
		if !('a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9') && strings.IndexByte(others, c) < 0 {
			return false
		}
	}
	return true
}
