package need

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// npmFiles say which npm packages tests call, in which versions: a folder is a set.
//
//go:embed testdata/npm
var npmFiles embed.FS

// installing is held by the test that installs packages, so that others find them.
var installing sync.Mutex

// Node returns the program node and the folder in which it finds a set of packages, a
// folder of testdata/npm: scripts that run there may import them. They are installed the
// first time, into the user's cache. Without node and npm, or if the packages cannot be
// had, the test is skipped.
func Node(t testing.TB, set string) (node, folder string) {
	t.Helper()
	node, npm := Program(t, "nodejs", "node"), Program(t, "npm", "npm")
	installing.Lock()
	defer installing.Unlock()
	lock := npmFile(t, set, "package-lock.json")
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
	for name, text := range map[string][]byte{"package.json": npmFile(t, set, "package.json"), "package-lock.json": lock} {
		if err := os.WriteFile(filepath.Join(made, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	install := exec.CommandContext(t.Context(), npm, "ci", "--silent", "--no-audit", "--no-fund", "--ignore-scripts")
	install.Dir = made
	if out, err := install.CombinedOutput(); err != nil {
		Skip(t, fmt.Sprintf("npm packages are missing: connect to the npm registry once, for npm ci in internal/need/testdata/npm/%s: %v\n%s", set, err, out))
	}
	// A test of another package may have been quicker.
	if err := os.Rename(made, folder); err != nil {
		if _, missing := os.Stat(folder); missing != nil {
			t.Fatal(err)
		}
	}
	return node, folder
}

func npmFile(t testing.TB, set, name string) []byte {
	t.Helper()
	text, err := npmFiles.ReadFile("testdata/npm/" + set + "/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Modules downloads what the Go module in a folder requires. If that cannot be had, the
// test is skipped.
func Modules(t testing.TB, folder string) {
	t.Helper()
	Short(t, "other modules")
	download := exec.CommandContext(t.Context(), "go", "mod", "download")
	download.Dir = folder
	if out, err := download.CombinedOutput(); err != nil {
		Skip(t, fmt.Sprintf("Go modules are missing: connect to the Go module proxy once, for go mod download: %v\n%s", err, out))
	}
}
