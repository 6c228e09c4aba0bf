package httpserver

import (
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/fair"
)

// A described is what the description differs by from one answer to the next.
type described struct {
	form form   // asJSON or asYAML
	base string // begins its links
	day  traintravel.Date
	trip string // of its examples
}

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

// asYAML is the other form of the description.
const asYAML = asXML

var descriptionTypes = [2][]string{asJSON: {"application/json"}, asYAML: {"application/yaml"}} // RFC 9512

func (s *Server) openAPIYAML(x *exchange) error { return x.description(asYAML) }

func (s *Server) openAPIJSON(x *exchange) error { return x.description(asJSON) }

// description answers with the description of this server, at the base of this
// answer, with examples that can be tried out now.
func (x *exchange) description(f form) error {
	day := exampleDay(x.s.now())
	d := described{f, x.base, day, x.exampleTrip(day)}
	if d.base == x.s.base.text {
		t, err := x.s.descriptions.atOwn(d, &x.s.openAPI)
		if err != nil {
			return err
		}
		return x.sendText(t)
	}
	body, ok := x.s.descriptions.others.Get(d)
	if !ok {
		var err error
		if body, err = x.s.openAPI.write(d); err != nil {
			return err
		}
		x.s.descriptions.others.Put(x.from, d, body, int64(len(body)))
	}
	x.out = append(x.out[:0], body...) // it may be dropped while it is sent: so it counts as the caller's
	return x.sendTagged(descriptionTypes[f])
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
