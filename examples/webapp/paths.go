package main

import (
	"net/http"
	"path"
	"regexp"
	"strings"
)

// rootForm is a path below which a site can be: what is in it stands for itself in every link.
var rootForm = regexp.MustCompile(`^(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*$`)

// ownPages are what the paths of pages begin with. A root that begins likewise is refused: of
// /bookings/x nobody could tell whether a proxy has taken the root away.
var ownPages = map[string]bool{
	"sign-in": true, "callback": true, "sign-out": true, "stations": true, "trips": true, "bookings": true, "pay": true, "receipt": true, "static": true,
}

// isRoot says whether a site can be below a path. The empty one is the root of the host.
func isRoot(root string) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(root, "/"), "/")
	return rootForm.MatchString(root) && !ownPages[first]
}

// below is a request with its path below the root, whether a proxy has taken the root away or not.
func below(root string, r *http.Request) *http.Request {
	rest, ok := strings.CutPrefix(r.URL.Path, root)
	if root == "" || !ok || rest != "" && rest[0] != '/' {
		return r
	}
	stripped := r.Clone(r.Context())
	stripped.URL.Path, stripped.URL.RawPath = path.Clean("/"+rest), "" // the mux would lead to the clean path, without the root
	if raw, ok := strings.CutPrefix(r.URL.RawPath, root); ok {
		stripped.URL.Path, stripped.URL.RawPath = rest, raw
	}
	return stripped
}

// redirect leads to another page of this site.
func (s *site) redirect(w http.ResponseWriter, r *http.Request, page string) {
	http.Redirect(w, r, s.root+page, http.StatusSeeOther)
}

// pathOf is the path and the query of a request, below the root of this site. Of what else is in a request line, a scheme
// or a host, nothing is used: it would lead elsewhere.
func pathOf(r *http.Request) string {
	at := "/" + strings.TrimPrefix(r.URL.EscapedPath(), "/")
	if r.URL.RawQuery != "" {
		at += "?" + r.URL.RawQuery
	}
	return at
}

// A link is somewhere to go on.
type link struct{ Text, Path string }
