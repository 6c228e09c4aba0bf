package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each mutant still applies: the text that it replaces occurs in its file exactly once.
func TestMutantsApply(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range mutants() {
		if seen[m.name] {
			t.Errorf("two mutants are called %s", m.name)
		}
		seen[m.name] = true
		text, err := os.ReadFile(filepath.Join("..", "..", "..", m.file))
		if err != nil {
			t.Error(err)
			continue
		}
		if n := strings.Count(string(text), m.old); n != 1 {
			t.Errorf("mutant %s: the text that it replaces occurs %d times in %s; adapt the mutant to the new code:\n%s", m.name, n, m.file, m.old)
		}
		if m.old == m.new {
			t.Errorf("mutant %s changes nothing", m.name)
		}
	}
}
