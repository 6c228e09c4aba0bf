package main

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"golang.org/x/oauth2"
)

// A signIn is one that has begun: the user is at the authorization server. Nothing of it
// is kept here, or whoever begins many would push out those of others. It is sealed, and
// goes with the user as the state.
type signIn struct {
	verifier string // PKCE: proves that who ends it began it
	back     string // where to go on, below this site
	until    time.Time
}

// maxBack bounds the address to go on at, in bytes: authorization servers take a state of
// two thousand.
const maxBack = 1000

// seal writes a sign-in so that nobody reads or changes it, for one browser.
func (s *site) seal(b signIn, browser string) string {
	text := fmt.Sprintf("%d %s %s", b.until.Unix(), b.verifier, b.back)
	return base64.RawURLEncoding.EncodeToString(s.signIns.Seal(nil, nil, []byte(text), []byte(browser)))
}

// unseal reads a sign-in that this browser began not too long ago.
func (s *site) unseal(state, browser string) (b signIn, ok bool) {
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(state)
	if err != nil || browser == "" {
		return b, false
	}
	text, err := s.signIns.Open(nil, nil, sealed, []byte(browser))
	if err != nil {
		return b, false
	}
	parts := strings.SplitN(string(text), " ", 3)
	until, err := strconv.ParseInt(parts[0], 10, 64)
	if err != nil || len(parts) != 3 {
		return b, false
	}
	b = signIn{parts[1], parts[2], time.Unix(until, 0)}
	return b, s.now().Before(b.until)
}

// newSealer makes one of a key that ends with the process.
func newSealer() (cipher.AEAD, error) {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails: it ends the process instead
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// beginSignIn sends the user to the authorization server, to come back to where they
// wanted to go. That is never taken from a request's parameters, so no link can lead
// people elsewhere through this site.
func (s *site) beginSignIn(w http.ResponseWriter, r *http.Request, back string) error {
	meta, err := s.provider.metadata(r.Context())
	if err != nil {
		return err
	}
	browser := s.cookieOf(r, "sign-in")
	if browser == "" {
		browser = rand.Text()
	}
	s.setCookie(w, "sign-in", browser, signInLife) // the same in all tabs
	if len(back) > maxBack {
		back = "/"
	}
	begun := signIn{oauth2.GenerateVerifier(), back, s.now().Add(signInLife)}
	to := s.oauth(meta).AuthCodeURL(s.seal(begun, browser), append(resource(meta), oauth2.S256ChallengeOption(begun.verifier))...)
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}

func (s *site) oauth(m *metadata) *oauth2.Config {
	return &oauth2.Config{
		ClientID: s.options.ClientID, ClientSecret: s.options.Secret, Scopes: []string{"read", "write"}, RedirectURL: s.options.URL + "/callback",
		Endpoint: oauth2.Endpoint{AuthURL: m.Authorization, TokenURL: m.Token, AuthStyle: oauth2.AuthStyleInHeader},
	}
}

// resource names the API to authorization servers that have several (RFC 8707).
func resource(m *metadata) []oauth2.AuthCodeOption {
	if m.resource == "" {
		return nil
	}
	return []oauth2.AuthCodeOption{oauth2.SetAuthURLParam("resource", m.resource)}
}

// signInPage is for who is not on the way to anywhere else.
func (s *site) signInPage(w http.ResponseWriter, r *http.Request) error {
	return s.beginSignIn(w, r, "/")
}

// callback takes the answer of the authorization server.
func (s *site) callback(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	begun, ok := s.unseal(q.Get("state"), s.cookieOf(r, "sign-in"))
	if !ok || !s.ended.add(begun.verifier, struct{}{}, s.now()) { // right or wrong, it ends once
		return errNotBegun // whoever sent the user here: it is not the answer to what they asked
	}
	meta, err := s.provider.metadata(r.Context())
	if err != nil {
		return err
	}
	if iss := q.Get("iss"); iss != meta.Issuer && (iss != "" || meta.SaysIssuer) { // RFC 9207
		return fmt.Errorf("%w: the response is from the issuer %q, not from %q", errSignIn, iss, meta.Issuer)
	}
	if q.Has("error") {
		return fmt.Errorf("%w: the authorization server returned the error %q", errSignIn, q.Get("error"))
	}
	config := s.oauth(meta)
	token, err := config.Exchange(s.withClient(r.Context()), q.Get("code"), append(resource(meta), oauth2.VerifierOption(begun.verifier))...)
	if err != nil {
		if _, refused := errors.AsType[*oauth2.RetrieveError](err); refused {
			return fmt.Errorf("%w: %v", errSignIn, err)
		}
		return err
	}
	// The session outlives the request, and so does what refreshes its tokens.
	tokens := config.TokenSource(s.withClient(context.Background()), token)
	signedIn := *s.client
	signedIn.Transport = &oauth2.Transport{Source: tokens, Base: s.client.Transport}

	// A new name for the session: one that the browser had before may be known to others.
	s.sessions.take(s.cookieOf(r, "session"), s.now())
	user := newSession(reader{&api{s.options.API, &signedIn}, s.stations}, tokens, s.now())
	s.sessions.put(user.name, user, s.now())
	s.setCookie(w, "session", user.name, sessionLife)
	s.redirect(w, r, begun.back)
	return nil
}

// withClient has package oauth2 use our client.
func (s *site) withClient(ctx context.Context) context.Context {
	return context.WithValue(ctx, oauth2.HTTPClient, s.client)
}

// signOut ends the session here, then at the authorization server. If that does not
// answer, the user is signed out all the same.
func (s *site) signOut(w http.ResponseWriter, r *http.Request, user *session) error {
	s.endSession(w, user)
	if err := s.revoke(r.Context(), user); err != nil {
		s.log.Warn("a refresh token was not revoked", "error", err)
	}
	s.redirect(w, r, "/")
	return nil
}

func (s *site) endSession(w http.ResponseWriter, user *session) {
	s.sessions.take(user.name, s.now())
	s.setCookie(w, "session", "", -time.Second)
}

// revoke ends the refresh token, and with it all that follow from it (RFC 7009).
func (s *site) revoke(ctx context.Context, user *session) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	meta, err := s.provider.metadata(ctx)
	if err != nil {
		return err
	}
	token, err := user.tokens.Token()
	if err != nil {
		return err
	}
	if meta.Revocation == "" || token.RefreshToken == "" {
		return nil
	}
	form := url.Values{"token": {token.RefreshToken}, "token_type_hint": {"refresh_token"}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, meta.Revocation, strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.SetBasicAuth(url.QueryEscape(s.options.ClientID), url.QueryEscape(s.options.Secret)) // RFC 6749, 2.3.1
	resp, err := s.client.Do(req)
	if err != nil {
		return err
	}
	return read(resp, nil)
}
