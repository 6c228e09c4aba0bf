package httpserver_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/pb33f/jsonschema/v6"
)

// Every example is of the schema that it illustrates, and every JSON body has
// an example.
func TestOpenAPIExamples(t *testing.T) {
	t.Parallel()
	e := newExamples(t, newWorld(t).serve("GET", "/openapi.json").want(200).body)
	e.walk("", e.doc)
	if e.checked < 80 {
		t.Errorf("only %d examples were found", e.checked)
	}
}

const openAPIName = "https://trains.example/api/openapi.json"

type examples struct {
	t       *testing.T
	doc     any
	schemas *jsonschema.Compiler
	checked int
}

// newExamples has the schemas of a description.
func newExamples(t *testing.T, description string) *examples {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(description))
	if err != nil {
		t.Fatal(err)
	}
	e := &examples{t: t, doc: doc, schemas: jsonschema.NewCompiler()}
	e.schemas.AssertFormat()
	if err := e.schemas.AddResource(openAPIName, doc); err != nil {
		t.Fatal(err)
	}
	return e
}

// walk looks at a part of the document. at is its pointer.
func (e *examples) walk(at string, part any) {
	switch part := part.(type) {
	case []any:
		for i, v := range part {
			e.walk(at+"/"+strconv.Itoa(i), v)
		}
	case map[string]any:
		e.object(at, part)
		for name, v := range part {
			if name != "value" && name != "example" {
				e.walk(at+"/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(name), v)
			}
		}
	}
}

// object checks the examples of what is a schema, or has one.
func (e *examples) object(at string, o map[string]any) {
	_, has := o["schema"]
	if one, ok := o["example"]; ok && has {
		e.check(at+"/schema", one)
	}
	switch several := o["examples"].(type) {
	case []any:
		for _, one := range several {
			e.check(at, one)
		}
	case map[string]any:
		for _, one := range several {
			if has {
				e.check(at+"/schema", e.resolve(one)["value"])
			}
		}
	default:
		if kind := at[strings.LastIndexByte(at, '/')+1:]; has && strings.Contains(at, "/content/") && strings.HasSuffix(kind, "json") &&
			o["example"] == nil && !strings.Contains(at, "openapi.json") {
			e.t.Errorf("%s has no example", at)
		}
	}
}

func (e *examples) resolve(part any) map[string]any {
	o, _ := part.(map[string]any)
	ref, ok := o["$ref"].(string)
	if !ok {
		return o
	}
	found := e.doc
	for name := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		m, _ := found.(map[string]any)
		found = m[name]
	}
	o, _ = found.(map[string]any)
	return o
}

func (e *examples) check(schema string, example any) {
	e.checked++
	s, err := e.schemas.Compile(openAPIName + "#" + strings.ReplaceAll(strings.ReplaceAll(schema, "{", "%7B"), "}", "%7D"))
	if err == nil {
		err = s.Validate(example)
	}
	if err != nil {
		e.t.Errorf("%s: an example does not fit: %v\n%v", schema, err, example)
	}
}
