package traintravel

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// What is done about the numbers of cards and accounts in texts that are no place
// for them: those of clients are refused, and those of gateways masked.

// cardInText is why a text of a client's is refused: it would be stored, shown,
// and passed on.
const cardInText = "must not hold the number of a card or an account"

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
			if between++; between > 2 || !separator(r) && !unicode.Is(unicode.Cf, r) && !strings.ContainsRune("./_", r) {
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
	return 13 <= len(digits) && len(digits) <= 19 && '2' <= digits[0] && digits[0] <= '6' && luhn(digits)
}

// holdsCardNumber says whether the number of a payment card is in a text, written
// with blanks, hyphens and the like or without. One row of digits in ten with the
// length of such a number is taken for one.
func holdsCardNumber(s string) bool { return len(numbersOf(s, "")) > 0 }

// numberIn says whether a text holds the number of a source, which is without
// separators, or that of any card.
func numberIn(text, number string) bool {
	long := number
	if !digits(number, 12, 19) {
		long = ""
	}
	plain := strings.ToUpper(compact(text))
	return len(numbersOf(text, long)) > 0 || number != "" && (plain == number || len(number) >= 8 && strings.Contains(plain, number))
}

// hideNumbers masks the numbers of cards in a text, as [Secret] does, and a number
// that is given.
func hideNumbers(text, number string) string {
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

// hide masks the source's number and code in what a gateway says of a charge, and
// the numbers of other cards.
func (s Source) hide(text string) string {
	switch {
	case s.Card != nil:
		return hideWord(hideNumbers(text, string(s.Card.Number)), string(s.Card.CVC))
	case s.Bank != nil:
		text = hideWord(text, string(s.Bank.Number))
	}
	return hideNumbers(text, "")
}

// hideWord masks a number where it stands with neither a digit nor a letter beside
// it, or wherever it stands if it is long. Separators in it do not count.
func hideWord(text, word string) string {
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
		case at == 0 || !separator(r):
			return 0
		}
	}
	return 0
}
