package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The error of a file that is not a feed names it once.
func TestImportNamesTheFileOnce(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file := filepath.Join(folder, "feed.zip")
	if err := os.WriteFile(file, []byte("not a zip"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, _, errs := once(t, nil, "import", file, "--data", filepath.Join(folder, "t.db"))
	if code != 1 || strings.Count(errs, file) != 1 || !strings.Contains(errs, "not a zip file") {
		t.Errorf("%d, %s", code, errs)
	}
}
