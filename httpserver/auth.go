package httpserver

import (
	"errors"
	"net/http"
	"strings"
)

var (
	problemNoToken = &problem{status: http.StatusUnauthorized, slug: "unauthorized", title: "An access token is required",
		detail: "Send an access token in the header Authorization: Bearer."}
	problemBadToken = &problem{status: http.StatusUnauthorized, slug: "unauthorized", title: "The token is not valid",
		detail: "Send one access token that is valid and has not expired, in the Authorization header and nowhere else.",
		auth:   "invalid_token"}
)

// challenge is the WWW-Authenticate of a response (RFC 6750): the required scope, the address
// of the metadata that name the authorization server (RFC 9728), and the error of the token,
// if the request had one.
func (x *exchange) challenge(fault string) string {
	c := `Bearer realm="traintravel", scope="` + x.route.scope.String() + `", resource_metadata="` + x.base + resourcePath + `"`
	if fault != "" {
		c += `, error="` + fault + `"`
	}
	return c
}

// authorize identifies the caller, counts the request against their quota, and checks the
// scope. Requests without a valid token count against their address.
func (x *exchange) authorize() error {
	token, err := bearer(x.r)
	if err == nil {
		var id Identity
		if id, err = x.s.auth.Authenticate(x.ctx(), token); err == nil {
			x.by = id.Caller
			x.who = x.s.house.user(id.Caller)
			if err := x.take(x.who); err != nil {
				return err
			}
			return x.route.scope.allowedBy(id)
		}
		if errors.Is(err, ErrInvalidToken) {
			err = problemBadToken.because(err)
		}
	}
	if limited := x.take(x.from); limited != nil {
		return limited
	}
	return err
}

// String returns the scope in the form that tokens must name.
func (s scope) String() string {
	switch s {
	case write:
		return "write"
	case readWrite:
		return "read write"
	}
	return "read"
}

// allowedBy refuses an identity that lacks the scope.
func (s scope) allowedBy(id Identity) error {
	if (id.Read || s == write) && (id.Write || s == read) {
		return nil
	}
	return &problem{status: http.StatusForbidden, slug: "forbidden", title: "The token lacks a scope",
		detail: "This operation requires a token with the scope " + s.String() + ".", auth: "insufficient_scope"}
}

// bearer takes the token out of a request's one Authorization header. A token in the URL is
// refused even if a valid one is in the header: URLs are written to logs.
func bearer(r *http.Request) (string, error) {
	if q := r.URL.RawQuery; strings.HasPrefix(q, "access_token=") || strings.Contains(q, "&access_token=") {
		return "", problemBadToken.because(badToken("it is in the URL"))
	}
	headers := r.Header["Authorization"]
	if len(headers) > 1 {
		return "", problemBadToken.because(badToken("the request has %d Authorization headers", len(headers)))
	}
	if len(headers) == 0 {
		return "", problemNoToken.because(errors.New("the Authorization header is missing"))
	}
	scheme, token, _ := strings.Cut(headers[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return "", problemNoToken.because(errors.New("the scheme of the Authorization header is not Bearer"))
	}
	token = strings.Trim(token, " ")
	switch {
	case token == "", strings.IndexByte(token, ' ') >= 0:
		return "", problemBadToken.because(badToken("the Authorization header does not have exactly one token"))
	case len(token) > maxToken:
		return "", problemBadToken.because(badToken("it has %d bytes, more than %d", len(token), maxToken))
	}
	return token, nil
}
