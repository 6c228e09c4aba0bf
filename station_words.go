package traintravel

import (
	"slices"
	"strings"

	"github.com/traintravel/traintravel/internal/fold"
)

// A nameWord is a word of a station's name or address.
type nameWord struct {
	forms  []string // folded, as people may write it
	common bool     // says station, or joins words that do
	aside  bool     // stands in parentheses
}

// commonWords say "station", "main", "central", "saint" or "at", and tell no
// station from others.
var commonWords = setOf(`
	bahnhof bf bhf hauptbahnhof hbf hb
	station railway rail central
	gare gares centrale de du des d
	centraal stazione di estacion estacio estacao del
	centralstation c h banegard stasjon s
	glowny glowna gl centralna
	nadrazi stanica hlavni hlavna hl kolodvor glavni
	saint st sainte ste sankt
	am an der im
`)

func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		set[w] = true
	}
	return set
}

// sameWords are words of one meaning.
var sameWords = [][]string{
	{"hauptbahnhof", "hbf", "hb"},
	{"bahnhof", "bf", "bhf"},
	{"saint", "sankt", "st"},
	{"sainte", "ste"},
	{"strasse", "str"},
}

// sameEndings are ends of words of one meaning: Ostbahnhof, Ostbf.
var sameEndings = [][2]string{{"bahnhof", "bf"}, {"strasse", "str"}}

// wordsOf reads a name or an address.
func wordsOf(text string) []nameWord {
	rest := fold.String(text)
	folded := fold.Words(rest)
	doubled := fold.Words(fold.Doubled(text))
	words := make([]nameWord, len(folded))
	aside := false
	for i, w := range folded {
		var gap string
		gap, rest, _ = strings.Cut(rest, w)
		if at := strings.LastIndexAny(gap, "()"); at >= 0 {
			aside = gap[at] == '('
		}
		words[i] = nameWord{forms: formsOf(w, doubled[i]), common: commonWords[w], aside: aside}
	}
	return words
}

// formsOf lists how a word may be written that is folded in two ways.
func formsOf(word, doubled string) []string {
	forms := []string{word}
	add := func(form string) {
		if !slices.Contains(forms, form) {
			forms = append(forms, form)
		}
	}
	add(doubled)
	add(fold.Single(word))
	for _, same := range sameWords {
		if slices.Contains(same, word) {
			for _, form := range same {
				add(form)
			}
			return forms
		}
	}
	for _, ends := range sameEndings {
		for i, end := range ends {
			if stem, ok := strings.CutSuffix(word, end); ok && len(stem) > 1 {
				add(stem + ends[1-i])
			}
		}
	}
	return forms
}
