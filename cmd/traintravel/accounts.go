package main

import (
	"bytes"
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/traintravel/traintravel/httpserver/authserver"
	"github.com/traintravel/traintravel/internal/signin"
)

// demoAccounts are the accounts of a server without --accounts.
//
//go:embed accounts.yaml
var demoAccounts []byte

// maxAccounts bounds a file of accounts, in bytes.
const maxAccounts = 1 << 20

// accounts are the users and the clients of the built-in authorization server.
type accounts struct {
	anyone  bool // also users that are not listed
	users   []authserver.User
	clients []authserver.Client
}

// accounts reads a file of accounts; none is the demo's.
func (p *program) accounts(file string) (accounts, error) {
	text := demoAccounts
	if file != "" {
		f, err := os.Open(file)
		if err != nil {
			return accounts{}, usagef("--accounts: %w", err)
		}
		defer f.Close()
		if text, err = io.ReadAll(io.LimitReader(f, maxAccounts+1)); err != nil {
			return accounts{}, usagef("--accounts: %w", err)
		}
		if len(text) > maxAccounts {
			return accounts{}, usagef("invalid --accounts %s: the file is larger than %d bytes", file, maxAccounts)
		}
	}
	a, err := parseAccounts(text, p.env())
	if err != nil {
		return accounts{}, usagef("invalid --accounts %s:\n%w", file, err)
	}
	return a, nil
}

// signInAccounts are those of a server that listens on addr, none if an authorization
// server of its own signs people in.
func (p *program) signInAccounts(set settings, addr net.Addr) (accounts, error) {
	if set.issuer != "" {
		return accounts{}, nil
	}
	who, err := p.accounts(set.accounts)
	return who, errors.Join(err, set.checkSignIn(addr))
}

// parseAccounts reads accounts, with the secrets that are in the environment. Its error
// names all mistakes and shows no secret.
func parseAccounts(text []byte, env map[string]string) (accounts, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var doc, more yaml.Node
	switch err := decoder.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return accounts{}, errors.New("the file is empty")
	case err != nil:
		return accounts{}, err
	case !errors.Is(decoder.Decode(&more), io.EOF):
		return accounts{}, errors.New("the file has more than one YAML document")
	}
	r := accountsReader{env: env, seen: map[string]bool{"client " + authserver.DemoClient: true, "client " + signin.ProgramClient: true}}
	anyone := (*bool)(nil)
	r.fields(doc.Content[0], "the file", map[string]func(*yaml.Node){
		"anyone":  func(n *yaml.Node) { anyone = new(r.flag(n)) },
		"users":   func(n *yaml.Node) { r.list(n, r.user) },
		"clients": func(n *yaml.Node) { r.list(n, r.client) },
	})
	r.anyone = len(r.users) == 0
	if anyone != nil {
		if r.anyone && !*anyone {
			r.wrong(doc.Content[0], "nobody could sign in: anyone is false, and no users are listed")
		}
		r.anyone = *anyone
	}
	slices.SortStableFunc(r.mistakes, func(a, b mistake) int { return cmp.Compare(a.line, b.line) })
	var errs []error
	for _, m := range r.mistakes {
		errs = append(errs, fmt.Errorf("line %d: %w", m.line, m.error))
	}
	return r.accounts, errors.Join(errs...)
}

// An accountsReader goes through a file of accounts, and notes what is wrong.
type accountsReader struct {
	accounts
	env      map[string]string
	seen     map[string]bool // users and clients
	mistakes []mistake
}

type mistake struct {
	line int
	error
}

func (r *accountsReader) user(n *yaml.Node) {
	var u authserver.User
	r.fields(n, "a user", map[string]func(*yaml.Node){
		"name":         func(n *yaml.Node) { u.Name = r.text(n) },
		"display_name": func(n *yaml.Node) { u.DisplayName = r.text(n) },
	})
	if err := u.Check(); err != nil {
		r.wrong(n, "invalid user %.80q: %w", u.Name, err)
		return
	}
	u.Name, _ = authserver.UserName(u.Name)
	r.first(n, "user", u.Name)
	r.users = append(r.users, u)
}

func (r *accountsReader) client(n *yaml.Node) {
	var c authserver.Client
	var proofs []string // the fields that say how it proves who it is
	proof := func(name string, read func(*yaml.Node)) func(*yaml.Node) {
		return func(n *yaml.Node) { proofs = append(proofs, name); read(n) }
	}
	r.fields(n, "a client", map[string]func(*yaml.Node){
		"id":            func(n *yaml.Node) { c.ID = r.text(n) },
		"name":          func(n *yaml.Node) { c.Name = r.text(n) },
		"redirect_uris": func(n *yaml.Node) { c.RedirectURIs = r.texts(n) },
		"scopes":        func(n *yaml.Node) { c.Scopes = r.texts(n) },
		"grants":        func(n *yaml.Node) { c.Grants = r.texts(n) },
		"public": proof("public", func(n *yaml.Node) {
			if !r.flag(n) {
				r.wrong(n, "invalid public: false: leave public out, and give the client a secret")
			}
		}),
		"secret": proof("secret", func(n *yaml.Node) {
			if c.Secret = r.text(n); c.Secret == "" {
				r.wrong(n, "empty secret")
			}
		}),
		"secret_env": proof("secret_env", func(n *yaml.Node) {
			name := r.text(n)
			if c.Secret = r.env[name]; c.Secret == "" {
				r.wrong(n, "environment variable %.80q is not set", name)
			}
		}),
	})
	if len(proofs) != 1 {
		r.wrong(n, "client %.80q has %d of public, secret and secret_env: want one", c.ID, len(proofs))
	}
	code := len(c.Grants) == 0 || slices.Contains(c.Grants, "authorization_code")
	if code && len(c.RedirectURIs) == 0 {
		r.wrong(n, "client %.80q has no redirect_uris: give it some, or grants without authorization_code", c.ID)
	}
	for _, err := range apart(c.Check()) {
		r.wrong(n, "client %.80q %w", c.ID, err)
	}
	r.first(n, "client", c.ID)
	r.clients = append(r.clients, c)
}

// first notes a user or client of whom there is one already.
func (r *accountsReader) first(n *yaml.Node, kind, name string) {
	if key := kind + " " + name; r.seen[key] {
		r.wrong(n, "duplicate %s %.80q", kind, name)
	} else {
		r.seen[key] = true
	}
}

// apart takes joined errors apart.
func apart(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	return nil
}

func (r *accountsReader) wrong(n *yaml.Node, format string, args ...any) {
	r.mistakes = append(r.mistakes, mistake{n.Line, fmt.Errorf(format, args...)})
}

// fields reads the fields of a mapping, each once.
func (r *accountsReader) fields(n *yaml.Node, what string, known map[string]func(*yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		r.wrong(n, "%s: want a mapping of names to values", what)
		return
	}
	had := map[string]bool{}
	for pair := range slices.Chunk(n.Content, 2) {
		name := pair[0].Value
		read := known[name]
		switch {
		case pair[0].Kind != yaml.ScalarNode || read == nil:
			r.wrong(pair[0], "%s: unknown field %.80q", what, name)
		case had[name]:
			r.wrong(pair[0], "duplicate field %s", name)
		default:
			read(pair[1])
		}
		had[name] = true
	}
}

func (r *accountsReader) list(n *yaml.Node, item func(*yaml.Node)) {
	if n.Kind != yaml.SequenceNode {
		r.wrong(n, "want a list")
		return
	}
	for _, n := range n.Content {
		item(n)
	}
}

func (r *accountsReader) texts(n *yaml.Node) (texts []string) {
	r.list(n, func(n *yaml.Node) { texts = append(texts, r.text(n)) })
	return texts
}

func (r *accountsReader) text(n *yaml.Node) string {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!str" {
		r.wrong(n, "want a text: put the value in quotes")
		return ""
	}
	return n.Value
}

func (r *accountsReader) flag(n *yaml.Node) (yes bool) {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!bool" || n.Decode(&yes) != nil {
		r.wrong(n, "want true or false")
	}
	return yes
}
