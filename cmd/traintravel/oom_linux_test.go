package main

import (
	"os"
	"strings"
	"testing"
)

// While feeds are read, the kernel would end this process first, and after it as before.
func TestDieFirst(t *testing.T) {
	score := func() string {
		t.Helper()
		text, err := os.ReadFile("/proc/self/oom_score_adj")
		if err != nil {
			t.Fatal(err) // each Linux with /proc has it
		}
		return strings.TrimSpace(string(text))
	}
	was := score()
	restore := dieFirst()
	if got := score(); got != "1000" {
		t.Errorf("the score is %s", got)
	}
	restore()
	if got := score(); got != was {
		t.Errorf("the score is %s, and was %s", got, was)
	}
}
