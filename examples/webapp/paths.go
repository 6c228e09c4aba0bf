package main

import (
	"net/http"
	"strings"
)

// pathOf is the path and the query of a request. Of what else is in a request line, a scheme
// or a host, nothing is used: it would lead elsewhere.
func pathOf(r *http.Request) string {
	path := "/" + strings.TrimPrefix(r.URL.EscapedPath(), "/")
	if r.URL.RawQuery != "" {
		path += "?" + r.URL.RawQuery
	}
	return path
}

// A link is somewhere to go on.
type link struct{ Text, Path string }
