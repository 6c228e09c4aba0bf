package main

import (
	"errors"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// The manual page has every command and flag of the program's help, and tools for manual pages
// report no errors.
func TestManPage(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "traintravel")
	if _, err := output([]string{"GOOS=", "GOARCH="}, "go", "-C", "../..", "build", "-o", program, "./cmd/traintravel"); err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 5, 17, 12, 0, 0, 0, time.UTC)
	page, err := manPage("1.2.3", at, helpOf(program))
	if err != nil {
		t.Fatal(err)
	}
	again, err := manPage("1.2.3", at, helpOf(program))
	if err != nil || again != page {
		t.Errorf("it is another the second time: %v", err)
	}
	for _, want := range []string{".TH TRAINTRAVEL 1 \"2026-05-17\" \"traintravel 1.2.3\"", "TRAINTRAVEL_RATE_LIMIT", ".SS traintravel subject erase USER\n", ".SS traintravel token\\-keys remove"} {
		if !strings.Contains(page, want) {
			t.Errorf("it lacks %s", want)
		}
	}
	for n, line := range strings.Split(page, "\n") {
		if strings.ContainsFunc(line, func(r rune) bool { return r > 126 || r < ' ' && r != '\t' }) {
			t.Errorf("line %d is not plain: %q", n+1, line)
		}
	}

	var look func(command ...string)
	look = func(command ...string) {
		help, err := helpOf(program)(command...)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.Join(append([]string{"traintravel"}, command...), " ")
		_, section, ok := strings.Cut(page, "\n.SS "+roff(name))
		if section, _, _ = strings.Cut(section, "\n.S"); len(command) == 0 {
			section, ok = page, true
		}
		if !ok {
			t.Errorf("it does not tell of %s", name)
		}
		_, list, _ := strings.Cut(help, "\nFlags:\n")
		list, _, _ = strings.Cut(list, "\nGlobal Flags:\n")
		for _, f := range regexp.MustCompile(`(?m)^ +(?:-\w, )?(--[\w-]+)`).FindAllStringSubmatch(list, -1) {
			if f[1] != "--help" && !strings.Contains(section, roff(f[1])+" ") {
				t.Errorf("of %s it does not tell of %s", name, f[1])
			}
		}
		_, list, _ = strings.Cut(help, "\nAvailable Commands:\n")
		list, _, _ = strings.Cut(list, "\n\n")
		for line := range strings.Lines(list) {
			if sub := strings.Fields(line)[0]; sub != "help" && (len(command) == 0 || command[0] != "completion") {
				look(append(command[:len(command):len(command)], sub)...)
			}
		}
	}
	look()

	for _, reader := range [][]string{{"groff", "-man", "-ww", "-z", "-Kutf8"}, {"mandoc", "-Tlint", "-Wwarning"}} {
		if _, err := exec.LookPath(reader[0]); err != nil {
			t.Logf("there is no %s to read it", reader[0])
			continue
		}
		cmd := exec.Command(reader[0], reader[1:]...)
		cmd.Stdin = strings.NewReader(page)
		if said, err := cmd.CombinedOutput(); err != nil || len(said) > 0 {
			t.Errorf("%s: %v\n%s", reader[0], err, said)
		}
	}
}

// Help in an unexpected form is an error, not an incomplete page.
func TestManPageUnderstands(t *testing.T) {
	t.Parallel()
	good := "Do it.\n\nUsage:\n  traintravel [command]\n\nAvailable Commands:\n  run   Run\n"
	for want, help := range map[string]string{
		"cannot read the flag":         "Run.\n\nUsage:\n  traintravel run\n\nFlags:\n  nonsense\n",
		"unexpected text \"Aliases:\"": "Run.\n\nUsage:\n  traintravel run\n\nAliases:\n  walk\n",
		"the description is missing":   "\nUsage:\n  traintravel run\n",
		"it cannot":                    "",
	} {
		_, err := manPage("1", time.Unix(0, 0), func(command ...string) (string, error) {
			if len(command) == 0 {
				return good, nil
			}
			if help == "" {
				return "", errors.New("it cannot")
			}
			return help, nil
		})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if got := roff(".x -y 'z' \\ …\n'a"); got != `\&.x \-y \(aqz\(aq \e \[u2026]`+"\n"+`\&\(aqa` {
		t.Error(got)
	}
}
