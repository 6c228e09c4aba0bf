package main

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/oauth2"
)

// metadata is the metadata of an authorization server (RFC 8414).
type metadata struct {
	Issuer        string `json:"issuer"`
	Authorization string `json:"authorization_endpoint"`
	Token         string `json:"token_endpoint"`
	SaysIssuer    bool   `json:"authorization_response_iss_parameter_supported"`
}

// discover asks an issuer for its endpoints.
func discover(ctx context.Context, client *http.Client, issuer string) (m metadata, err error) {
	u, err := url.Parse(issuer)
	if err != nil {
		return m, err
	}
	u.Path = "/.well-known/oauth-authorization-server" + u.Path
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return m, err
	}
	if err := do(client, req, &m); err != nil {
		return m, err
	}
	if m.Issuer != issuer {
		return m, fmt.Errorf("the metadata of %s names %q: want the same URL", issuer, m.Issuer)
	}
	return m, nil
}

// waitForUser is how long a user may take to sign in.
const waitForUser = 5 * time.Minute

// signIn sends the user to the authorization server, and waits until the user is
// redirected back. The source that it returns refreshes the tokens.
func signIn(ctx context.Context, client *http.Client, issuer, clientID string, out io.Writer) (oauth2.TokenSource, error) {
	meta, err := discover(ctx, client, issuer)
	if err != nil {
		return nil, err
	}
	// A program on the user's own machine gets them back on a port of its own
	// (RFC 8252). It can keep no secret: PKCE proves that it is the same program.
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	back := &callback{meta: meta, state: rand.Text(), done: make(chan result, 1)}
	server := http.Server{Handler: back, ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second}
	go func() { _ = server.Serve(listener) }()
	defer func() {
		drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = server.Shutdown(drain) // when the user has got the last page
	}()

	config := &oauth2.Config{
		ClientID: clientID, Scopes: []string{"read", "write"},
		RedirectURL: "http://" + listener.Addr().String() + callbackPath,
		Endpoint:    oauth2.Endpoint{AuthURL: meta.Authorization, TokenURL: meta.Token, AuthStyle: oauth2.AuthStyleInParams},
	}
	verifier := oauth2.GenerateVerifier()
	fmt.Fprintf(out, "Open this page and sign in:\n%s\n", config.AuthCodeURL(back.state, oauth2.S256ChallengeOption(verifier)))

	timer := time.NewTimer(waitForUser)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-timer.C:
		return nil, fmt.Errorf("timed out after %v because nobody signed in", waitForUser)
	case r := <-back.done:
		if r.err != nil {
			return nil, r.err
		}
		token, err := config.Exchange(ctx, r.code, oauth2.VerifierOption(verifier))
		if err != nil {
			return nil, err
		}
		return config.TokenSource(ctx, token), nil
	}
}

const callbackPath = "/callback"

// A callback waits for the user to be sent back.
type callback struct {
	meta  metadata
	state string
	done  chan result
}

type result struct {
	code string
	err  error
}

// ServeHTTP receives the response of the authorization server. It refuses a request with
// another state, because that is not the response to this sign-in.
func (c *callback) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if r.Method != http.MethodGet || r.URL.Path != callbackPath || subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(c.state)) != 1 {
		http.Error(w, "This is not the response of a sign-in that the program waits for.", http.StatusBadRequest)
		return
	}
	var res result
	iss := q.Get("iss")
	switch {
	case iss != c.meta.Issuer && (iss != "" || c.meta.SaysIssuer): // RFC 9207
		res.err = fmt.Errorf("the response is from the issuer %q, not from %q", iss, c.meta.Issuer)
	case q.Has("error"):
		res.err = fmt.Errorf("the authorization server returned the error %q", q.Get("error"))
	case q.Get("code") == "":
		res.err = fmt.Errorf("the authorization server returned neither a code nor an error")
	default:
		res.code = q.Get("code")
	}
	text := "You are signed in. Close this page and go back to the program."
	if res.err != nil {
		text = "The sign-in failed. The program prints why."
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, text+"\n")
	select {
	case c.done <- res:
	default: // it has an answer
	}
}
