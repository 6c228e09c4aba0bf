package authserver

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// A request is an authorization request (RFC 6749, 4.1.1, with RFC 7636) whose
// client and redirect URI are good.
type request struct {
	client    *client
	redirect  string
	state     string
	scopes    []string
	challenge string
	query     string // the request again, in one form
	problem   *oauthError
}

// An oauthError is one that a client is told of.
type oauthError struct {
	code, description string
	status            int // zero is 400
}

func (e *oauthError) Error() string { return e.code + ": " + e.description }

func fault(code, description string, args ...any) *oauthError {
	return &oauthError{code: code, description: fmt.Sprintf(description, args...)}
}

// requestParameters returns the parameters of an authorization request that the server reads.
// It ignores all others, as RFC 6749 requires.
func requestParameters() []string {
	return []string{"client_id", "redirect_uri", "response_type", "response_mode", "scope", "state",
		"code_challenge", "code_challenge_method", "resource", "request", "request_uri"}
}

// parseRequest reads an authorization request. If the client or the redirect URI is invalid,
// so that the user must not be redirected, it returns nil and an explanation for the user.
// Any other error is the problem of the request, for its client.
func (s *Server) parseRequest(query string) (_ *request, why string) {
	if len(query) > maxQuery {
		return nil, "The request is too long. Please go back to the application and start again."
	}
	all, err := url.ParseQuery(query)
	if err != nil {
		return nil, "The request cannot be read. Please go back to the application and start again."
	}
	one, repeated := url.Values{}, ""
	for _, name := range requestParameters() {
		if len(all[name]) > 1 {
			repeated = name
		}
		if v := all.Get(name); v != "" { // a parameter without a value counts as missing
			one.Set(name, v)
		}
	}
	r := &request{client: s.clients[one.Get("client_id")], redirect: one.Get("redirect_uri"), state: one.Get("state"), query: one.Encode()}
	switch {
	case repeated == "client_id" || repeated == "redirect_uri" || len(all["client_id"]) > 1 || len(all["redirect_uri"]) > 1:
		return nil, "The request has the parameter client_id or redirect_uri more than once."
	case r.client == nil:
		return nil, "The application that sent you here is not registered (client_id)."
	case r.redirect == "":
		return nil, "The request does not name the address to send you back to (redirect_uri)."
	case !r.client.redirects(r.redirect):
		return nil, "The address to send you back to is not registered for this application (redirect_uri)."
	}
	r.problem = r.read(one, repeated, s.opts.Audience)
	return r, ""
}

// sameResource says whether a resource indicator (RFC 8707) is the audience. Libraries
// that treat it as a URL add a slash if it has no path.
func sameResource(resource, audience string) bool {
	return strings.TrimSuffix(resource, "/") == strings.TrimSuffix(audience, "/")
}

// read reads the parameters whose errors are reported to the client.
func (r *request) read(v url.Values, repeated, audience string) *oauthError {
	if len(r.state) > 2048 || strings.IndexFunc(r.state, func(c rune) bool { return c < ' ' || c > '~' }) >= 0 {
		r.state = ""
		return fault("invalid_request", "state must be at most 2048 visible ASCII characters")
	}
	method := v.Get("code_challenge_method")
	r.challenge = v.Get("code_challenge")
	switch {
	case repeated != "":
		return fault("invalid_request", "%s occurs more than once", repeated)
	case v.Get("request") != "":
		return fault("request_not_supported", "request objects are not supported")
	case v.Get("request_uri") != "":
		return fault("request_uri_not_supported", "request objects are not supported")
	case v.Get("response_type") == "":
		return fault("invalid_request", "response_type is missing")
	case v.Get("response_type") != "code":
		return fault("unsupported_response_type", "response_type must be code")
	case v.Get("response_mode") != "" && v.Get("response_mode") != "query":
		return fault("invalid_request", "response_mode must be query")
	case r.challenge == "":
		return fault("invalid_request", "code_challenge is missing: PKCE is required")
	case method != "S256":
		return fault("invalid_request", "code_challenge_method must be S256")
	case len(r.challenge) != 43 || !unreserved(r.challenge):
		return fault("invalid_request", "code_challenge must be 43 characters of base64url")
	case v.Get("resource") != "" && !sameResource(v.Get("resource"), audience):
		return fault("invalid_target", "resource must be %s", audience)
	}
	var problem *oauthError
	r.scopes, problem = scopesOf(v.Get("scope"), r.client.Scopes)
	return problem
}

// scopesOf reads a scope parameter: an empty one stands for all allowed scopes.
func scopesOf(scope string, allowed []string) ([]string, *oauthError) {
	if scope == "" {
		return slices.Clone(allowed), nil
	}
	var scopes []string
	for _, s := range strings.Split(scope, " ") {
		if !slices.Contains(allowed, s) {
			return nil, fault("invalid_scope", "unknown scope: want %s", strings.Join(allowed, " or "))
		}
		if !slices.Contains(scopes, s) {
			scopes = append(scopes, s)
		}
	}
	return scopes, nil
}

// unreserved says whether a text has only the characters of a PKCE verifier.
func unreserved(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-._~", r))
	}) < 0
}

// answer is where the user is sent: the redirect URI with what it was sent for,
// the state if there was one, and the issuer (RFC 9207).
func (r *request) answer(issuer string, what url.Values) string {
	if r.state != "" {
		what.Set("state", r.state)
	}
	what.Set("iss", issuer)
	join := "?"
	if strings.Contains(r.redirect, "?") {
		join = "&"
		if strings.HasSuffix(r.redirect, "?") || strings.HasSuffix(r.redirect, "&") {
			join = ""
		}
	}
	return r.redirect + join + what.Encode()
}

// failure is the answer that says what is wrong.
func (r *request) failure(issuer string, e *oauthError) string {
	return r.answer(issuer, url.Values{"error": {e.code}, "error_description": {e.description}})
}
