package gtfs

import (
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/traintravel/traintravel"
)

// noTime stands for a time that is not given.
const noTime traintravel.ServiceTime = -1

// parseTime reads a time in the form 9:45:00, 09:45:00 or 149:09:00. What is
// wrong with it, if anything, is the second result.
func parseTime(b []byte) (traintravel.ServiceTime, string) {
	const bad = "is not a time of the form 09:45:00"
	n := len(b)
	if n < 7 || b[n-3] != ':' || b[n-6] != ':' {
		return 0, bad
	}
	h, m, s := digits(b[:n-6]), digits(b[n-5:n-3]), digits(b[n-2:])
	if h < 0 || m < 0 || m > 59 || s < 0 || s > 59 {
		return 0, bad
	}
	// Hours first, so that nothing overflows.
	if h > int(traintravel.MaxServiceTime/3600) || traintravel.Clock(h, m)+traintravel.ServiceTime(s) > traintravel.MaxServiceTime {
		return 0, "is beyond " + traintravel.MaxServiceTime.String() + ", the longest time that a train may run"
	}
	return traintravel.Clock(h, m) + traintravel.ServiceTime(s), ""
}

// digits reads a number of one to nine digits; anything else is -1.
func digits(b []byte) int {
	if len(b) == 0 || len(b) > 9 {
		return -1
	}
	n := 0
	for _, c := range b {
		if c < '0' || c > '9' {
			return -1
		}
		n = n*10 + int(c-'0')
	}
	return n
}

// clean makes blanks of what [traintravel.Timetable.Check] refuses in a text:
// control characters, those that reorder text, and noncharacters. Of a text
// with nothing to be seen it leaves nothing.
func clean(s string) string {
	if plain(s) {
		return s
	}
	visible := false
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) && r >= 0x202A || unicode.Is(unicode.Noncharacter_Code_Point, r) {
			return ' '
		}
		visible = visible || !unicode.In(r, unicode.Z, unicode.M, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point) && r != '\u2800'
		return r
	}, s)
	if !visible {
		return ""
	}
	return s
}

// plain says whether a text is of printable ASCII and no blanks only.
func plain(s string) bool {
	visible := false
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
		visible = visible || s[i] != ' '
	}
	return visible
}

// long says whether a text is too long to be shown.
func long(s string) bool {
	return len(s) > traintravel.MaxText && utf8.RuneCountInString(s) > traintravel.MaxText
}

// degrees reads a coordinate between -limit and limit.
func degrees(b []byte, limit float64) (float64, bool) {
	v, ok := number(b)
	return v, ok && math.Abs(v) <= limit
}

// number reads a decimal number, and nothing else that Go takes for one.
func number(b []byte) (float64, bool) {
	for _, c := range b {
		if (c < '0' || c > '9') && c != '+' && c != '-' && c != '.' && c != 'e' && c != 'E' {
			return 0, false
		}
	}
	v, err := strconv.ParseFloat(string(b), 64)
	return v, err == nil
}
