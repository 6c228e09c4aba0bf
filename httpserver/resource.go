package httpserver

import (
	"encoding/json"
	"net/url"
)

// resourceMetadata is what RFC 9728, section 2, calls these things.
type resourceMetadata struct {
	Resource      string   `json:"resource"`
	Issuers       []string `json:"authorization_servers,omitempty"`
	Scopes        []string `json:"scopes_supported"`
	Methods       []string `json:"bearer_methods_supported"`
	Name          string   `json:"resource_name"`
	Documentation string   `json:"resource_documentation"`
}

// resource answers with the metadata of the API as a protected resource. The
// resource is the base URL: it must be what clients find the metadata by.
func (s *Server) resource(x *exchange) error {
	base, err := url.Parse(x.base)
	if err != nil {
		return err
	}
	if after := x.params.ByName("path"); after != "" && after != base.Path {
		return problemNoPath
	}
	doc := resourceMetadata{
		Resource: x.base, Scopes: []string{read.String(), write.String()}, Methods: []string{"header"},
		Name: "Train Travel", Documentation: x.base + "/docs",
	}
	if s.issuer != "" {
		doc.Issuers = []string{s.issuer}
	}
	text, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	x.out = append(x.out[:0], text...)
	return x.sendTagged(s.fixed.forms[asJSON])
}
