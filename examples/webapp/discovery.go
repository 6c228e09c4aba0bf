package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
)

// A provider is where people sign in. It is asked what it is when first needed, so
// that the site may start before it, and not again: its endpoints stay.
type provider struct {
	api    string
	client *http.Client

	mu    sync.Mutex
	found *metadata
}

// metadata is what an authorization server says of itself (RFC 8414).
type metadata struct {
	Issuer        string `json:"issuer"`
	Authorization string `json:"authorization_endpoint"`
	Token         string `json:"token_endpoint"`
	Revocation    string `json:"revocation_endpoint"`
	SaysIssuer    bool   `json:"authorization_response_iss_parameter_supported"`

	resource string // what tokens are for, if the API says so
}

// origin is of the page where people sign in.
func (m *metadata) origin() string {
	u, err := url.Parse(m.Authorization)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// known returns the metadata if they have been found, nil if not.
func (p *provider) known() *metadata {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.found
}

// metadata finds the authorization server: the API says which it is (RFC 9728), or it
// is the API itself.
func (p *provider) metadata(ctx context.Context) (*metadata, error) {
	if m := p.known(); m != nil {
		return m, nil
	}
	issuer, resource, err := p.issuer(ctx)
	if err != nil {
		return nil, fmt.Errorf("looking for the authorization server: %w", err)
	}
	m, err := p.describe(ctx, issuer)
	if err != nil {
		return nil, fmt.Errorf("the authorization server: %w", err)
	}
	m.resource = resource
	p.mu.Lock()
	defer p.mu.Unlock()
	p.found = m
	return m, nil
}

func (p *provider) issuer(ctx context.Context) (issuer, resource string, err error) {
	var m struct {
		Resource string   `json:"resource"`
		Servers  []string `json:"authorization_servers"`
	}
	err = p.get(ctx, p.api, "/.well-known/oauth-protected-resource", &m)
	switch problem, refused := errors.AsType[*problem](err); {
	case refused && problem.Status == http.StatusNotFound, err == nil && len(m.Servers) == 0:
		return p.api, "", nil
	case err != nil:
		return "", "", err
	case m.Resource != p.api: // else anybody's API could send people anywhere
		return "", "", fmt.Errorf("the metadata of %s names %q: want the same URL", p.api, m.Resource)
	}
	return m.Servers[0], m.Resource, nil
}

// describe asks an issuer for its metadata, in the place of RFC 8414 and in that of
// OpenID Connect.
func (p *provider) describe(ctx context.Context, issuer string) (*metadata, error) {
	var m metadata
	err := p.get(ctx, issuer, "/.well-known/oauth-authorization-server", &m)
	if err != nil {
		m = metadata{}
		if p.do(ctx, issuer+"/.well-known/openid-configuration", &m) != nil {
			return nil, err // the first says more
		}
	}
	if m.Issuer != issuer {
		return nil, fmt.Errorf("the metadata of %s names %q: want the same URL", issuer, m.Issuer)
	}
	for _, endpoint := range []string{m.Authorization, m.Token} {
		if u, err := url.Parse(endpoint); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
			return nil, fmt.Errorf("%s has an endpoint %q", issuer, endpoint)
		}
	}
	return &m, nil
}

// get asks for a well-known document: its path goes before that of the address
// (RFC 8615).
func (p *provider) get(ctx context.Context, address, path string, answer any) error {
	u, err := url.Parse(address)
	if err != nil {
		return err
	}
	u.Path = path + u.Path
	return p.do(ctx, u.String(), answer)
}

func (p *provider) do(ctx context.Context, address string, answer any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "application/json")
	resp, err := p.client.Do(req)
	if err != nil {
		return err
	}
	return read(resp, answer)
}
