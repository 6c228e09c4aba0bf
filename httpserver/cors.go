package httpserver

import (
	"net/http"
	"net/url"

	"github.com/rs/cors"
)

// crossOrigin lets pages of other origins call the API from browsers: all of
// its answers, problems too, say who may read them, and a preflight needs no
// token. Cookies play no part.
func crossOrigin(origins []string) (*cors.Cors, error) {
	for _, o := range origins {
		u, err := url.Parse(o)
		if o != "*" && (err != nil || u.Scheme == "" || u.Host == "" || u.Scheme+"://"+u.Host != o) {
			return nil, badOption("Options.CORSOrigins", "has one that is no origin such as https://shop.example, nor *")
		}
	}
	return cors.New(cors.Options{
		AllowedOrigins: origins,
		AllowedMethods: []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodDelete},
		AllowedHeaders: []string{"*"},
		ExposedHeaders: []string{"RateLimit", "Retry-After", "Location", "ETag", "Link", "Sunset", "WWW-Authenticate", "Idempotency-Replayed"},
		MaxAge:         7200, // seconds; browsers take no more
		// What our OPTIONS answers comes with it.
		OptionsPassthrough: true,
	}), nil
}
