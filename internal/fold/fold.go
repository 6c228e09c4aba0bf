// Package fold makes text comparable the way people type it: letter case and
// accents do not matter.
package fold

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// plain spells letters that Unicode does not decompose.
var plain = strings.NewReplacer(
	"ß", "ss", "æ", "ae", "œ", "oe", "ø", "o", "ł", "l", "đ", "d", "ð", "d", "þ", "th", "ħ", "h", "ı", "i", "ŋ", "n", "ĸ", "k", "ŧ", "t",
	"ς", "σ",
	"’", "'", "‘", "'", "–", "-", "—", "-",
)

// String folds s: lower case, without accents, compatible forms made plain.
func String(s string) string {
	if isPlain(s) {
		return s
	}
	decomposed := norm.NFKD.String(s)
	var b strings.Builder
	b.Grow(len(decomposed))
	for _, r := range decomposed {
		if !unicode.Is(unicode.Mn, r) {
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return plain.Replace(b.String())
}

func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= 0x80 || 'A' <= c && c <= 'Z' {
			return false
		}
	}
	return true
}

// Words splits folded text into words: runs of letters and digits.
func Words(folded string) []string {
	return strings.FieldsFunc(folded, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}
