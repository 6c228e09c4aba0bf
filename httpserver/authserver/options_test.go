package authserver

import (
	"crypto"
	"net/http"
	"slices"
	"strings"
	"testing"
)

func TestUserNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"anna": "anna", " Anna\n": "anna", "ANNA": "anna", "ａｎｎａ": "anna", "Zoe\u0308": "zo\u00eb", "anna@example.org": "anna@example.org", "Ελένη": "ελένη", "a": "a",
		strings.Repeat("a", 64): strings.Repeat("a", 64),
		"":                      "", " ": "", "a b": "", "client:program": "", "a:b": "", "a\x00b": "", "a\u202eb": "", "a\u200bb": "", "\xff": "", "a\tb": "", "client：program": "",
		strings.Repeat("a", 65): "", strings.Repeat("é", 33): "",
	} {
		if got, err := userName(name); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q %v", name, got, err)
		}
	}
	a := newAuthority(t)
	b := newBrowser(t)
	p := b.get(a.url + "/oauth/authorize?" + goodRequest().Encode())
	to, form := p.form(t, "/oauth/sign-in")
	form.Set("user", "client:program")
	if p := b.post(to, form); p.status != http.StatusUnprocessableEntity || !strings.Contains(p.body, `role="alert"`) || !strings.Contains(p.body, `value="client:program"`) {
		t.Errorf("%d %s", p.status, p.body)
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	good := func() Options {
		return Options{Issuer: "https://trains.example/api", Keys: []crypto.Signer{testKey(t)}, Clients: testClients()}
	}
	if _, err := New(good()); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Options){
		"no issuer":                  func(o *Options) { o.Issuer = "" },
		"an issuer without a host":   func(o *Options) { o.Issuer = "https:///x" },
		"an issuer with a slash":     func(o *Options) { o.Issuer += "/" },
		"an issuer with a query":     func(o *Options) { o.Issuer += "?" },
		"another scheme":             func(o *Options) { o.Issuer = "ftp://x" },
		"no keys":                    func(o *Options) { o.Keys = nil },
		"tokens that live for long":  func(o *Options) { o.TokenLife = tokenLife + 1 },
		"two of a name":              func(o *Options) { o.Clients = append(o.Clients, o.Clients[0]) },
		"a second demo client":       func(o *Options) { o.Clients[0].ID = DemoClient },
		"a client without a name":    func(o *Options) { o.Clients[0].ID = "" },
		"a client like a program":    func(o *Options) { o.Clients[0].ID = "client:x" },
		"a short secret":             func(o *Options) { o.Clients[0].Secret = "short" },
		"a public program":           func(o *Options) { o.Clients[0].Secret = "" },
		"an unknown scope":           func(o *Options) { o.Clients[0].Scopes = []string{"admin"} },
		"a redirect to http":         func(o *Options) { o.Clients[0].RedirectURIs = []string{"http://web.example/"} },
		"a redirect with a fragment": func(o *Options) { o.Clients[0].RedirectURIs = []string{"https://web.example/#"} },
		"a redirect to a script":     func(o *Options) { o.Clients[0].RedirectURIs = []string{"javascript:x"} },
		"a redirect to a user":       func(o *Options) { o.Clients[0].RedirectURIs = []string{"https://a@web.example/"} },
		"a page in the clear":        func(o *Options) { o.DemoRedirectURIs = []string{"http://trains.example/docs"} },
		"a page of no host":          func(o *Options) { o.Issuer, o.DemoRedirectURIs = "http://trains.example", []string{"http:///docs"} },
		"a page of a user": func(o *Options) {
			o.Issuer, o.DemoRedirectURIs = "http://trains.example", []string{"http://a@trains.example/docs"}
		},
		"a page that is a script": func(o *Options) { o.Issuer, o.DemoRedirectURIs = "http://trains.example", []string{"javascript:x"} },
	} {
		o := good()
		o.Clients = slices.Clone(o.Clients)
		change(&o)
		if _, err := New(o); err == nil {
			t.Errorf("%s is accepted", name)
		} else if strings.Contains(err.Error(), programSecret) {
			t.Errorf("%s: %v shows a secret", name, err)
		}
	}
}
