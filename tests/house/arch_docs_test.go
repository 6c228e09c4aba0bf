package house_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
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

// shownPrograms are the Go programs that a document shows.
func shownPrograms(t *testing.T, document string) (shown []string) {
	t.Helper()
	for _, m := range regexp.MustCompile("(?ms)^```go\n(package main\n.*?)^```$").FindAllStringSubmatch(read(t, document), -1) {
		shown = append(shown, m[1])
	}
	if len(shown) == 0 {
		t.Fatalf("%s has no Go program", document)
	}
	return shown
}

// What the program in the document about embedding does is the Example, which runs.
func TestReadmeExample(t *testing.T) {
	t.Parallel()
	_, run, _ := strings.Cut(read(t, "example_test.go"), "\t// README: from here\n")
	run, _, ok := strings.Cut(run, "\t// README: to there\n")
	if !ok {
		t.Fatal("example_test.go has no marks around what docs/embedding.md shows")
	}
	if shown := shownPrograms(t, "docs/embedding.md")[0]; !strings.Contains(shown, strings.TrimRight(run, "\n")+"\n}\n") {
		t.Errorf("docs/embedding.md shows\n%s\nbut the example is\n%s", shown, run)
	}
}

// The programs that documents show can be copied into a module of their own, and do there what
// the documents say. The requirements are ours, so that nothing need be downloaded.
func TestReadmeProgram(t *testing.T) {
	t.Parallel()
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	free.Close()
	dir := t.TempDir()
	mod := strings.Replace(read(t, "go.mod"), "module "+module, "module shop", 1) +
		"\nrequire " + module + " v0.0.0\nreplace " + module + " => " + strconv.Quote(here) + "\n"
	readme := shownPrograms(t, "README.md")
	if len(readme) != 2 {
		t.Fatalf("README.md has %d programs, want one that embeds and one that mounts", len(readme))
	}
	for name, text := range map[string]string{
		"go.mod": mod, "go.sum": read(t, "go.sum"), "embed/main.go": readme[0],
		"mount/main.go": strings.ReplaceAll(readme[1], "127.0.0.1:8086", address), "shop/main.go": shownPrograms(t, "docs/embedding.md")[0],
		"early/main.go": clockedAt(t, readme[0], "2026-03-01T00:30:00Z"), "late/main.go": clockedAt(t, readme[0], "2026-03-01T22:30:00Z"),
		"nowhere/main.go": replaced(t, readme[0], `"Paris Nord"`, `"Atlantis"`),
		"never/main.go":   replaced(t, readme[0], `"Berlin"`, `"London King's Cross"`, `"Paris Nord"`, `"Brno"`),
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	command := func(name string, args ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off")
		return cmd
	}
	bin := filepath.Join(dir, "bin") + string(filepath.Separator)
	if out, err := command("go", "build", "-o", bin, "./...").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	feed := filepath.Join(here, "internal", "demo", "feed")
	for _, c := range []struct {
		program string
		args    []string
		want    string // at the end of what is printed
		ok      bool
	}{
		{"embed", []string{feed}, "Anna Example is held\n", true},
		{"embed", nil, "usage: shop FEED\n", false},
		{"early", []string{feed}, "departs on 2 March at 07:00\n", true},
		{"late", []string{feed}, "departs on 2 March at 07:00\n", true},
		{"nowhere", []string{feed}, "the timetable has no station \"Atlantis\"\n", false},
		{"never", []string{feed}, "tomorrow\n", false},
		{"mount", nil, "usage: shop FEED\n", false},
		{"shop", []string{feed, "Berlin", "Paris Nord"}, "succeeded from card ************4242\n", true},
		{"shop", []string{feed, "Berlin", "Atlantis"}, "the timetable has no station \"Atlantis\"\n", false},
		{"shop", []string{feed, "London King's Cross", "Brno"}, "tomorrow\n", false},
		{"shop", nil, "usage: shop FEED ORIGIN DESTINATION\n", false},
	} {
		if out, err := command(bin+c.program, c.args...).CombinedOutput(); !strings.HasSuffix(string(out), c.want) || (err == nil) != c.ok {
			t.Errorf("%s %q: %v, %s", c.program, c.args, err, out)
		}
	}
	mount := command(bin+"mount", feed)
	if err := mount.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = mount.Process.Kill()
		_ = mount.Wait()
	}()
	if page := opened(t, "http://"+address+"/trains"); !strings.Contains(page, "http://"+address+"/trains/stations") {
		t.Errorf("the server below a mux shows people\n%s", page)
	}
}

// clockedAt is a program that runs at an instant, and prints when the train that it has chosen departs.
func clockedAt(t *testing.T, program, instant string) string {
	t.Helper()
	now, err := time.Parse(time.RFC3339, instant)
	if err != nil {
		t.Fatal(err)
	}
	fixed := fmt.Sprintf("time.Unix(%d, 0)", now.Unix())
	return replaced(t, program, "time.Now()", fixed,
		"traintravel.Options{}", "traintravel.Options{Now: func() time.Time { return "+fixed+" }}",
		`"is", booking.Status`, `"departs", booking.Departs().Format("on 2 January at 15:04")`)
}

// replaced is a program with other texts in it, each of which it must have.
func replaced(t *testing.T, program string, oldnew ...string) string {
	t.Helper()
	for i := 0; i < len(oldnew); i += 2 {
		if !strings.Contains(program, oldnew[i]) {
			t.Fatalf("the program has no %s:\n%s", oldnew[i], program)
		}
		program = strings.ReplaceAll(program, oldnew[i], oldnew[i+1])
	}
	return program
}

// opened is the page that a browser is shown at an address, once somebody listens there.
func opened(t *testing.T, address string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", address, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/html")
	for range 600 {
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			time.Sleep(100 * time.Millisecond)
			continue
		}
		defer resp.Body.Close()
		page, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(page)
	}
	t.Fatalf("nobody listens at %s", address)
	return ""
}

// The README is what a stranger reads first, and stays short.
func TestReadmeIsShort(t *testing.T) {
	t.Parallel()
	if size := len(read(t, "README.md")); size > 9<<10 {
		t.Errorf("README.md has %d bytes, want 9 KB at most: say more in docs", size)
	}
	for _, name := range []string{"site", "ticket"} {
		if picture := read(t, "docs/images/"+name+".png"); len(picture) >= 100_000 || !strings.HasPrefix(picture, "\x89PNG\r\n") {
			t.Errorf("docs/images/%s.png has %d bytes, want a PNG of less than 100 KB: see packaging/make-pictures", name, len(picture))
		}
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

// Files that the documents for contributors name are there. One without a folder is in the
// root, or in a folder that was named before it in the paragraph.
func TestNamedFiles(t *testing.T) {
	t.Parallel()
	named := regexp.MustCompile("`([\\w./-]+)`")
	file := regexp.MustCompile(`\w\.(go|md|yaml|txt)$`)
	for _, document := range []string{"CONTRIBUTING.md", "docs/architecture.md", "docs/workings.md"} {
		for paragraph := range strings.SplitSeq(read(t, document), "\n\n") {
			folders := []string{"", "httpserver"} // what goes over HTTP is told of by itself
			for _, m := range named.FindAllStringSubmatch(paragraph, -1) {
				found := slices.ContainsFunc(folders, func(folder string) bool {
					_, err := os.Stat(filepath.Join(folder, m[1]))
					return err == nil
				})
				switch {
				case file.MatchString(m[1]) && !found:
					t.Errorf("%s names %s, which is not there", document, m[1])
				case file.MatchString(m[1]):
					folders = append(folders, filepath.Dir(m[1]))
				default:
					folders = append(folders, m[1]) // if it is one
				}
			}
		}
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
