package house_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// What this file and its neighbours check is the architecture: which package
// may know which, and the manners of a library that others embed. A rule that
// does not hold for new code is changed here, with its reason, or not at all.

const module = "github.com/traintravel/traintravel"

// A pkg is the Go files of one folder. Its name is the path below the module,
// "." for the root.
type pkg struct {
	name  string
	main  bool // a program, not a library
	files []*source
	info  types.Info // of the files that are no tests
}

// A source is one Go file.
type source struct {
	path string
	test bool
	ast  *ast.File
}

var fset = token.NewFileSet()

// packages parses every Go file of the tree, once.
var packages = sync.OnceValues(func() ([]*pkg, error) {
	byName := map[string]*pkg{}
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch base := d.Name(); {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (base[0] == '.' || base[0] == '_' || base == "testdata"):
			return filepath.SkipDir
		case d.IsDir() || path.Ext(base) != ".go" || base[0] == '.' || base[0] == '_':
			return nil
		}
		name = filepath.ToSlash(name)
		file, err := parser.ParseFile(fset, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		dir := path.Dir(name)
		p := byName[dir]
		if p == nil {
			p = &pkg{name: dir}
			byName[dir] = p
		}
		p.main = p.main || file.Name.Name == "main"
		p.files = append(p.files, &source{path: name, test: strings.HasSuffix(name, "_test.go"), ast: file})
		return nil
	})
	all := slices.SortedFunc(maps.Values(byName), func(a, b *pkg) int { return strings.Compare(a.name, b.name) })
	for _, p := range all {
		p.check()
	}
	return all, err
})

// check finds out what the names in a package mean. What they mean in imported
// packages is not looked up, so it takes no time, and errors do not matter.
func (p *pkg) check() {
	p.info = types.Info{
		Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{},
	}
	conf := types.Config{Importer: nothing{}, Error: func(error) {}}
	_, _ = conf.Check(p.name, fset, p.code(), &p.info)
}

type nothing struct{}

func (nothing) Import(string) (*types.Package, error) { return nil, errors.New("not looked up") }

// code returns the files that are no tests.
func (p *pkg) code() []*ast.File {
	var files []*ast.File
	for _, f := range p.files {
		if !f.test {
			files = append(files, f.ast)
		}
	}
	return files
}

// under says whether the package is one of these folders or lies in one.
func (p *pkg) under(folders ...string) bool { return under(p.name, folders...) }

func under(name string, folders ...string) bool {
	return slices.ContainsFunc(folders, func(f string) bool {
		return name == f || strings.HasPrefix(name, f+"/")
	})
}

func each(t *testing.T, fn func(*pkg)) {
	t.Helper()
	all, err := packages()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		fn(p)
	}
}

func at(pos token.Pos) string {
	p := fset.Position(pos)
	return fmt.Sprintf("%s:%d", p.Filename, p.Line)
}

// imports calls fn for each import of a package: of ours by the path below the
// module, of others as it is written.
func (p *pkg) imports(fn func(f *source, spec *ast.ImportSpec, path string, ours bool)) {
	for _, f := range p.files {
		for _, spec := range f.ast.Imports {
			name := strings.Trim(spec.Path.Value, `"`)
			if below, ours := strings.CutPrefix(name, module); ours && (below == "" || below[0] == '/') {
				fn(f, spec, path.Clean("./"+below), true)
				continue
			}
			fn(f, spec, name, false)
		}
	}
}

// What stands around the root imports no more than it needs. That imports run one way
// TestLevels checks.
func TestLayers(t *testing.T) {
	t.Parallel()
	layers := []struct {
		folder string
		may    []string // import, of this module
		tests  []string // may import besides
		why    string
	}{
		{"gtfs", []string{".", "internal"}, nil,
			"a reader of timetables serves any store and any server"},
		{"feeds", []string{".", "gtfs", "internal"}, nil,
			"what joins timetables serves any store and any server, as what reads them does"},
		{"cities", []string{"."}, []string{"gtfs", "internal", "places", "store/memstore"},
			"it is facts for the root, and knows nothing but its form"},
		{"places", []string{"."}, []string{"gtfs"},
			"it fills in stations, wherever they are from"},
		{"sandbox", []string{".", "store/memstore"}, []string{"store", "internal", "gtfs", "paymenttest"},
			"a gateway is told what to do and asks nobody; what it remembers is in a store that it is given, or in memory"},
		{"gateway", []string{".", "internal"}, []string{"sandbox", "paymenttest", "store", "gtfs"},
			"both sides of a contract: who is asked for money may be any gateway"},
		{"paymenttest", []string{".", "internal/sim"}, []string{"sandbox"},
			"the contract is for authors of other gateways, who see the root alone, and what sells tickets by their gateways"},
		{"metrics", []string{"."}, []string{"store", "gtfs", "sandbox", "internal"},
			"what is counted is what an observer of any service is told, whatever serves it"},
		{"tracing", []string{"."}, []string{"store", "sandbox"},
			"it wraps what the root knows by interfaces, whatever that is"},
		{"ticket", []string{".", "internal"}, []string{"store", "gtfs", "sandbox"},
			"a ticket is made of a booking, whoever keeps or serves it"},
		{"store/storetest", []string{".", "internal/sim"}, []string{"store"},
			"the contract is for authors of other stores, who see the root alone, and what sells tickets on their stores"},
		{"store", []string{".", "internal"}, []string{"store/storetest"},
			"a store keeps bytes; it is chosen by the program and knows neither server nor other stores"},
		{"httpserver", []string{".", "gtfs", "ticket", "internal"}, []string{"store", "sandbox", "metrics", "tracing"},
			"the server works on any store; who wires it chooses one"},
		{"trainserver", []string{".", "httpserver", "ticket", "sandbox", "cities", "internal"}, []string{"store", "gtfs"},
			"it wires a server on any store, and who has another gateway brings it"},
		{"cmd", []string{"."}, nil, "programs wire what they like"},
		{"packaging", nil, nil, "what builds the programs is none of what it builds"},
		{"examples/webapp", nil, []string{"gtfs", "httpserver", "internal", "sandbox", "store", "ticket"},
			"it is what anybody could write who has the address of the API and nothing else"},
		{"examples", []string{"."}, nil, "programs wire what they like"},
	}
	each(t, func(p *pkg) {
		for _, l := range layers {
			if !p.under(l.folder) {
				continue
			}
			p.imports(func(f *source, spec *ast.ImportSpec, target string, ours bool) {
				if !ours || l.folder == "cmd" || l.folder == "examples" || under(target, p.name) && p.name != "." || target == "." && slices.Contains(l.may, ".") {
					return
				}
				allowed := under(target, l.may...) || f.test && (target == "." || under(target, slices.Concat(l.tests, l.may)...))
				if !allowed {
					t.Errorf("%s: %s must not import %s: %s", at(spec.Pos()), p.name, target, l.why)
				}
			})
			return
		}
	})
}

// reachable are packages, with all of ours that they import, and that these do.
func reachable(t *testing.T, from ...string) map[string]*pkg {
	t.Helper()
	all := map[string]*pkg{}
	each(t, func(p *pkg) { all[p.name] = p })
	reached := map[string]*pkg{}
	var reach func(name string)
	reach = func(name string) {
		p := all[name]
		if reached[name] != nil || p == nil {
			return
		}
		reached[name] = p
		p.imports(func(f *source, _ *ast.ImportSpec, target string, ours bool) {
			if ours && !f.test {
				reach(target)
			}
		})
	}
	for _, name := range from {
		reach(name)
	}
	return reached
}

// Packages around the Service use only its exported API: neither they nor their tests import the
// packages with its rules.
func TestOneDoor(t *testing.T) {
	t.Parallel()
	behind := reachable(t, ".")
	common := []string{"internal/fold", "internal/whsec"} // forms of texts, and nothing of the trade
	each(t, func(p *pkg) {
		if levelOf(p.name) <= levelOf(".") || p.under("tests", "internal/officetest", "internal/audittest") {
			return
		}
		p.imports(func(_ *source, spec *ast.ImportSpec, target string, ours bool) {
			if ours && behind[target] != nil && under(target, "internal") && !slices.Contains(common, target) {
				t.Errorf("%s: %s must not import %s: it is behind the Service; what is missing there is added there", at(spec.Pos()), p.name, target)
			}
		})
	})
}

// forTests are the packages that only tests import, and contracts are those of them that
// are for the tests of other people's stores and gateways.
var (
	forTests  = []string{"internal/need", "internal/pgtest", "internal/railtest", "internal/officetest", "internal/audittest", "internal/sim"}
	contracts = []string{"store/storetest", "paymenttest"}
)

// What other people's code is for, and where it may be used.
func TestDependencies(t *testing.T) {
	t.Parallel()
	bans := []struct {
		paths   []string // a package, or all below it
		folders []string // where it may be imported
		tests   bool     // and in any test
		why     string
	}{
		{[]string{"go.etcd.io/bbolt"}, []string{"store/boltstore", "examples/stripe-gateway"}, true,
			"the file format is one store's business; who takes another store links none of it (the example keeps books of its own)"},
		{[]string{"github.com/stripe"}, []string{"examples/stripe-gateway"}, false,
			"one provider's library is for a module of its own"},
		{[]string{"github.com/nats-io"}, []string{"examples/nats-notifier"}, false,
			"likewise one queue's"},
		{[]string{"github.com/jackc/pgx"}, []string{"store/pgstore"}, true,
			"likewise the database driver"},
		{[]string{"codeberg.org/go-pdf", "github.com/go-fonts", "github.com/go-text", "github.com/boombuler/barcode", "golang.org/x/image"}, []string{"ticket"}, false,
			"fonts and PDF are a megabyte and more: who imports package ticket wants them"},
		{[]string{"github.com/ringsaturn"}, []string{"places"}, false,
			"it brings the borders of all time zones along: who imports package places wants them"},
		{[]string{"github.com/gosimple/unidecode"}, []string{"internal/fold"}, false,
			"how a name is spelled in other letters is decided in one place"},
		{[]string{"github.com/prometheus"}, []string{"metrics"}, true,
			"metrics have a package of their own: who counts in another way links none of it"},
		{[]string{"go.opentelemetry.io/otel/sdk", "go.opentelemetry.io/otel/exporters", "go.opentelemetry.io/contrib", "go.opentelemetry.io/proto", "google.golang.org"}, []string{"cmd"}, true,
			"where traces go is the program's to say"},
		{[]string{"go.opentelemetry.io/otel"}, []string{"tracing", "cmd"}, true,
			"traces have a package of their own: who makes none links none of it"},
		{[]string{"github.com/google/go-cmp", "pgregory.net/rapid"}, []string{"store/storetest", "internal/railtest", "internal/officetest"}, true,
			"they are made for tests: go-cmp panics on what it cannot compare"},
		{[]string{"code.dny.dev/ssrf"}, []string{"httpserver"}, false,
			"who posts to addresses that strangers name checks them where it connects"},
		{[]string{"github.com/standard-webhooks"}, []string{"examples"}, true,
			"receivers verify with it, and tests what they would find"},
		{[]string{"github.com/anishathalye/porcupine"}, nil, true,
			"it checks histories that tests have recorded"},
		{[]string{"testing"}, append(contracts, forTests...), true,
			"it adds its flags to the host's command line"},
		{[]string{"github.com/julienschmidt/httprouter", "golang.org/x/oauth2", "github.com/lestrrat-go/jwx"}, []string{"httpserver", "cmd", "examples"}, false,
			"a program that embeds the library without its server pays for no router and no tokens"},
		{[]string{"github.com/pdfcpu/pdfcpu", "github.com/makiuchi-d/gozxing"}, []string{"cmd"}, false,
			"they read tickets back from PDFs and pictures, which only who inspects files needs; the one is large"},
		{[]string{"flag", "os/signal"}, []string{"cmd", "examples", "packaging", "internal/need", "internal/sim"}, false,
			"command line and signals belong to the host"},
		{[]string{"log"}, []string{"cmd", "examples", "packaging"}, true,
			"it writes to a logger that all of the process shares; take a *slog.Logger"},
		{[]string{"expvar", "net/http/pprof"}, []string{"cmd"}, false,
			"they register themselves with the process's one server"},
		{[]string{"unsafe", "C"}, nil, true,
			"the library builds anywhere, and a mistake in it is a panic, not a corrupted host"},
	}
	behind := reachable(t, ".")
	root := []string{"github.com/google/uuid"}
	each(t, func(p *pkg) {
		p.imports(func(f *source, spec *ast.ImportSpec, target string, ours bool) {
			if ours {
				if under(target, forTests...) && !f.test && !p.under(forTests...) && !p.under(contracts...) {
					t.Errorf("%s: %s must not import %s: it is for tests, and imports testing", at(spec.Pos()), p.name, target)
				}
				return
			}
			for _, b := range bans {
				if under(target, b.paths...) && target != "log/slog" && !p.under(b.folders...) && !(b.tests && f.test) && !generator(p) {
					t.Errorf("%s: %s must not import %s: %s", at(spec.Pos()), p.name, target, b.why)
				}
			}
			first, _, _ := strings.Cut(target, "/")
			ofText := p.name == "internal/fold" && under(target, "github.com/gosimple/unidecode", "golang.org/x/text")
			if behind[p.name] != nil && !f.test && strings.Contains(first, ".") && !under(target, root...) && !ofText {
				t.Errorf("%s: %s must not import %s: every embedder would depend on it", at(spec.Pos()), p.name, target)
			}
		})
	})
}

// generator says whether a package is a program that go generate runs.
func generator(p *pkg) bool { return p.main && p.under("internal") }

// A library reaches for nothing that belongs to the process.
func TestProcessIsTheHosts(t *testing.T) {
	t.Parallel()
	bans := []struct {
		path  string
		names []string
		why   string
	}{
		{"os", []string{"Exit"}, "whether the process ends is the host's decision: return an error"},
		{"os", []string{"Getenv", "LookupEnv", "Environ", "Setenv", "Unsetenv", "ExpandEnv", "Args"}, "settings come as Options, so that two services in one process may differ"},
		{"os", []string{"Stdin", "Stdout", "Stderr"}, "the terminal is the host's: take an io.Writer or a logger"},
		{"fmt", []string{"Print", "Printf", "Println"}, "they write to the host's terminal"},
		{"log/slog", []string{"Default", "SetDefault", "Debug", "Info", "Warn", "Error", "Log"}, "the default logger is all the process's: take a *slog.Logger, silent by default"},
		{"net/http", []string{"DefaultServeMux", "DefaultClient", "DefaultTransport", "Handle", "HandleFunc", "Get", "Post", "PostForm", "Head", "ListenAndServe", "ListenAndServeTLS"}, "the defaults are all the process's, and have no time limits"},
		{"time", []string{"Local"}, "where the process runs says nothing of where the trains do"},
		{"github.com/google/uuid", []string{"SetRand", "EnableRandPool", "SetClockSequence", "SetNodeID"}, "it changes the IDs of everybody in the process"},
	}
	each(t, func(p *pkg) {
		// storetest starts its own test binary, need is told in the environment that all must run
		if p.main || p.under("cmd", "examples", "store/storetest", "internal/need") {
			return
		}
		for _, f := range p.code() {
			ast.Inspect(f, func(n ast.Node) bool {
				sel, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				x, ok := sel.X.(*ast.Ident)
				if !ok {
					return true
				}
				imported, ok := p.info.Uses[x].(*types.PkgName)
				if !ok {
					return true
				}
				for _, b := range bans {
					if imported.Imported().Path() == b.path && slices.Contains(b.names, sel.Sel.Name) {
						t.Errorf("%s: %s.%s: %s", at(sel.Pos()), b.path, sel.Sel.Name, b.why)
					}
				}
				return true
			})
		}
	})
}

// No note to ourselves is left where users read.
func TestNothingLeftOver(t *testing.T) {
	t.Parallel()
	marks := []string{"TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"}
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "testdata"):
			return filepath.SkipDir
		case d.IsDir() || !slices.Contains([]string{".go", ".md", ".yaml", "", ".mod"}, path.Ext(d.Name())) || d.Name() == "LICENSE":
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for i, line := range strings.Split(string(text), "\n") {
			for _, mark := range marks {
				if strings.Contains(line, mark) {
					t.Errorf("%s:%d: %s: do it, or say in words what is missing", name, i+1, mark)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
