package httpserver_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/httpserver"
)

// Links begin with the base URL, of which a trusted proxy may replace parts.
func TestBaseURL(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world) {
		w.options.BaseURL = "http://own.example:8080/api/"
		w.options.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	})
	for _, c := range []struct {
		addr, proto, host, prefix string
		want                      string
	}{
		{"10.0.0.1:1", "", "", "", "http://own.example:8080/api"},
		{"10.0.0.1:1", "https", "shop.example", "/trains/", "https://shop.example/trains"},
		{"10.0.0.1:1", "HTTPS", "", "", "https://own.example:8080/api"},
		{"10.0.0.1:1", "http, https", "evil.example, shop.example:444", "", "https://shop.example:444/api"},
		{"10.0.0.1:1", "javascript", `"><script>`, "//evil.example", "http://own.example:8080/api"},
		{"10.0.0.1:1", "", "a/b", "relative", "http://own.example:8080/api"},
		{"10.0.0.1:1", "", "[2001:db8::1]:80", `/a"b`, "http://[2001:db8::1]:80/api"},
		{"10.0.0.1:1", "", strings.Repeat("a", 301), "/" + strings.Repeat("a", 300), "http://own.example:8080/api"},
		{"10.0.0.1:1", "", ":", "/%zz", "http://own.example:8080/api"},
		{"10.0.0.1:1", "", "][", "/a/../b", "http://own.example:8080/api"},
		{"10.0.0.1:1", "", "a:b:c", "/a/./b", "http://own.example:8080/api"},
		{"10.0.0.1:1", "", "a:b", "/..", "http://own.example:8080/api"},
		{"10.0.0.1:1", "", "a:99999", "/%2e%2e/b", "http://own.example:8080/api"},
		{"10.0.0.1:1", "", "a..b", "/a%2F%2Fb", "http://own.example:8080/api"},
		{"10.0.0.1:1", "", "..", "/a/%", "http://own.example:8080/api"},
		{"10.0.0.1:1", "", "[::1", "/a/%2", "http://own.example:8080/api"},
		{"10.0.0.1:1", "", "::1", "/.", "http://own.example:8080/api"},
		{"10.0.0.1:1", "", "[1.2.3.4]", "", "http://own.example:8080/api"},
		{"10.0.0.1:1", "", "[a]:1", "", "http://own.example:8080/api"},
		{"10.0.0.1:1", "", "[::1]a", "", "http://own.example:8080/api"},
		{"10.0.0.1:1", "", "1.2.3", "", "http://own.example:8080/api"},
		{"10.0.0.1:1", "", "300.1.1.1", "", "http://own.example:8080/api"},
		{"10.0.0.1:1", "", "Shop.example.:8443", "/a.b/..c/%20d", "http://Shop.example.:8443/a.b/..c/%20d"},
		{"10.0.0.1:1", "", "192.0.2.1:81", "/", "http://192.0.2.1:81/api"},
		{"10.0.0.1:1", "", "my_host-1", "", "http://my_host-1/api"},
		{"192.0.2.1:1", "https", "shop.example", "/trains", "http://own.example:8080/api"},
		{"@", "https", "shop.example", "/trains", "http://own.example:8080/api"},
	} {
		a := w.do("GET", "/bookings", as("anna-r"), from(c.addr), header("Host", "evil.example"),
			header("X-Forwarded-Proto", c.proto), header("X-Forwarded-Host", c.host), header("X-Forwarded-Prefix", c.prefix))
		if got := a.collection().Links["self"]; got != c.want+"/bookings" {
			t.Errorf("%+v: links.self is %s", c, got)
		}
		p := w.do("GET", "/nothing", from(c.addr), header("X-Forwarded-Proto", c.proto), header("X-Forwarded-Host", c.host), header("X-Forwarded-Prefix", c.prefix))
		if want := `{"type":"` + c.want + `/problems/not-found"`; !strings.HasPrefix(p.body, want) {
			t.Errorf("%+v: the problem is %s", c, p.body)
		}
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, opts := range map[string]httpserver.Options{
		"Options.Auth":           {BaseURL: base},
		"Options.BaseURL":        {Auth: tokens{}},
		"Options.TrustedProxies": {Auth: tokens{}, BaseURL: base, TrustedProxies: []netip.Prefix{{}}},
	} {
		_, err := httpserver.New(w.service, opts)
		if e, ok := err.(*traintravel.InvalidError); !ok || e.Field != name {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, bad := range []string{"trains.example", "/api", "ftp://trains.example", "http://", "https://a b", "https://u:p@h", "https://h?x", "https://h/#f", "https://h//x", "%"} {
		if _, err := httpserver.New(w.service, httpserver.Options{Auth: tokens{}, BaseURL: bad}); err == nil {
			t.Errorf("the base URL %q is taken", bad)
		}
	}
	if _, err := httpserver.New(nil, httpserver.Options{Auth: tokens{}, BaseURL: base}); err == nil {
		t.Error("no service is taken for one")
	}
	if s, err := httpserver.New(w.service, httpserver.Options{Auth: tokens{}, BaseURL: "HTTPS://h/a%20b/"}); err != nil || s == nil {
		t.Errorf("a good base URL: %v", err)
	}
}

// Address returns the client behind a trusted proxy, and for IPv6 its network.
func TestAddress(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world) { w.options.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")} })
	for from, want := range map[[2]string]string{
		{"192.0.2.7:1234", "198.51.100.1"}: "192.0.2.7",
		{"10.0.0.1:1", "198.51.100.1"}:     "198.51.100.1",
		{"[2001:db8:1:2:3::4]:5", ""}:      "2001:db8:1:2::",
	} {
		r := httptest.NewRequest(http.MethodGet, "/oauth/authorize", nil)
		r.RemoteAddr = from[0]
		r.Header.Set("X-Forwarded-For", from[1])
		if got := w.server.Address(r); got != want {
			t.Errorf("%v: %q, want %q", from, got, want)
		}
	}
}
