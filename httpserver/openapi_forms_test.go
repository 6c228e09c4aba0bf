package httpserver_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A form is what the description says of a text.
type form struct {
	MinLength, MaxLength int
	Pattern              string
}

func (f form) fits(text string) bool {
	return len(text) >= f.MinLength && (f.MaxLength == 0 || len(text) <= f.MaxLength) && regexp.MustCompile(f.Pattern).MatchString(text)
}

// formAt is the form at the end of a path into the served document. Of a list it
// takes the item that has this name.
func formAt(t *testing.T, path ...string) (f form) {
	t.Helper()
	var found any
	newWorld(t).serve("GET", "/openapi.json").want(200).into(&found)
	for _, name := range path {
		switch part := found.(type) {
		case map[string]any:
			found = part[name]
		case []any:
			i := slices.IndexFunc(part, func(v any) bool { return v.(map[string]any)["name"] == name })
			if i < 0 {
				t.Fatalf("there is no %s of %v", name, path)
			}
			found = part[i]
		}
	}
	text, err := json.Marshal(found)
	if err == nil {
		err = json.Unmarshal(text, &f)
	}
	if err != nil || f.Pattern == "" {
		t.Fatalf("%v has no pattern: %s, %v", path, text, err)
	}
	return f
}

// texts are all of these characters, up to a length.
func texts(characters string, most int) []string {
	all := []string{""}
	for from := 0; most > 0; most-- {
		end := len(all)
		for _, s := range all[from:end] {
			for _, c := range characters {
				all = append(all, s+string(c))
			}
		}
		from = end
	}
	return all
}

// The server accepts exactly the values that fit the description of a parameter.
func TestOpenAPICoordinates(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f := formAt(t, "paths", "/stations", "get", "parameters", "coordinates", "schema")
	try := func(text string) {
		t.Helper()
		a := w.get("/stations?coordinates=" + url.QueryEscape(text))
		if taken := a.status == 200; taken != f.fits(text) {
			t.Errorf("%q fits: %t, and the answer is %d", text, f.fits(text), a.status)
		}
	}
	for _, part := range texts("0.+- e", 4) {
		try(part + ",5")
		try("5," + part)
	}
	for _, text := range []string{"5", "5 5", "5,5,5", "5;5", ",", "5,5,", "52.5251,13.3694", "-33.9,+18.4", "0x5,5", "5_0,5", "NaN,5", "Inf,5", "5°,5", "٥,5"} {
		try(text)
	}
}

func TestOpenAPIIdempotencyKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f := formAt(t, "components", "parameters", "IdempotencyKey", "schema")
	try := func(text string) {
		t.Helper()
		// A good key comes to the body, in which there is another fault.
		p := w.do("POST", "/bookings", as("anna-w"), body("{}"), key(text)).problem(400, "invalid-request")
		if taken := p.names() == "/trip_id /passenger_name"; taken != f.fits(text) {
			t.Errorf("%q fits: %t, and the problem is %+v", text, f.fits(text), p)
		}
	}
	for _, text := range texts("\"\\a ~\x7fé", 4) {
		if strings.Trim(text, " ") == text { // no server sees a blank around a value
			try(text)
		}
	}
	for _, n := range []int{254, 255, 256} {
		long := strings.Repeat("k", n)
		for _, text := range []string{long, `"` + long + `"`, `"` + long, `"` + strings.Repeat(`\"`, n) + `"`, long[:n-2] + " k", `" ` + long[:n-1] + `"`} {
			if n == 256 && strings.HasPrefix(text, `" `) {
				continue // no pattern counts blanks that others must follow
			}
			try(text)
		}
	}
}

func TestOpenAPIDate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f := formAt(t, "paths", "/trips", "get", "parameters", "date", "schema")
	for _, day := range []string{"2024-02-01", "24-02-01", "2024-2-1", "20240201", "2024-02-01 "} {
		for _, clock := range []string{"", "T", "T10", "T10:00", "t10:00", " 10:00", "T10:00:00", "T10:00:00.123456789", "T10:00:00.", "T10:00:0", "T1000",
			"T9:00", "T9:00:00", "T10:0", "T10:0:00", "T10:00:00,5", "T10:00:00,", "T 9:00"} {
			for _, offset := range []string{"", "Z", "z", "+01:00", "-01:00", "+0100", "+01", "UTC", "+"} {
				text := day + clock + offset
				a := w.get(strings.Replace(search, "2024-02-01", url.QueryEscape(text), 1))
				// Blanks around it, which no description needs to tell of, are dropped.
				if taken := a.status == 200; taken != f.fits(strings.TrimSpace(text)) {
					t.Errorf("%q fits: %t, and the answer is %d: %s", text, f.fits(text), a.status, a.body)
				}
			}
		}
	}
}

func TestOpenAPICardCode(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.book()
	f := formAt(t, "components", "schemas", "Card", "properties", "cvc")
	try := func(value string) (taken bool) {
		t.Helper()
		text := strings.Replace(payment("1", goodCard), `"123"`, value, 1)
		p := w.post("/bookings/"+b.ID+"/payment", text).want(400) // the amount is not what is due
		return strings.HasSuffix(p.problem(400, slugOf(p)).Type, "/amount-mismatch")
	}
	for _, text := range append(texts("0- ", 5), texts("7x", 5)...) {
		quoted, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		if taken := try(string(quoted)); taken != f.fits(text) {
			t.Errorf("%q fits: %t, and is taken: %t", text, f.fits(text), taken)
		}
	}
	for number, want := range map[string]bool{"123": true, "1234": true, "12": false, "12345": false, "null": false, "true": false} {
		if try(number) != want {
			t.Errorf("%s is taken: %t", number, !want)
		}
	}
}

// A flag is true, false or not there, as the description says.
func TestOpenAPIFlags(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	trip := w.trip().ID
	for _, name := range []string{"has_bicycle", "has_dog"} {
		for value, status := range map[string]int{"false": 201, "null": 400, `"false"`: 400, "0": 400} {
			text := fmt.Sprintf(`{"trip_id":%q,"passenger_name":"A",%q:%s}`, trip, name, value)
			if a := w.post("/bookings", text).want(status); status == 400 && a.problem(400, "invalid-request").names() != "/"+name {
				t.Errorf("%s: %s", text, a.body)
			}
		}
	}
}

// The description uses what common generators of clients know: each schema has one
// type, or is of those that it names; bounds are inclusive; what is one of several
// has a name, and so has each of them. A body has no defaults: openapi-typescript takes
// a member with one for required.
func TestOpenAPIForGenerators(t *testing.T) {
	t.Parallel()
	var doc map[string]any
	newWorld(t).serve("GET", "/openapi.json").want(200).into(&doc)
	seen := 0
	var walk func(at string, part any)
	schema := func(at string, s map[string]any) {
		seen++
		if _, ok := s["$ref"]; ok {
			return
		}
		kind, typed := s["type"].(string)
		_, oneOf := s["oneOf"]
		if !typed && !oneOf {
			t.Errorf("%s has the type %v", at, s["type"])
		}
		if named := strings.Count(at, "/") == 4 && strings.HasPrefix(at, "/components/schemas/"); oneOf && !named {
			t.Errorf("%s is one of several, and has no name", at)
		}
		if _, ok := s["default"]; ok && !strings.Contains(at, "/parameters/") {
			t.Errorf("%s has a default: say it in words", at)
		}
		// Generators put patterns of requests in code, in quotation marks or between slashes.
		if p, ok := s["pattern"].(string); ok && !strings.Contains(at, "/headers/") && (strings.Contains(p, `"`) || p[0] == '/') {
			t.Errorf("%s has the pattern %s: write \\x22, and what is before the slash", at, p)
		}
		if kind == "number" && s["format"] != "double" {
			t.Errorf("%s: a generator makes half of a number of it", at)
		}
		for _, name := range []string{"exclusiveMinimum", "exclusiveMaximum", "anyOf", "not", "if", "patternProperties", "prefixItems", "contains", "dependentRequired", "unevaluatedProperties", "nullable", "writeOnly"} {
			if _, ok := s[name]; ok {
				t.Errorf("%s has %s", at, name)
			}
		}
		options, _ := s["oneOf"].([]any)
		for _, option := range options {
			if o, _ := option.(map[string]any); o["$ref"] == nil {
				t.Errorf("%s is one of %v, which has no name", at, option)
			}
		}
		properties, _ := s["properties"].(map[string]any)
		for name, p := range properties {
			walk(at+"."+name+"/schema", p)
		}
		if items, ok := s["items"]; ok {
			walk(at+"/items/schema", items)
		}
	}
	walk = func(at string, part any) {
		switch part := part.(type) {
		case []any:
			for i, v := range part {
				walk(fmt.Sprintf("%s/%d", at, i), v)
			}
		case map[string]any:
			if strings.HasSuffix(at, "/schema") {
				schema(at, part)
				return
			}
			for _, name := range slices.Sorted(maps.Keys(part)) {
				if name == "example" || name == "examples" {
					continue
				}
				if at == "/components/schemas" {
					walk(at+"/"+name+"/schema", part[name])
					continue
				}
				walk(at+"/"+name, part[name])
			}
		}
	}
	walk("", doc)
	if seen < 200 {
		t.Errorf("only %d schemas were seen", seen)
	}
}

// oapi-codegen keeps those components alone that a path leads to: what is named by
// webhooks and by nothing else would be missing from the code.
func TestOpenAPIComponentsOfPaths(t *testing.T) {
	t.Parallel()
	var doc map[string]any
	newWorld(t).serve("GET", "/openapi.json").want(200).into(&doc)
	e := &examples{t: t, doc: doc}
	reached := map[string]bool{}
	var walk func(part any)
	walk = func(part any) {
		switch part := part.(type) {
		case []any:
			for _, v := range part {
				walk(v)
			}
		case map[string]any:
			if ref, ok := part["$ref"].(string); ok && !reached[ref] {
				reached[ref] = true
				walk(e.resolve(part))
			}
			for _, v := range part {
				walk(v)
			}
		}
	}
	walk(doc["paths"])
	for _, kind := range []string{"schemas", "parameters", "headers", "responses"} {
		for name := range doc["components"].(map[string]any)[kind].(map[string]any) {
			if ref := "#/components/" + kind + "/" + name; !reached[ref] {
				t.Errorf("no path leads to %s", ref)
			}
		}
	}
}
