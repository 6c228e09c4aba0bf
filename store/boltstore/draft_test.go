package boltstore

import (
	"os"
	"testing"
)

// Where no file can be made, nothing is left of the attempt.
func TestNoDraftStays(t *testing.T) {
	t.Chdir(t.TempDir())
	const want = "boltstore: the path of the file is empty"
	if _, err := Open("", nil); err == nil || err.Error() != want {
		t.Errorf("Open: %v, want %s", err, want)
	}
	if err := makeFile(""); err == nil { // it has a draft, and cannot get its name
		t.Error("a file without a name was made")
	}
	if entries, err := os.ReadDir("."); err != nil || len(entries) > 0 {
		t.Errorf("there are %v, %v", entries, err)
	}
}
