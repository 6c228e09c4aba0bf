package httpserver_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// A drawer draws requests by a blueprint, the same ones for the same seed and answers.
// What it learns from answers makes that requests are about what there is.
type drawer struct {
	*blueprint
	*rand.Rand
	known map[string][]string // IDs by the collections they are in and by the paths that links lead to, deliveries by webhooks, entity tags, tickets
	price map[string]price    // by trips, and bookings
}

type price struct {
	amount   json.Number
	currency string
}

// A drawn is a request.
type drawn struct {
	plan   *plan
	method string
	path   map[string]string
	query  [][2]string
	header http.Header
	value  any    // the body, if it is JSON
	body   []byte // the body
	exact  bool   // whether there is no reason to find fault with it
	how    []string
}

func newDrawer(b *blueprint, seed uint64) *drawer {
	return &drawer{b, rand.New(rand.NewPCG(seed, 18)), map[string][]string{}, map[string]price{}}
}

// one is one of some, the same again for the same seed.
func one[T any](d *drawer, of []T) T { return of[d.IntN(len(of))] }

func (d *drawer) chance(percent int) bool { return d.IntN(100) < percent }

// request draws one that is as described, and changes most of them.
func (d *drawer) request() *drawn {
	r := &drawn{plan: one(d, d.operations), path: map[string]string{}, header: http.Header{}, exact: true}
	if len(d.known["tickets"]) > 0 && d.chance(5) { // they are seldom, and used seldom
		r.plan = d.operations[slices.IndexFunc(d.operations, func(p *plan) bool { return p.id == "verify-ticket" })]
	}
	r.method = r.plan.method
	if r.plan.scopes {
		r.header.Set("Authorization", "Bearer "+one(d, []string{"anna-rw", "anna-rw", "anna-rw", "berta-rw"}))
	}
	for _, p := range r.plan.parameters {
		if p.required || d.chance(30) {
			d.parameter(r, p)
		}
	}
	if d.chance(40) {
		r.header.Set("Accept", one(d, append(d.forms(r.plan), "*/*")))
	}
	if r.plan.id == "get-booking-ticket" && d.chance(30) { // what is verified
		r.header.Set("Accept", "application/octet-stream")
	}
	if len(r.plan.bodies) > 0 {
		d.body(r)
	}
	if d.chance(60) {
		for range 1 + d.IntN(3) {
			d.change(r)
		}
	}
	return r
}

// forms are the media types of what an operation answers.
func (d *drawer) forms(p *plan) (forms []string) {
	for _, status := range slices.Sorted(maps.Keys(p.answers)) {
		if status < "300" || len(forms) == 0 {
			forms = slices.AppendSeq(forms, maps.Keys(d.at(p.answers[status]+"/content")))
		}
	}
	slices.Sort(forms)
	return forms
}

// collections are where the IDs are from that parameters and members name.
var collections = map[string]string{
	"stationId": "stations", "origin": "stations", "destination": "stations", "tripId": "trips", "trip_id": "trips",
	"bookingId": "bookings", "webhookId": "webhooks", "deliveryId": "deliveries",
}

func (d *drawer) parameter(r *drawn, p parameter) {
	var text string
	known := d.known[collections[p.name]]
	if led := d.known[r.plan.path]; p.in == "path" && len(led) > 0 && d.chance(70) {
		known = led
	}
	if p.name == "deliveryId" {
		known = d.known["deliveries of "+r.path["webhookId"]]
	}
	if strings.HasPrefix(p.name, "If-") {
		known = d.known["tags"]
	}
	switch {
	case len(known) > 0 && d.chance(90):
		text = one(d, known)
	case len(p.examples) > 0 && d.chance(80):
		text = fmt.Sprint(one(d, p.examples))
	default:
		value, exact := d.draw(p.at)
		text = fmt.Sprint(value)
		r.exact = r.exact && exact
	}
	switch {
	case p.name == "after", // a cursor is of one search
		p.name == "leg" && text != "1",                                // a ticket may not have so many
		p.name == "destination" && r.query[len(r.query)-1][1] == text: // it is the origin
		r.exact = false
	}
	switch p.in {
	case "path":
		r.path[p.name] = text
	case "query":
		r.query = append(r.query, [2]string{p.name, text})
	case "header":
		r.header.Set(p.name, text)
	}
}

// draw draws a value by the schema at a pointer. It is exact unless there may be more to
// it than the schema says.
func (d *drawer) draw(pointer string) (value any, exact bool) {
	pointer = d.follow(pointer)
	s := d.at(pointer)
	if v, ok := s["const"]; ok {
		return v, true
	}
	if list, ok := s["enum"].([]any); ok {
		return one(d, list), true
	}
	if list, ok := s["oneOf"].([]any); ok {
		return d.draw(fmt.Sprintf("%s/oneOf/%d", pointer, d.IntN(len(list))))
	}
	if list, ok := s["examples"].([]any); ok && d.chance(80) {
		return one(d, list), true
	}
	switch s["type"] {
	case "boolean":
		return d.chance(50), true
	case "integer", "number":
		return d.number(s), s["type"] == "integer"
	case "array":
		list := []any{}
		exact = true
		for range 1 + d.IntN(3) {
			item, good := d.draw(pointer + "/items")
			list, exact = append(list, item), exact && good
		}
		return list, exact
	case "object":
		return d.object(pointer, s)
	}
	if s["format"] == "uuid" {
		return uuidOf(d), false // of nothing
	}
	if p, ok := s["pattern"].(string); ok {
		return rapid.StringMatching(p).Example(d.Int()), false
	}
	return one(d, []string{"berlin", "Anna Example", "Zoë", "x", "Gare du Nord"}), true
}

func uuidOf(d *drawer) string {
	return rapid.StringMatching("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}").Example(d.Int())
}

func (d *drawer) number(s map[string]any) any {
	bound := func(name string, otherwise int64) int64 {
		if n, ok := s[name].(json.Number); ok {
			if f, err := n.Float64(); err == nil {
				return int64(f)
			}
		}
		return otherwise
	}
	low := bound("minimum", 0)
	high := bound("maximum", low+1000)
	if s["type"] == "number" {
		return json.Number(fmt.Sprintf("%d.%02d", low+d.Int64N(1000), d.IntN(100)))
	}
	if d.chance(50) {
		high = min(high, low+10)
	}
	return json.Number(fmt.Sprint(low + d.Int64N(high-low+1)))
}

func (d *drawer) object(pointer string, s map[string]any) (any, bool) {
	properties, _ := s["properties"].(map[string]any)
	required, _ := s["required"].([]any)
	o, exact := map[string]any{}, true
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if slices.Contains(required, any(name)) || d.chance(50) {
			value, good := d.draw(pointer + "/properties/" + escaped(name))
			o[name], exact = value, exact && good
		}
	}
	return o, exact
}

// body draws a body: an example, or one by the schema, about what there is.
func (d *drawer) body(r *drawn) {
	mediaType := one(d, slices.Sorted(maps.Keys(r.plan.bodies)))
	at := r.plan.bodies[mediaType]
	r.header.Set("Content-Type", mediaType)
	if mediaType == "application/octet-stream" {
		r.body, r.exact = []byte(rapid.StringN(0, 300, -1).Example(d.Int())), false
		if known := d.known["tickets"]; len(known) > 0 && d.chance(70) {
			r.body = []byte(one(d, known))
		}
		return
	}
	shown, _ := d.get(at + "/examples").(map[string]any)
	if len(shown) > 0 && d.chance(60) {
		r.value = d.resolve(shown[one(d, slices.Sorted(maps.Keys(shown)))])["value"]
		text, _ := json.Marshal(r.value)
		r.value = decoded(text)
	} else {
		var exact bool
		r.value, exact = d.draw(at + "/schema")
		r.exact = r.exact && exact && r.plan.id != "create-booking-payment" // numbers of cards have a check digit
	}
	o, _ := r.value.(map[string]any)
	if known := d.known["trips"]; o["trip_id"] != nil && len(known) > 0 {
		o["trip_id"] = one(d, known)
	}
	if due, ok := d.price[r.path["bookingId"]]; ok && o["amount"] != nil && d.chance(80) {
		o["amount"], o["currency"] = due.amount, due.currency
	}
	r.body = d.written(r, mediaType)
}

// decoded is JSON as the generator has it, with numbers as they are written.
func decoded(text []byte) (value any) {
	dec := json.NewDecoder(strings.NewReader(string(text)))
	dec.UseNumber()
	_ = dec.Decode(&value)
	return value
}

// written is the body in the form of a media type.
func (d *drawer) written(r *drawn, mediaType string) []byte {
	at, ok := r.plan.bodies[mediaType]
	if !ok || !strings.HasSuffix(mediaType, "xml") {
		text, _ := json.Marshal(r.value)
		return text
	}
	o, _ := r.value.(map[string]any)
	root := d.at(d.follow(at + "/schema"))["xml"].(map[string]any)["name"].(string)
	var b strings.Builder
	b.WriteString("<" + root + ">")
	for _, name := range slices.Sorted(maps.Keys(o)) {
		fmt.Fprintf(&b, "<%s>%s</%[1]s>", name, xmlText.Replace(fmt.Sprint(o[name])))
	}
	b.WriteString("</" + root + ">")
	return []byte(b.String())
}

var xmlText = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "\r", "&#13;")

// target is the address of a request.
func (r *drawn) target() string {
	target := r.plan.path
	for name, value := range r.path {
		target = strings.Replace(target, "{"+name+"}", url.PathEscape(value), 1)
	}
	for i, pair := range r.query {
		target += string("?&"[min(i, 1)]) + url.QueryEscape(pair[0]) + "=" + url.QueryEscape(pair[1])
	}
	return target
}

// at is the request as a server gets it.
func (r *drawn) request() *http.Request {
	q := httptest.NewRequest(r.method, r.target(), strings.NewReader(string(r.body)))
	q.Header = r.header.Clone()
	return q
}

func (r *drawn) String() string {
	body := string(r.body)
	if len(body) > 1000 {
		body = body[:1000] + "…"
	}
	return fmt.Sprintf("%s %s (%s %q)\n%v\n%q", r.method, r.target(), r.plan.id, r.how, r.header, body)
}
