package main

import (
	"context"
	"net/http"
	"sync"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

// ownTokens gives the site a token of its own (client credentials, RFC 6749, 4.4), with
// which it searches for people who have not signed in. It may read, and no more.
type ownTokens struct {
	options
	provider *provider
	client   *http.Client

	mu     sync.Mutex
	source oauth2.TokenSource // nil until it is first needed
}

// Token implements oauth2.TokenSource.
func (o *ownTokens) Token() (*oauth2.Token, error) {
	source, err := o.current()
	if err != nil {
		return nil, err
	}
	return source.Token()
}

func (o *ownTokens) current() (oauth2.TokenSource, error) {
	// Requests share the token, so no request's end may end what fetches it.
	ctx := context.WithValue(context.Background(), oauth2.HTTPClient, o.client)
	meta, err := o.provider.metadata(ctx)
	if err != nil {
		return nil, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.source == nil {
		config := clientcredentials.Config{
			ClientID: o.ClientID, ClientSecret: o.Secret, TokenURL: meta.Token, Scopes: []string{"read"},
			AuthStyle: oauth2.AuthStyleInHeader,
		}
		if meta.resource != "" {
			config.EndpointParams = map[string][]string{"resource": {meta.resource}}
		}
		o.source = config.TokenSource(ctx)
	}
	return o.source, nil
}

// forget has the next request fetch a new token.
func (o *ownTokens) forget() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.source = nil
}

// An ownTransport sends requests with the site's own token. If the API refuses it, because
// its keys have changed for instance, a new token is tried once.
type ownTransport struct {
	tokens *ownTokens
	base   http.RoundTripper
}

// RoundTrip implements http.RoundTripper, for requests without a body.
func (t *ownTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	signed := &oauth2.Transport{Source: t.tokens, Base: t.base}
	resp, err := signed.RoundTrip(r)
	if err != nil || resp.StatusCode != http.StatusUnauthorized {
		return resp, err
	}
	resp.Body.Close()
	t.tokens.forget()
	return signed.RoundTrip(r)
}
