package httpserver_test

import (
	"encoding/json"
	"maps"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
	"go.yaml.in/yaml/v3"
)

// A description is what the tests read of the served document.
type description struct {
	Servers  []struct{ URL string }
	Paths    map[string]map[string]json.RawMessage
	Webhooks map[string]map[string]json.RawMessage
}

func described(t *testing.T) (d description) {
	t.Helper()
	w := newWorld(t, func(w *world) { w.options.SignIn = true })
	w.serve("GET", "/openapi.json").want(200).into(&d)
	return d
}

// operations calls fn for each operation of the paths.
func (d description) operations(t *testing.T, fn func(method, path, id string, text json.RawMessage)) {
	t.Helper()
	for path, item := range d.Paths {
		for method, text := range item {
			if method == "parameters" {
				continue
			}
			var op struct{ OperationID string }
			if err := json.Unmarshal(text, &op); err != nil {
				t.Fatal(err)
			}
			fn(strings.ToUpper(method), path, op.OperationID, text)
		}
	}
}

func operationIDs(t *testing.T) (ids []string) {
	t.Helper()
	described(t).operations(t, func(_, _, id string, _ json.RawMessage) { ids = append(ids, id) })
	return ids
}

// The document is OpenAPI, in both forms, and they are the same.
func TestOpenAPI(t *testing.T) {
	t.Parallel()
	for _, signIn := range []bool{false, true} {
		testOpenAPI(t, newWorld(t, func(w *world) { w.options.SignIn = signIn }))
	}
}

func testOpenAPI(t *testing.T, w *world) {
	t.Helper()
	asYAML, asJSON := w.serve("GET", "/openapi.yaml").want(200), w.serve("GET", "/openapi.json").want(200)
	for want, a := range map[string]answer{"application/yaml": asYAML, "application/json": asJSON} {
		if got := a.header.Get("Content-Type"); got != want || a.header.Get("Cache-Control") != "public, max-age=3600" {
			t.Errorf("Content-Type is %q, want %q; %v", got, want, a.header)
		}
		doc, err := libopenapi.NewDocument([]byte(a.body))
		if err != nil {
			t.Fatal(err)
		}
		v, errs := validator.NewValidator(doc)
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		if ok, faults := v.ValidateDocument(); !ok {
			for _, f := range faults {
				t.Errorf("%s: %s: %v", want, f.Message, f.SchemaValidationErrors)
			}
		}
	}
	var y, j any
	if err := yaml.Unmarshal([]byte(asYAML.body), &y); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal([]byte(asJSON.body), &j); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(y, j); diff != "" {
		t.Errorf("YAML and JSON differ: %s", diff)
	}
	if !strings.HasPrefix(asJSON.body, `{"openapi":"3.1.0","info":{"title":"Train Travel","version":"1.0.0",`) {
		t.Errorf("the members are not in their order: %.100s", asJSON.body)
	}
}

// Wherever an address of the server stands it is the one by which it was asked.
func TestOpenAPIBase(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world) {
		w.options.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
		w.options.SignIn = true
	})
	for name, c := range map[string]struct {
		want  string
		parts []part
	}{
		"its own":   {base, nil},
		"a proxy's": {"http://[::1]:8443/rail/v1", []part{from("127.0.0.1:4711"), header("X-Forwarded-Proto", "http"), header("X-Forwarded-Host", "[::1]:8443"), header("X-Forwarded-Prefix", "/rail/v1")}},
	} {
		for _, target := range []string{"/openapi.yaml", "/openapi.json"} {
			a := w.serve("GET", target, c.parts...).want(200)
			var d struct {
				Servers    []struct{ URL string }
				Components struct {
					SecuritySchemes struct {
						OAuth2 struct {
							Flows struct {
								AuthorizationCode struct{ TokenURL string } `yaml:"authorizationCode"`
							}
						} `yaml:"OAuth2"`
					} `yaml:"securitySchemes"`
				}
			}
			text := strings.ReplaceAll(a.body, "tokenUrl", "tokenurl")
			if err := yaml.Unmarshal([]byte(text), &d); err != nil {
				t.Fatal(err)
			}
			token := d.Components.SecuritySchemes.OAuth2.Flows.AuthorizationCode.TokenURL
			if len(d.Servers) != 1 || d.Servers[0].URL != c.want || token != c.want+"/oauth/token" {
				t.Errorf("%s, %s: the servers are %v, tokens come from %s", name, target, d.Servers, token)
			}
			if strings.Contains(a.body, "127.0.0.1") {
				t.Errorf("%s, %s: another address is left", name, target)
			}
		}
	}
}

// The description has exactly the routes of the server.
func TestOpenAPIHasAllRoutes(t *testing.T) {
	t.Parallel()
	routed := newWorld(t).server.Routes()
	delete(routed, "GET /docs/{file}")                                 // what the page /docs needs
	delete(routed, "GET /.well-known/oauth-protected-resource/{path}") // the same, elsewhere
	operations := map[string]bool{}
	ids := map[string]bool{}
	described(t).operations(t, func(method, path, id string, _ json.RawMessage) {
		operations[method+" "+path] = true
		if id == "" || ids[id] {
			t.Errorf("%s %s: the operation ID %q is empty or there twice", method, path, id)
		}
		ids[id] = true
	})
	if diff := cmp.Diff(slices.Sorted(maps.Keys(routed)), slices.Sorted(maps.Keys(operations))); diff != "" {
		t.Errorf("routes (-) and operations (+): %s", diff)
	}
}

// Workflows and overlays that were made for the public description of the Train Travel API
// name its operations, paths and security scheme: they find all of that here. Our own
// operations are named in the same way.
func TestOpenAPIPublicNames(t *testing.T) {
	t.Parallel()
	public := map[string]string{
		"get-stations": "GET /stations", "get-trips": "GET /trips",
		"get-bookings": "GET /bookings", "create-booking": "POST /bookings",
		"get-booking": "GET /bookings/{bookingId}", "delete-booking": "DELETE /bookings/{bookingId}",
		"create-booking-payment": "POST /bookings/{bookingId}/payment",
	}
	named := regexp.MustCompile(`^(get|create|update|delete|retry|verify)(-[a-z]+)+$`)
	described(t).operations(t, func(method, path, id string, _ json.RawMessage) {
		if want, ok := public[id]; ok && method+" "+path != want {
			t.Errorf("%s is %s %s, want %s", id, method, path, want)
		}
		delete(public, id)
		if !named.MatchString(id) {
			t.Errorf("%s %s is named %q", method, path, id)
		}
	})
	for id, at := range public {
		t.Errorf("nothing is named %s, which is %s", id, at)
	}
	var d struct {
		Webhooks   map[string]struct{ Post struct{ OperationID string } }
		Components struct {
			SecuritySchemes map[string]struct {
				Type  string
				Flows struct {
					AuthorizationCode struct{ Scopes map[string]string }
				}
			}
		}
	}
	w := newWorld(t, func(w *world) { w.options.SignIn = true })
	if err := json.Unmarshal([]byte(w.serve("GET", "/openapi.json").want(200).body), &d); err != nil {
		t.Fatal(err)
	}
	if id := d.Webhooks["newBooking"].Post.OperationID; id != "new-booking" {
		t.Errorf("the webhook newBooking is named %q", id)
	}
	scheme := d.Components.SecuritySchemes["OAuth2"]
	if scopes := slices.Sorted(maps.Keys(scheme.Flows.AuthorizationCode.Scopes)); scheme.Type != "oauth2" || !slices.Equal(scopes, []string{"read", "write"}) {
		t.Errorf("the security scheme OAuth2 is %+v", scheme)
	}
}
