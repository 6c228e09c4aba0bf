package httpserver_test

import (
	"cmp"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/traintravel/traintravel"
)

// requestsEnv says how many requests TestRequests draws. Each world gets requestsEach.
const (
	requestsEnv   = "TRAINTRAVEL_REQUESTS"
	requestsDrawn = 4_000
	requestsEach  = 2_000
)

// Requests are drawn from the served description, and most are changed: the server
// never fails, each answer is as described, what is as described is not refused for its
// form, and what succeeds was as described. A seed draws the same requests again.
func TestRequests(t *testing.T) {
	t.Parallel()
	all, err := strconv.Atoi(cmp.Or(os.Getenv(requestsEnv), strconv.Itoa(requestsDrawn)))
	if err != nil {
		t.Fatalf("%s: %v", requestsEnv, err)
	}
	var answered sync.Map // operations and statuses
	for seed := range (all + requestsEach - 1) / requestsEach {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			t.Parallel()
			testRequests(t, uint64(seed), &answered)
		})
	}
	described := newBlueprint(t, newWorld(t).serve("GET", "/openapi.json").want(200).body)
	t.Cleanup(func() {
		for _, p := range described.operations {
			for status := range p.answers {
				if _, met := answered.Load(p.id + " " + status); status < "300" && !met {
					t.Errorf("no request has made %s answer %s", p.id, status)
				}
			}
		}
	})
}

func testRequests(t *testing.T, seed uint64, answered *sync.Map) {
	w := newWorld(t, func(w *world) {
		w.options.SignIn = true
		w.options.Logger = slog.New(slog.DiscardHandler)
		w.options.CORSOrigins = []string{"https://a.example"}
		w.service_.Declines = traintravel.DeclineLimits{Card: 100, User: 1000}
	})
	b := newBlueprint(t, w.serve("GET", "/openapi.json").want(200).body)
	d := newDrawer(b, seed)
	for i := range requestsEach {
		r := d.request()
		rec := httptest.NewRecorder()
		w.server.ServeHTTP(rec, r.request())
		a := answer{t, rec.Code, rec.Result().Header, rec.Body.String(), r.method == http.MethodHead}
		if why := d.wrong(r, a); why != "" {
			t.Errorf("request %d: %s\n%v\n%d %v\n%.2000s", i, why, r, a.status, a.header, a.body)
		}
		if r.method == http.MethodGet && r.plan.method == r.method && a.status == 200 && a.header.Get("Content-Type") == "application/xml" {
			r.header.Set("Accept", "application/json")
			r.header.Del("If-Match") // tags are of one form
			r.header.Del("If-None-Match")
			again := httptest.NewRecorder()
			w.server.ServeHTTP(again, r.request())
			if want := d.inXML(r.plan, again.Body.String()); a.body != want {
				t.Errorf("request %d: in XML:\n%v\n%s\nwant\n%s", i, r, a.body, want)
			}
		}
		if r.method == r.plan.method {
			answered.Store(fmt.Sprint(r.plan.id, " ", a.status), true)
		}
		d.learn(r, a)
		if i%20 == 0 {
			w.later(time.Duration(d.IntN(120)) * time.Second)
		}
	}
}

// inXML is what a success in JSON is in XML, by the names that the description has.
func (b *blueprint) inXML(p *plan, text string) string {
	schema := b.follow(p.answers["200"] + "/content/application~1xml/schema")
	name := func(at string) string { s, _ := b.at(at + "/xml")["name"].(string); return s }
	return xmlOf(b.t, text, name(schema), name(schema+"/properties/data"))
}

// wrong says what is wrong with an answer, or with the description of the request, ""
// for nothing.
func (d *drawer) wrong(r *drawn, a answer) string {
	if a.status >= 500 {
		return "the server failed"
	}
	elsewhere := r.method != r.plan.method && !(r.plan.method == http.MethodGet && r.method == http.MethodHead)
	for _, value := range r.path {
		elsewhere = elsewhere || value == "" || strings.Contains(value, "/")
	}
	if elsewhere {
		return d.wrongElsewhere(r, a)
	}
	if why := d.blueprint.fault(r.plan, a); why != "" {
		return why
	}
	if r.exact && slices.Contains([]int{401, 403, 406, 413, 415}, a.status) {
		return "a request that is as described is refused"
	}
	if r.exact && a.status == 400 && !strings.Contains(a.body, "/problems/amount-mismatch") {
		return "a request that is as described is not valid"
	}
	if a.status < 300 {
		return d.wrongRequest(r)
	}
	return ""
}

// wrongElsewhere judges an answer of which no operation tells, or another than was drawn.
func (d *drawer) wrongElsewhere(r *drawn, a answer) string {
	for _, p := range d.operations {
		if p.path == r.plan.path && p.method == r.method {
			return ""
		}
	}
	mediaType := a.header.Get("Content-Type")
	if why := a.fault(); why != "" && (a.status >= 400 || strings.HasSuffix(mediaType, "json")) {
		return why
	}
	return ""
}

// wrongRequest says how a request that has succeeded is not as described, as far as the
// form of what is described goes.
func (d *drawer) wrongRequest(r *drawn) string {
	for _, p := range r.plan.parameters {
		texts := []string{}
		switch p.in {
		case "path":
			texts = append(texts, r.path[p.name])
		case "header":
			texts = append(texts, r.header.Values(p.name)...)
		}
		for _, pair := range r.query {
			if p.in == "query" && pair[0] == p.name {
				texts = append(texts, pair[1])
			}
		}
		if p.required && len(texts) == 0 {
			return "it succeeds without " + p.name
		}
		for _, text := range texts {
			if why := d.fitsText(p.at, text); why != "" {
				return fmt.Sprintf("it succeeds with %s %q: %s", p.name, text, why)
			}
		}
	}
	mediaType := r.header.Get("Content-Type")
	if at := r.plan.bodies[mediaType]; at != "" && strings.HasSuffix(mediaType, "json") {
		value := decoded(r.body)
		if source, ok := value.(map[string]any)["source"].(map[string]any); ok && source["cvc"] != nil {
			source["cvc"] = fmt.Sprint(source["cvc"]) // may be a number too, as the description says
		}
		if why := d.fits(at+"/schema", value); why != "" {
			return "its body is taken: " + why
		}
	}
	return ""
}
