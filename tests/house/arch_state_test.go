package house_test

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"testing"
)

// Two services in one process do not know of each other: nothing happens before
// main, and nothing that a package keeps ever changes.
func TestNoGlobalState(t *testing.T) {
	t.Parallel()
	each(t, func(p *pkg) {
		if p.main || p.under("internal/pgtest", "internal/need") { // one server serves all tests of a binary, and packages are installed once for them
			return
		}
		for _, f := range p.code() {
			for _, d := range f.Decls {
				switch d := d.(type) {
				case *ast.FuncDecl:
					if d.Recv == nil && d.Name.Name == "init" {
						t.Errorf("%s: init runs in every program that imports the package, wanted or not", at(d.Pos()))
					}
				case *ast.GenDecl:
					for _, s := range d.Specs {
						if v, ok := s.(*ast.ValueSpec); ok && d.Tok == token.VAR {
							p.checkVar(t, v)
						}
					}
				}
			}
			ast.Inspect(f, func(n ast.Node) bool {
				for _, x := range changed(n, &p.info) {
					if v := p.global(x); v != nil {
						t.Errorf("%s: changes the package-level variable %s: keep it in a Service, or make it anew", at(n.Pos()), v.Name())
					}
				}
				return true
			})
		}
	})
}

// checkVar refuses package-level variables that are made to be changed.
func (p *pkg) checkVar(t *testing.T, v *ast.ValueSpec) {
	for _, name := range v.Names {
		if name.IsExported() && !strings.HasPrefix(name.Name, "Err") && !p.under(forTests...) {
			t.Errorf("%s: %s is exported, so anybody can change it: make it a function", at(name.Pos()), name)
		}
	}
	for _, x := range append([]ast.Expr{v.Type}, v.Values...) {
		if x == nil {
			continue
		}
		ast.Inspect(x, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit:
				return false
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && x.Name == "sync" && strings.HasPrefix(n.Sel.Name, "OnceValue") {
					return false // a constant that is made when it is needed first
				}
			case *ast.ChanType:
				t.Errorf("%s: a channel at package level joins services that should not know of each other", at(n.Pos()))
			case *ast.Ident:
				if imported, ok := p.info.Uses[n].(*types.PkgName); ok && under(imported.Imported().Path(), "sync") {
					t.Errorf("%s: %s at package level guards or keeps shared state", at(n.Pos()), n)
				}
			}
			return true
		})
	}
}

// global returns the package-level variable that an expression is part of.
func (p *pkg) global(x ast.Expr) types.Object {
	for {
		switch e := x.(type) {
		case *ast.Ident:
			if v, ok := p.info.Uses[e].(*types.Var); ok && v.Pkg() != nil && v.Parent() == v.Pkg().Scope() {
				return v
			}
			return nil
		case *ast.IndexExpr:
			x = e.X
		case *ast.SelectorExpr:
			x = e.X
		case *ast.StarExpr:
			x = e.X
		case *ast.ParenExpr:
			x = e.X
		case *ast.SliceExpr:
			x = e.X
		default:
			return nil
		}
	}
}

// changed lists what a node assigns to, or hands out so that others can.
func changed(n ast.Node, info *types.Info) []ast.Expr {
	switch n := n.(type) {
	case *ast.AssignStmt:
		return n.Lhs
	case *ast.IncDecStmt:
		return []ast.Expr{n.X}
	case *ast.RangeStmt:
		if n.Tok == token.ASSIGN {
			return []ast.Expr{n.Key, n.Value}
		}
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			return []ast.Expr{n.X}
		}
	case *ast.SelectorExpr: // a method that is called with &x
		if s, ok := info.Selections[n]; ok && s.Kind() == types.MethodVal && !s.Indirect() {
			_, has := s.Recv().(*types.Pointer)
			_, wants := s.Obj().(*types.Func).Signature().Recv().Type().(*types.Pointer)
			if wants && !has {
				return []ast.Expr{n.X}
			}
		}
	case *ast.CallExpr:
		if f, ok := n.Fun.(*ast.Ident); ok && len(n.Args) > 0 {
			if b, ok := info.Uses[f].(*types.Builtin); ok && slices.Contains([]string{"delete", "clear", "copy"}, b.Name()) {
				return n.Args[:1]
			}
		}
	}
	return nil
}
