package signin

import "github.com/traintravel/traintravel/httpserver/authserver"

// SiteClient is the client of examples/webapp at servers without accounts of their own. Its secret
// is public.
func SiteClient() authserver.Client {
	return authserver.Client{
		ID: "webapp", Name: "Overland", Secret: "overland-example-only",
		RedirectURIs: []string{"http://127.0.0.1/callback"}, // at any port
		Scopes:       []string{"read", "write"},
		Grants:       []string{"authorization_code", "refresh_token", "client_credentials"},
	}
}
