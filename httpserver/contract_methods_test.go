package httpserver_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// head asks for the head of what GET has answered: it is the same, and there is no
// body.
func (k asker) head(op operation, target string, parts []part, a answer) {
	k.t.Helper()
	if op.method != http.MethodGet {
		return
	}
	h := k.send(http.MethodHead, target, parts)
	alike := func(header http.Header) http.Header {
		header = maps.Clone(header)
		for _, name := range []string{"Date", "Ratelimit", "Retry-After"} { // time passes
			if len(header[name]) == 1 {
				header[name] = []string{"now"}
			}
		}
		return header
	}
	if h.status != a.status || h.body != "" {
		k.t.Errorf("HEAD %s: %d, %q, and GET was %d", target, h.status, h.body, a.status)
	}
	if diff := cmp.Diff(alike(a.header), alike(h.header)); diff != "" {
		k.t.Errorf("HEAD %s: the headers (-GET +HEAD): %s", target, diff)
	}
}

// explained fails unless the type of a problem leads to a page about it.
func (k asker) explained(a answer) {
	k.t.Helper()
	page := k.send("GET", "/problems/"+slugOf(a), nil)
	if page.status != 200 && (page.status != 429 || a.status != 429) { // pages have a quota themselves
		k.t.Errorf("no page explains the problem: %s", a.body)
	}
}

// methodsByPath are the methods that an example of each path has, sorted, and
// those that go with them.
func (c *contract) methodsByPath() map[string][]string {
	id := strings.NewReplacer("{stationId}", berlin, "{tripId}", nobody, "{bookingId}", nobody, "{webhookId}", nobody, "{deliveryId}", nobody, "{slug}", "sold-out")
	all := map[string][]string{}
	for _, op := range c.operations {
		target := id.Replace(op.name)
		all[target] = append(all[target], op.method)
		if op.method == "GET" {
			all[target] = append(all[target], "HEAD")
		}
	}
	for target := range all {
		all[target] = append(all[target], "OPTIONS")
		slices.Sort(all[target])
	}
	return all
}

// methods asks each path in all ways: OPTIONS, and 405 for what is not described,
// name what is.
func (c *contract) methods(t *testing.T) {
	w := newWorld(t)
	k := c.asker(t, w)
	for target, methods := range c.methodsByPath() {
		allow := strings.Join(methods, ", ")
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"} {
			for _, form := range []string{"json", "xml"} {
				a := k.send(method, target, []part{header("Accept", "application/problem+"+form), header("Content-Type", "application/json")})
				described := slices.Contains(methods, method)
				if (a.status == 405) == described || (a.header.Get("Allow") != "") != (method == "OPTIONS" || !described) {
					t.Errorf("%s %s: %d, Allow is %q", method, target, a.status, a.header["Allow"])
					continue
				}
				if described && method != "OPTIONS" {
					continue
				}
				if got := a.header["Allow"]; len(got) != 1 || got[0] != allow {
					t.Errorf("%s %s: Allow is %q, want %s", method, target, got, allow)
				}
				for name, want := range map[string]string{"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Vary": "Accept, Authorization"} {
					if got := a.header.Get(name); got != want {
						t.Errorf("%s %s: %s is %q", method, target, name, got)
					}
				}
				if described {
					if a.status != 204 || a.body != "" {
						t.Errorf("OPTIONS %s: %d %s", target, a.status, a.body)
					}
					continue
				}
				if a.head = method == "HEAD"; a.head {
					continue
				}
				if why := a.fault(); why != "" || a.header.Get("Content-Type") != "application/problem+"+form {
					t.Errorf("%s %s: %s, %v", method, target, why, a.header)
				}
				if a.problem(405, "method-not-allowed"); form == "json" {
					var v any
					a.into(&v)
					c.examples.t = t
					c.examples.check("/components/schemas/Problem", v)
					k.explained(a)
				}
			}
		}
	}
}

// preflights asks for each path and method what browsers ask before they let a
// page of another origin call. No token comes with that.
func (c *contract) preflights(t *testing.T) {
	const shop = "https://shop.example"
	k := c.asker(t, newWorld(t, func(w *world) { w.options.CORSOrigins = []string{shop} }))
	for target, methods := range c.methodsByPath() {
		for _, method := range methods {
			for _, origin := range []string{shop, "https://evil.example"} {
				a := k.send("OPTIONS", target, []part{header("Origin", origin), header("Access-Control-Request-Method", method),
					header("Access-Control-Request-Headers", "authorization,content-type,idempotency-key,if-none-match")})
				want := map[string]string{"Allow": strings.Join(methods, ", ")}
				if origin == shop {
					maps.Copy(want, map[string]string{
						"Access-Control-Allow-Origin": shop, "Access-Control-Allow-Methods": want["Allow"], "Access-Control-Max-Age": "7200",
						"Access-Control-Allow-Headers": "authorization,content-type,idempotency-key,if-none-match",
					})
				}
				got := map[string]string{}
				for name, values := range a.header {
					if name == "Allow" || strings.HasPrefix(name, "Access-Control-") {
						got[name] = strings.Join(values, " and ")
					}
				}
				if diff := cmp.Diff(want, got); diff != "" || a.status != 204 || a.body != "" {
					t.Errorf("before %s %s from %s: %d %s (-want +got): %s", method, target, origin, a.status, a.body, diff)
				}
			}
		}
		a := k.send(methods[0], target, []part{header("Origin", shop)})
		if a.header.Get("Access-Control-Allow-Origin") != shop || a.header.Get("Access-Control-Expose-Headers") == "" {
			t.Errorf("%s %s: the page may not see %d: %v", methods[0], target, a.status, a.header)
		}
	}
}
