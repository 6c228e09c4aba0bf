package httpserver_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/traintravel/traintravel"
)

// offered are the ways to come by a token that the description has, those that
// operations name included.
func offered(t *testing.T, text string) (schemes map[string]string, named map[string]bool) {
	t.Helper()
	var d struct {
		Components struct {
			SecuritySchemes map[string]struct{ Description string } `yaml:"securitySchemes"`
		}
		Paths map[string]map[string]yaml.Node
	}
	if err := yaml.Unmarshal([]byte(text), &d); err != nil {
		t.Fatal(err)
	}
	schemes, named = map[string]string{}, map[string]bool{}
	for name, s := range d.Components.SecuritySchemes {
		schemes[name] = s.Description
	}
	for _, item := range d.Paths {
		for method, node := range item {
			var op struct{ Security []map[string][]string }
			if method == "parameters" {
				continue
			}
			if err := node.Decode(&op); err != nil {
				t.Fatal(err)
			}
			for _, s := range op.Security {
				for name := range s {
					named[name] = true
				}
			}
		}
	}
	return schemes, named
}

var inWords = regexp.MustCompile("Needs the scopes? `([a-z]+)`(?: and `([a-z]+)`)?\\.\n")

// describedScopes returns the scopes that an operation needs. The description says them in
// words too, for a server without OAuth 2: OpenAPI 3.0 has no scopes elsewhere, and tools
// that know no more refuse those of another scheme.
func describedScopes(t *testing.T, name string, operation json.RawMessage) []string {
	t.Helper()
	var op struct {
		Security    []map[string][]string
		Description string
	}
	if err := json.Unmarshal(operation, &op); err != nil {
		t.Fatal(err)
	}
	var scopes []string
	if found := inWords.FindStringSubmatch(op.Description); found != nil {
		scopes = slices.DeleteFunc(found[1:], func(s string) bool { return s == "" })
	}
	want := []map[string][]string{}
	if len(scopes) > 0 {
		want = append(want, map[string][]string{"OAuth2": scopes}, map[string][]string{"bearer": {}})
	}
	if diff := cmp.Diff(want, op.Security); diff != "" {
		t.Errorf("%s: the scopes in words (-) and its security (+): %s", name, diff)
	}
	return scopes
}

// The description offers the authorization server where there is one, and says
// where tokens come from.
func TestOpenAPISecurity(t *testing.T) {
	t.Parallel()
	for _, signIn := range []bool{false, true} {
		for said, want := range map[string]string{
			"": "An access token that you have already.", `Ask "http://127.0.0.1:8080": for 2027-02-01.` + "\n": `Ask "http://127.0.0.1:8080": for 2027-02-01.` + "\n",
		} {
			w := newWorld(t, func(w *world) { w.options.SignIn, w.options.Tokens = signIn, said })
			for _, target := range []string{"/openapi.yaml", "/openapi.json"} {
				text := w.serve("GET", target).want(200).body
				schemes, named := offered(t, text)
				if schemes["bearer"] != want || !named["bearer"] {
					t.Errorf("%s: tokens come from %q, want %q", target, schemes["bearer"], want)
				}
				if _, ok := schemes["OAuth2"]; ok != signIn || named["OAuth2"] != signIn || strings.Contains(text, "/oauth/") != signIn {
					t.Errorf("%s: an authorization server is offered: %t", target, ok)
				}
			}
		}
	}
}

// The examples are of a day on which there are trips, whatever day it is.
func TestOpenAPIExamplesNow(t *testing.T) {
	t.Parallel()
	for now, day := range map[string]string{
		"2024-02-01T00:00:00Z": "2024-02-02", "2024-01-31T23:59:59Z": "2024-02-01", "2024-02-02T12:00:00Z": "2024-02-03", "2024-02-03T00:00:00Z": "2025-02-01",
		"2026-01-31T22:00:00-03:00": "2026-02-02", "2026-02-02T00:00:00Z": "2027-02-01", "2026-11-28T09:00:00Z": "2027-02-01", "2027-12-31T23:59:59Z": "2028-02-01",
	} {
		at, err := time.Parse(time.RFC3339, now)
		if err != nil {
			t.Fatal(err)
		}
		w := newWorld(t, func(w *world) {
			w.service_.Now = func() time.Time { return at }
			w.options.Now = w.service_.Now
		})
		var d struct {
			Paths map[string]struct {
				Get struct {
					Parameters []struct {
						Name     string
						Example  string
						Examples map[string]struct{ Value string }
					}
				}
			}
			Components struct {
				Parameters map[string]struct{ Example any }
				Examples   struct {
					Trip, NewBooking struct{ Value map[string]any }
				}
			}
		}
		w.serve("GET", "/openapi.json").want(200).into(&d)
		target, dates := "/trips?limit=1", 0
		for _, p := range d.Paths["/trips"].Get.Parameters {
			switch p.Name {
			case "origin", "destination":
				target += "&" + p.Name + "=" + p.Example
			case "date":
				for _, e := range p.Examples {
					if dates++; !strings.HasPrefix(e.Value, day) {
						t.Errorf("at %s: a date is %s, want %s", now, e.Value, day)
					}
				}
			}
		}
		if dates == 0 {
			t.Error("there is no date")
		}
		found := w.get(target + "&date=" + day).collection()
		if len(found.Data) == 0 {
			t.Fatalf("at %s: no trip on %s", now, day)
		}
		trip := d.Components.Parameters["TripId"].Example.(string)
		w.get("/trips/" + trip).want(200)
		for _, e := range []any{d.Components.Examples.Trip.Value["id"], d.Components.Examples.NewBooking.Value["trip_id"]} {
			if e != trip {
				t.Errorf("at %s: a trip is %v, and another %s", now, e, trip)
			}
		}
		w.post("/bookings", newBooking(trip)).want(201)
		// What the example says of the trip is so.
		var said map[string]any
		w.get("/trips/" + trip).into(&said)
		for name, v := range d.Components.Examples.Trip.Value {
			if s, ok := v.(string); ok && said[name] != s {
				t.Errorf("at %s: the %s of the example is %s, and of the trip %v", now, name, s, said[name])
			}
		}
	}
	// Without such a trip there is an example all the same.
	for _, w := range []*world{newWorld(t, withTiny), newWorld(t, func(w *world) { w.timetable = &traintravel.Timetable{} })} {
		if text := w.serve("GET", "/openapi.yaml").want(200).body; !strings.Contains(text, "example: 09a94001-0002-82a0-8000-000000000000") {
			t.Error("the example is gone")
		}
	}
}
