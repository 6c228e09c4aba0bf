package main

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/traintravel/traintravel/internal/need"
)

// Clients that public generators make of the served description compile, and with them
// programs search, book, pay and cancel. In testdata/clients each language has its program,
// which prints the booking's ID. The generators run with their default settings:
//
//   - Go: oapi-codegen, which reads OpenAPI 3.1.
//   - TypeScript: openapi-typescript, which reads OpenAPI 3.1, and openapi-fetch.
//   - Ruby: OpenAPI Generator 5.0.0-beta2, the newest that npm has whole. It reads OpenAPI
//     3.0, to which openapi-down-convert brings the description. It makes one class of all
//     schemas that oneOf names, with the last one's constants, so the program pays from a
//     bank account.
func TestGeneratedClients(t *testing.T) {
	need.All(t, "generators of clients")
	t.Parallel()
	data := filepath.Join(t.TempDir(), "t.db")
	r := start(t, "serve", "--data", data)
	code, token, stderr := once(t, nil, "token", "--user", "anna", "--scope", "read write", "--data", data)
	if code != 0 {
		t.Fatal(stderr)
	}
	token = strings.TrimSpace(token)
	for language, client := range map[string]func(generated) []string{
		"go": generated.golang, "typescript": generated.typescript, "ruby": generated.ruby,
	} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			g := generated{t, t.TempDir()}
			if err := os.CopyFS(g.dir, os.DirFS(filepath.Join("testdata", "clients", language))); err != nil {
				t.Fatal(err)
			}
			g.write("openapi.json", r.document("/openapi.json"))
			day := time.Now().UTC().AddDate(0, 0, 7).Format(time.DateOnly)
			command := append(client(g), r.base, day)
			booking := strings.TrimSpace(g.run(command, "TOKEN="+token))
			r := *r // of this test
			r.t = t
			r.call(token, "GET", "/bookings/"+booking, "", 404)
			payments := r.call(token, "GET", "/bookings/"+booking+"/payments", "", 200)["data"].([]any)
			if len(payments) != 2 || payments[0].(map[string]any)["refund_of"] != payments[1].(map[string]any)["id"] {
				t.Errorf("the payments are %v", payments)
			}
		})
	}
}

// The code that generators make of the description of payment gateways compiles too.
func TestGeneratedGateway(t *testing.T) {
	need.All(t, "generators of clients")
	t.Parallel()
	g := generated{t, t.TempDir()}
	if err := os.CopyFS(g.dir, os.DirFS(filepath.Join("testdata", "clients", "go"))); err != nil {
		t.Fatal(err)
	}
	g.write("openapi.yaml", gatewayDescription(t))
	g.oapiCodegen("openapi.yaml")
	g.run([]string{"go", "build", "./api"}, "GOWORK=off")
	node := g.node()
	node("openapi-typescript/bin/cli.js", "openapi.yaml", "-o", "api.ts")
	node("typescript/bin/tsc", "--noEmit", "--strict", "api.ts")
}

// document returns a text that the server has for everybody.
func (r *running) document(path string) string {
	r.t.Helper()
	resp, err := http.Get(r.base + path)
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		r.t.Fatalf("%s: %s, %v", path, resp.Status, err)
	}
	return string(text)
}

// A generated is the folder in which generators and compilers work for one test.
type generated struct {
	t   *testing.T
	dir string
}

func (g generated) write(name, text string) {
	g.t.Helper()
	if err := os.WriteFile(filepath.Join(g.dir, name), []byte(text), 0o600); err != nil {
		g.t.Fatal(err)
	}
}

// run runs a command in the folder and returns what it prints.
func (g generated) run(command []string, environ ...string) string {
	g.t.Helper()
	cmd := exec.CommandContext(g.t.Context(), command[0], command[1:]...)
	cmd.Dir = g.dir
	cmd.Env = append(os.Environ(), environ...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		g.t.Fatalf("%v: %v\n%s%s", command, err, out, &stderr)
	}
	return string(out)
}

// node has the packages of internal/need in the folder and returns how to run one of
// their programs.
func (g generated) node() func(program string, args ...string) string {
	g.t.Helper()
	node, packages := need.Node(g.t, "descriptions")
	if err := os.Symlink(filepath.Join(packages, "node_modules"), filepath.Join(g.dir, "node_modules")); err != nil {
		g.t.Fatal(err)
	}
	return func(program string, args ...string) string {
		g.t.Helper()
		// Redocly CLI neither counts us nor asks for a newer version of itself.
		return g.run(append([]string{node, filepath.Join("node_modules", program)}, args...), "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true")
	}
}

// oapiCodegen makes the package api.
func (g generated) oapiCodegen(description string) {
	g.t.Helper()
	need.Modules(g.t, g.dir)
	if err := os.Mkdir(filepath.Join(g.dir, "api"), 0o700); err != nil {
		g.t.Fatal(err)
	}
	g.run([]string{"go", "tool", "oapi-codegen", "-package", "api", "-o", "api/api.go", description}, "GOWORK=off")
}

func (g generated) golang() []string {
	g.oapiCodegen("openapi.json")
	g.run([]string{"go", "build", "-o", "client.exe", "."}, "GOWORK=off")
	return []string{filepath.Join(g.dir, "client.exe")}
}

func (g generated) typescript() []string {
	node := g.node()
	node("openapi-typescript/bin/cli.js", "openapi.json", "-o", "api.ts")
	g.write("package.json", `{"type": "module"}`)
	node("typescript/bin/tsc", "--strict", "--target", "es2022", "--module", "nodenext", "--types", "node", "book.ts")
	return []string{need.Program(g.t, "nodejs", "node"), "book.js"}
}

func (g generated) ruby() []string {
	node := g.node()
	java, ruby := need.Program(g.t, "default-jre-headless", "java"), need.Program(g.t, "ruby ruby-typhoeus", "ruby")
	if exec.CommandContext(g.t.Context(), ruby, "-e", `require "typhoeus"`).Run() != nil {
		need.Missing(g.t, "typhoeus for Ruby", "ruby-typhoeus")
	}
	node("@apiture/openapi-down-convert/lib/src/cli.js", "--input", "openapi.json", "--output", "openapi30.json")
	g.run([]string{java, "-jar", "node_modules/@openapitools/openapi-generator-cli/bin/openapi-generator.jar",
		"generate", "-g", "ruby", "-i", "openapi30.json", "-o", "client", "--additional-properties=gemName=trains"})
	return []string{ruby, "-Iclient/lib", "book.rb"}
}
