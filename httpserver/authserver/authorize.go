package authserver

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// The steps that forms are marked for.
const (
	stepSignIn  = "sign-in"
	stepSignOut = "sign-out"
	stepConsent = "consent"
)

// authorize is the authorization endpoint: it asks who the user is, then for
// consent. It redirects nobody before they are signed in (RFC 9700, 4.11.2).
func (s *Server) authorize(w http.ResponseWriter, r *http.Request) {
	req, why := s.parseRequest(r.URL.RawQuery)
	if req == nil {
		s.pages.fault(w, http.StatusBadRequest, why)
		return
	}
	v := s.sessions.visitor(w, r, s.opts.Now())
	switch {
	case req.problem != nil && v.user == "":
		s.pages.faultOf(w, "The application "+req.client.Name+" sent an invalid request: "+req.problem.Error()+".",
			req.failure(s.opts.Issuer, req.problem))
	case req.problem != nil:
		s.redirect(w, req.failure(s.opts.Issuer, req.problem))
	case v.user == "":
		s.signInPage(w, http.StatusOK, v, req, "", "")
	default:
		s.consentPage(w, v, req)
	}
}

func (s *Server) signInPage(w http.ResponseWriter, status int, v visitor, req *request, name, problem string) {
	back, _ := destination(req.redirect)
	s.pages.show(w, status, "sign-in.html", policy(), map[string]any{
		"Client": req.client.Name, "Back": back, "Request": req.query, "Name": name, "Problem": problem,
		"Users": s.users.offered(), "Typed": s.users.typed(), "Anyone": !s.users.alone,
		"Mark": s.sessions.mark(v, stepSignIn, req.query),
	})
}

func (s *Server) consentPage(w http.ResponseWriter, v visitor, req *request) {
	back, origin := destination(req.redirect)
	s.pages.show(w, http.StatusOK, "consent.html", policy(origin), map[string]any{
		"Client": req.client.Name, "User": s.users.named(v.user), "Scopes": req.scopes, "Back": back, "Request": req.query,
		"Mark":        s.sessions.mark(v, stepConsent, req.query),
		"SignOutMark": s.sessions.mark(v, stepSignOut, req.query),
	})
}

// destination returns the destination of a redirect URI: for people to read, and as a source
// of the form page's policy, which browsers apply to the redirect after a form. Policies
// cannot name IPv6 addresses.
func destination(redirect string) (people, browsers string) {
	u, err := url.Parse(redirect)
	switch {
	case err != nil:
		return redirect, ""
	case u.Host == "":
		return "an application on this device", u.Scheme + ":"
	case strings.Contains(u.Host, "["):
		return u.Host, u.Scheme + ":"
	}
	return u.Host, u.Scheme + "://" + u.Host
}

// posted reads a form from one of this server's pages. If the form is from elsewhere or
// invalid, it writes the response and returns nil.
func (s *Server) posted(w http.ResponseWriter, r *http.Request, step string) (url.Values, *request, visitor) {
	v := s.sessions.visitor(w, r, s.opts.Now())
	form, err := readForm(r)
	if err != nil {
		s.pages.fault(w, http.StatusBadRequest, "The form cannot be read. Please go back to the application and start again.")
		return nil, nil, v
	}
	req, _ := s.parseRequest(form.Get("request"))
	switch fresh := s.sessions.marked(v, step, form.Get("request"), form.Get("mark")); {
	case s.elsewhere(r) || !fresh && req == nil:
		s.pages.fault(w, http.StatusForbidden,
			"This form is not from a page that you were just shown. Please go back to the application and start again.")
		return nil, nil, v
	case !fresh: // from a page that was open during a sign-in, or for too long
		s.pages.stale(w, s.address(req))
		return nil, nil, v
	case req == nil || req.problem != nil:
		s.pages.fault(w, http.StatusBadRequest, "The application's sign-in request is not valid any more. Please go back to the application and start again.")
		return nil, nil, v
	}
	return form, req, v
}

// elsewhere says whether a form is from a page of another origin than the issuer's. It does
// not trust the request's Host: anybody can have a name of theirs resolve to this server, and
// the browser then believes that a page of theirs has this origin (DNS rebinding). Only the
// loopback names belong to this machine alone.
func (s *Server) elsewhere(r *http.Request) bool {
	from := r.Header.Get("Origin")
	u, err := url.Parse(from)
	ours := from == "" || from == s.origin || err == nil && from == "http://"+r.Host && slices.Contains(loopback, u.Hostname())
	return !ours || s.origins.Check(r) != nil
}

// signIn begins a session.
func (s *Server) signIn(w http.ResponseWriter, r *http.Request) {
	form, req, v := s.posted(w, r, stepSignIn)
	if req == nil {
		return
	}
	user, err := s.users.signIn(form.Get("user"))
	if err != nil {
		name := form.Get("user")
		s.signInPage(w, http.StatusUnprocessableEntity, v, req, name[:min(len(name), maxUser)], sentence(err))
		return
	}
	s.sessions.begin(w, v, user, s.opts.Now())
	s.opts.Logger.Debug("signed in", "user", user, "client", req.client.ID)
	s.again(w, req)
}

// signOut ends a session, for people who want to sign in under another name.
func (s *Server) signOut(w http.ResponseWriter, r *http.Request) {
	_, req, v := s.posted(w, r, stepSignOut)
	if req == nil {
		return
	}
	s.sessions.end(w, v)
	s.again(w, req)
}

// again sends the browser to the authorization request that it came with.
func (s *Server) again(w http.ResponseWriter, req *request) {
	s.redirect(w, s.address(req))
}

// address returns the path and query of an authorization request at this server.
func (s *Server) address(req *request) string {
	return s.base.EscapedPath() + "/oauth/authorize?" + req.query
}

// consent takes the user's decision back to the client.
func (s *Server) consent(w http.ResponseWriter, r *http.Request) {
	form, req, v := s.posted(w, r, stepConsent)
	if req == nil {
		return
	}
	switch {
	case v.user == "": // the mark proves that a user was signed in when the page was made
		s.again(w, req)
	case form.Get("decision") != "allow":
		s.redirect(w, req.failure(s.opts.Issuer, fault("access_denied", "the user denied the request")))
	default:
		code := s.grants.code(code{
			grant:    grant{user: v.user, client: req.client.ID, scopes: req.scopes, from: v.origin(v.user)},
			redirect: req.redirect, challenge: req.challenge,
		}, s.opts.Now())
		s.redirect(w, req.answer(s.opts.Issuer, url.Values{"code": {code}}))
	}
}

// redirect answers with 303, after which a browser never posts again what the
// user typed here (RFC 9700, 4.12).
func (s *Server) redirect(w http.ResponseWriter, to string) {
	w.Header().Set("Location", to)
	w.WriteHeader(http.StatusSeeOther)
}
