package httpserver

import (
	"net/http"
	"net/url"
	"strings"
)

// Below returns a request as handlers below the base URL need it: without the path of
// Options.BaseURL, if its path begins with that. It returns other requests unchanged, such as
// those from which the host, or a proxy, has already stripped the path. The server does this
// itself; a handler next to it, such as an authorization server, needs Below.
//
// If the path of the base URL begins like a path of the API, as in
// https://trains.example/stations, it is ambiguous whether it was stripped. Then Below returns
// all requests unchanged, and the host has to strip it.
func (s *Server) Below(r *http.Request) *http.Request {
	if s.mount == "" {
		return r
	}
	path, ok := cutMount(r.URL.Path, s.mount)
	if !ok {
		return r
	}
	raw, ok := cutMount(r.URL.RawPath, s.base.path)
	if !ok && r.URL.RawPath != "" {
		return r
	}
	below := *r
	below.URL = new(url.URL)
	*below.URL = *r.URL
	below.URL.Path, below.URL.RawPath = path, raw
	return &below
}

// cutMount returns what follows a mount in a path: nothing, or a path.
func cutMount(path, mount string) (string, bool) {
	rest, ok := strings.CutPrefix(path, mount)
	return rest, ok && (rest == "" || rest[0] == '/')
}

// mountOf is the path of a base URL that Below takes away, without escapes; empty if it takes
// away none.
func (s *Server) mountOf() string {
	mount, err := url.PathUnescape(s.base.path)
	if err != nil || mount == "" {
		return ""
	}
	first := func(path string) string {
		segment, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
		return segment
	}
	for _, rt := range s.table() {
		if first(rt.path) == first(mount) {
			return ""
		}
	}
	return mount
}

// toSlash sends whoever opens the address at which the server is mounted, without a slash at its
// end, to the one with it: the relative links of pages lead there.
func (x *exchange) toSlash() error {
	to := x.base + "/"
	if x.r.URL.RawQuery != "" {
		to += "?" + x.r.URL.RawQuery
	}
	x.set("Location", to)
	x.set("Content-Length", "0") // to HEAD too
	return x.empty(http.StatusTemporaryRedirect)
}
