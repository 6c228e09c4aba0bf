package httpserver_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/httpserver"
)

// A good token stands for its user at its issuer, or under the name that the issuer
// is stored by, at first and from memory.
func TestVerifierIdentity(t *testing.T) {
	t.Parallel()
	k := signingKeys()["ec"]
	token := goodDraft(k).set("exp", "4000000000.5").sign(k)
	for storeAs, issuer := range map[string]string{"": issuerURL, httpserver.BuiltinIssuer: "builtin"} {
		v := newVerifier(t, func(o *httpserver.VerifierOptions) { o.StoreAs = storeAs })
		for range 2 {
			got, err := v.Authenticate(t.Context(), token)
			want := httpserver.Identity{
				Caller: traintravel.Caller{Subject: traintravel.Subject{Issuer: issuer, ID: "anna"}, Client: "shop"},
				Read:   true, Write: true, Expires: time.Unix(4_000_000_000, 500_000_000),
			}
			if err != nil || !cmp.Equal(want, got, cmpopts.EquateComparable(traintravel.Caller{})) {
				t.Errorf("%v %s", err, cmp.Diff(want, got, cmpopts.EquateComparable(traintravel.Caller{})))
			}
		}
	}
}

// An issuer whose access tokens have another type than that of RFC 9068, as those of
// Keycloak do: azp is the client, and what could be an ID token is refused.
func TestTokensOfOtherTypes(t *testing.T) {
	t.Parallel()
	f := newForeignIssuer(t)
	k := signingKeys()["ec"]
	for _, kind := range []string{"JWT", "application/JWT"} {
		w := f.server(t, func(o *httpserver.VerifierOptions) { o.TokenType = kind })
		good := f.draft(k).head("typ", `"JWT"`).set("client_id", "").set("azp", `"shop"`).set("typ", `"Bearer"`)
		for name, c := range map[string]struct {
			draft draft
			why   string // "" is let in
		}{
			"azp":                        {good, ""},
			"no claim typ":               {good.set("typ", ""), ""},
			"client_id":                  {good.set("azp", "").set("client_id", `"shop"`), ""},
			"both":                       {good.set("client_id", `"shop"`), ""},
			"typ in full":                {good.head("typ", `"application/JWT"`), ""},
			"session":                    {good.set("sid", `"x"`).set("acr", `"1"`).set("realm_access", `{"roles":["x"]}`), ""},
			"both, and they differ":      {good.set("client_id", `"other"`), "azp"},
			"neither":                    {good.set("azp", ""), "client_id"},
			"azp empty":                  {good.set("azp", `""`), "azp"},
			"azp an array":               {good.set("azp", `["shop"]`), "azp"},
			"azp with a line break":      {good.set("azp", `"a\nb"`), "azp"},
			"azp twice":                  {draft{good.header, `{"azp":"other",` + good.payload[1:]}, "duplicates"},
			"an ID token":                {good.set("typ", `"ID"`), "typ"},
			"a refresh token":            {good.set("typ", `"Refresh"`), "typ"},
			"a bound token":              {good.set("typ", `"DPoP"`), "typ"},
			"a claim typ that is a list": {good.set("typ", `["Bearer"]`), "typ"},
			"nonce":                      {good.set("nonce", `"x"`), "nonce"},
			"at_hash":                    {good.set("at_hash", `"x"`), "at_hash"},
			"c_hash":                     {good.set("c_hash", `"x"`), "c_hash"},
			"events":                     {good.set("events", `{"http://schemas.openid.net/event/backchannel-logout":{}}`), "events"},
			"for the client alone":       {good.set("aud", `"shop"`), "aud"},
			"for a client named as us":   {good.set("azp", `"`+audience+`"`), "own client"},
			"at+jwt":                     {good.head("typ", `"at+jwt"`), "typ"},
			"jwt":                        {good.head("typ", `"jwt"`), "typ"},
			"no type":                    {good.head("typ", ``), "typ"},
		} {
			a := w.do("GET", "/bookings", as(c.draft.sign(k)))
			if a.status != 200 && a.status != 401 || (a.status == 200) != (c.why == "") || !strings.Contains(w.reason(a), c.why) {
				t.Errorf("%s: %s: %d, and the log says %q", kind, name, a.status, w.reason(a))
			}
		}
	}

	// Where the type says what a token is, these claims mean nothing.
	w := f.server(t)
	for name, value := range map[string]string{"azp": `"other"`, "nonce": `"x"`, "typ": `"ID"`} {
		w.do("GET", "/bookings", as(f.draft(k).set(name, value).sign(k))).want(200)
	}
	w.do("GET", "/bookings", as(f.draft(k).set("client_id", "").set("azp", `"shop"`).sign(k))).want(401)
}

func TestVerifierOptions(t *testing.T) {
	t.Parallel()
	keys := httpserver.StaticKeys(allKeys(t))
	for _, o := range []httpserver.VerifierOptions{
		{}, {Issuer: "i", Audience: "a"}, {Issuer: "i", Keys: keys}, {Audience: "a", Keys: keys},
		{Issuer: httpserver.BuiltinIssuer, Audience: "a", Keys: keys},
	} {
		if _, err := httpserver.NewVerifier(o); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}
