package authserver

import "net/http"

// metadata answers what the server is and can (RFC 8414).
func (s *Server) metadata(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Cache-Control", "public, max-age=300")
	methods := []string{"none", "client_secret_basic", "client_secret_post"}
	writeJSON(w, http.StatusOK, struct {
		Issuer        string   `json:"issuer"`
		Authorization string   `json:"authorization_endpoint"`
		Token         string   `json:"token_endpoint"`
		Revocation    string   `json:"revocation_endpoint"`
		Keys          string   `json:"jwks_uri"`
		Scopes        []string `json:"scopes_supported"`
		Responses     []string `json:"response_types_supported"`
		Modes         []string `json:"response_modes_supported"`
		Grants        []string `json:"grant_types_supported"`
		TokenAuth     []string `json:"token_endpoint_auth_methods_supported"`
		RevokeAuth    []string `json:"revocation_endpoint_auth_methods_supported"`
		Challenges    []string `json:"code_challenge_methods_supported"`
		SaysIssuer    bool     `json:"authorization_response_iss_parameter_supported"`
	}{
		s.opts.Issuer, s.opts.Issuer + "/oauth/authorize", s.opts.Issuer + "/oauth/token",
		s.opts.Issuer + "/oauth/revoke", s.opts.Issuer + "/oauth/jwks",
		Scopes(), []string{"code"}, []string{"query"},
		Grants(),
		methods, methods, []string{"S256"}, true,
	})
}
