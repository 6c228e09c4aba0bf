package httpserver

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"html/template"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/store/memstore"
)

// slugsInSource are the slugs of the problems that the package makes, wherever
// it does.
func slugsInSource(t *testing.T) []string {
	t.Helper()
	slugs := map[string]bool{}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if kv, ok := n.(*ast.KeyValueExpr); ok {
				name, _ := kv.Key.(*ast.Ident)
				value, _ := kv.Value.(*ast.BasicLit)
				if name != nil && name.Name == "slug" && value != nil {
					slug, _ := strconv.Unquote(value.Value)
					slugs[slug] = true
				}
			}
			return true
		})
	}
	return slices.Sorted(maps.Keys(slugs))
}

// Every problem has a page with advice, and every page is about a problem.
func TestEveryProblemHasAPage(t *testing.T) {
	t.Parallel()
	made := slugsInSource(t)
	if diff := cmp.Diff(made, slices.Sorted(maps.Keys(whatNext))); diff != "" {
		t.Errorf("problems (-) and advice (+): %s", diff)
	}
	if diff := cmp.Diff(made, slices.Sorted(maps.Keys(problems()))); diff != "" {
		t.Errorf("problems (-) and those with a page (+): %s", diff)
	}
	for slug := range whatNext { // 405 is not an answer of an operation
		if !strings.Contains(openAPI, slug) && slug != problemMethod.slug {
			t.Errorf("%s: no operation is said to have this problem", slug)
		}
	}
	service, err := traintravel.New(memstore.New(), traintravel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(service, Options{BaseURL: "https://trains.example/api", Auth: nobody{}, RateLimit: -1})
	if err != nil {
		t.Fatal(err)
	}
	for slug, same := range problems() {
		rec := httptest.NewRecorder()
		s.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/problems/"+slug, nil))
		page := rec.Body.String()
		if rec.Code != 200 || rec.Header().Get("Content-Type") != "text/html; charset=utf-8" || rec.Header().Get("Cache-Control") != "public, max-age=3600" {
			t.Errorf("%s: %d %v", slug, rec.Code, rec.Header())
		}
		for _, p := range same {
			if p.title == "" || p.status != same[0].status {
				t.Errorf("%s: a problem has no title, or several statuses", slug)
			}
		}
		for _, want := range []string{same[0].title, strconv.Itoa(same[0].status), slug, whatNext[slug].next, whatNext[slug].happened} {
			if !strings.Contains(page, template.HTMLEscapeString(want)) {
				t.Errorf("%s: the page does not say %q", slug, want)
			}
		}
		if strings.Contains(page, "<script") || strings.Contains(page, "<p></p>") || !strings.Contains(page, `<html lang="en">`) {
			t.Errorf("%s: the page has a script, an empty paragraph, or no language:\n%s", slug, page)
		}
	}
}

// nobody trusts no token: the pages need none.
type nobody struct{}

func (nobody) Authenticate(context.Context, string) (Identity, error) {
	return Identity{}, ErrInvalidToken
}
