package httpserver

import (
	"net/http"
	"net/url"

	"github.com/rs/cors"
)

// CrossOrigin returns what lets the pages of origins, as Options.CORSOrigins has
// them, call a handler from browsers: all of its answers, refusals too, say who
// may read them. The handler answers OPTIONS, which is what browsers ask first,
// and asks no token for that. Cookies play no part.
//
// A [Server] has this for itself. It is for what stands beside it, such as the
// token endpoint of an authorization server.
func CrossOrigin(origins []string) (func(http.Handler) http.Handler, error) {
	for _, o := range origins {
		if o != "*" && !isOrigin(o) {
			return nil, badOption("Options.CORSOrigins", "has one that is no origin such as https://shop.example, nor *")
		}
	}
	if len(origins) == 0 {
		return func(h http.Handler) http.Handler { return h }, nil
	}
	c := cors.New(cors.Options{
		AllowedOrigins: origins,
		AllowedMethods: []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodDelete},
		AllowedHeaders: []string{"*"},
		ExposedHeaders: []string{"RateLimit", "Retry-After", "Location", "ETag", "Link", "Sunset", "WWW-Authenticate", "Idempotency-Replayed"},
		MaxAge:         7200, // seconds; browsers take no more
		// What our OPTIONS answers comes with it.
		OptionsPassthrough: true,
	})
	return func(h http.Handler) http.Handler {
		shared := c.Handler(h)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			// What the header is compared with has an asterisk for any text, and
			// what is allowed is sent back: so it has to be one origin.
			if from := r.Header["Origin"]; len(from) > 1 || len(from) == 1 && from[0] != "null" && !isOrigin(from[0]) {
				w.Header().Add("Vary", "Origin")
				h.ServeHTTP(w, r)
				return
			}
			shared.ServeHTTP(w, r)
		})
	}, nil
}

// isOrigin says whether a text is a scheme and a host, such as
// https://shop.example:8443.
func isOrigin(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Scheme != "" && u.Host != "" && u.Scheme+"://"+u.Host == s
}
