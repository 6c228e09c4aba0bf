package house_test

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"
	"testing"
)

// servedBy are the packages that strangers can reach, with all that they import.
var servedBy = []string{".", "gateway", "httpserver", "httpserver/authserver", "ticket", "trainserver"}

// A typeName is a type and the package that it is in.
type typeName struct {
	in   *pkg
	name string
}

// madeByRun are the types of internal/agenda of which one lives as long as Run.
var madeByRun = []string{"Scheduler", "Worker", "membership"}

// A tableSurvey follows the fields of types.
type tableSurvey struct {
	byPath map[string]*pkg
	types  map[typeName]ast.Expr // what each is
	made   []typeName            // by a function New
	seen   map[typeName]bool
	found  map[string]bool
}

// tables finds the fields that hold any number of things: maps, slices, channels, and
// what is made of them. It looks at the types that live long: those that an exported
// function returns whose name begins with New, and all that they hold. What stands behind
// an interface is found by the New that makes it. Options are the operator's, and are not
// looked at.
func tables(t *testing.T) map[string]bool {
	t.Helper()
	s := tableSurvey{byPath: map[string]*pkg{}, types: map[typeName]ast.Expr{}, seen: map[typeName]bool{}, found: map[string]bool{}}
	served := reachable(t, servedBy...)
	for name, p := range served {
		s.byPath[strings.TrimSuffix(module+"/"+name, "/.")] = p
		s.declared(p)
	}
	for _, name := range madeByRun {
		made := typeName{served["internal/agenda"], name}
		if s.types[made] == nil {
			t.Errorf("internal/agenda has no type %s", name)
		}
		s.made = append(s.made, made)
	}
	for _, name := range s.made {
		s.visit(name)
	}
	return s.found
}

// declared notes the types of a package, and which of them a New makes.
func (s *tableSurvey) declared(p *pkg) {
	for _, f := range p.code() {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if spec, ok := spec.(*ast.TypeSpec); ok {
						s.types[typeName{p, spec.Name.Name}] = spec.Type
					}
				}
			case *ast.FuncDecl:
				if d.Recv != nil || !strings.HasPrefix(d.Name.Name, "New") || d.Type.Results == nil {
					continue
				}
				for _, result := range d.Type.Results.List {
					ast.Inspect(result.Type, func(n ast.Node) bool {
						if id, ok := n.(*ast.Ident); ok {
							s.made = append(s.made, typeName{p, id.Name})
						}
						return true
					})
				}
			}
		}
	}
}

// visit looks at the fields of a type.
func (s *tableSurvey) visit(name typeName) {
	what, ok := s.types[name].(*ast.StructType)
	if !ok || s.seen[name] || strings.HasSuffix(name.name, "Options") {
		return
	}
	s.seen[name] = true
	folder := name.in.name[strings.LastIndexByte(name.in.name, '/')+1:]
	if folder == "." {
		folder = "traintravel"
	}
	s.fields(name.in, folder+"."+name.name, what)
}

func (s *tableSurvey) fields(p *pkg, of string, what *ast.StructType) {
	for _, field := range what.Fields.List {
		names := field.Names
		if names == nil { // it is embedded
			names = []*ast.Ident{{Name: "(embedded)"}}
		}
		for _, name := range names {
			if s.grows(p, of+"."+name.Name, field.Type) {
				s.found[of+"."+name.Name] = true
			}
		}
	}
}

// grows says whether a type holds any number of things, and visits what it holds.
func (s *tableSurvey) grows(p *pkg, field string, x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.MapType:
		s.grows(p, field, x.Key)
		s.grows(p, field, x.Value)
		return true
	case *ast.ChanType:
		s.grows(p, field, x.Value)
		return true
	case *ast.ArrayType:
		return s.grows(p, field, x.Elt) || x.Len == nil
	case *ast.StarExpr:
		return s.grows(p, field, x.X)
	case *ast.ParenExpr:
		return s.grows(p, field, x.X)
	case *ast.StructType:
		s.fields(p, field, x)
	case *ast.IndexExpr:
		s.grows(p, field, x.Index)
		return s.grows(p, field, x.X)
	case *ast.IndexListExpr:
		for _, argument := range x.Indices {
			s.grows(p, field, argument)
		}
		return s.grows(p, field, x.X)
	case *ast.Ident:
		return s.named(typeName{p, x.Name}, field)
	case *ast.SelectorExpr:
		id, _ := x.X.(*ast.Ident)
		imported, ok := p.info.Uses[id].(*types.PkgName)
		if !ok {
			return false
		}
		from := imported.Imported().Path()
		if ours := s.byPath[from]; ours != nil {
			return s.named(typeName{ours, x.Sel.Name}, field)
		}
		return slices.Contains([]string{"sync.Map", "sync.Pool", "container/list.List", "bytes.Buffer", "strings.Builder"}, from+"."+x.Sel.Name)
	}
	return false
}

// named says whether a type of ours holds any number of things without being a struct,
// whose fields are looked at by themselves.
func (s *tableSurvey) named(name typeName, field string) bool {
	switch what := s.types[name].(type) {
	case nil:
		return false
	case *ast.StructType:
		s.visit(name)
		return false
	default:
		if s.seen[name] {
			return false
		}
		return s.grows(name.in, field, what)
	}
}
