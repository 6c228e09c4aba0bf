package keys_test

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/traintravel/traintravel/internal/keys"
)

// The error of a file that cannot be made names it, and no temporary one.
func TestMissingFolder(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "missing", "x.json")
	_, err := keys.Create(path)
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "cannot make the file "+path+":") || strings.Contains(err.Error(), ".x.json") {
		t.Error(err)
	}
}
