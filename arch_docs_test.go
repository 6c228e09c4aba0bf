package traintravel_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Every package says what it is, and every exported name of a package that
// others import says what it promises.
func TestDocComments(t *testing.T) {
	t.Parallel()
	each(t, func(p *pkg) {
		var files []*ast.File // of our own: go/doc cuts off what is not exported
		for _, f := range p.files {
			if f.test {
				continue
			}
			file, err := parser.ParseFile(fset, f.path, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, file)
		}
		if len(files) == 0 {
			return
		}
		docs, err := doc.NewFromFiles(fset, files, module)
		if err != nil {
			t.Fatal(err)
		}
		c := commented{t, p.name}
		c.name("the package", docs.Doc)
		if p.main || p.under("internal") {
			return
		}
		c.values(docs.Consts, docs.Vars)
		c.funcs("", docs.Funcs)
		for _, typ := range docs.Types {
			c.name(typ.Name, typ.Doc)
			c.values(typ.Consts, typ.Vars)
			c.funcs("", typ.Funcs)
			c.funcs(typ.Name+".", typ.Methods)
			c.interfaces(typ)
		}
	})
}

// commented checks that names of a package have a comment.
type commented struct {
	t       *testing.T
	pkgName string
}

func (c commented) name(name, comment string) {
	c.t.Helper()
	if strings.TrimSpace(comment) == "" {
		c.t.Errorf("%s: %s has no comment", c.pkgName, name)
	}
}

func (c commented) funcs(of string, funcs []*doc.Func) {
	c.t.Helper()
	for _, f := range funcs {
		if f.Name != "Error" { // it returns what the type says that it is
			c.name(of+f.Name, f.Doc)
		}
	}
}

// values takes the comment of a group for all in it.
func (c commented) values(groups ...[]*doc.Value) {
	c.t.Helper()
	for _, v := range slices.Concat(groups...) {
		for _, s := range v.Decl.Specs {
			s := s.(*ast.ValueSpec)
			if s.Names[0].IsExported() {
				c.name(s.Names[0].Name, v.Doc+s.Doc.Text()+s.Comment.Text())
			}
		}
	}
}

// interfaces checks methods, but not an only one: that is what the type's own
// comment is about.
func (c commented) interfaces(typ *doc.Type) {
	c.t.Helper()
	for _, s := range typ.Decl.Specs {
		i, ok := s.(*ast.TypeSpec).Type.(*ast.InterfaceType)
		if !ok {
			continue
		}
		methods := slices.DeleteFunc(slices.Clone(i.Methods.List), func(m *ast.Field) bool {
			return len(m.Names) == 0 || !m.Names[0].IsExported()
		})
		for _, m := range methods {
			if len(methods) > 1 {
				c.name(typ.Name+"."+m.Names[0].Name, m.Doc.Text()+m.Comment.Text())
			}
		}
	}
}

// The program that the README shows is the Example, which runs.
func TestReadmeExample(t *testing.T) {
	t.Parallel()
	readme, example := read(t, "README.md"), read(t, "example_test.go")
	_, shown, _ := strings.Cut(readme, "```go\n")
	shown, _, ok := strings.Cut(shown, "```\n")
	_, run, _ := strings.Cut(example, "\t// README: from here\n")
	run, _, found := strings.Cut(run, "\t// README: to there\n")
	if !ok || !found {
		t.Fatal("README.md has no Go code, or example_test.go no marks around it")
	}
	run = regexp.MustCompile(`(?m)^\t`).ReplaceAllString(strings.TrimRight(run, "\n"), "") + "\n"
	if shown != run {
		t.Errorf("README.md shows\n%s\nbut the example is\n%s", shown, run)
	}
}

// Links between our own documents lead somewhere.
func TestLinks(t *testing.T) {
	t.Parallel()
	link := regexp.MustCompile(`\]\(([^)#: ]+)(#[^)]*)?\)`)
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) != ".md" {
			return err
		}
		for _, m := range link.FindAllStringSubmatch(read(t, name), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(name), m[1])); err != nil {
				t.Errorf("%s: a link leads nowhere: %v", name, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
