package httpserver_test

import (
	"testing"

	"github.com/traintravel/traintravel/httpserver"
)

// A token is a client's own by a claim that no user's has, and never because its sub is the
// client's ID: a user may be named so.
func TestTokensOfClients(t *testing.T) {
	t.Parallel()
	k := signingKeys()["ec"]
	good := goodDraft(k)
	ours := []httpserver.Claim{{Name: "kind", Value: "service"}, {Name: "sub", Value: "till-7"}}
	for name, c := range map[string]struct {
		draft   draft
		storeAs string
		claims  []httpserver.Claim
		want    bool
	}{
		"a user":                            {good, "", ours, false},
		"a user of the client's name":       {good.set("sub", `"shop"`), "", ours, false},
		"a user of client: and its name":    {good.set("sub", `"client:shop"`), "", ours, false},
		"gty":                               {good.set("gty", `"client-credentials"`), "", nil, true},
		"gty and the same name":             {good.set("gty", `"client-credentials"`).set("sub", `"shop"`), "", nil, true},
		"gty of a user":                     {good.set("gty", `"password"`).set("sub", `"shop"`), "", nil, false},
		"gty that is a list":                {good.set("gty", `["client-credentials"]`), "", nil, false},
		"idtyp":                             {good.set("idtyp", `"app"`), "", nil, true},
		"idtyp of a user":                   {good.set("idtyp", `"user"`), "", nil, false},
		"a claim that is not asked for":     {good.set("kind", `"service"`), "", nil, false},
		"a claim that is":                   {good.set("kind", `"service"`), "", ours, true},
		"another value of it":               {good.set("kind", `"person"`), "", ours, false},
		"a subject that the operator names": {good.set("sub", `"till-7"`), "", ours, true},
		"the built-in one's client":         {good.set("sub", `"client:shop"`), httpserver.BuiltinIssuer, nil, true},
		"the built-in one's other client":   {good.set("sub", `"client:other"`), httpserver.BuiltinIssuer, nil, false},
		"a user there of the client's name": {good.set("sub", `"shop"`), httpserver.BuiltinIssuer, nil, false},
		"a claim there":                     {good.set("gty", `"client-credentials"`), httpserver.BuiltinIssuer, ours, false},
	} {
		v := newVerifier(t, func(o *httpserver.VerifierOptions) { o.StoreAs, o.ClientClaims = c.storeAs, c.claims })
		for range 2 { // the second time from memory
			id, err := v.Authenticate(t.Context(), c.draft.sign(k))
			if err != nil || id.Caller.ForItself != c.want {
				t.Errorf("%s: %v, %v", name, id.Caller.ForItself, err)
			}
		}
	}
	for _, claim := range []httpserver.Claim{{Name: "", Value: "x"}, {Name: "x", Value: ""}} {
		if _, err := httpserver.NewVerifier(httpserver.VerifierOptions{Issuer: issuerURL, Audience: audience, Keys: httpserver.StaticKeys(allKeys(t)), ClientClaims: []httpserver.Claim{claim}}); err == nil {
			t.Errorf("%+v is accepted", claim)
		}
	}
}
