package rail

import "strings"

// A reference is the short name of a booking, for people: on tickets, on the telephone, in a
// search. No two bookings of a store have the same. It is random, so it reveals nothing about
// the booking or the number of bookings, and it is not a credential: it gives no access.
const (
	// ReferenceLength is the number of characters of a reference.
	ReferenceLength = 6
	// ReferenceAlphabet has the characters of references: digits and capital letters without
	// those that look like others (0 O, 1 I L, 2 Z, 5 S, 8 B, U V) and without vowels, which
	// could form words.
	ReferenceAlphabet = "23456789CDFGHJKMNPQRTVWX"
)

// misread are the letters that are read for characters of references, and those.
var misread = strings.NewReplacer("Z", "2", "S", "5", "B", "8", "U", "V", " ", "", "-", "")

// ParseReference reads a reference as people write it, and says whether the text may be one:
// in capital or small letters, with blanks or hyphens, and with Z for 2, S for 5, B for 8 or
// U for V.
func ParseReference(text string) (string, bool) {
	if len(text) > 4*ReferenceLength {
		return "", false
	}
	ref := misread.Replace(strings.ToUpper(strings.TrimSpace(text)))
	return ref, ValidReference(ref)
}

// ValidReference says whether a text is a reference in the form in which it is shown.
func ValidReference(ref string) bool {
	return len(ref) == ReferenceLength && strings.Trim(ref, ReferenceAlphabet) == ""
}
