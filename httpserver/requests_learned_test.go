package httpserver_test

import (
	"encoding/base64"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

var linked = regexp.MustCompile(`/(stations|trips|bookings|webhooks)/([0-9a-f-]{36})(/[a-z]+)?`)

// learn keeps what an answer tells of.
func (d *drawer) learn(r *drawn, a answer) {
	if tag := a.header.Get("Etag"); tag != "" {
		d.keep("tags", tag)
	}
	if a.status == 200 && a.header.Get("Content-Type") == "application/octet-stream" {
		d.keep("tickets", a.body)
	}
	if a.status >= 300 || !strings.HasSuffix(a.header.Get("Content-Type"), "/json") || strings.HasPrefix(r.plan.path, "/openapi") {
		return
	}
	for _, m := range linked.FindAllStringSubmatch(a.body, -1) {
		d.keep(m[1], m[2])
		d.keep("/"+m[1]+"/{"+strings.TrimSuffix(m[1], "s")+"Id}"+m[3], m[2])
	}
	d.members(r, decoded([]byte(a.body)))
}

func (d *drawer) members(r *drawn, value any) {
	if value == nil {
		return
	}
	list, _ := value.([]any)
	for _, v := range list {
		d.members(r, v)
	}
	o, _ := value.(map[string]any)
	d.members(r, o["data"])
	d.members(r, o["legs"])
	if text, ok := o["container"].(string); ok {
		container, _ := base64.StdEncoding.DecodeString(text)
		d.keep("tickets", string(container))
	}
	id, _ := o["id"].(string)
	if o["attempts"] != nil {
		d.keep("deliveries of "+r.path["webhookId"], id)
	}
	if amount, ok := o["price"].(json.Number); ok && id != "" {
		d.price[id] = price{amount, o["currency"].(string)}
	}
	if trip, ok := o["trip_id"].(string); ok {
		if due, ok := d.price[trip]; ok {
			d.price[id] = due
		}
	}
}

// keep keeps the newest few.
func (d *drawer) keep(name, value string) {
	list := d.known[name]
	if slices.Contains(list, value) {
		return
	}
	if len(list) >= 40 {
		list = list[1:]
	}
	d.known[name] = append(list, value)
}
