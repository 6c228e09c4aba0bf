package httpserver_test

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
	"github.com/pb33f/libopenapi-validator/config"
	highbase "github.com/pb33f/libopenapi/datamodel/high/base"
	v3 "github.com/pb33f/libopenapi/datamodel/high/v3"
)

// A contract is the served description, and what of it was met.
type contract struct {
	operations  map[string]operation // by their IDs
	strict, lax validator.Validator
	hooks       validator.Validator // of what is posted to others
	examples    *examples
	described   map[string]bool // answers, and headers and members of answers
	met         map[string]bool
}

type operation struct {
	*v3.Operation
	method string
	name   string // of the path
	path   *regexp.Regexp
}

func newContract(t *testing.T) *contract {
	t.Helper()
	doc, err := libopenapi.NewDocument([]byte(newWorld(t).serve("GET", "/openapi.yaml").want(200).body))
	if err != nil {
		t.Fatal(err)
	}
	model, err := doc.BuildV3Model()
	if err != nil {
		t.Fatal(err)
	}
	c := &contract{operations: map[string]operation{}, described: map[string]bool{}, met: map[string]bool{}}
	options := []config.Option{config.WithFormatAssertions(), config.WithStrictServerMatching(), config.WithStrictRejectWriteOnly()}
	var errs []error
	if c.lax, errs = validator.NewValidator(doc, options...); len(errs) > 0 {
		t.Fatal(errs)
	}
	// All answers have the two headers, and the introduction tells of them.
	options = append(options, config.WithStrictMode(), config.WithStrictIgnoredHeadersExtra("x-content-type-options", "content-security-policy"))
	if c.strict, errs = validator.NewValidator(doc, options...); len(errs) > 0 {
		t.Fatal(errs)
	}
	c.hooks = c.readHooks(t, options)
	parameter := regexp.MustCompile(`\\\{\w+\\\}`)
	for path, item := range model.Model.Paths.PathItems.FromOldest() {
		pattern := regexp.MustCompile("^" + parameter.ReplaceAllString(regexp.QuoteMeta(path), "[^/]+") + "$")
		for method, op := range item.GetOperations().FromOldest() {
			c.operations[op.OperationId] = operation{op, strings.ToUpper(method), path, pattern}
			for status, r := range op.Responses.Codes.FromOldest() {
				answer := op.OperationId + " " + status
				c.described[answer] = true
				for name := range r.Headers.FromOldest() {
					c.described[answer+" "+name] = true
				}
				for mediaType := range r.Content.FromOldest() {
					c.described[answer+" as "+mediaType] = true
				}
			}
			if op.RequestBody != nil {
				for mediaType := range op.RequestBody.Content.FromOldest() {
					c.described[op.OperationId+" takes "+mediaType] = true
				}
			}
		}
	}
	return c
}

// unmet is what is described and was not met.
func (c *contract) unmet() []string {
	missing := maps.Clone(c.described)
	for name := range c.met {
		delete(missing, name)
	}
	return slices.Sorted(maps.Keys(missing))
}

// An asker asks a world by way of the network and holds it to the contract.
type asker struct {
	*contract
	t    *testing.T
	host *httptest.Server
}

func (c *contract) asker(t *testing.T, w *world) asker {
	t.Helper()
	host := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Header.Get(stalls) != "" {
			unfinished(r)
		}
		w.server.ServeHTTP(rw, r)
	}))
	t.Cleanup(host.Close)
	return asker{c, t, host}
}

// stalls is the header of a request whose body does not come in time.
const stalls = "Test-Stalls"

func (k asker) as(t *testing.T) asker {
	k.t = t
	return k
}

// request makes a request to whoever is at an address.
func (k asker) request(at, method, target string, parts []part) *http.Request {
	k.t.Helper()
	r, err := http.NewRequest(method, at+target, nil)
	if err != nil {
		k.t.Fatal(err)
	}
	for _, p := range parts {
		p(r)
	}
	return r
}

// send asks and does not judge.
func (k asker) send(method, target string, parts []part) answer {
	k.t.Helper()
	resp, err := k.host.Client().Transport.RoundTrip(k.request(k.host.URL, method, target, parts))
	if err != nil {
		k.t.Fatalf("%s %s: %v", method, target, err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		k.t.Fatalf("%s %s: %v", method, target, err)
	}
	return answer{t: k.t, status: resp.StatusCode, header: resp.Header, body: string(text)}
}

// ask asks for an operation, checks that the answer has this status and is as
// described, and that the request is as described if it succeeded. If there is
// XML it asks again for that, and compares.
func (k asker) ask(status int, id, target string, parts ...part) answer {
	k.t.Helper()
	op, ok := k.operations[id]
	if path, _, _ := strings.Cut(target, "?"); !ok || !op.path.MatchString(path) {
		k.t.Fatalf("%s is not the operation %s", target, id)
	}
	a := k.send(op.method, target, parts)
	if a.status != status {
		k.t.Fatalf("%s %s: status %d, want %d: %s", op.method, target, a.status, status, a.body)
	}
	resp := k.check(id, op, target, parts, a)
	k.head(op, target, parts, a)
	if resp == nil || resp.Content == nil {
		return a
	}
	asXML, accept := resp.Content.GetOrZero("application/xml"), inXML
	if status >= 400 {
		asXML, accept = resp.Content.GetOrZero("application/problem+xml"), header("Accept", "application/problem+xml, application/xml;q=0.1, application/pdf;q=0.01")
		if status == 406 {
			accept = header("Accept", "application/problem+xml, application/xml;q=0, application/json;q=0")
		}
	}
	if asXML == nil {
		return a
	}
	again := slices.Concat(parts, []part{accept})
	b := k.send(op.method, target, again)
	if b.status != status {
		k.t.Errorf("%s %s: status %d, and %d in XML: %s", op.method, target, status, b.status, b.body)
		return a
	}
	k.check(id, op, target, again, b)
	k.head(op, target, again, b)
	text := a.body
	if status >= 400 {
		text = strings.Replace(text, a.problem(status, slugOf(a)).Instance, b.problem(status, slugOf(a)).Instance, 1)
	}
	root, plural := namesInXML(asXML.Schema.Schema())
	if want := xmlOf(k.t, text, root, plural); b.body != want {
		k.t.Errorf("%s %s in XML:\n%s\nwant\n%s", op.method, target, b.body, want)
	}
	return a
}

func slugOf(a answer) string {
	var p problem
	a.into(&p)
	return p.Type[strings.LastIndexByte(p.Type, '/')+1:]
}

// namesInXML are the element of a document and that of its list, as described.
func namesInXML(s *highbase.Schema) (root, plural string) {
	if s.XML != nil {
		root = s.XML.Name
	}
	if s.Properties != nil {
		if data := s.Properties.GetOrZero("data"); data != nil && data.Schema().XML != nil {
			plural = data.Schema().XML.Name
		}
	}
	return root, plural
}

// undescribed are headers of which every answer has some.
var undescribed = []string{"Content-Length", "Content-Security-Policy", "Content-Type", "Date", "X-Content-Type-Options"}

// check holds an answer to its description, which it returns.
func (k asker) check(id string, op operation, target string, parts []part, a answer) *v3.Response {
	k.t.Helper()
	name := id + " " + strconv.Itoa(a.status)
	fault := func(format string, args ...any) {
		k.t.Helper()
		k.t.Errorf("%s: %s %s: "+format, append([]any{name, op.method, target}, args...)...)
	}
	resp := op.Responses.Codes.GetOrZero(strconv.Itoa(a.status))
	if resp == nil {
		fault("the status is not described: %s", a.body)
		return nil
	}
	k.met[name] = true

	for h, values := range a.header {
		if slices.Contains(undescribed, h) {
			continue
		}
		var d *v3.Header
		for n, candidate := range resp.Headers.FromOldest() {
			if http.CanonicalHeaderKey(n) == h {
				d = candidate
				k.met[name+" "+n] = true
			}
		}
		if d == nil {
			fault("the header %s is not described", h)
		} else if why := headerFault(d.Schema.Schema(), values); why != "" {
			fault("the header %s: %q %s", h, values, why)
		}
		if h == "Vary" && !strings.Contains(values[0], "Accept, Authorization") {
			fault("the answer depends on %q", values)
		}
	}
	for n, d := range resp.Headers.FromOldest() {
		k.t.Helper()                                                          // is a function of its own
		if (d.Required || n == "RateLimit") && len(a.header.Values(n)) == 0 { // here are quotas
			fault("the header %s is missing", n)
		}
	}

	mediaType := a.header.Get("Content-Type")
	plain, _, _ := strings.Cut(mediaType, ";")
	var content *v3.MediaType
	if resp.Content != nil {
		content = resp.Content.GetOrZero(plain)
	}
	switch {
	case resp.Content == nil:
		if a.body != "" || mediaType != "" {
			fault("there is a body, of the type %q: %s", mediaType, a.body)
		}
	case content == nil:
		fault("the media type %q is not described", mediaType)
	case a.body == "":
		fault("the body is empty")
	default:
		k.met[name+" as "+plain] = true
		if strings.HasSuffix(plain, "json") {
			var v any
			a.into(&v)
			k.members(content.Schema, v, name)
		}
		if a.status >= 400 && strings.HasSuffix(plain, "json") && id != "get-problem" {
			k.explained(a)
		}
		if strings.HasSuffix(plain, "json") || strings.HasSuffix(plain, "xml") {
			if why := a.fault(); why != "" {
				fault("%s", why)
			}
		}
	}

	v := k.strict
	if id == "get-openapi-json" { // whose members are not listed here
		v = k.lax
	}
	if a.status < 400 {
		k.sent(id, op, target, parts)
		if ok, faults := v.ValidateHttpRequest(k.request(base, op.method, target, parts)); !ok {
			for _, f := range faults {
				fault("the request: %s: %s", f.Message, f.Reason)
			}
		}
	}
	if strings.HasSuffix(plain, "xml") {
		return resp // is compared with JSON
	}
	ok, faults := v.ValidateHttpResponse(k.request(base, op.method, target, parts), &http.Response{
		StatusCode: a.status, Header: a.header, Body: io.NopCloser(bytes.NewReader([]byte(a.body))), ContentLength: int64(len(a.body)),
	})
	if !ok {
		for _, f := range faults {
			fault("%s: %s %v\n%s", f.Message, f.Reason, f.SchemaValidationErrors, a.body)
		}
	}
	return resp
}

// headerFault says what is wrong with the values of a header, as far as the
// description of headers goes.
func headerFault(s *highbase.Schema, values []string) string {
	if len(values) != 1 {
		return "is not one value"
	}
	value := values[0]
	number, err := strconv.Atoi(value)
	switch {
	case s.Pattern != "" && !regexp.MustCompile(s.Pattern).MatchString(value):
		return "does not match " + s.Pattern
	case s.Const != nil && s.Const.Value != value:
		return "is not " + s.Const.Value
	case slices.Contains(s.Type, "integer") && (err != nil || s.Minimum != nil && float64(number) < *s.Minimum):
		return "is no such integer"
	case s.Format == "uri":
		if u, err := url.Parse(value); err != nil || !u.IsAbs() || !strings.HasPrefix(value, base+"/") {
			return "is not an address of this server"
		}
	}
	return ""
}
