package need

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Axe returns the script of axe-core (MPL-2.0), which finds what keeps people out of pages. It is
// fetched from npm; without npm the test is skipped.
func Axe(t testing.TB) string {
	t.Helper()
	npm, dir := Program(t, "npm", "npm"), t.TempDir()
	install := exec.CommandContext(t.Context(), npm, "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--cache", filepath.Join(dir, "cache"), "axe-core@4.14.1")
	install.Dir = dir
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("npm: %v\n%s", err, out)
	}
	script, err := os.ReadFile(filepath.Join(dir, "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	return string(script)
}

// AxeFaults is an expression of JavaScript that lists what axe finds wrong with a page, by WCAG
// 2.2, AA, and best practice.
const AxeFaults = `axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]})
	.then(r => r.violations.map(v => v.id + ": " + v.nodes.map(n => n.html + " " + n.failureSummary).join("; ")))`
