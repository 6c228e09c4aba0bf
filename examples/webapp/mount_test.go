package main

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/traintravel/traintravel/store/memstore"
	"github.com/traintravel/traintravel/trainserver"
)

// The site finds where people sign in, and gets its own token, from a server that a program of
// its own has mounted below a path.
func TestMountedServer(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	host := httptest.NewServer(mux)
	t.Cleanup(host.Close)
	api := host.URL + "/trains"
	trains, err := trainserver.New(t.Context(), memstore.New(), trainserver.Options{BaseURL: api})
	if err != nil {
		t.Fatal(err)
	}
	trains.Mount(mux)
	p := &provider{api: api, client: host.Client()}
	m, err := p.metadata(t.Context())
	if err != nil || m.Issuer != api || m.Authorization != api+"/oauth/authorize" || m.resource != api {
		t.Fatalf("%+v, %v", m, err)
	}
	own := &ownTokens{options: options{API: api, ClientID: demoClient, Secret: demoSecret}, provider: p, client: host.Client()}
	if token, err := own.Token(); err != nil || token.AccessToken == "" {
		t.Errorf("the site's own token: %+v, %v", token, err)
	}
}
