// Package alike finds stations that are one by their names and places.
package alike

import (
	"regexp"
	"slices"
	"strings"

	"github.com/traintravel/traintravel/internal/fold"
)

// spelled are words, in folded text, that one railway writes and another leaves
// out or abbreviates.
var spelled = map[string]string{
	"bahnhof": "", "bhf": "", "bf": "", "gare": "", "station": "", "stazione": "", "estacion": "", "estacao": "",
	"de": "", "du": "", "des": "", "d": "", "di": "", "la": "", "l": "",
	"am": "", "hauptbahnhof": "hbf", "centralstation": "c", "centraal": "c", "hlavni": "hl", "hlavna": "hl", "nadrazi": "n", "glowny": "gl", "glowna": "gl",
	"saint": "st", "sankt": "st", "sint": "st", "sainte": "st", "ste": "st", "santa": "st", "santo": "st", "san": "st", "s": "st",
}

// centralLetters is how Italian railways write centrale, in words.
var centralLetters = []string{"c", "le"}

// possessive is where an English name has an apostrophe that others leave out.
var possessive = regexp.MustCompile(`(\pL)'s(\PL|$)`)

// Name is a station's name as names are compared.
func Name(name string) string {
	folded := fold.String(name)
	words := fold.Words(possessive.ReplaceAllString(folded, "${1}s$2"))
	if len(words) == 0 {
		return folded
	}
	short := slices.Clone(words)
	for i, w := range short {
		if as, ok := spelled[w]; ok {
			short[i] = as
		} else if stem, ok := strings.CutSuffix(w, "bahnhof"); ok { // Ostbf
			short[i] = fold.Single(stem) + "bf"
		} else {
			short[i] = fold.Single(w) // Zuerich
		}
		if i > 0 && slices.Equal(words[i-1:i+1], centralLetters) {
			short[i-1], short[i] = "centrale", ""
		}
	}
	short = slices.DeleteFunc(short, func(w string) bool { return w == "" })
	if len(short) == 0 {
		short = words
	}
	return strings.Join(short, " ")
}
