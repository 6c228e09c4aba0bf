package httpserver

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"testing"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/store/memstore"
)

// Clients may invent any name for the server behind a proxy that hands it on. What is
// kept of the description for them is bounded, and that under the server's own name stays.
func TestDescriptionsAreBounded(t *testing.T) {
	t.Parallel()
	service, err := traintravel.New(memstore.New(), traintravel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(service, Options{
		BaseURL: "https://own.example", Auth: nobody{}, RateLimit: -1, TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
	})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(host, client string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, "/openapi.json", nil)
		r.RemoteAddr = "127.0.0.1:1"
		r.Header.Set("X-Forwarded-Host", host)
		r.Header.Set("X-Forwarded-For", client)
		rec := httptest.NewRecorder()
		s.ServeHTTP(rec, r)
		return rec
	}
	first := ask("own.example", "192.0.2.1")
	own := s.descriptions.own[asJSON].text
	for n := range 30 {
		host := "host" + strconv.Itoa(n) + ".example"
		a := ask(host, "192.0.2.2")
		if a.Code != 200 || !strings.Contains(a.Body.String(), "https://"+host) || strings.Contains(a.Body.String(), "https://own.example") ||
			a.Header().Get("Cache-Control") != "private, max-age=3600" || a.Header().Get("Etag") == first.Header().Get("Etag") {
			t.Fatalf("%s: %d %v", host, a.Code, a.Header())
		}
		if again := ask(host, "192.0.2.2"); again.Body.String() != a.Body.String() || again.Header().Get("Etag") != a.Header().Get("Etag") {
			t.Errorf("%s: the second answer is another", host)
		}
		if size := s.descriptions.others.Size(); size == 0 || size > maxDescriptions {
			t.Errorf("%d bytes are kept for one address", size)
		}
	}
	if s.descriptions.own[asJSON].text != own || ask("own.example", "192.0.2.3").Body.String() != first.Body.String() {
		t.Error("the server's own description was made again")
	}
}
