// Package redact removes card numbers from texts before they are kept or logged. It must not
// know where a text comes from or goes to.
package redact

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Luhn says whether the last of the digits checks the others (ISO/IEC 7812-1,
// annex B).
func Luhn(number string) bool {
	sum := 0
	for i := range len(number) {
		d := int(number[len(number)-1-i] - '0')
		if i%2 == 1 {
			d = d*2/10 + d*2%10
		}
		sum += d
	}
	return sum%10 == 0
}

// A numeral is a row of digits in a text, of any script, in groups or not.
type numeral struct {
	digits string    // in ASCII
	at     []stretch // of each digit, where it is in the text
	first  []bool    // of each digit, whether a group begins with it
}

// A stretch is a part of a text, by bytes.
type stretch struct{ from, to int }

// numerals returns the rows that have as many digits as the numbers of cards.
func numerals(s string) (found []numeral) {
	var n numeral
	between := 0 // characters since the last digit
	end := func() {
		if len(n.digits) >= 12 {
			found = append(found, n)
		}
		n, between = numeral{}, 0
	}
	for i, r := range s {
		d, ok := digitOf(r)
		switch {
		case ok:
			n.first = append(n.first, between > 0 || n.digits == "")
			n.at = append(n.at, stretch{i, i + utf8.RuneLen(r)})
			n.digits, between = n.digits+string(rune(d)), 0
		case n.digits != "":
			if between++; between > 2 || !Separator(r) && !unicode.Is(unicode.Cf, r) && !strings.ContainsRune("./_", r) {
				end()
			}
		}
	}
	end()
	return found
}

// numbersOf is where a number is in a text, and where others are that cards have, which
// begin and end as groups of digits do. An empty number is none.
func numbersOf(s, number string) (found []stretch) {
	for _, n := range numerals(s) {
		for i := 0; i < len(n.digits); i++ {
			j := 0
			if number != "" && strings.HasPrefix(n.digits[i:], number) {
				j = i + len(number)
			} else if n.first[i] {
				for k := i + 13; k <= min(i+19, len(n.digits)); k++ {
					if (k == len(n.digits) || n.first[k]) && isCard(n.digits[i:k]) {
						j = k
					}
				}
			}
			if j > 0 {
				found = append(found, stretch{n.at[i].from, n.at[j-1].to})
				i = j - 1
			}
		}
	}
	return found
}

// digitOf is a decimal digit as ASCII has it. All that Unicode knows are in tens,
// from zero.
func digitOf(r rune) (byte, bool) {
	if r < utf8.RuneSelf {
		return byte(r), '0' <= r && r <= '9'
	}
	for _, t := range unicode.Nd.R16 {
		if rune(t.Lo) <= r && r <= rune(t.Hi) {
			return '0' + byte((r-rune(t.Lo))%10), true
		}
	}
	for _, t := range unicode.Nd.R32 {
		if rune(t.Lo) <= r && r <= rune(t.Hi) {
			return '0' + byte((r-rune(t.Lo))%10), true
		}
	}
	return 0, false
}

// isCard says whether digits are the number of a payment card: the first is that
// of a card for payments, and the last checks the others.
func isCard(digits string) bool {
	return 13 <= len(digits) && len(digits) <= 19 && '2' <= digits[0] && digits[0] <= '6' && Luhn(digits)
}

// HoldsCardNumber says whether the number of a payment card is in a text, written
// with blanks, hyphens and the like or without. One row of digits in ten with the
// length of such a number is taken for one.
func HoldsCardNumber(s string) bool { return len(numbersOf(s, "")) > 0 }

// NumberIn says whether a text holds the number of a source, which is without
// separators, or that of any card.
func NumberIn(text, number string) bool {
	long := number
	if !Digits(number, 12, 19) {
		long = ""
	}
	plain := strings.ToUpper(Compact(text))
	return len(numbersOf(text, long)) > 0 || number != "" && (plain == number || len(number) >= 8 && strings.Contains(plain, number))
}

// HideNumbers masks the numbers of cards in a text, as Secret does, and a number
// that is given.
func HideNumbers(text, number string) string {
	found := numbersOf(text, number)
	for i := len(found) - 1; i >= 0; i-- {
		at := found[i]
		text = text[:at.from] + maskText(text[at.from:at.to]) + text[at.to:]
	}
	return text
}

// maskText masks a number that may have any separators, all but the last four of
// its letters and digits.
func maskText(s string) string {
	hidden := -4
	for _, r := range s {
		if unicode.In(r, unicode.L, unicode.Nd) {
			hidden++
		}
	}
	if hidden <= 0 {
		hidden += 4
	}
	return strings.Map(func(r rune) rune {
		if !unicode.In(r, unicode.L, unicode.Nd) || hidden == 0 {
			return r
		}
		hidden--
		return '*'
	}, s)
}

// HideWord masks a number where it stands with neither a digit nor a letter beside
// it, or wherever it stands if it is long. Separators in it do not count.
func HideWord(text, word string) string {
	if word == "" {
		return text
	}
	var b strings.Builder
	before := ' '
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		n := prefixed(text[i:], word)
		after, _ := utf8.DecodeRuneInString(text[i+n:])
		if n > 0 && (len(word) >= 8 || !wordRune(before) && !wordRune(after)) {
			b.WriteString(maskText(text[i : i+n]))
			i, before = i+n, '*'
			continue
		}
		b.WriteString(text[i : i+size])
		i, before = i+size, r
	}
	return b.String()
}

// wordRune is false for what stands for the end of a text as well.
func wordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// prefixed is how many bytes of a text are a word that it begins with, in either
// case and with separators between; zero if it does not.
func prefixed(text, word string) int {
	at := 0
	for i, r := range text {
		switch {
		case at < len(word) && unicode.ToUpper(r) == rune(word[at]):
			if at++; at == len(word) {
				return i + utf8.RuneLen(r)
			}
		case at == 0 || !Separator(r):
			return 0
		}
	}
	return 0
}

// Separator says whether r is a blank or a hyphen, which people write between
// the groups of a number.
func Separator(r rune) bool { return r == '-' || unicode.IsSpace(r) }

// Compact returns s without its separators.
func Compact(s string) string {
	return strings.Map(func(r rune) rune {
		if Separator(r) {
			return -1
		}
		return r
	}, s)
}

// IsDigit says whether a byte is an ASCII digit.
func IsDigit(b byte) bool { return '0' <= b && b <= '9' }

// IsLetter says whether a byte is an ASCII letter.
func IsLetter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }

// Digits says whether s is from least to most digits and nothing else.
func Digits(s string, least, most int) bool {
	for i := range len(s) {
		if !IsDigit(s[i]) {
			return false
		}
	}
	return least <= len(s) && len(s) <= most
}
