package authserver

import (
	"crypto"
	"fmt"
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
		if got, err := UserName(name); got != want || (err == nil) != (want != "") {
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

// Of users who are known the page has buttons. Others may type their name, unless only
// those who are known may sign in.
func TestUsers(t *testing.T) {
	t.Parallel()
	many := make([]User, mostOffered+1)
	for i := range many {
		many[i].Name = fmt.Sprintf("user%d", i)
	}
	for name, c := range map[string]struct {
		users        []User
		only         bool
		offered      int
		typed        bool
		known, other int // statuses
	}{
		"nobody is known":      {nil, false, 0, true, 303, 303},
		"some are known":       {demoUsers(), false, 3, true, 303, 303},
		"only some":            {demoUsers(), true, 3, false, 303, 422},
		"many":                 {many, false, 0, true, 303, 303},
		"only these many":      {many, true, 0, true, 303, 422},
		"as many as there fit": {many[1:], true, mostOffered, false, 303, 422},
	} {
		a := newAuthority(t, func(o *Options) { o.Users, o.OnlyUsers = c.users, c.only })
		b := newBrowser(t)
		p := b.get(a.url + "/oauth/authorize?" + goodRequest().Encode())
		if offered := strings.Count(p.body, `class="person"`); offered != c.offered || strings.Contains(p.body, `<input id="user"`) != c.typed {
			t.Errorf("%s: %s", name, p.body)
		}
		known := "anna"
		if len(c.users) > 0 {
			known = strings.ToUpper(c.users[len(c.users)-1].Name)
		}
		for user, want := range map[string]int{known: c.known, "stranger": c.other, "client:program": 422} {
			b := newBrowser(t)
			to, form := b.get(a.url+"/oauth/authorize?"+goodRequest().Encode()).form(t, "/oauth/sign-in")
			form.Set("user", user)
			if p := b.post(to, form); p.status != want || want == 422 && !strings.Contains(p.body, `role="alert"`) {
				t.Errorf("%s: %s: %d %s", name, user, p.status, p.body)
			}
		}
	}
	a := newAuthority(t, func(o *Options) { o.Users = demoUsers() })
	b := newBrowser(t)
	p := b.signIn(b.get(a.url+"/oauth/authorize?"+goodRequest().Encode()), "Anna")
	if !strings.Contains(p.body, "<strong>Anna Lindqvist</strong> <small>anna</small>") {
		t.Error(p.body)
	}
}

// All that is wrong with a client is said at once.
func TestCheck(t *testing.T) {
	t.Parallel()
	err := Client{ID: "a b", Name: "x\n", Secret: "short", RedirectURIs: []string{"x", "http://a.example"}, Scopes: []string{"all"}, Grants: []string{"magic", grantCode}}.Check()
	if err == nil {
		t.Fatal("it is good")
	}
	for _, want := range []string{"ID", "display name", "16 bytes", `"x"`, `"http://a.example"`, `"all"`, `"magic"`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v lacks %s", err, want)
		}
	}
	if strings.Contains(err.Error(), "short") {
		t.Errorf("%v shows the secret", err)
	}
	for _, c := range append(testClients(), demoClient()) {
		if err := c.Check(); err != nil {
			t.Error(c.ID, err)
		}
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
		"a way that is unknown":      func(o *Options) { o.Clients[1].Grants = []string{"implicit"} },
		"refreshing nothing":         func(o *Options) { o.Clients[0].Grants = []string{grantProgram, grantRefresh} },
		"a redirect for nothing":     func(o *Options) { o.Clients[0].RedirectURIs = []string{webRedirect} },
		"a client that shows badly":  func(o *Options) { o.Clients[0].Name = "Shop\u202e" },
		"a user with a colon":        func(o *Options) { o.Users = []User{{Name: "client:program"}} },
		"a user who shows badly":     func(o *Options) { o.Users = []User{{"anna", "An\nna"}} },
		"two users of a name":        func(o *Options) { o.Users = []User{{Name: "anna"}, {Name: "ANNA"}} },
		"nobody at all":              func(o *Options) { o.OnlyUsers = true },
		"an unknown scope":           func(o *Options) { o.Clients[0].Scopes = []string{"admin"} },
		"a redirect to http":         func(o *Options) { o.Clients[0].RedirectURIs = []string{"http://web.example/"} },
		"a redirect with a fragment": func(o *Options) { o.Clients[0].RedirectURIs = []string{"https://web.example/#"} },
		"a redirect to a script":     func(o *Options) { o.Clients[0].RedirectURIs = []string{"javascript:x"} },
		"a redirect to a user":       func(o *Options) { o.Clients[0].RedirectURIs = []string{"https://a@web.example/"} },
		"a redirect with an answer":  func(o *Options) { o.Clients[0].RedirectURIs = []string{"https://web.example/?state=x"} },
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
