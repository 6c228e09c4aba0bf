package httpserver

import (
	"errors"
	"net/http"
	"strings"
)

// longestToken is how long a token may be, in bytes.
const longestToken = 8 << 10

// challenge begins each WWW-Authenticate (RFC 6750).
const challenge = `Bearer realm="traintravel"`

var (
	problemNoToken = &problem{status: http.StatusUnauthorized, slug: "unauthorized", title: "A token is needed",
		detail: "Send an access token in the header Authorization: Bearer.", auth: challenge}
	problemBadToken = &problem{status: http.StatusUnauthorized, slug: "unauthorized", title: "The token is not valid",
		detail: "Send one access token that is valid and has not expired, in the header Authorization alone.",
		auth:   challenge + `, error="invalid_token"`}
)

// authorize finds out who is asking, counts the request against their quota,
// and checks the scope. Who cannot say who they are counts by address.
func (x *exchange) authorize() error {
	token, err := bearer(x.r)
	if err == nil {
		var id Identity
		if id, err = x.s.auth.Authenticate(x.ctx(), token); err == nil {
			x.by = id.Caller
			if err := x.take(callerKey(x.s.limits, id.Caller)); err != nil {
				return err
			}
			return x.route.scope.allowedBy(id)
		}
		if errors.Is(err, ErrInvalidToken) {
			err = problemBadToken.because(err)
		}
	}
	if limited := x.take(x.address()); limited != nil {
		return limited
	}
	return err
}

// allowedBy refuses an identity that lacks the scope.
func (s scope) allowedBy(id Identity) error {
	name, ok := "read", id.Read
	switch s {
	case write:
		name, ok = "write", id.Write
	case readWrite:
		name, ok = "read write", id.Read && id.Write
	}
	if ok {
		return nil
	}
	return &problem{status: http.StatusForbidden, slug: "forbidden", title: "The token does not allow this",
		detail: "This needs a token with the scope " + name + ".",
		auth:   challenge + `, error="insufficient_scope", scope="` + name + `"`}
}

// bearer takes the token out of a request's one Authorization header. A token
// in the address is refused even beside a good one: it is in somebody's log.
func bearer(r *http.Request) (string, error) {
	if q := r.URL.RawQuery; strings.HasPrefix(q, "access_token=") || strings.Contains(q, "&access_token=") {
		return "", problemBadToken
	}
	headers := r.Header["Authorization"]
	if len(headers) > 1 {
		return "", problemBadToken
	}
	if len(headers) == 0 {
		return "", problemNoToken
	}
	scheme, token, _ := strings.Cut(headers[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return "", problemNoToken
	}
	token = strings.Trim(token, " ")
	if token == "" || len(token) > longestToken || strings.IndexByte(token, ' ') >= 0 {
		return "", problemBadToken
	}
	return token, nil
}
