package httpserver

import (
	"errors"
	"net/http"
	"strings"
)

var (
	problemNoToken = &problem{status: http.StatusUnauthorized, slug: "unauthorized", title: "A token is needed",
		detail: "Send an access token in the header Authorization: Bearer."}
	problemBadToken = &problem{status: http.StatusUnauthorized, slug: "unauthorized", title: "The token is not valid",
		detail: "Send one access token that is valid and has not expired, in the header Authorization alone.",
		auth:   "invalid_token"}
)

// challenge is the WWW-Authenticate of an answer (RFC 6750): what a token must
// allow, where to learn who gives tokens (RFC 9728), and what is wrong with the one
// that came, if one did.
func (x *exchange) challenge(fault string) string {
	c := `Bearer realm="traintravel", scope="` + x.route.scope.String() + `", resource_metadata="` + x.base + resourcePath + `"`
	if fault != "" {
		c += `, error="` + fault + `"`
	}
	return c
}

// authorize finds out who is asking, counts the request against their quota,
// and checks the scope. Who cannot say who they are counts by address.
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

// String is the scope as a token must name it.
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
	return &problem{status: http.StatusForbidden, slug: "forbidden", title: "The token does not allow this",
		detail: "This needs a token with the scope " + s.String() + ".", auth: "insufficient_scope"}
}

// bearer takes the token out of a request's one Authorization header. A token
// in the address is refused even beside a good one: it is in somebody's log.
func bearer(r *http.Request) (string, error) {
	if q := r.URL.RawQuery; strings.HasPrefix(q, "access_token=") || strings.Contains(q, "&access_token=") {
		return "", problemBadToken.because(badToken("it came in the address"))
	}
	headers := r.Header["Authorization"]
	if len(headers) > 1 {
		return "", problemBadToken.because(badToken("there are %d headers Authorization", len(headers)))
	}
	if len(headers) == 0 {
		return "", problemNoToken.because(errors.New("the header Authorization is missing"))
	}
	scheme, token, _ := strings.Cut(headers[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return "", problemNoToken.because(errors.New("the scheme of Authorization is another than Bearer"))
	}
	token = strings.Trim(token, " ")
	switch {
	case token == "", strings.IndexByte(token, ' ') >= 0:
		return "", problemBadToken.because(badToken("the header Authorization has not one token"))
	case len(token) > maxToken:
		return "", problemBadToken.because(badToken("it has %d bytes, more than %d", len(token), maxToken))
	}
	return token, nil
}
