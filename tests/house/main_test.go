// Package house_test checks how the code is laid out: what packages import, what they keep, and
// what their documents say.
package house_test

import (
	"os"
	"testing"
)

// The tests read the whole repository, from its root.
func TestMain(m *testing.M) {
	if err := os.Chdir("../.."); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
