package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// The forms for issues are valid on GitHub, and the workflow runs the steps of CI.
func TestGitHubFiles(t *testing.T) {
	t.Parallel()
	read := func(name string, into any) {
		t.Helper()
		text, err := os.ReadFile(filepath.Join("..", "..", ".github", filepath.FromSlash(name)))
		if err == nil {
			err = yaml.Unmarshal(text, into)
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"bug.yml", "idea.yml"} {
		var form struct {
			Name, Description string
			Body              []struct {
				Type, ID   string
				Attributes struct {
					Label, Value string
					Options      []string
				}
			}
		}
		read("ISSUE_TEMPLATE/"+name, &form)
		ids := map[string]bool{}
		for _, part := range form.Body {
			a := part.Attributes
			ok := map[string]bool{"markdown": a.Value != "", "input": a.Label != "", "textarea": a.Label != "", "dropdown": a.Label != "" && len(a.Options) > 0}[part.Type]
			if !ok || part.Type != "markdown" && (part.ID == "" || ids[part.ID]) {
				t.Errorf("%s: %+v", name, part)
			}
			ids[part.ID] = true
		}
		if form.Name == "" || form.Description == "" || len(form.Body) == 0 {
			t.Errorf("%s: %+v", name, form)
		}
	}
	var workflow struct {
		Jobs map[string]struct {
			Container struct{ Image string }
			Steps     []struct{ Run string }
		}
	}
	read("workflows/ci.yml", &workflow)
	check := workflow.Jobs["check"]
	mod, err := os.ReadFile(filepath.Join("..", "..", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	_, version, _ := strings.Cut(string(mod), "\ngo ")
	version, _, _ = strings.Cut(version, "\n")
	if len(check.Steps) != 2 || check.Steps[1].Run != "bash .ci/run" || check.Container.Image != "golang:"+strings.TrimSuffix(version, ".0")+"-bookworm" {
		t.Errorf("%+v, and go.mod has Go %s", check, version)
	}
}
