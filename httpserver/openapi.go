package httpserver

import (
	"bytes"
	_ "embed" // for the description
	"net/http"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"
)

// openAPI describes all operations of the server, by OpenAPI 3.1.
//
//go:embed openapi.yaml
var openAPI string

// openAPIBase is what stands in openAPI for the base of an answer. What a base
// is made of needs no escaping, in YAML as in JSON.
const openAPIBase = "http://127.0.0.1:8080"

func (s *Server) openAPIYAML(x *exchange) error {
	return x.description(openAPI, "application/yaml") // RFC 9512
}

func (s *Server) openAPIJSON(x *exchange) error {
	text, err := s.openAPI.json()
	if err != nil {
		return err
	}
	return x.description(text, "application/json")
}

// description answers with the description of the server at the base of this
// answer.
func (x *exchange) description(text, contentType string) error {
	return send(x, []string{contentType}, strings.ReplaceAll(text, openAPIBase, x.base))
}

// An openAPIText is openAPI as JSON, with its members in the same order. It is
// made when it is asked for first.
type openAPIText struct {
	once sync.Once
	text string
	err  error
}

func (o *openAPIText) json() (string, error) {
	o.once.Do(func() {
		var doc yaml.Node
		if o.err = yaml.Unmarshal([]byte(openAPI), &doc); o.err == nil {
			var b bytes.Buffer
			o.err = writeJSON(jsontext.NewEncoder(&b), &doc)
			o.text = strings.TrimSpace(b.String())
		}
	})
	return o.text, o.err
}

// writeJSON writes a node of YAML, which is a text, a number, true, false or
// null, or consists of such, without anchors.
func writeJSON(e *jsontext.Encoder, n *yaml.Node) error {
	begin, end := jsontext.BeginObject, jsontext.EndObject
	switch n.Kind {
	case yaml.DocumentNode:
		return writeJSON(e, n.Content[0])
	case yaml.MappingNode:
	case yaml.SequenceNode:
		begin, end = jsontext.BeginArray, jsontext.EndArray
	default:
		if n.ShortTag() == "!!str" {
			return e.WriteToken(jsontext.String(n.Value))
		}
		return e.WriteValue(jsontext.Value(n.Value))
	}
	if err := e.WriteToken(begin); err != nil {
		return err
	}
	for _, c := range n.Content {
		if err := writeJSON(e, c); err != nil {
			return err
		}
	}
	return e.WriteToken(end)
}

// send answers with what is the same whoever asks. It is copied: the buffer of
// an answer is used again.
func send[T string | []byte](x *exchange, contentType []string, content T) error {
	x.out = append(x.out[:0], content...)
	x.write(http.StatusOK, contentType, x.route.cache)
	return nil
}
