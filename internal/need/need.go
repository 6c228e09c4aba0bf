// Package need finds the programs beside Go that some tests call, and says which tests
// run and how long.
package need

import (
	"fmt"
	"os/exec"
	"testing"
)

// Program returns where the first of some programs is that do the same: names
// are looked up in PATH. If none is there, the test is skipped and says which
// Debian package has it. With -short it is skipped in any case.
func Program(t testing.TB, debian string, names ...string) string {
	t.Helper()
	Short(t, "other programs")
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	Missing(t, names[0], debian)
	return ""
}

// Missing skips a test for want of a program, or fails it where everything must
// run: with TRAINTRAVEL_REQUIRE_ALL=1.
func Missing(t testing.TB, name, debian string) {
	t.Helper()
	Skip(t, fmt.Sprintf("%s is not installed; on Debian and Ubuntu: apt-get install -y --no-install-recommends %s", name, debian))
}

// skip skips a test, or fails it where everything must run.
func Skip(t testing.TB, why string) {
	t.Helper()
	if all() {
		t.Fatal(why)
	}
	t.Skip(why)
}
