package gateway_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
	"github.com/pb33f/libopenapi-validator/config"
	"go.yaml.in/yaml/v3"
)

// A description is openapi.yaml.
type description struct {
	mu        sync.Mutex
	validator validator.Validator
	met       map[string]bool // operations and their statuses
}

// parsed is the description, once for all tests: making its validator takes a
// while.
var parsed = sync.OnceValues(func() (validator.Validator, error) {
	text, err := os.ReadFile("openapi.yaml")
	if err != nil {
		return nil, err
	}
	doc, err := libopenapi.NewDocument(text)
	if err != nil {
		return nil, err
	}
	v, errs := validator.NewValidator(doc, config.WithFormatAssertions(), config.WithStrictServerMatching())
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	if ok, faults := v.ValidateDocument(); !ok {
		return nil, fmt.Errorf("the description is not valid: %v", faults)
	}
	return v, nil
})

func newDescription(t testing.TB) *description {
	t.Helper()
	v, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	return &description{validator: v, met: map[string]bool{}}
}

const described = "https://pay.example/traintravel"

// unjudged are statuses by which the server says that a request is not as
// described.
var unjudged = []int{400, 401, 405, 413, 415}

// held passes requests on and holds them, unless they are refused as wrong, and
// the answers to the description.
func (d *description) held(t testing.TB, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			abort()
		}
		again := func() *http.Request {
			q := httptest.NewRequest(r.Method, described+r.URL.RequestURI(), bytes.NewReader(body))
			q.Header = r.Header.Clone()
			return q
		}
		rec := httptest.NewRecorder()
		inner := r.Clone(r.Context())
		inner.Body = io.NopCloser(bytes.NewReader(body))
		h.ServeHTTP(rec, inner)
		d.mu.Lock()
		d.judge(t, again, rec)
		d.mu.Unlock()
		send(w, rec)
	})
}

func (d *description) judge(t testing.TB, again func() *http.Request, rec *httptest.ResponseRecorder) {
	r := again()
	if rec.Code == http.StatusNotFound && strings.Contains(rec.Body.String(), "no-such-operation") {
		return
	}
	d.met[answerOf(r.URL.Path, strconv.Itoa(rec.Code))] = true
	if !slices.Contains(unjudged, rec.Code) {
		if ok, faults := d.validator.ValidateHttpRequest(r); !ok {
			for _, f := range faults {
				t.Errorf("%s %s: %s: %s %v", r.Method, r.URL.Path, f.Message, f.Reason, f.SchemaValidationErrors)
			}
		}
	}
	if _, faults := d.validator.ValidateHttpRequest(again()); len(faults) > 0 && (faults[0].IsPathMissingError() || faults[0].IsOperationMissingError()) {
		return // there is no such operation, and so no description of the answer
	}
	if ok, faults := d.validator.ValidateHttpResponse(again(), &http.Response{
		StatusCode: rec.Code, Header: rec.Header().Clone(), Body: io.NopCloser(bytes.NewReader(rec.Body.Bytes())), ContentLength: int64(rec.Body.Len()),
	}); !ok {
		for _, f := range faults {
			t.Errorf("%s %s: %d: %s: %s %v\n%s", r.Method, r.URL.Path, rec.Code, f.Message, f.Reason, f.SchemaValidationErrors, rec.Body)
		}
	}
}

// answerOf names an answer of an operation: its path without IDs, and the status.
func answerOf(path, status string) string {
	parts := strings.Split(strings.TrimPrefix(path, "/traintravel"), "/")
	if len(parts) > 2 {
		parts[2] = "{id}"
	}
	return strings.Join(parts, "/") + " " + status
}

// answers are all that are described.
func (d *description) answers(t testing.TB) (all []string) {
	t.Helper()
	var doc struct {
		Paths map[string]map[string]yaml.Node
	}
	text, err := os.ReadFile("openapi.yaml")
	if err == nil {
		err = yaml.Unmarshal(text, &doc)
	}
	if err != nil {
		t.Fatal(err)
	}
	for path, operations := range doc.Paths {
		for method, node := range operations {
			var o struct{ Responses map[string]yaml.Node }
			if method == "parameters" {
				continue
			}
			if err := node.Decode(&o); err != nil {
				t.Fatal(err)
			}
			for status := range o.Responses {
				all = append(all, answerOf(path, status))
			}
		}
	}
	return all
}
