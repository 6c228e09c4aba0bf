package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/traintravel/traintravel/internal/need"
)

// Redocly's ruleset "recommended" and Spectral's "oas" report no warnings for the served
// description, with a sign-in and without, and for that of payment gateways. testdata/lint lists
// rules that do not fit, with reasons.
func TestDescriptionLint(t *testing.T) {
	need.All(t, "Redocly CLI and Spectral")
	t.Parallel()
	data := filepath.Join(t.TempDir(), "t.db")
	served := func(args ...string) func(*testing.T) string {
		return func(t *testing.T) string { return start(t, args...).document("/openapi.yaml") }
	}
	for name, c := range map[string]struct {
		document func(*testing.T) string
		ignored  int // rules that do not fit
	}{
		"serve":   {served("serve", "--data", data, "--base-url", "https://trains.example/api", "--public-signin"), 2},
		"mock":    {served("mock"), 2},
		"gateway": {gatewayDescription, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := generated{t, t.TempDir()}
			if err := os.CopyFS(g.dir, os.DirFS(filepath.Join("testdata", "lint"))); err != nil {
				t.Fatal(err)
			}
			node := g.node()
			g.write("openapi.yaml", c.document(t))
			var found struct {
				Totals   struct{ Errors, Warnings, Ignored int }
				Problems []struct{ Message, RuleID string }
			}
			out := node("@redocly/cli/bin/cli.js", "lint", "--format", "json", "openapi.yaml")
			if err := json.Unmarshal([]byte(out), &found); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if found.Totals.Errors+found.Totals.Warnings > 0 || found.Totals.Ignored != c.ignored {
				t.Errorf("Redocly finds %+v", found)
			}
			// Spectral fails if there is a hint, or more than that.
			node("@stoplight/spectral-cli/dist/index.js", "lint", "--fail-severity", "hint", "--ruleset", "spectral.yaml", "openapi.yaml")
		})
	}
}

func gatewayDescription(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "gateway", "openapi.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
