package httpserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

// maxDocument bounds what is read of an issuer's metadata or keys, in bytes.
const maxDocument = 1 << 20

// An issuerClient reads the metadata and the keys of one issuer. It is used by
// one goroutine at a time.
type issuerClient struct {
	issuer  string
	http    *http.Client
	keysURL string    // as the metadata say, or "" before they are known
	read    time.Time // when the metadata were
}

// askingClient returns a client that follows no redirect: an issuer is asked
// where it says that it is.
func askingClient(c *http.Client) *http.Client {
	asking := http.Client{Transport: &http.Transport{
		DialContext:            (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
		TLSHandshakeTimeout:    5 * time.Second,
		ResponseHeaderTimeout:  5 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
		DisableKeepAlives:      true,
		ForceAttemptHTTP2:      true,
	}}
	if c != nil {
		asking = *c
	}
	asking.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &asking
}

// checkIssuerURL refuses a text that is not the URL of an issuer (RFC 8414, section 2).
func checkIssuerURL(issuer string) error {
	u, err := url.Parse(issuer)
	switch {
	case err != nil || u.Host == "" || u.Opaque != "":
		return errors.New("the issuer is not a URL") // which may have a password in it
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || strings.Contains(issuer, "#") || u.User != nil:
		return fmt.Errorf("the URL of the issuer at %.200s has a query, a fragment or a user: remove it", u.Host)
	}
	return checkSecure(u)
}

// checkSecure refuses URLs whose responses others could change on the way.
func checkSecure(u *url.URL) error {
	if u.Scheme == "https" || u.Scheme == "http" && isLoopback(u.Hostname()) {
		return nil
	}
	return fmt.Errorf("%s is not an https URL: only loopback hosts may use http", u.Redacted())
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// keys returns the text of the issuer's JWK set. Metadata are read first, and
// again from time to time, and after a failure.
func (c *issuerClient) keys(ctx context.Context, now time.Time) ([]byte, error) {
	if c.keysURL == "" || now.Sub(c.read) >= rediscover {
		at, err := c.discover(ctx)
		switch {
		case err == nil:
			c.keysURL, c.read = at, now
		case c.keysURL == "":
			return nil, err
		}
	}
	text, err := c.get(ctx, c.keysURL)
	if err != nil {
		c.read = time.Time{} // the address of the keys may have changed
	}
	return text, err
}

// discover finds the address of an issuer's keys: by RFC 8414, then by OpenID Connect
// Discovery, whose document issuers publish at one of two addresses.
func (c *issuerClient) discover(ctx context.Context) (string, error) {
	u, err := url.Parse(c.issuer)
	if err != nil {
		return "", err
	}
	origin, path := u.Scheme+"://"+u.Host, strings.TrimSuffix(u.EscapedPath(), "/")
	places := []string{
		origin + "/.well-known/oauth-authorization-server" + path,
		origin + path + "/.well-known/openid-configuration",
	}
	if path != "" {
		places = append(places, origin+"/.well-known/openid-configuration"+path)
	}
	var failed []error
	for _, place := range places {
		at, err := c.metadata(ctx, place)
		if err == nil {
			return at, nil
		}
		failed = append(failed, err)
	}
	return "", errors.Join(failed...)
}

// metadata reads one document and returns the address of the keys.
func (c *issuerClient) metadata(ctx context.Context, place string) (string, error) {
	text, err := c.get(ctx, place)
	if err != nil {
		return "", err
	}
	var doc struct {
		Issuer string `json:"issuer"`
		Keys   string `json:"jwks_uri"`
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		return "", fmt.Errorf("the response of %s is not metadata in JSON", place)
	}
	if doc.Issuer != c.issuer {
		return "", fmt.Errorf("the metadata at %s name the issuer %.200q, not %q", place, doc.Issuer, c.issuer)
	}
	u, err := url.Parse(doc.Keys)
	if err != nil || u.Host == "" || u.User != nil {
		return "", fmt.Errorf("the jwks_uri of %s is not a URL", place)
	}
	if u.Scheme != "https" && strings.HasPrefix(c.issuer, "https:") {
		return "", fmt.Errorf("the jwks_uri of %s is not an https URL, although the issuer's is", place)
	}
	if err := checkSecure(u); err != nil {
		return "", fmt.Errorf("the jwks_uri of %s: %w", place, err)
	}
	return doc.Keys, nil
}

// get returns the body of a 200.
func (c *issuerClient) get(ctx context.Context, address string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s responded with %s", address, resp.Status)
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxDocument+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	if len(text) > maxDocument {
		return nil, fmt.Errorf("the response of %s has more than %d bytes", address, maxDocument)
	}
	return text, nil
}
