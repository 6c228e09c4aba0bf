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

// exampleTrip is the ID of the first trip of the examples' day, or any if the
// timetable has none.
func (x *exchange) exampleTrip(day traintravel.Date) string {
	loc, err := x.s.zone(x.ctx(), "origin", exampleOrigin)
	if err != nil {
		return openAPITrip
	}
	found, err := x.s.service.SearchTrips(x.ctx(), traintravel.TripQuery{
		Origin: exampleOrigin, Destination: exampleDestination, Depart: day.Start(loc), Direct: true, Page: traintravel.Page{Limit: 1},
	})
	if err != nil || len(found.Items) == 0 {
		return openAPITrip
	}
	return found.Items[0].ID.String()
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
