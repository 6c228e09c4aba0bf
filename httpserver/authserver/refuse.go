package authserver

import (
	"net/http"
	"slices"
	"strings"
)

// route has a request answered by what it fits, or refused.
func (s *Server) route(w http.ResponseWriter, r *http.Request) {
	handler, pattern := s.mux.Handler(r)
	if pattern != "" {
		s.mux.ServeHTTP(w, r) // which also reads the parameters of the path
		return
	}
	// What the router would answer tells whether there are other methods.
	would := heading{header: http.Header{}}
	handler.ServeHTTP(&would, r)
	if allow := would.header.Get("Allow"); would.status == http.StatusMethodNotAllowed && allow != "" {
		methods := append(strings.Split(allow, ", "), http.MethodOptions)
		slices.Sort(methods)
		w.Header().Set("Allow", strings.Join(methods, ", "))
		if r.Method == http.MethodOptions {
			w.WriteHeader(http.StatusNoContent)
			return
		}
	}
	s.opts.Refuse(w, r)
}

// A heading is an answer of which nothing is sent.
type heading struct {
	header http.Header
	status int
}

func (h *heading) Header() http.Header         { return h.header }
func (h *heading) Write(p []byte) (int, error) { return len(p), nil }
func (h *heading) WriteHeader(status int)      { h.status = status }

// refuse answers with a problem of no type of its own.
func refuse(w http.ResponseWriter, _ *http.Request) {
	status := http.StatusNotFound
	if w.Header().Get("Allow") != "" {
		status = http.StatusMethodNotAllowed
	}
	writeAs(w, "application/problem+json", status, struct {
		Title  string `json:"title"`
		Status int    `json:"status"`
	}{http.StatusText(status), status})
}

// options answers what browsers ask before they let a page of another origin call.
func options(w http.ResponseWriter, path string) {
	allow := "GET, HEAD, OPTIONS"
	if path == tokenPath || path == revokePath {
		allow = endpointMethods
	}
	w.Header().Set("Allow", allow)
	w.WriteHeader(http.StatusNoContent)
}
