package authserver

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// endpoint returns the handler of an endpoint to which programs post a form (RFC 6749, 3.2):
// it reads the form and authenticates the client.
func (s *Server) endpoint(handle func(w http.ResponseWriter, c *client, form url.Values) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Pragma", "no-cache")
		if r.Method != http.MethodPost {
			w.Header().Set("Allow", endpointMethods)
			s.fail(w, &oauthError{"invalid_request", "the method must be POST", http.StatusMethodNotAllowed})
			return
		}
		form, err := readForm(r)
		if err != nil {
			s.fail(w, err)
			return
		}
		c, err := s.authenticate(r, form)
		if err != nil {
			s.fail(w, err)
			return
		}
		if c.secret && s.limited(w, r, c.ID) {
			s.fail(w, errTooMany())
			return
		}
		if err := handle(w, c, form); err != nil {
			s.fail(w, err)
		}
	}
}

// endpointMethods are the methods of an endpoint.
const endpointMethods = "OPTIONS, POST"

// readForm reads the body. It refuses parameters in the URL, because URLs are in logs.
func readForm(r *http.Request) (url.Values, error) {
	if r.URL.RawQuery != "" {
		return nil, fault("invalid_request", "send parameters in the body, not in the URL")
	}
	if t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || t != "application/x-www-form-urlencoded" {
		return nil, fault("invalid_request", "the body must be application/x-www-form-urlencoded")
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		var long *http.MaxBytesError
		if errors.As(err, &long) {
			return nil, &oauthError{"invalid_request", "the body is too long", http.StatusRequestEntityTooLarge}
		}
		return nil, fault("invalid_request", "the body cannot be read completely")
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, fault("invalid_request", "the body is malformed")
	}
	for name, values := range form {
		if len(values) > 1 {
			return nil, fault("invalid_request", "a parameter occurs more than once")
		}
		if values[0] == "" {
			delete(form, name)
		}
	}
	return form, nil
}

// authenticate identifies the client of a form, by Basic authentication or by the form. A
// client with a secret must send it.
func (s *Server) authenticate(r *http.Request, form url.Values) (*client, error) {
	id, secret := form.Get("client_id"), form.Get("client_secret")
	failed := &oauthError{"invalid_client", "the client is unknown, or its secret is wrong", http.StatusUnauthorized}
	if headers := r.Header["Authorization"]; len(headers) > 0 {
		user, password, ok := r.BasicAuth()
		if !ok || len(headers) > 1 {
			return nil, failed
		}
		basicID, err1 := url.QueryUnescape(user)
		basicSecret, err2 := url.QueryUnescape(password)
		if err1 != nil || err2 != nil {
			return nil, failed
		}
		if secret != "" || id != "" && id != basicID {
			return nil, fault("invalid_request", "the client authenticates in two ways; use only one")
		}
		id, secret = basicID, basicSecret
	}
	c := s.clients[id]
	if c == nil {
		(&client{}).proves(secret) // takes as long as for a known client
		return nil, failed
	}
	if !c.proves(secret) { // a public client's is empty
		return nil, failed
	}
	return c, nil
}

// token is the token endpoint.
func (s *Server) token(w http.ResponseWriter, c *client, form url.Values) error {
	if resource := form.Get("resource"); resource != "" && !sameResource(resource, s.opts.Audience) {
		return fault("invalid_target", "resource must be %s", s.opts.Audience)
	}
	grant := form.Get("grant_type")
	switch {
	case grant == "":
		return fault("invalid_request", "grant_type is missing")
	case !slices.Contains(Grants(), grant):
		return fault("unsupported_grant_type", "unknown grant_type: want one of %s", strings.Join(Grants(), ", "))
	case !c.grants(grant):
		return fault("unauthorized_client", "the client is not registered for the grant %s", grant)
	}
	switch grant {
	case grantCode:
		return s.codeGrant(w, c, form)
	case grantRefresh:
		return s.refreshGrant(w, c, form)
	}
	return s.programGrant(w, c, form)
}

func (s *Server) codeGrant(w http.ResponseWriter, c *client, form url.Values) error {
	code, redirect, verifier := form.Get("code"), form.Get("redirect_uri"), form.Get("code_verifier")
	switch {
	case code == "":
		return fault("invalid_request", "code is missing")
	case redirect == "":
		return fault("invalid_request", "redirect_uri is missing")
	case verifier == "":
		return fault("invalid_request", "code_verifier is missing")
	case len(verifier) < 43 || len(verifier) > 128 || !unreserved(verifier):
		return fault("invalid_request", "code_verifier must be 43 to 128 letters, digits, and - . _ ~")
	}
	g, refresh, outcome := s.grants.exchange(code, c.ID, redirect, verifier, s.opts.Now())
	switch outcome {
	case good:
		if !c.grants(grantRefresh) {
			refresh = ""
		}
		return s.answer(w, g, c.ID, refresh)
	case reused:
		s.opts.Logger.Warn("authorization code reused; its tokens are revoked", "user", g.user, "client", g.client)
	}
	return fault("invalid_grant", "the code is invalid, expired or used, or does not belong to this client, redirect_uri and code_verifier")
}

func (s *Server) refreshGrant(w http.ResponseWriter, c *client, form url.Values) error {
	token := form.Get("refresh_token")
	if token == "" {
		return fault("invalid_request", "refresh_token is missing")
	}
	g, refresh, outcome, problem := s.grants.refresh(token, c.ID, form.Get("scope"), s.opts.Now())
	switch {
	case problem != nil:
		return problem
	case outcome == good:
		return s.answer(w, g, c.ID, refresh)
	case outcome == reused:
		s.opts.Logger.Warn("refresh token reused, or used by another client; all tokens of its consent are revoked",
			"user", g.user, "client", g.client)
	}
	return fault("invalid_grant", "the refresh token is invalid, expired or used")
}

func (s *Server) programGrant(w http.ResponseWriter, c *client, form url.Values) error {
	scopes, problem := scopesOf(form.Get("scope"), c.Scopes)
	if problem != nil {
		return problem
	}
	return s.answer(w, grant{user: clientSubject(c.ID), scopes: scopes}, c.ID, "")
}

// answer writes a successful answer of the token endpoint (RFC 6749, 5.1).
func (s *Server) answer(w http.ResponseWriter, g grant, client, refresh string) error {
	token, err := s.issue(g, client, s.opts.TokenLife)
	if err != nil {
		return err
	}
	s.opts.Logger.Debug("token issued", "subject", g.user, "client", client, "scopes", g.scopes)
	writeJSON(w, http.StatusOK, struct {
		Token   string `json:"access_token"`
		Type    string `json:"token_type"`
		Expires int64  `json:"expires_in"`
		Refresh string `json:"refresh_token,omitempty"`
		Scope   string `json:"scope"`
	}{token, "Bearer", int64(s.opts.TokenLife / time.Second), refresh, strings.Join(g.scopes, " ")})
	return nil
}

// revoke is the revocation endpoint (RFC 7009). Some clients revoke only one of their tokens:
// whichever it is, all tokens of the same consent are revoked with it. A token that is not
// valid, or no longer, is accepted without effect.
func (s *Server) revoke(w http.ResponseWriter, c *client, form url.Values) error {
	token := form.Get("token")
	switch {
	case token == "":
		return fault("invalid_request", "token is missing")
	case strings.Count(token, ".") == 2:
		if t, ok := s.ours(token); ok && !s.grants.revokeAccess(t, c.ID, s.opts.Now()) {
			return fault("invalid_grant", "the token belongs to another client")
		}
	case !s.grants.revoke(token, c.ID, s.opts.Now()):
		return fault("invalid_grant", "the token belongs to another client")
	}
	w.WriteHeader(http.StatusOK)
	return nil
}

// fail writes an error (RFC 6749, 5.2).
func (s *Server) fail(w http.ResponseWriter, err error) {
	var e *oauthError
	if !errors.As(err, &e) {
		s.opts.Logger.Error("making a token failed", "error", err)
		e = &oauthError{"server_error", "the server failed", http.StatusInternalServerError}
	}
	status := e.status
	if status == 0 {
		status = http.StatusBadRequest
	}
	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Basic realm="traintravel", charset="UTF-8"`)
	}
	writeJSON(w, status, struct {
		Code        string `json:"error"`
		Description string `json:"error_description,omitempty"`
	}{e.code, e.description})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	writeAs(w, "application/json", status, v)
}

func writeAs(w http.ResponseWriter, contentType string, status int, v any) {
	w.Header().Set("Content-Type", contentType)
	text, err := json.Marshal(v)
	if err != nil { // only strings and numbers come here
		status, text = http.StatusInternalServerError, []byte(`{"error":"server_error"}`)
	}
	w.WriteHeader(status)
	_, _ = w.Write(text)
}

func errTooMany() error {
	return &oauthError{"temporarily_unavailable", "too many requests; try again after the number of seconds in Retry-After", http.StatusTooManyRequests}
}
