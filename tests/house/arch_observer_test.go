package house_test

import (
	"go/ast"
	"slices"
	"testing"
)

// unobserved are the methods of Service that do not tell Observer.Begin of themselves, and why.
var unobserved = map[string]string{
	"Desk":        "it does no work: each method of what it returns tells of itself, as Desk.Deliveries does",
	"HasWebhooks": "it does no work: it says what the options say",
	"RefundTerms": "it does no work: it says what the options say",
	"Run":         "it tells of each piece of its work, by a name of its own such as Run.endHold",
	"RunDue":      "as Run does",
}

// Every method of Service and of its Desk tells Observer.Begin of itself by its name, as Observer promises.
func TestEveryMethodIsObserved(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	each(t, func(p *pkg) {
		if p.name != "." {
			return
		}
		for _, file := range p.code() {
			for _, d := range file.Decls {
				f, ok := d.(*ast.FuncDecl)
				if !ok || !f.Name.IsExported() || !slices.Contains([]string{"Service", "Desk"}, receiver(f)) {
					continue
				}
				name := f.Name.Name
				if receiver(f) == "Desk" {
					name = "Desk." + name
				}
				switch says := begins(f); {
				case says == `"`+name+`"`:
				case unobserved[name] != "":
					used[name] = true
				case says == "":
					t.Errorf("%s: %s does not call begin: begin it as the other methods do, or say in unobserved why not", at(f.Pos()), name)
				default:
					t.Errorf("%s: %s tells the observer that it is %s", at(f.Pos()), name, says)
				}
			}
		}
	})
	for name := range unobserved {
		if !used[name] {
			t.Errorf("unobserved names %s, which is observed or does not exist: remove the entry", name)
		}
	}
}

// receiver is the name of the type of which a function is a method, empty if it is none.
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	of := f.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	name, _ := of.(*ast.Ident)
	if name == nil {
		return ""
	}
	return name.Name
}

// begins is the operation, as it is written, that a method begins with; empty if it does
// not begin one.
func begins(f *ast.FuncDecl) string {
	assign, ok := f.Body.List[0].(*ast.AssignStmt)
	if !ok || len(assign.Rhs) != 1 {
		return ""
	}
	call, ok := assign.Rhs[0].(*ast.CallExpr)
	if !ok || len(call.Args) != 2 {
		return ""
	}
	if of, ok := call.Fun.(*ast.SelectorExpr); !ok || of.Sel.Name != "begin" {
		return ""
	}
	lit, ok := call.Args[1].(*ast.BasicLit)
	if !ok {
		return ""
	}
	return lit.Value
}
