package thishost_test

import (
	"net/http/httptest"
	"testing"

	"github.com/traintravel/traintravel/internal/thishost"
)

func TestURL(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"http://127.0.0.1:8080": true, "http://localhost": true, "http://LOCALHOST.:1/x": true, "http://a.localhost": true, "http://[::1]:1": true, "http://127.8.9.1": true, "http://[::ffff:127.0.0.1]": true,
		"https://trains.example": false, "http://10.0.0.1": false, "http://localhost.example": false, "http://127.0.0.1.example": false, "": false, "%": false, "http://0.0.0.0": false,
	} {
		if got := thishost.URL(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestRequest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		from, host, header, value string
		want                      bool
	}{
		{"127.0.0.1:5", "127.0.0.1:8080", "", "", true},
		{"[::1]:5", "localhost:8080", "Sec-Fetch-Site", "none", true},
		{"127.0.0.1:5", "localhost", "Sec-Fetch-Site", "same-origin", true},
		{"10.0.0.1:5", "localhost", "", "", false},
		{"127.0.0.1:5", "evil.example", "", "", false},
		{"127.0.0.1:5", "localhost", "Sec-Fetch-Site", "cross-site", false},
		{"127.0.0.1:5", "localhost", "Sec-Fetch-Site", "same-site", false},
		{"127.0.0.1:5", "localhost", "Origin", "http://localhost", false},
		{"127.0.0.1:5", "localhost", "X-Forwarded-For", "10.0.0.1", false},
		{"127.0.0.1:5", "localhost", "Forwarded", "for=10.0.0.1", false},
		{"127.0.0.1:5", "localhost", "Via", "1.1 proxy", false},
		{"127.0.0.1:5", "localhost", "Cf-Connecting-Ip", "10.0.0.1", false},
		{"127.0.0.1:5", "localhost", "X-Client-Ip", "10.0.0.1", false},
		{"127.0.0.1:5", "localhost", "X-Real-Ip", "10.0.0.1", false},
		{"127.0.0.1:5", "localhost", "True-Client-Ip", "10.0.0.1", false},
		{"127.0.0.1:5", "localhost", "X-Forwarded-Server", "proxy", false},
		{"127.0.0.1:5", "localhost", "Sec-Fetch-Dest", "iframe", false},
		{"127.0.0.1:5", "localhost", "Sec-Fetch-Dest", "document", true},
		{"@", "localhost", "", "", false},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr, r.Host = c.from, c.host
		if c.header != "" {
			r.Header.Set(c.header, c.value)
		}
		if got := thishost.Request(r); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// Proxies ask in HTTP/1.0, and browsers do not.
func TestOldProtocol(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequest("GET", "/", nil)
	r.RemoteAddr, r.Host = "127.0.0.1:5", "localhost"
	r.Proto, r.ProtoMajor, r.ProtoMinor = "HTTP/1.0", 1, 0
	if thishost.Request(r) {
		t.Error("a request in HTTP/1.0 counts as one from this machine")
	}
}
