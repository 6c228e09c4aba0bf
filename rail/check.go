package rail

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of a timetable, generous for any railway.
const (
	MaxText = 200 // characters of a name, an address, a number or an ID
)

// BadText returns why s is not a line of text of at most MaxText characters, with a
// visible character if it is required. Valid text survives every format, including XML,
// unchanged.
func BadText(s string, required bool) string {
	if len(s) <= MaxText && printed(s) && (s != "" || !required) {
		return "" // as most are
	}
	switch n := utf8.RuneCountInString(s); {
	case !utf8.ValidString(s):
		return "is not valid UTF-8"
	case required && n == 0:
		return "is empty"
	case n > MaxText:
		return fmt.Sprintf("has %d characters, more than %d", n, MaxText)
	}
	for _, r := range s {
		if unicode.IsControl(r) {
			return fmt.Sprintf("contains the control character %U", r)
		}
		if unicode.Is(unicode.Bidi_Control, r) && r >= 0x202A { // embeddings, overrides and isolates can make text read differently than it is written
			return fmt.Sprintf("contains %U, which reorders text", r)
		}
		if unicode.Is(unicode.Noncharacter_Code_Point, r) { // XML cannot express U+FFFE and U+FFFF, and the others have no meaning either
			return fmt.Sprintf("contains the noncharacter %U", r)
		}
	}
	if required && strings.IndexFunc(s, seen) < 0 {
		return "has only invisible characters"
	}
	return ""
}

// printed says whether a text is visible ASCII, with blanks only inside.
func printed(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' && (s[i] != ' ' || i == 0) || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

// seen says whether a character shows by itself. Joiners and accents are part
// of many names, but alone they are none.
func seen(r rune) bool {
	return !unicode.In(r, unicode.Z, unicode.M, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point) && r != '\u2800' // a Braille cell without dots
}
