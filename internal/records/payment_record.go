package records

import (
	"errors"

	"github.com/traintravel/traintravel/rail"
)

// Damaged turns the absence of a record that must be there into an error that
// nobody takes for a mistake of the user's.
func Damaged(err error) error {
	if errors.Is(err, rail.ErrNotFound) {
		return ErrMissing
	}
	return err
}
