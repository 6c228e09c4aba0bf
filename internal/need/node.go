package need

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// npmFiles say which npm packages tests import, in which versions.
//
//go:embed testdata/npm
var npmFiles embed.FS

// Node returns the program node and the folder in which it finds the packages of
// testdata/npm: scripts that run there may import them. They are installed the first
// time, into the user's cache. Without node and npm the test is skipped.
func Node(t testing.TB) (node, folder string) {
	t.Helper()
	node, npm := Program(t, "nodejs", "node"), Program(t, "npm", "npm")
	lock := npmFile(t, "package-lock.json")
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = t.TempDir()
	}
	cache = filepath.Join(cache, "traintravel-tests")
	sum := sha256.Sum256(lock)
	folder = filepath.Join(cache, "npm-"+hex.EncodeToString(sum[:8]))
	if _, err := os.Stat(folder); err == nil {
		return node, folder
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		t.Fatal(err)
	}
	made, err := os.MkdirTemp(cache, "new-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(made)
	for name, text := range map[string][]byte{"package.json": npmFile(t, "package.json"), "package-lock.json": lock} {
		if err := os.WriteFile(filepath.Join(made, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	install := exec.CommandContext(t.Context(), npm, "ci", "--silent", "--no-audit", "--no-fund", "--ignore-scripts")
	install.Dir = made
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("npm ci: %v\n%s", err, out)
	}
	// Another test may have been quicker.
	if err := os.Rename(made, folder); err != nil {
		if _, missing := os.Stat(folder); missing != nil {
			t.Fatal(err)
		}
	}
	return node, folder
}

func npmFile(t testing.TB, name string) []byte {
	t.Helper()
	text, err := npmFiles.ReadFile("testdata/npm/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
