package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/traintravel/traintravel/internal/need"
)

// TestReadme runs the commands of documents against a server and a mock, as they can be pasted,
// and compares the output line by line.
func TestReadme(t *testing.T) {
	for _, name := range []string{"bash", "curl", "jq"} {
		need.Program(t, name, name)
	}
	t.Parallel()
	const shownMock = "http://127.0.0.1:8081"
	for document, command := range map[string]string{"README.md": "serve", "docs/http.md": "serve", "docs/mock.md": "mock"} {
		t.Run(document, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			steps := session(t, document)
			shown := shownMock
			a := []string{command}
			if command == "serve" {
				shown = shownBase
				a = append(a, "--base-url", shownBase)
				if all := fmt.Sprint(steps); !strings.Contains(all, "token --user") || !strings.Contains(all, "DELETE") {
					t.Errorf("the session does not go from token to cancelled booking: %s", all)
				}
			}
			server := spawn(t, dir, a...).listen()
			sh := newShell(t, dir)
			for _, s := range steps {
				if strings.Contains(s.command, shownMock) && command == "serve" { // the README has both
					mock := spawn(t, dir, "mock").listen()
					newShell(t, dir).show(document, []step{s}, shownMock, mock.base)
					continue
				}
				sh.show(document, []step{s}, shown, server.base)
			}
			if printed := sh.errors(); printed != "" {
				t.Errorf("the commands also print, on standard error:\n%s", printed)
			}
			allIgnored(t, dir)
		})
	}
}

// The table of packages lists all commands, each once.
func TestReadmeCommands(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/embedding.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile(`(?m)^\| \[.cmd/traintravel.\]\(.*\) \| the command: (.*) \|$`).FindAllSubmatch(text, -1)
	if len(rows) != 1 {
		t.Fatalf("the command is in the table of packages %d times", len(rows))
	}
	named := strings.Split(strings.Trim(string(rows[0][1]), "`"), "`, `")
	_, help, _ := once(t, nil, "--help")
	_, help, _ = strings.Cut(help, "Available Commands:\n")
	help, _, _ = strings.Cut(help, "\n\n")
	var commands []string
	for line := range strings.Lines(help) {
		if name := strings.Fields(line)[0]; name != "help" && name != "completion" { // which every such program has
			commands = append(commands, name)
		}
	}
	slices.Sort(named)
	slices.Sort(commands)
	if diff := cmp.Diff(commands, named); diff != "" {
		t.Errorf("(-commands +docs/embedding.md):\n%s", diff)
	}
}

// show runs the steps of a session with another server than the one it shows.
func (sh *shell) show(document string, steps []step, shownBase, base string) {
	sh.t.Helper()
	shown, seen := &sh.shown, &sh.seen
	for _, s := range steps {
		command := s.command
		for i, id := range shown.ids { // typed again from an answer above
			command = strings.ReplaceAll(command, id, seen.ids[i])
		}
		command = strings.ReplaceAll(command, shownBase, base)
		want := shown.hide(s.prints)
		// What the server does a moment later, such as a refund, may take its
		// moment: who reads again sees it.
		for tries := 0; ; tries++ {
			again := variables{slices.Clone(seen.ids)}
			got := again.hide(strings.ReplaceAll(sh.run(command), base, shownBase))
			if want == got {
				*seen = again
				break
			}
			if writes := regexp.MustCompile(` -(d|X|o|so|sOJ) `); writes.MatchString(command) || tries == 100 {
				sh.t.Fatalf("%s\n(-%s +printed):\n%s", s.command, document, cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")))
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
}

// A step is a command of a session and what it prints.
type step struct{ command, prints string }

// session reads the blocks of a document that are marked sh, and of each what it prints: the block
// that follows it, if that is marked text, json or http. Blocks without a mark are not run.
func session(t *testing.T, document string) (steps []step) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(document)))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range shownBlock.FindAllStringSubmatch(string(text), -1) {
		switch kind, block := m[1], strings.TrimSuffix(m[2], "\n"); {
		case kind == "sh":
			steps = append(steps, step{command: block})
		case len(steps) > 0 && steps[len(steps)-1].prints == "":
			steps[len(steps)-1].prints = block
		default:
			t.Fatalf("%s: no command prints\n%s", document, block)
		}
	}
	if len(steps) == 0 {
		t.Fatalf("%s shows no commands", document)
	}
	return steps
}

var shownBlock = regexp.MustCompile("(?ms)^```(sh|text|json|http)\n(.*?)^```$")

// A shell is a bash that runs one command after another. To it, go run
// ./cmd/traintravel is the test binary.
type shell struct {
	t     *testing.T
	stdin io.Writer
	lines *bufio.Scanner
	wrong string // file of what is printed on standard error

	shown, seen variables // in what the document shows, and in what was printed
}

// over is what a shell prints after a command, on a line of its own.
const over = "-- over --"

func newShell(t *testing.T, dir string) *shell {
	t.Helper()
	wrong, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	bash := exec.CommandContext(t.Context(), "bash", "--noprofile", "--norc")
	bash.Dir, bash.Stderr, bash.WaitDelay = dir, wrong, time.Second
	bash.Env = append(os.Environ(), asCommandEnv+"=1", "TEST_BINARY="+itself(t), "HOME="+dir, "no_proxy=*")
	stdin, err := bash.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := bash.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := bash.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close()
		if err := bash.Wait(); err != nil && t.Context().Err() == nil {
			t.Error(err)
		}
		wrong.Close()
		t.Logf("standard error of the shell:\n%s", contents(t, wrong.Name()))
	})
	sh := &shell{t: t, stdin: stdin, lines: bufio.NewScanner(stdout), wrong: wrong.Name()}
	sh.run(`go() { [ "$1 $2" = "run ./cmd/traintravel" ] && "$TEST_BINARY" "${@:3}"; }`)
	return sh
}

// errors returns what commands have printed on standard error.
func (sh *shell) errors() string {
	sh.t.Helper()
	return string(contents(sh.t, sh.wrong))
}

// allIgnored checks that .gitignore names all files that commands leave in the folder of the clone,
// beside those of the test itself.
func allIgnored(t *testing.T, dir string, own ...string) {
	t.Helper()
	patterns := strings.Split(string(contents(t, "../../.gitignore")), "\n")
	patterns = append(patterns, own...)
	made, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range made {
		ignored := func(p string) bool { ok, _ := path.Match(strings.TrimPrefix(p, "/"), file.Name()); return ok }
		if file.Type().IsRegular() && !slices.ContainsFunc(patterns, ignored) { // git lists no sockets
			t.Errorf(".gitignore does not name %s, which the commands leave in the clone", file.Name())
		}
	}
}

// run runs a command and returns what it prints, without blank lines at the end.
func (sh *shell) run(command string) string {
	sh.t.Helper()
	if _, err := fmt.Fprintf(sh.stdin, "%s\nprintf '\\n%s\\n'\n", command, over); err != nil {
		sh.t.Fatal(err)
	}
	var b strings.Builder
	for sh.lines.Scan() {
		if sh.lines.Text() == over {
			return strings.TrimRight(b.String(), "\n")
		}
		b.WriteString(strings.TrimRight(sh.lines.Text(), "\r") + "\n")
	}
	sh.t.Fatalf("bash ended after %s, %v:\n%s", command, sh.lines.Err(), &b)
	return ""
}

// variables are what differs from one session to the next: IDs, by the order
// in which they are first printed, and times.
type variables struct{ ids []string }

var (
	anyID  = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	moment = regexp.MustCompile(strings.Join([]string{
		`\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT`, // a date in a header
		`remaining=\d+, reset=\d+`,                   // of the quota
		`\d{4}-02-01`,                                // the day of travel
		`after=[\w-]+`,                               // a page's place, which has the day in it
		`"reference":"[0-9A-Z]{6}"`,                  // of a booking, made from its ID
	}, "|"))
)

// hide puts names in place of what differs: equal ones where the same stands,
// and so an ID that is not the one printed before is a difference. IDs that are published, or
// those of stations, are the same everywhere: they are not made from the time (version 7) or
// from a day's trains (version 8).
func (v *variables) hide(text string) string {
	text = anyID.ReplaceAllStringFunc(text, func(id string) string {
		if version := id[14]; version != '7' && version != '8' {
			return id
		}
		if !slices.Contains(v.ids, id) {
			v.ids = append(v.ids, id)
		}
		return fmt.Sprintf("(ID %d)", slices.Index(v.ids, id)+1)
	})
	return moment.ReplaceAllStringFunc(text, func(m string) string {
		switch {
		case strings.HasSuffix(m, "GMT"):
			return "(time)"
		case strings.HasSuffix(m, "-02-01"):
			return "(day)"
		case strings.HasPrefix(m, `"reference"`):
			return `"reference":"(any)"`
		}
		return m[:strings.Index(m, "=")] + "=(any)"
	})
}
