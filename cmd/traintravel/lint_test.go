package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// Redocly's ruleset "recommended" and Spectral's "oas" find nothing to warn of in the
// description as it is served, with a sign-in and without. Where a rule does not fit,
// testdata/lint says why.
func TestDescriptionLint(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "t.db")
	for name, args := range map[string][]string{
		"serve": {"serve", "--data", data, "--base-url", "https://trains.example/api", "--public-signin"}, "mock": {"mock"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := generated{t, t.TempDir()}
			if err := os.CopyFS(g.dir, os.DirFS(filepath.Join("testdata", "lint"))); err != nil {
				t.Fatal(err)
			}
			node := g.node()
			g.write("openapi.yaml", start(t, args...).document("/openapi.yaml"))
			var found struct {
				Totals   struct{ Errors, Warnings, Ignored int }
				Problems []struct{ Message, RuleID string }
			}
			out := node("@redocly/cli/bin/cli.js", "lint", "--format", "json", "openapi.yaml")
			if err := json.Unmarshal([]byte(out), &found); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if found.Totals.Errors+found.Totals.Warnings > 0 || found.Totals.Ignored != 7 {
				t.Errorf("Redocly finds %+v", found)
			}
			// Spectral fails if there is a hint, or more than that.
			node("@stoplight/spectral-cli/dist/index.js", "lint", "--fail-severity", "hint", "--ruleset", "spectral.yaml", "openapi.yaml")
		})
	}
}
