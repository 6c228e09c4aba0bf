package httpserver_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/httpserver"
	"github.com/traintravel/traintravel/httpserver/authserver"
	"github.com/traintravel/traintravel/internal/keys"
)

func builtin(t *testing.T, ring *keys.Ring) *authserver.Server {
	t.Helper()
	s, err := authserver.New(authserver.Options{Issuer: ring.Issuer(), Keys: ring.Signing()})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The built-in authorization server's tokens are good at the server it is built
// into, which has its keys in process; those that another process makes from the
// keys file too, and those of another file not.
func TestBuiltinIssuer(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "keys.json")
	ring, err := keys.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := ring.RecordIssuer("http://127.0.0.1:8080"); err != nil {
		t.Fatal(err)
	}
	server := builtin(t, ring)
	v := newVerifier(t, func(o *httpserver.VerifierOptions) {
		o.Issuer, o.Audience, o.StoreAs = ring.Issuer(), ring.Issuer(), httpserver.BuiltinIssuer
		o.Keys = httpserver.StaticKeys(keySet(t, server.JWKS()))
		o.Revoked = server.Revoked
	})

	elsewhere, err := keys.Load(path) // as "traintravel token" does
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*authserver.Server{server, builtin(t, elsewhere)} {
		token, err := s.IssueToken("Anna", "", []string{"read"}, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		id, err := v.Authenticate(t.Context(), token)
		want := traintravel.Caller{Subject: traintravel.Subject{Issuer: "builtin", ID: "anna"}, Client: authserver.DemoClient}
		if err != nil || id.Caller != want || !id.Read || id.Write || time.Until(id.Expires) > time.Minute {
			t.Errorf("%+v %v", id, err)
		}
		revoke := httptest.NewRequest("POST", "/oauth/revoke", strings.NewReader(url.Values{"client_id": {authserver.DemoClient}, "token": {token}}.Encode()))
		revoke.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		answer := httptest.NewRecorder()
		if server.ServeHTTP(answer, revoke); answer.Code != http.StatusOK {
			t.Fatal(answer.Code, answer.Body)
		}
		if id, err := v.Authenticate(t.Context(), token); !errors.Is(err, httpserver.ErrInvalidToken) || id != (httpserver.Identity{}) {
			t.Errorf("a revoked token: %+v, %v", id, err)
		}
	}

	stranger, err := keys.New()
	if err != nil {
		t.Fatal(err)
	}
	if err := stranger.RecordIssuer(ring.Issuer()); err != nil {
		t.Fatal(err)
	}
	token, err := builtin(t, stranger).IssueToken("anna", "", []string{"read"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.Authenticate(t.Context(), token); !errors.Is(err, httpserver.ErrInvalidToken) {
		t.Error(err)
	}
}

// To another server it is an issuer like any other.
func TestBuiltinIssuerFromElsewhere(t *testing.T) {
	t.Parallel()
	ring, err := keys.New()
	if err != nil {
		t.Fatal(err)
	}
	var server *authserver.Server
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { server.ServeHTTP(w, r) }))
	defer srv.Close()
	if err := ring.RecordIssuer(srv.URL); err != nil {
		t.Fatal(err)
	}
	server = builtin(t, ring)
	source, err := httpserver.RemoteKeys(httpserver.RemoteOptions{Issuer: srv.URL})
	if err != nil {
		t.Fatal(err)
	}
	v := newVerifier(t, withKeys(source), func(o *httpserver.VerifierOptions) { o.Issuer, o.Audience = srv.URL, srv.URL })
	token, err := server.IssueToken("anna", "", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	if id, err := v.Authenticate(t.Context(), token); err != nil || id.Caller.Issuer != srv.URL {
		t.Errorf("%+v %v", id, err)
	}
}
