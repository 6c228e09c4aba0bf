package codec

import "errors"

// ErrNewerData: a record was written by a newer version of this module.
var ErrNewerData = errors.New("the data was written by a newer version of traintravel")

// PrefixEnd is the first key after all that begin with a prefix, empty if no
// key can be.
func PrefixEnd(prefix string) string {
	b := []byte(prefix)
	for i := len(b) - 1; i >= 0; i-- {
		if b[i]++; b[i] != 0 {
			return string(b[:i+1])
		}
	}
	return ""
}
