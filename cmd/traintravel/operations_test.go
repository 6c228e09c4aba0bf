package main

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/traintravel/traintravel/internal/need"
)

// runbook is what the person on call reads.
func runbook(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "operations.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var fence = regexp.MustCompile("(?ms)^ *```(\\w+)\n(.*?)\n *```$")

// fenced are the lines of the runbook's blocks of a kind, without blanks around them.
func fenced(t *testing.T, kind string) (lines []string) {
	t.Helper()
	for _, block := range fence.FindAllStringSubmatch(runbook(t), -1) {
		switch block[1] {
		case kind:
			for line := range strings.Lines(block[2]) {
				lines = append(lines, strings.TrimSpace(line))
			}
		case "sh", "promql", "text", "deb": // the last are for packaging/test-install
		default:
			t.Errorf("the runbook has a block of the kind %s", block[1])
		}
	}
	return lines
}

// runbookSays is what some commands of the runbook say, of one booking.
var runbookSays = map[string]string{
	`traintravel check`:                              "of 1 booking",
	`traintravel health`:                             "ready",
	`traintravel manifest "$TRAIN" "$DATE"`:          "John Doe",
	`traintravel booking "$BOOKING"`:                 "succeeded",
	`traintravel payment stuck`:                      "No payment or refund needs",
	`traintravel booking --limit 5 doe`:              "confirmed",
	`traintravel cancel-run "$TRAIN" "$DATE"`:        "1 booking would be cancelled",
	`traintravel cancel-run "$TRAIN" "$DATE" --yes`:  "1 booking cancelled",
	`traintravel cancel-run "$TRAIN" "$DATE" --undo`: "on sale again",
	`traintravel subject erase "$PASSENGER"`:         " erased,",
}

// TestOperations runs the commands of the runbook, one after another, none of which
// may fail.
func TestOperations(t *testing.T) {
	need.Program(t, "bash", "bash")
	need.Program(t, "curl", "curl")
	t.Parallel()
	commands := fenced(t, "sh")
	for _, name := range []string{"serve", "health", "config", "check", "backup", "restore", "compact", "webhooks", "token-keys", "ticket-keys", "import", "manifest", "block", "cancel-run", "booking", "payment stuck", "subject export", "subject erase"} {
		if !strings.Contains(strings.Join(commands, "\n"), "traintravel "+name) {
			t.Errorf("the runbook does not run %s", name)
		}
	}
	dir := t.TempDir()
	data, addr := filepath.Join(dir, "data", "traintravel.db"), unused(t)
	for _, sub := range []string{"data", "backups", "bin"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(itself(t), filepath.Join(dir, "bin", "traintravel")); err != nil {
		t.Fatal(err)
	}
	sh := newShell(t, dir)
	defer sh.run("kill $(jobs -p) 2>/dev/null; wait")
	for _, v := range []string{
		"PATH=" + filepath.Join(dir, "bin") + ":$PATH", "TRAINTRAVEL_DATA=" + data, "TRAINTRAVEL_BASE_URL=" + shownBase,
		"TRAINTRAVEL_ADDR=" + addr, "TRAINTRAVEL_ADMIN_ADDR=" + unused(t), "BACKUPS=" + filepath.Join(dir, "backups"), "FEED=" + writeFeed(t, "1"),
	} {
		sh.run("export " + v)
	}
	for command := range runbookSays {
		if !slices.Contains(commands, command) {
			t.Errorf("the runbook does not say %s", command)
		}
	}
	booked := false
	for _, command := range commands {
		out := sh.run(command + "\necho \"status $?\"")
		if !strings.HasSuffix(out, "status 0") {
			log, _ := os.ReadFile(filepath.Join(dir, "serve.log"))
			t.Fatalf("%s\n%s\nthe server says:\n%s", command, out, log)
		}
		if !booked && strings.HasPrefix(command, "traintravel backup") { // so that there is something to be lost
			r := &running{t: t, base: "http://" + addr}
			token := issue(t, "anna", data)
			booking := r.book(token, soon(), "")
			train, _ := r.train(token, soon())
			_, text, _ := once(t, nil, "manifest", train, soon(), "--json", "--data", data)
			var m struct{ Riders []struct{ Coach string } }
			if err := json.Unmarshal([]byte(text), &m); err != nil || len(m.Riders) != 1 {
				t.Fatalf("the manifest: %v, %s", err, text)
			}
			for _, v := range [][2]string{{"TRAIN", train}, {"DATE", soon()}, {"COACH", m.Riders[0].Coach}, {"BOOKING", booking}, {"PASSENGER", "anna"}} {
				sh.run("export " + v[0] + "='" + v[1] + "'")
			}
			booked = true
			sh.run("rm backups/*")
			if out = sh.run(command); !strings.Contains(out, "has all data") {
				t.Errorf("%s: %s", command, out)
			}
		}
		if want := runbookSays[command]; !strings.Contains(out, want) {
			t.Errorf("%s says %s, not %q", command, out, want)
		}
	}
}

// unused is an address that is free now.
func unused(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// Each alert is explained in the runbook.
func TestRunbookKnowsAlerts(t *testing.T) {
	t.Parallel()
	rules, err := os.ReadFile(alertRules)
	if err != nil {
		t.Fatal(err)
	}
	book := runbook(t)
	for _, m := range regexp.MustCompile(`alert: (\w+)`).FindAllStringSubmatch(string(rules), -1) {
		if !strings.Contains(book, "`"+m[1]+"`") {
			t.Errorf("the runbook says nothing of %s", m[1])
		}
	}
}
