package rail

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/traintravel/traintravel/internal/fold"
)

// MaxMarks is how many combining marks may follow one another in a name. Burmese has up to
// five (မျှော့), Sinhala four, Hebrew with points four, Arabic and Devanagari three, Thai and
// Vietnamese two. Taller stacks are written only to cover other text.
const MaxMarks = 5

// BadName returns why a text of a customer's, such as a passenger name, cannot be accepted
// although [BadText] accepts it, or an empty string: it has a character that cannot be seen,
// so that two names that look the same differ, or more than [MaxMarks] combining marks in a
// row. Zero width joiners and non-joiners are accepted within a word of a script that needs
// them. It is not part of BadText because timetables may contain such characters.
func BadName(s string) string {
	if printed(s) {
		return ""
	}
	text := []rune(fold.Decomposed(s))
	marks := 0
	for i, r := range text {
		switch {
		case joiner(r):
			if !joins(text, i) {
				return fmt.Sprintf("contains the invisible character %U where the script does not need it: remove it", r)
			}
		case hidden(r):
			return fmt.Sprintf("contains the invisible character %U: remove it", r)
		case unicode.Is(unicode.M, r):
			if marks++; marks > MaxMarks {
				return fmt.Sprintf("has more than %d combining marks in a row, the last of which is %U: remove some", MaxMarks, r)
			}
		default:
			marks = 0
		}
	}
	return ""
}

// TrimName returns a customer's name without leading and trailing blanks and direction marks
// (U+200E, U+200F, U+061C). Names copied from a page in Hebrew or Arabic often begin or end
// with an invisible mark, which does not change how the name reads.
func TrimName(s string) string {
	return strings.TrimFunc(s, func(r rune) bool { return unicode.IsSpace(r) || r == '\u200e' || r == '\u200f' || r == '\u061c' })
}

// joiner says whether r is the zero width non-joiner or the zero width joiner.
func joiner(r rune) bool { return r == '\u200c' || r == '\u200d' }

// hidden says whether a character shows nothing: the default-ignorable characters of
// Unicode, other format characters, line separators and the empty Braille cell. Format
// characters that stand before digits, as in Arabic, are visible.
func hidden(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) &&
		!unicode.Is(unicode.Prepended_Concatenation_Mark, r) || r == '\u2800'
}

// joinerScripts are the scripts whose spelling needs joiners: those whose letters join, as
// in Persian, and those of South and South-East Asia whose consonants form conjuncts.
var joinerScripts = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil,
	unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar,
}

// viramas end consonants without a vowel in the scripts of India. A joiner after one may be
// the last character of a word: Malayalam and Bengali were written so before Unicode 5.1.
var viramas = map[rune]bool{
	0x094D: true, 0x09CD: true, 0x0A4D: true, 0x0ACD: true, 0x0B4D: true, 0x0BCD: true, 0x0C4D: true, 0x0CCD: true, 0x0D4D: true, 0x0DCA: true,
}

// joins says whether the joiner text[i] is within a word of a script that needs it.
func joins(text []rune, i int) bool {
	if i == 0 {
		return false
	}
	if viramas[text[i-1]] {
		return true
	}
	before := i - 1
	for before > 0 && unicode.In(text[before], unicode.Inherited) && unicode.Is(unicode.M, text[before]) {
		before-- // vowel signs that several scripts share
	}
	if i+1 == len(text) {
		return false
	}
	for _, script := range joinerScripts {
		if inWord(script, text[before]) && inWord(script, text[i+1]) {
			return true
		}
	}
	return false
}

// inWord says whether r is a letter or a mark of a script.
func inWord(script *unicode.RangeTable, r rune) bool {
	return unicode.Is(script, r) && unicode.In(r, unicode.L, unicode.M)
}
