package main

import (
	"os"
	"path/filepath"
	"testing"
)

// The committed files are what the tables say.
func TestFilesAreGenerated(t *testing.T) {
	t.Parallel()
	files, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join("..", folder)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != len(files) {
		t.Errorf("%d files in %s, %d generated", len(entries), dir, len(files))
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Error(err)
		} else if string(got) != string(want) {
			t.Errorf("%s is not what the tables say: run go generate ./internal/demo", name)
		}
	}
}

func TestDeparturesRefused(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"6", "6:00/2h", "6:00-7:00", "6:00-7:00/2h", "6:00-8:00/0h", "25:00"} {
		if got, err := parseDepartures(s); err == nil {
			t.Errorf("departures %q: %v", s, got)
		}
	}
}

func TestPathsRefused(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "Berlin", "Berlin 5", "Berlin x Halle", "Berlin 0 Halle", "Berlin 5 Nowhere", "Berlin/x 5 Halle"} {
		if got, err := parsePath(s); err == nil {
			t.Errorf("path %q: %v", s, got)
		}
	}
}
