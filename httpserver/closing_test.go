package httpserver_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
)

// Data after a chunked body on the same connection is not treated as a request, because a proxy
// may have taken it for the rest of the body.
func TestDataAfterAChunkedBodyIsIgnored(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, handler := range map[string]http.Handler{
		"the API":     w.server,
		"beside":      w.server.Beside("/oauth/*", http.HandlerFunc(w.server.Refuse)),
		"no resource": w.server,
	} {
		host := httptest.NewServer(handler)
		defer host.Close()
		path := map[string]string{"the API": "/tickets/verify", "no resource": "/nothing"}[name]
		conn, err := net.Dial("tcp", host.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "POST %s/ HTTP/1.1\r\nHost: x\r\nContent-Type: application/octet-stream\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", path)
		answers := bufio.NewReader(conn)
		resp, err := http.ReadResponse(answers, nil)
		if err != nil {
			t.Fatal(name, err)
		}
		resp.Body.Close()
		if !resp.Close {
			t.Errorf("%s: the connection is kept after a body in chunks", name)
		}
		for {
			line, err := answers.ReadString('\n')
			if strings.HasPrefix(line, "HTTP/") {
				t.Errorf("%s: what follows a body in chunks is answered: %s", name, line)
			}
			if err != nil {
				break
			}
		}
	}
}

// A document whose links begin as a proxy says is for nobody else.
func TestForeignLinksAreNotPublic(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world) { w.options.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")} })
	for _, target := range []string{"/openapi.json", "/.well-known/oauth-protected-resource", "/problems/sold-out"} {
		if got := w.serve("GET", target).header.Get("Cache-Control"); got != "public, max-age=3600" {
			t.Errorf("%s: Cache-Control is %q", target, got)
		}
		if got := w.serve("GET", target, header("X-Forwarded-Host", "evil.example")).header.Get("Cache-Control"); got != "private, max-age=3600" {
			t.Errorf("%s under another host: Cache-Control is %q", target, got)
		}
	}
}
