package httpserver

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/rs/cors"
)

// CrossOrigin returns middleware that lets the pages of origins, in the form of
// Options.CORSOrigins, call a handler from browsers: all of its responses, including
// errors, say which origins may read them. It answers OPTIONS, the preflight request,
// without a token. Cookies are not used.
//
// A [Server] does this itself. CrossOrigin is for handlers next to it, such as the
// token endpoint of an authorization server.
func CrossOrigin(origins []string) (func(http.Handler) http.Handler, error) {
	for _, o := range origins {
		if o != "*" && !isSharable(o) {
			return nil, badOption("Options.CORSOrigins", "has an entry that is neither * nor an origin such as https://shop.example")
		}
	}
	if len(origins) == 0 {
		return func(h http.Handler) http.Handler { return h }, nil
	}
	c := sharing{origins: cors.New(cors.Options{AllowedOrigins: origins})}
	for _, o := range origins {
		c.all = c.all || o == "*"
	}
	return func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if c.share(w.Header(), r) {
				w = &preflight{ResponseWriter: w}
			}
			h.ServeHTTP(w, r)
		})
	}, nil
}

// sharing says which pages may read answers.
type sharing struct {
	origins *cors.Cors
	all     bool // of every origin
}

// What answers say of it.
var (
	askingVary  = []string{"Origin, Access-Control-Request-Method, Access-Control-Request-Headers"}
	originVary  = []string{"Origin"}
	everyOrigin = []string{"*"}
	exposed     = []string{"RateLimit, Retry-After, Location, ETag, Link, Sunset, WWW-Authenticate, Idempotency-Replayed"}
	rememberFor = []string{"7200"} // seconds; browsers take no more
)

// share writes the headers of an answer that tell who may read it. It reports whether
// the answer is to say which methods there are.
func (c sharing) share(h http.Header, r *http.Request) (offers bool) {
	method := r.Header["Access-Control-Request-Method"]
	asking := r.Method == http.MethodOptions && len(method) == 1
	if h["Vary"] = originVary; asking {
		h["Vary"] = askingVary
	}
	// What the header is compared with may have an asterisk for any text, and what
	// is allowed is sent back: so it has to be one origin.
	from := r.Header["Origin"]
	if len(from) != 1 || from[0] != "null" && !isOrigin(from[0]) || !c.origins.OriginAllowed(r) {
		return false
	}
	if h["Access-Control-Allow-Origin"] = from; c.all {
		h["Access-Control-Allow-Origin"] = everyOrigin
	}
	if !asking {
		h["Access-Control-Expose-Headers"] = exposed
		return false
	}
	h["Access-Control-Allow-Methods"] = method
	if asked := r.Header["Access-Control-Request-Headers"]; len(asked) > 0 {
		h["Access-Control-Allow-Headers"] = asked
	}
	h["Access-Control-Max-Age"] = rememberFor
	return true
}

// A preflight is the answer to what a browser asks before it calls for a page.
type preflight struct {
	http.ResponseWriter
	told bool
}

// WriteHeader implements [http.ResponseWriter]. Pages may call the methods that Allow lists.
// The response for an unknown path has no Allow: there pages may call any method of the API,
// so that they can read that the path does not exist.
func (p *preflight) WriteHeader(status int) {
	if h := p.Header(); !p.told {
		p.told = true
		if allow := h["Allow"]; allow != nil {
			h["Access-Control-Allow-Methods"] = allow
		} else if asked := h["Access-Control-Allow-Methods"]; len(asked) == 1 && !slices.Contains(apiMethods, asked[0]) {
			delete(h, "Access-Control-Allow-Methods")
		}
	}
	p.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (p *preflight) Write(b []byte) (int, error) {
	if !p.told {
		p.WriteHeader(http.StatusOK)
	}
	return p.ResponseWriter.Write(b)
}

// Unwrap is for [http.ResponseController].
func (p *preflight) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// apiMethods are those that some operation has.
var apiMethods = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPatch, http.MethodDelete}

// asksToCall says whether a request is what a browser asks for a page that may
// call the server, before it does.
func (x *exchange) asksToCall() bool {
	return x.r.Method == http.MethodOptions && x.w.Header()["Access-Control-Allow-Methods"] != nil
}

// isOrigin says whether a text is a scheme and a host, such as
// https://shop.example:8443.
func isOrigin(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Scheme != "" && u.Host != "" && u.Scheme+"://"+u.Host == s
}

// isSharable says whether a text is an origin of the web to the letter that
// browsers send, or one whose host begins with an asterisk in place of a label or
// more: no other would ever be met, or too many would.
func isSharable(s string) bool {
	if scheme, rest, ok := strings.Cut(s, "://*."); ok {
		return strings.Contains(rest, ".") && isSharable(scheme+"://any."+rest)
	}
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return false
	}
	host, ok := hostInBrowser(u)
	return ok && s == u.Scheme+"://"+host
}
