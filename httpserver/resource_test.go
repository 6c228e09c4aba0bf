package httpserver_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/traintravel/traintravel/httpserver"
)

// What RFC 9728 calls the metadata of a protected resource.
type resourceMetadata struct {
	Resource      string   `json:"resource"`
	Issuers       []string `json:"authorization_servers"`
	Scopes        []string `json:"scopes_supported"`
	Methods       []string `json:"bearer_methods_supported"`
	Name          string   `json:"resource_name"`
	Documentation string   `json:"resource_documentation"`
}

// The metadata are below the base URL and, with its path at the end, where RFC 9728
// has them; the resource is the base URL, and the issuer the one whose tokens count.
func TestProtectedResource(t *testing.T) {
	t.Parallel()
	const at, issuer = "/.well-known/oauth-protected-resource", "https://issuer.example/realm"
	proxied := []part{from("10.0.0.1:1"), header("X-Forwarded-Proto", "https"), header("X-Forwarded-Host", "rail.example"), header("X-Forwarded-Prefix", "/v1/de")}
	for _, c := range []struct {
		base, target string
		signIn       bool
		parts        []part
		resource     string // "" is not found
	}{
		{base, at, false, nil, base},
		{base, at + "/api", false, nil, base},
		{base, at + "/api", true, nil, base},
		{base, at + "/", false, nil, ""},
		{base, at + "/api/", false, nil, ""},
		{base, at + "/API", false, nil, ""},
		{base, at + "/api/bookings", false, nil, ""},
		{"http://127.0.0.1:8080", at, false, nil, "http://127.0.0.1:8080"},
		{"http://127.0.0.1:8080", at + "/", false, nil, ""},
		{"http://127.0.0.1:8080", at + "/api", false, nil, ""},
		{base, at, false, proxied, "https://rail.example/v1/de"},
		{base, at + "/v1/de", false, proxied, "https://rail.example/v1/de"},
		{base, at + "/api", false, proxied, ""},
		{base, at, false, append([]part{from("192.0.2.1:1")}, proxied[1:]...), base},
	} {
		w := newWorld(t, func(w *world) {
			w.options.BaseURL, w.options.SignIn, w.options.Issuer = c.base, c.signIn, issuer
			w.options.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
			w.options.CORSOrigins = []string{"*"}
		})
		a := w.do("GET", c.target, append(c.parts, header("Origin", "https://shop.example"))...)
		if c.resource == "" {
			if a.want(404); !strings.Contains(a.header.Get("Content-Type"), "problem") {
				t.Errorf("%s: %v", c.target, a.header)
			}
			continue
		}
		want := resourceMetadata{
			Resource: c.resource, Issuers: []string{issuer}, Scopes: []string{"read", "write"}, Methods: []string{"header"},
			Name: "Train Travel", Documentation: c.resource + "/docs",
		}
		if c.signIn {
			want.Issuers = []string{c.base}
		}
		var got resourceMetadata
		if a.want(200).into(&got); !cmp.Equal(want, got) {
			t.Errorf("%s: %s", c.target, cmp.Diff(want, got))
		}
		cache := "public, max-age=3600"
		if c.resource != c.base { // a proxy says so
			cache = "private, max-age=3600"
		}
		for name, value := range map[string]string{
			"Content-Type": "application/json", "Cache-Control": cache, "Access-Control-Allow-Origin": "*",
		} {
			if a.header.Get(name) != value {
				t.Errorf("%s: %s is %q", c.target, name, a.header.Get(name))
			}
		}
		head := w.do("HEAD", c.target, c.parts...).want(200)
		if head.header.Get("Etag") != a.header.Get("Etag") {
			t.Errorf("%s: HEAD: %v", c.target, head.header)
		}
		// What refuses a token leads there, and a page may read where that is.
		refused := w.do("GET", "/bookings", append(c.parts, header("Origin", "https://shop.example"))...).want(401)
		if got := refused.header.Get("Www-Authenticate"); !strings.Contains(got, `resource_metadata="`+c.resource+at+`"`) ||
			!strings.Contains(refused.header.Get("Access-Control-Expose-Headers"), "WWW-Authenticate") {
			t.Errorf("%s: %q, %v", c.target, got, refused.header)
		}
	}
}

// An issuer that no metadata could be found of is refused.
func TestIssuerOption(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for issuer, good := range map[string]bool{
		"https://issuer.example": true, "http://127.0.0.1:9090/realm": true, "http://issuer.example": false, "issuer": false, "https://issuer.example?x": false,
	} {
		o := w.options
		o.Issuer = issuer
		if _, err := httpserver.New(w.service, o); (err == nil) != good {
			t.Errorf("%q: %v", issuer, err)
		}
	}
}
