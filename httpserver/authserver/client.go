package authserver

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// DemoClient is the client that every Server has: a public client for programs on the user's
// own machine, with any port and path of a loopback address as redirect URI
// (http://127.0.0.1 or http://[::1]).
const DemoClient = "traintravel-demo"

func demoClient() Client {
	return Client{ID: DemoClient, Name: "Train Travel demo", AnyLoopback: true}
}

// A Client is a program that asks for tokens.
type Client struct {
	// ID is 1 to 64 letters, digits, and . _ ~ -
	ID string

	// Name is the name that the consent page shows. Empty means ID.
	Name string

	// Secret authenticates the client. It is empty for a public client, which cannot keep a
	// secret; otherwise it has at least 16 bytes. The server keeps only its hash.
	Secret string

	// RedirectURIs are the addresses to which users are sent back, compared byte for byte
	// except for the port of a loopback address (http://127.0.0.1 or http://[::1]): https,
	// http on loopback, or a scheme with a dot in it, such as com.example.app. Their query
	// must not have a parameter of responses, such as code.
	RedirectURIs []string

	// AnyLoopback allows any port and path of a loopback address in addition.
	AnyLoopback bool

	// Grants are the grants that the client may use, out of [Grants]. client_credentials,
	// for the client itself, needs a Secret. Empty means authorization_code and
	// refresh_token, which need a user's consent.
	Grants []string

	// Scopes are the scopes that the client may request: read, write or both. Empty means
	// both.
	Scopes []string
}

// client is a Client as it is kept.
type client struct {
	Client                   // without its secret
	hash   [sha256.Size]byte // of the secret
	secret bool              // it has one
	exact  []string          // redirect URIs that are good as they stand alone
}

// The ways to have tokens.
const (
	grantCode    = "authorization_code"
	grantRefresh = "refresh_token"
	grantProgram = "client_credentials"
)

// Grants returns the supported grants (RFC 6749, 1.3).
func Grants() []string { return []string{grantCode, grantRefresh, grantProgram} }

// Scopes returns the scopes that tokens may have.
func Scopes() []string { return []string{"read", "write"} }

// Check returns all errors of a client, joined, or nil. Each error continues a sentence that
// begins with the client's name, and none shows its secret.
func (c Client) Check() error {
	var errs []error
	wrong := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if !isClientID(c.ID) {
		wrong("has an invalid ID: want 1 to 64 letters, digits, and . _ ~ -")
	}
	if err := checkLabel(c.Name); err != nil {
		errs = append(errs, err)
	}
	if c.Secret != "" && len(c.Secret) < 16 {
		wrong("has a secret of less than 16 bytes: use a longer one")
	}
	c = c.filled()
	for _, grant := range c.Grants {
		if !slices.Contains(Grants(), grant) {
			wrong("has an unknown grant %q", grant)
		}
	}
	back := len(c.RedirectURIs) > 0 || c.AnyLoopback
	switch {
	case c.grants(grantProgram) && c.Secret == "":
		wrong("needs a secret for the grant %s", grantProgram)
	case c.grants(grantRefresh) && !c.grants(grantCode):
		wrong("has the grant %s, which needs %s: add that", grantRefresh, grantCode)
	case back && !c.grants(grantCode):
		wrong("has redirect URIs, which need the grant %s: add it, or remove them", grantCode)
	}
	for _, uri := range c.RedirectURIs {
		if err := checkRedirect(uri); err != nil {
			wrong("has the invalid redirect URI %q: %w", uri, err)
		}
	}
	for _, scope := range c.Scopes {
		if !slices.Contains(Scopes(), scope) {
			wrong("has an unknown scope %q", scope)
		}
	}
	return errors.Join(errs...)
}

// filled is a client with what an empty field means.
func (c Client) filled() Client {
	if c.Name == "" {
		c.Name = c.ID
	}
	if len(c.Grants) == 0 {
		c.Grants = []string{grantCode, grantRefresh}
	}
	if len(c.Scopes) == 0 {
		c.Scopes = Scopes()
	}
	return c
}

func (c Client) grants(grant string) bool { return slices.Contains(c.Grants, grant) }

func newClient(c Client) (*client, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	c = c.filled()
	known := &client{Client: c, hash: sha256.Sum256([]byte(c.Secret)), secret: c.Secret != ""}
	known.Secret = ""
	return known, nil
}

// returnTo registers redirect URIs that must match exactly, including the port. They may be
// http if the issuer is.
func (c *client) returnTo(uris []string, issuer *url.URL) error {
	for _, uri := range uris {
		err := checkRedirect(uri)
		if u, e := url.Parse(uri); errors.Is(err, errNotSafe) && e == nil && u.Scheme == "http" && u.Host != "" && issuer.Scheme == "http" {
			err = nil
		}
		if err != nil {
			return fmt.Errorf("has the invalid redirect URI %q: %w", uri, err)
		}
	}
	c.exact = slices.Clone(uris)
	return nil
}

func isClientID(id string) bool {
	const signs = "._~-"
	return id != "" && len(id) <= 64 && strings.IndexFunc(id, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune(signs, r))
	}) < 0
}

// proves says whether a secret is the client's, which is empty for a public client. It takes
// the same time for any secret.
func (c *client) proves(secret string) bool {
	hash := sha256.Sum256([]byte(secret))
	return subtle.ConstantTimeCompare(hash[:], c.hash[:]) == 1
}

// checkRedirect refuses URIs that must not be registered as redirect URIs.
func checkRedirect(uri string) error {
	u, err := url.Parse(uri)
	switch {
	case err != nil || u.Scheme == "" || !printable(uri):
		return errors.New("it is not an absolute URL")
	case strings.Contains(uri, "#"):
		return errors.New("it has a fragment")
	case u.User != nil:
		return errors.New("it names a user")
	case !plainQuery(u):
		return errors.New("its query is malformed, or has a parameter that is reserved for responses: code, state, iss, error or error_description")
	case u.Scheme == "https" && u.Host != "":
	case u.Scheme == "http" && slices.Contains(loopback, u.Hostname()):
	case strings.Contains(u.Scheme, ".") && u.Host == "":
	default:
		return errNotSafe
	}
	return nil
}

// plainQuery says whether the query of a redirect URI has none of the parameters that a
// response adds. Otherwise whoever makes the link could forge responses: of two parameters
// with the same name, most clients take the first.
func plainQuery(u *url.URL) bool {
	q, err := url.ParseQuery(u.RawQuery)
	return err == nil && !slices.ContainsFunc([]string{"code", "state", "iss", "error", "error_description"}, q.Has)
}

// loopback are the hosts that name only this machine.
var loopback = []string{"127.0.0.1", "::1", "localhost"}

var errNotSafe = errors.New("want https, http on loopback, or a scheme with a dot such as com.example.app")

// redirects says whether people may be sent to a URI.
func (c *client) redirects(uri string) bool {
	if slices.Contains(c.exact, uri) {
		return true
	}
	if len(uri) > 2048 || checkRedirect(uri) != nil {
		return false
	}
	host, rest, loopback := loopbackURI(uri)
	if loopback && c.AnyLoopback {
		return true
	}
	return slices.ContainsFunc(c.RedirectURIs, func(known string) bool {
		if known == uri {
			return true
		}
		h, r, ok := loopbackURI(known)
		return loopback && ok && h == host && r == rest
	})
}

// loopbackURI takes a URI on a loopback address apart: the address, and what
// follows the port. It goes by the text, so that nothing is made equal that is
// not.
func loopbackURI(uri string) (host, rest string, ok bool) {
	for _, host := range []string{"http://127.0.0.1", "http://[::1]"} {
		rest, ok := strings.CutPrefix(uri, host)
		if !ok {
			continue
		}
		if port, ok := strings.CutPrefix(rest, ":"); ok {
			rest = strings.TrimLeft(port, "0123456789")
			if n := len(port) - len(rest); n < 1 || n > 5 {
				return "", "", false
			}
		}
		return host, rest, rest == "" || rest[0] == '/' || rest[0] == '?'
	}
	return "", "", false
}

// printable says whether a text is of visible ASCII alone.
func printable(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r <= ' ' || r > '~' || r == '\\' }) < 0
}
