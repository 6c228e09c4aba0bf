package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/traintravel/traintravel/internal/need"
)

// commandDocuments are the documents whose sh blocks TestDocumentCommands runs. README.md, docs/http.md
// and docs/mock.md are for TestReadme, docs/operations.md is for TestOperations.
var commandDocuments = []string{
	"docs/clients.md", "docs/embedding.md", "docs/running.md", "docs/sign-in.md", "docs/tickets.md", "docs/webhooks.md",
}

// notRun are the other blocks of documents, by their first line, and why no test runs them here.
var notRun = map[string]string{
	"README.md: git clone https://github.com/traintravel/traintravel && cd traintravel": "needs the network; TestReadme starts the server",
	"README.md: go run ./cmd/traintravel mock":                                          "TestReadme starts the mock",
	"README.md: go mod init shop":                                                       "go mod tidy downloads modules; tests/house builds and runs the program",
	"docs/clients.md: npx @apiture/openapi-down-convert":                                "downloads an npm package; TestGeneratedClients runs it where it is installed",
	"docs/embedding.md: go mod init shop":                                               "go mod tidy downloads modules; tests/house builds and runs the program",
	"docs/embedding.md: /trains":                                                        "paths",
	"docs/failover.md: createuser --replication":                                        "needs a primary and a standby; tests/kills has both",
	"docs/failover.md: hostssl":                                                         "a settings file of PostgreSQL",
	"docs/failover.md: listen_addresses":                                                "a settings file of PostgreSQL",
	"docs/failover.md: pg_basebackup":                                                   "needs a primary and a standby; tests/kills has both",
	"docs/failover.md: psql -c":                                                         "needs a primary and a standby; tests/kills has both",
	"docs/failover.md: postgres://":                                                     "a URL",
	"docs/failover.md: pg_ctlcluster":                                                   "needs root, and a primary and a standby",
	"docs/failover.md: apt-get install":                                                 "needs root",
	"docs/gateway.md: export TRAINTRAVEL_GATEWAY_SECRET":                                "needs a payment gateway; TestGateway has one",
	"docs/install.md: apt install":                                                      "needs root; packaging/test-install does it",
	"docs/mock.md: go run ./cmd/traintravel mock":                                       "TestReadme starts the mock",
	"docs/mock.md: traintravel mock listens":                                            "output",
	"docs/mock.md: traintravel mock --host":                                             "opens a fixed port for other machines; TestMockHost checks the addresses",
	"docs/operations.md: export TRAINTRAVEL_DATA":                                       "TestOperations sets the variables",
	"docs/operations.md: journalctl":                                                    "needs systemd",
	"docs/operations.md: traintravel backup \"$BACKUPS/saved.db\"":                      "needs systemd; TestDataFileRemoved saves a removed file",
	"docs/operations.md: psql":                                                          "needs PostgreSQL",
	"docs/operations.md: timedatectl":                                                   "needs systemd",
	"docs/operations.md: traintravel payment settle":                                    "needs a payment that is stuck; TestPaymentStuckAndSettled has one",
	"docs/operations.md: docker":                                                        "needs a container engine; packaging/test-image has one",
	"docs/operations.md: cd deploy/compose":                                             "needs a container engine; packaging/test-image has one",
	"docs/operations.md: systemctl":                                                     "needs root and systemd; packaging/test-install does it",
	"docs/postgres.md: export TRAINTRAVEL_POSTGRES":                                     "needs PostgreSQL and an issuer at fixed addresses",
	"docs/postgres.md: go run ./cmd/traintravel serve":                                  "needs PostgreSQL and fixed ports; tests of store/pgstore and tests/kills run several servers",
	"docs/postgres.md: go run ./cmd/traintravel migrate":                                "needs PostgreSQL; TestMigrate moves a file",
	"docs/simulator.md: go run ./internal/sim":                                          "takes minutes; CI runs it as a step",
	"docs/simulator.md: FAILED":                                                         "output",
	"docs/sign-in.md: traintravel serve --issuer":                                       "needs an issuer; TestForeignIssuer has one",
}

// Every block of a document runs in a test, or is in notRun with the reason.
func TestDocumentBlocks(t *testing.T) {
	t.Parallel()
	documents, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	ran := append(slices.Clone(commandDocuments), "README.md", "docs/http.md", "docs/mock.md", "docs/operations.md")
	seen := map[string]bool{}
	for _, file := range append(documents, "../../README.md") {
		document := filepath.ToSlash(strings.TrimPrefix(file, "../../"))
		if slices.Contains([]string{"docs/architecture.md", "docs/workings.md"}, document) {
			continue // pictures
		}
		for _, m := range anyBlock.FindAllStringSubmatch(string(contents(t, file)), -1) {
			kind, first := m[1], document+": "+m[2]
			switch {
			case kind == "sh" && !slices.Contains(ran, document):
				t.Errorf("no test runs the sh blocks of %s: add it to commandDocuments", document)
			case kind != "" && (kind != "text" || document != "docs/operations.md"):
				continue
			}
			known := false
			for entry := range notRun {
				if strings.HasPrefix(first, entry) {
					known, seen[entry] = true, true
				}
			}
			if !known {
				t.Errorf("no test runs the block that begins\n%s\nmark it sh, or say in notRun why not", first)
			}
		}
	}
	for entry := range notRun {
		if !seen[entry] {
			t.Errorf("no document has the block of notRun %q", entry)
		}
	}
}

var anyBlock = regexp.MustCompile("(?ms)^ *```(\\w*)\n *([^\n]*)\n.*?^ *```$")

// To a shell of TestDocumentCommands, go run of an example is the example, built before. With EXEC=exec it
// takes the place of the shell, so that it can be ended.
const goRun = `go() {
	case "$1 $2" in
	"run ./cmd/traintravel") set -- "$TEST_BINARY" "${@:3}" ;;
	"run ./examples/"*) (cd "$ROOT" && HOME=$HOME_BEFORE command go build -o "$BIN/" "$2") || return; set -- "$BIN/${2##*/}" "${@:3}" ;;
	*) return 1 ;;
	esac
	$EXEC "$@"
}`

// flagsHere have the servers of documents listen where nobody else does, and call the server of the
// test. The last value of a flag counts.
var flagsHere = map[string]string{
	"go run ./cmd/traintravel serve":     `--addr "$ADDR"`,
	"go run ./examples/oauth-client":     `--server "http://$ADDR"`, // waits for somebody to sign in
	"go run ./examples/webapp":           `--addr 127.0.0.1:0 --api "http://$ADDR"`,
	"go run ./examples/webhook-receiver": "--addr 127.0.0.1:0",
}

// TestDocumentCommands runs the sh blocks of documents in the folder in which those of the README have
// run, line by line, none of which may fail. Servers have to say where they listen.
func TestDocumentCommands(t *testing.T) {
	for _, name := range []string{"bash", "curl", "jq", "openssl"} {
		need.Program(t, name, name)
	}
	t.Parallel()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	for _, document := range commandDocuments {
		t.Run(document, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.CopyFS(filepath.Join(dir, "FEED.zip"), os.DirFS(filepath.Join(root, "internal/demo/feed"))); err != nil {
				t.Fatal(err)
			}
			server := spawn(t, dir, "serve").listen()
			addr := strings.TrimPrefix(server.base, "http://")
			sh := newShell(t, dir)
			defer sh.run("kill $(jobs -p) 2>/dev/null; wait")
			sh.run("ADDR=" + addr + " BIN='" + bin + "' ROOT='" + root + "' HOME_BEFORE='" + os.Getenv("HOME") + "' EXEC=\n" + goRun)
			here := strings.NewReplacer(shownBase, server.base, "2026-12-31", soon())
			run := func(command string) string {
				out, ok := strings.CutSuffix(sh.run(here.Replace(command)+"\necho \"status $?\""), "status 0")
				if !ok {
					t.Fatalf("%s\n%s", command, out)
				}
				return out
			}
			run(session(t, "README.md")[0].command)
			defer allIgnored(t, dir, "server.out")
			if strings.Contains(string(contents(t, filepath.Join(root, document))), "Stop the server") {
				server.kill()
			}
			for _, s := range session(t, document) {
				for line := range strings.Lines(s.command) {
					line = strings.TrimSpace(line)
					if flags := flagsOf(line); flags != "" {
						run("EXEC=exec " + line + " " + flags + " >server.out & \n" +
							`until grep -q http:// server.out; do kill -0 $! || break; sleep 0.1; done; grep http:// server.out`)
						continue
					}
					out := run(line)
					if diff := cmp.Diff(s.prints, strings.TrimSpace(out)); s.prints != "" && diff != "" {
						t.Errorf("%s (-%s +printed):\n%s", line, document, diff)
					}
				}
			}
		})
	}
}

// flagsOf are the flagsHere of a command line, "" if it starts no server.
func flagsOf(line string) string {
	for command, flags := range flagsHere {
		if strings.Contains(line, command) {
			return flags
		}
	}
	return ""
}
