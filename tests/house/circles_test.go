package house_test

import (
	"cmp"
	"go/ast"
	"go/types"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
)

// mostInCircle is how many files of a package may be in one circle of references. Whoever
// changes one of them may have to know all of them.
const mostInCircle = 6

// TestCircles keeps the files of each package in an order: what is built refers to what it is
// built of, and not the other way round, but for few files at a time.
//
// To end a circle, move what is used by all (a type, a constant) to a file that uses none of
// them, or move what uses all of them (a table, a constructor) to a file that none uses.
func TestCircles(t *testing.T) {
	t.Parallel()
	each(t, func(p *pkg) {
		for _, c := range circles(p.references()) {
			if len(c) > mostInCircle {
				t.Errorf("%s: %d files refer to each other in a circle, more than %d: %s", p.name, len(c), mostInCircle, strings.Join(c, " "))
			}
		}
	})
}

// references returns which files of a package, tests aside, use what which others declare:
// functions, methods, types, variables and constants, but not fields. What is used by way of
// a generic type of another package is not seen, because other packages are not looked up.
func (p *pkg) references() map[string][]string {
	declared := map[types.Object]string{}
	for _, f := range p.code() {
		name := path.Base(fset.Position(f.Pos()).Filename)
		for _, id := range declarations(f) {
			declared[p.info.Defs[id]] = name
		}
	}
	delete(declared, nil) // init, and what is declared as _
	uses := map[string][]string{}
	for _, f := range p.code() {
		name := path.Base(fset.Position(f.Pos()).Filename)
		used := map[string]bool{}
		ast.Inspect(f, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				if other, ok := declared[origin(p.info.Uses[id])]; ok && other != name {
					used[other] = true
				}
			}
			return true
		})
		uses[name] = slices.Sorted(maps.Keys(used))
	}
	return uses
}

// declarations returns the names that a file declares at package level, those of methods
// included.
func declarations(f *ast.File) []*ast.Ident {
	var names []*ast.Ident
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			names = append(names, d.Name)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					names = append(names, s.Name)
				case *ast.ValueSpec:
					names = append(names, s.Names...)
				}
			}
		}
	}
	return names
}

// origin returns the declaration that a method of an instance of a generic type is from.
func origin(o types.Object) types.Object {
	if fn, ok := o.(*types.Func); ok {
		return fn.Origin()
	}
	return o
}

// circles returns the groups of names of which each leads to each of its group by
// references, the largest first (Tarjan's strongly connected components).
func circles(uses map[string][]string) [][]string {
	var (
		found  [][]string
		open   []string
		number = map[string]int{} // by the order in which they are met
		lowest = map[string]int{} // the number of the first open one that a name leads to
		closed = map[string]bool{}
		visit  func(string)
	)
	visit = func(name string) {
		number[name] = len(number) + 1
		lowest[name] = number[name]
		from := len(open)
		open = append(open, name)
		for _, other := range uses[name] {
			if number[other] == 0 {
				visit(other)
			}
			if !closed[other] {
				lowest[name] = min(lowest[name], lowest[other])
			}
		}
		if lowest[name] < number[name] {
			return
		}
		group := slices.Sorted(slices.Values(open[from:]))
		open = open[:from]
		for _, name := range group {
			closed[name] = true
		}
		if len(group) > 1 {
			found = append(found, group)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(uses)) {
		if number[name] == 0 {
			visit(name)
		}
	}
	slices.SortStableFunc(found, func(a, b []string) int { return cmp.Compare(len(b), len(a)) })
	return found
}

func TestCirclesAreFound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		uses map[string][]string
		want []string
	}{
		{"none", map[string][]string{"a": {"b", "c"}, "b": {"c"}, "c": nil}, nil},
		{"two", map[string][]string{"a": {"b"}, "b": {"a", "c"}, "c": nil}, []string{"a b"}},
		{"two with one file in common", map[string][]string{"a": {"b"}, "b": {"a", "c"}, "c": {"b"}}, []string{"a b c"}},
		{"the long way round", map[string][]string{"a": {"b"}, "b": {"c"}, "c": {"d"}, "d": {"a"}, "e": {"a"}}, []string{"a b c d"}},
		{"two apart", map[string][]string{"a": {"b"}, "b": {"a", "c"}, "c": {"d"}, "d": {"e"}, "e": {"c"}}, []string{"c d e", "a b"}},
	} {
		var got []string
		for _, names := range circles(c.uses) {
			got = append(got, strings.Join(names, " "))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
