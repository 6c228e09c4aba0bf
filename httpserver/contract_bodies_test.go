package httpserver_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
	"github.com/pb33f/libopenapi-validator/config"
	highbase "github.com/pb33f/libopenapi/datamodel/high/base"
)

// sent notes in which form a body was taken, and which members it had.
func (k asker) sent(id string, op operation, target string, parts []part) {
	if op.RequestBody == nil {
		return
	}
	r := k.request(base, op.method, target, parts)
	mediaType := r.Header.Get("Content-Type")
	k.met[id+" takes "+mediaType] = true
	if content := op.RequestBody.Content.GetOrZero(mediaType); content != nil && strings.HasSuffix(mediaType, "json") {
		var v any
		if err := json.NewDecoder(r.Body).Decode(&v); err != nil {
			k.t.Fatal(err)
		}
		k.members(content.Schema, v, id)
	}
}

// members notes which members an answer may have, and which it has. A schema
// that has a name is the same one wherever it stands.
func (c *contract) members(p *highbase.SchemaProxy, v any, at string) {
	if ref := p.GetReference(); ref != "" {
		at = ref[strings.LastIndexByte(ref, '/')+1:]
	}
	s := p.Schema()
	if list, ok := v.([]any); ok && s.Items != nil && s.Items.IsA() {
		for _, one := range list {
			c.members(s.Items.A, one, at)
		}
		return
	}
	for _, more := range slices.Concat(s.AllOf, s.OneOf) {
		c.members(more, v, at)
	}
	object, ok := v.(map[string]any)
	if !ok || s.Properties == nil {
		return
	}
	for name, member := range s.Properties.FromOldest() {
		full := at + "." + name
		c.described[full] = true
		if value, ok := object[name]; ok {
			c.met[full] = true
			c.members(member, value, full)
		}
	}
}

// bodies sends what each operation takes in each form that is described, and in
// forms that are not.
func (c *contract) bodies(t *testing.T) {
	w := newWorld(t)
	k := c.asker(t, w)
	trip := w.get(search + "&bicycles=true&dogs=true").collection().Data[0]
	booking := c.operations["create-booking"].RequestBody.Content
	root, _ := namesInXML(booking.GetOrZero("application/xml").Schema.Schema())
	for i, flags := range []string{"", `,"has_bicycle":true,"has_dog":false`, `,"has_bicycle":false,"has_dog":true`, `,"has_bicycle":true,"has_dog":true`} {
		text := fmt.Sprintf(`{"trip_id":%q,"passenger_name":"Zoë & <Anna> \"李\""%s}`, trip.ID, flags)
		fromJSON := k.ask(201, "create-booking", "/bookings", writing, body(text), key(fmt.Sprint("json ", i)))
		inXML := xmlOf(t, text, root, "")
		fromXML := k.ask(201, "create-booking", "/bookings", writing, xmlBody(inXML), key(fmt.Sprint("xml ", i)))
		same := func(a answer) string {
			return strings.NewReplacer(a.resource().ID, "ID", a.resource().Reference, "REFERENCE").Replace(a.body)
		}
		if same(fromJSON) != same(fromXML) {
			t.Errorf("%s\nmade\n%s\nand in XML\n%s", text, fromJSON.body, fromXML.body)
		}
		replayed := k.ask(201, "create-booking", "/bookings", writing, xmlBody(inXML), key(fmt.Sprint("json ", i)))
		if replayed.header.Get("Idempotency-Replayed") != "true" || replayed.body != fromJSON.body {
			t.Errorf("%s in XML is not the same request: %v %s", text, replayed.header, replayed.body)
		}
	}
	for _, bad := range []string{"", "<booking/>", "<booking><trip_id>x</trip_id></booking>", "<trip/>", "{}"} {
		k.ask(400, "create-booking", "/bookings", writing, xmlBody(bad))
	}

	at := "/bookings/" + w.book().ID + "/payment"
	for id, o := range map[string]struct{ target, text string }{
		"create-booking": {"/bookings", newBooking(trip.ID)}, "create-booking-payment": {at, payment(trip.Price, goodCard)},
	} {
		for _, form := range []string{"application/json", "application/xml", "application/problem+json", "application/x-www-form-urlencoded", "multipart/form-data", "text/plain", ""} {
			if c.operations[id].RequestBody.Content.GetOrZero(form) != nil {
				continue
			}
			text := o.text
			if form == "application/xml" {
				text = xmlOf(t, text, "payment", "")
			}
			k.ask(415, id, o.target, writing, body(text), header("Content-Type", form))
		}
	}
}

// readHooks makes paths of what is posted to others, so that requests can be held
// to them.
func (c *contract) readHooks(t *testing.T, options []config.Option) validator.Validator {
	t.Helper()
	text := newWorld(t).serve("GET", "/openapi.json").want(200).body
	c.examples = newExamples(t, text)
	var d map[string]any
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatal(err)
	}
	paths := map[string]any{}
	for name, hook := range d["webhooks"].(map[string]any) {
		paths["/"+name] = hook
		c.described["webhook "+name] = true
	}
	d["paths"], d["webhooks"] = paths, map[string]any{}
	turned, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := libopenapi.NewDocument(turned)
	if err != nil {
		t.Fatal(err)
	}
	v, errs := validator.NewValidator(doc, options...)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return v
}
