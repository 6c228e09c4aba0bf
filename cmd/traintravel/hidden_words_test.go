package main

import (
	"errors"
	"fmt"
	"testing"

	"github.com/traintravel/traintravel/store/boltstore"
)

// Commands do not name packages, and do not repeat what the driver says of the same address.
func TestShownErrorWords(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"/tmp is not a regular file":                     errors.New("boltstore: traintravel: /tmp is not a regular file"),
		"cannot read: stops.txt is missing":              errors.New("cannot read: gtfs: stops.txt is missing"),
		"t.db is in use by another server or command":    fmt.Errorf("boltstore: t.db %w", boltstore.ErrInUse),
		"cannot connect: a: dial error b: dial error":    oneLine{errors.New("pgstore: cannot connect:\n a: dial error\n a: dial error\n b: dial error")},
		"https://a.example/gtfs: not found, see gtfs.md": errors.New("https://a.example/gtfs: not found, see gtfs.md"),
	} {
		if got := shownError(err); got != want {
			t.Errorf("%v: %q, want %q", err, got, want)
		}
	}
}
