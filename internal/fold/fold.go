// Package fold makes text comparable the way people type it: letter case and
// accents do not matter.
package fold

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// plain spells letters that Unicode does not decompose.
var plain = strings.NewReplacer(
	"ß", "ss", "æ", "ae", "œ", "oe", "ø", "o", "ł", "l", "đ", "d", "ð", "d", "þ", "th", "ħ", "h", "ı", "i", "ŋ", "n", "ĸ", "k", "ŧ", "t",
	"ς", "σ",
	"’", "'", "‘", "'", "–", "-", "—", "-",
)

// String folds s: lower case, without accents and characters that cannot be seen, such as
// joiners; compatible forms made plain.
func String(s string) string {
	return without(s, unicode.Mn, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point)
}

// without folds s and leaves out the characters of some tables.
func without(s string, tables ...*unicode.RangeTable) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	decomposed := norm.NFKD.String(s)
	var b strings.Builder
	b.Grow(len(decomposed))
	for _, r := range decomposed {
		if !unicode.In(r, tables...) {
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return plain.Replace(b.String())
}

// Decomposed returns s with each accent apart from its letter (Unicode normalization form D).
func Decomposed(s string) string { return norm.NFD.String(s) }

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// doubled spells letters as those do who lack them. Danes and Norwegians do it
// with å and ø, Germans with the others.
var doubled = strings.NewReplacer(
	"ä", "ae", "Ä", "ae", "ö", "oe", "Ö", "oe", "ü", "ue", "Ü", "ue", "ø", "oe", "Ø", "oe", "å", "aa", "Å", "aa",
)

// Doubled folds s as String does, but spells its ä, ö, ü, ø and å with two
// letters: "Zuerich". It has the same number of words.
func Doubled(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	return String(doubled.Replace(norm.NFC.String(s)))
}

var single = strings.NewReplacer("ae", "a", "oe", "o", "ue", "u")

// Single undoes, in folded text, what Doubled does for ä, ö, ü and ø. It does
// it to every such pair: what has always been two letters cannot be told apart.
func Single(folded string) string { return single.Replace(folded) }

// Words splits folded text into words: runs of letters and digits.
func Words(folded string) []string {
	return strings.FieldsFunc(folded, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// Label folds what a train or an operator is called, so that it is the same however
// railways space it: "IC 1", "IC1", "ic  1". It keeps characters that cannot be seen: the
// IDs of trains are made of labels, and must not change.
func Label(s string) string {
	words := strings.Fields(without(s, unicode.Mn))
	var b strings.Builder
	for i, w := range words {
		if i > 0 {
			before, _ := utf8.DecodeLastRuneInString(words[i-1])
			next, _ := utf8.DecodeRuneInString(w)
			if !unicode.IsLetter(before) || !unicode.IsDigit(next) {
				b.WriteByte(' ')
			}
		}
		b.WriteString(w)
	}
	return b.String()
}
