package stations

import (
	"maps"
	"slices"
	"unicode/utf8"
)

// lettersToMiss is how many letters a word must have for one to be amiss: of
// shorter ones too many are but a letter apart. One that has a letter less may
// lack a letter of a word that is nothing more; one of so many is amiss for such
// words only.
const lettersToMiss = 4

// lettersToMissTwo is how many letters a word must have for two to be amiss.
const lettersToMissTwo = 7

// maxEdits is the edit distance beyond which words are not compared.
const maxEdits = 2

// edits measures how many letters of words differ from those of one that is typed:
// left out, added, mistaken, or swapped with the next. Words are read in their
// order, and what one has in common with the one before is not compared again.
type edits struct {
	typed   []rune
	last    string
	rows    [][]uint8 // distances from each beginning of the word read
	ends    []int     // of the letters of the word read, in bytes
	letters []rune
}

func newEdits(typed []rune) *edits {
	row := make([]uint8, len(typed)+1)
	for i := range row {
		row[i] = uint8(min(i, maxEdits+1))
	}
	return &edits{typed: typed, rows: [][]uint8{row}}
}

// read compares a word. It returns with what of it those begin that are too far
// away, or nothing.
func (m *edits) read(word string) (over string) {
	same := 0
	for same < len(m.ends) && m.ends[same] <= len(word) && word[:m.ends[same]] == m.last[:m.ends[same]] {
		same++
	}
	m.last = word
	m.ends, m.letters = m.ends[:same], m.letters[:same]
	at := 0
	if same > 0 {
		at = m.ends[same-1]
	}
	for at < len(word) {
		r, n := utf8.DecodeRuneInString(word[at:])
		at += n
		m.ends, m.letters = append(m.ends, at), append(m.letters, r)
		if m.row() > maxEdits {
			return word[:at]
		}
	}
	return ""
}

// row compares the letter that was read last. Only distances near the diagonal can
// be small enough.
func (m *edits) row() (least uint8) {
	n := len(m.letters)
	if len(m.rows) <= n {
		m.rows = append(m.rows, make([]uint8, len(m.typed)+1))
	}
	r, above, row := m.letters[n-1], m.rows[n-1], m.rows[n]
	for i := range row {
		row[i] = maxEdits + 1
	}
	if n <= maxEdits {
		row[0] = uint8(n)
	}
	least = row[0]
	for i := max(0, n-1-maxEdits); i < min(len(m.typed), n+maxEdits); i++ {
		t, d := m.typed[i], above[i]
		if t != r {
			d = min(d, above[i+1], row[i]) + 1
		}
		if n > 1 && i > 0 && t == m.letters[n-2] && m.typed[i-1] == r {
			d = min(d, m.rows[n-2][i-1]+1)
		}
		row[i+1] = min(d, maxEdits+1)
		least = min(least, row[i+1])
	}
	return least
}

// distance is that of the word read last.
func (m *edits) distance() int { return int(m.rows[len(m.letters)][len(m.typed)]) }

// longCommonWords are those in which a letter can be amiss, in order.
var longCommonWords = func() []string {
	long := slices.Sorted(maps.Keys(commonWords))
	return slices.DeleteFunc(long, func(w string) bool { return len(w) < lettersToMissTwo-1 })
}()

// nearlyCommon says whether a word is a common one, or would be if a letter of it
// were not amiss.
func nearlyCommon(word string) bool {
	if isCommon(word) {
		return true
	}
	typed := []rune(word)
	if len(typed) < lettersToMissTwo-1 {
		return false
	}
	m := newEdits(typed)
	return slices.ContainsFunc(longCommonWords, func(common string) bool {
		return m.read(common) == "" && m.distance() <= 1
	})
}
