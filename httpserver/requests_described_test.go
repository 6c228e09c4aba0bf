package httpserver_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pb33f/jsonschema/v6"
)

// A blueprint is what the generator of requests knows: the served description, and no
// code of the server.
type blueprint struct {
	*examples
	operations []*plan
	compiled   map[string]*jsonschema.Schema // by their pointers
}

// A plan is how to ask for an operation, and what its answers may be.
type plan struct {
	id, method, path string
	scopes           bool // whether a token is needed
	parameters       []parameter
	bodies           map[string]string // pointers to media types, by their names
	answers          map[string]string // pointers to responses, by statuses
}

type parameter struct {
	name, in, at string // at is the pointer of its schema
	required     bool
	examples     []any
}

func newBlueprint(t *testing.T, document string) *blueprint {
	t.Helper()
	b := &blueprint{examples: newExamples(t, document), compiled: map[string]*jsonschema.Schema{}}
	paths := b.at("/paths")
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		at := "/paths/" + escaped(path)
		item := b.at(at)
		for _, method := range slices.Sorted(maps.Keys(item)) {
			if method == "parameters" {
				continue
			}
			o, _ := item[method].(map[string]any)
			security, _ := o["security"].([]any)
			p := &plan{id: o["operationId"].(string), method: strings.ToUpper(method), path: path, scopes: len(security) > 0,
				bodies: map[string]string{}, answers: map[string]string{}}
			p.parameters = append(b.parameters(at+"/parameters"), b.parameters(at+"/"+method+"/parameters")...)
			for mediaType := range b.at(at + "/" + method + "/requestBody/content") {
				p.bodies[mediaType] = at + "/" + method + "/requestBody/content/" + escaped(mediaType)
			}
			for status := range b.at(at + "/" + method + "/responses") {
				p.answers[status] = b.follow(at + "/" + method + "/responses/" + status)
			}
			b.operations = append(b.operations, p)
		}
	}
	return b
}

func escaped(name string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(name) }

// get is the part of the document at a pointer, nil if there is none.
func (b *blueprint) get(pointer string) any {
	part := b.doc
	for name := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		name = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
		switch p := part.(type) {
		case map[string]any:
			part = p[name]
		case []any:
			i, _ := strconv.Atoi(name)
			part = p[i]
		default:
			return nil
		}
	}
	return part
}

func (b *blueprint) at(pointer string) map[string]any {
	o, _ := b.get(pointer).(map[string]any)
	return o
}

// follow is where a reference at a pointer leads to, or the pointer.
func (b *blueprint) follow(pointer string) string {
	if ref, ok := b.at(pointer)["$ref"].(string); ok {
		return b.follow(strings.TrimPrefix(ref, "#"))
	}
	return pointer
}

func (b *blueprint) parameters(pointer string) (all []parameter) {
	list, _ := b.get(pointer).([]any)
	for i := range list {
		at := b.follow(pointer + "/" + strconv.Itoa(i))
		o := b.at(at)
		p := parameter{name: o["name"].(string), in: o["in"].(string), at: b.follow(at + "/schema")}
		p.required, _ = o["required"].(bool)
		if one, ok := o["example"]; ok {
			p.examples = append(p.examples, one)
		}
		several, _ := o["examples"].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(several)) {
			p.examples = append(p.examples, b.resolve(several[name])["value"])
		}
		all = append(all, p)
	}
	return all
}

// fits says what is wrong with a value by the schema at a pointer, "" for nothing.
func (b *blueprint) fits(pointer string, value any) string {
	s := b.compiled[pointer]
	if s == nil {
		var err error
		if s, err = b.schemas.Compile(openAPIName + "#" + strings.NewReplacer("{", "%7B", "}", "%7D").Replace(pointer)); err != nil {
			b.t.Fatal(err)
		}
		b.compiled[pointer] = s
	}
	if err := s.Validate(value); err != nil {
		return err.Error()
	}
	return ""
}

// fitsText does so for a text of a header, a path or a query, which may stand for a number
// or a flag.
func (b *blueprint) fitsText(pointer, text string) string {
	var value any = text
	if kind := b.at(pointer)["type"]; kind == "integer" || kind == "boolean" {
		if err := json.Unmarshal([]byte(text), &value); err != nil {
			return "is no " + kind.(string)
		}
	}
	return b.fits(pointer, value)
}

// fault says how an answer is not as described, "" if it is.
func (b *blueprint) fault(p *plan, a answer) string {
	at, ok := p.answers[strconv.Itoa(a.status)]
	if !ok {
		return "the status is not described"
	}
	if why := b.headerFault(at, a.header); why != "" {
		return why
	}
	mediaType, _, _ := strings.Cut(a.header.Get("Content-Type"), ";")
	content := b.at(at + "/content")
	if content == nil || a.head {
		if a.body != "" || content == nil && mediaType != "" {
			return "there is a body"
		}
		return ""
	}
	if content[mediaType] == nil {
		return "the media type is not described"
	}
	if strings.HasSuffix(mediaType, "xml") || strings.HasSuffix(mediaType, "json") {
		if why := a.fault(); why != "" {
			return why
		}
	}
	if strings.HasSuffix(mediaType, "json") {
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(a.body))
		if err != nil {
			return err.Error()
		}
		return b.fits(at+"/content/"+escaped(mediaType)+"/schema", value)
	}
	if a.body == "" {
		return "the body is empty"
	}
	return ""
}

func (b *blueprint) headerFault(at string, got http.Header) string {
	headers := b.at(at + "/headers")
	byName := map[string]string{}
	for name := range headers {
		byName[http.CanonicalHeaderKey(name)] = b.follow(at + "/headers/" + name)
	}
	for name, values := range got {
		if slices.Contains(undescribed, name) || strings.HasPrefix(name, "Access-Control-") {
			continue
		}
		pointer, ok := byName[name]
		if !ok {
			return "the header " + name + " is not described"
		}
		if len(values) != 1 {
			return "the header " + name + " is there more than once"
		}
		if why := b.fitsText(b.follow(pointer+"/schema"), values[0]); why != "" {
			return "the header " + name + ": " + why
		}
	}
	for name, pointer := range byName {
		if required, _ := b.at(pointer)["required"].(bool); required && got[name] == nil {
			return "the header " + name + " is missing"
		}
	}
	return ""
}
