package httpserver

import (
	"bytes"
	_ "embed" // for the description
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
	"go.yaml.in/yaml/v3"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/fair"
)

// openAPI describes all operations of the server, by OpenAPI 3.1.
//
//go:embed openapi.yaml
var openAPI string

// What stands in openAPI for what differs from server to server, and from day to
// day. It is written alike in YAML and in JSON.
const (
	openAPIBase   = "http://127.0.0.1:8080" // what a base is made of needs no escaping
	openAPITokens = `"An access token that you have already."`
	openAPIDay    = "2027-02-01" // of the examples
	openAPITrip   = "09a94001-0002-82a0-8000-000000000000"
)

// The stations of the examples, between which openAPITrip goes.
var (
	exampleOrigin      = uuid.MustParse("efdbb9d1-02c2-4bc3-afb7-6788d8782b1e")
	exampleDestination = uuid.MustParse("b2e783e1-c824-4d63-b37a-d8d698862f1d")
)

// exampleDay is a day on which the trip of the examples can be booked: the first of
// February to come, when all that they say of it is so, or if that is a year ahead
// the day after now.
func exampleDay(now time.Time) traintravel.Date {
	const year = 364 // days, for which places are sold by default
	today := traintravel.DateOf(now.UTC())
	for _, y := range []int{now.UTC().Year(), now.UTC().Year() + 1} {
		if d := traintravel.NewDate(y, time.February, 1); d > today && d <= today+year {
			return d
		}
	}
	return today + 1
}

// An openAPIText is openAPI as a server has it.
type openAPIText struct {
	tokens string // what it says of them, if it is not the usual
	signIn bool   // there is an authorization server beside it
	once   sync.Once
	text   string // as JSON, with its members in the same order; made when it is asked for first
	err    error
}

// yaml is the text without the authorization server if there is none.
func (o *openAPIText) yaml() string {
	if o.signIn {
		return openAPI
	}
	before, rest, _ := strings.Cut(openAPI, "    OAuth2:\n")
	_, after, _ := strings.Cut(rest, "    bearer:\n")
	return strings.NewReplacer("{ OAuth2: [read] }, ", "", "{ OAuth2: [write] }, ", "", "{ OAuth2: [read, write] }, ", "").Replace(before + "    bearer:\n" + after)
}

func (o *openAPIText) json() (string, error) {
	o.once.Do(func() {
		var doc yaml.Node
		if o.err = yaml.Unmarshal([]byte(o.yaml()), &doc); o.err == nil {
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

// A described is what the description differs by from one answer to the next.
type described struct {
	form form   // asJSON or asYAML
	base string // begins its links
	day  traintravel.Date
	trip string // of its examples
}

// write writes the description as it differs from the usual.
func (o *openAPIText) write(d described) ([]byte, error) {
	text := o.yaml()
	if d.form == asJSON {
		var err error
		if text, err = o.json(); err != nil {
			return nil, err
		}
	}
	replace := []string{openAPIBase, d.base, openAPIDay, d.day.String(), openAPITrip, d.trip}
	if o.tokens != "" {
		quoted, err := jsontext.AppendQuote(nil, o.tokens)
		if err != nil {
			return nil, err
		}
		replace = append(replace, openAPITokens, string(quoted))
	}
	return []byte(strings.NewReplacer(replace...).Replace(text)), nil
}

// asYAML is the other form of the description.
const asYAML = asXML

// descriptions keeps the description as it was asked for. That at the server's own base
// is made once, and again when its examples change. A trusted proxy may hand on any name
// of the server that a client invents, so of others a few are kept.
type descriptions struct {
	mu  sync.Mutex
	own [2]ownDescription // by form; at the server's own base

	others *fair.Cache[described, []byte]
}

type ownDescription struct {
	of   described
	text *text
}

// How many bytes of descriptions at other bases than the server's own are kept, for one
// address and in all.
const maxDescriptions, maxAllDescriptions = 1 << 20, 8 << 20

func newDescriptions() descriptions {
	return descriptions{others: fair.NewCache[described, []byte](maxDescriptions, maxAllDescriptions)}
}

// atOwn returns the description at the server's own base.
func (all *descriptions) atOwn(d described, from *openAPIText) (*text, error) {
	all.mu.Lock()
	defer all.mu.Unlock()
	own := &all.own[d.form]
	if own.text != nil && own.of == d {
		return own.text, nil
	}
	body, err := from.write(d)
	if err != nil {
		return nil, err
	}
	t := textOf(descriptionTypes[d.form], nil, body)
	if err := t.zip(); err != nil {
		return nil, err
	}
	*own = ownDescription{d, t}
	return t, nil
}

var descriptionTypes = [2][]string{asJSON: {"application/json"}, asYAML: {"application/yaml"}} // RFC 9512
