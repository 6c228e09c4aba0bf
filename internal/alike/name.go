// Package alike finds stations that are one by their names and places.
package alike

import (
	"slices"
	"strings"

	"github.com/traintravel/traintravel/internal/fold"
)

// spelled are words, in folded text, that one railway writes and another leaves
// out or abbreviates.
var spelled = map[string]string{
	"bahnhof": "", "bhf": "", "bf": "", "gare": "", "station": "", "stazione": "", "estacion": "", "estacao": "",
	"de": "", "du": "", "des": "", "d": "", "di": "", "la": "", "l": "",
	"hauptbahnhof": "hbf", "saint": "st", "sankt": "st",
}

// Name is a station's name as names are compared.
func Name(name string) string {
	folded := fold.String(name)
	words := fold.Words(folded)
	if len(words) == 0 {
		return folded
	}
	short := slices.Clone(words)
	for i, w := range short {
		if as, ok := spelled[w]; ok {
			short[i] = as
		}
	}
	short = slices.DeleteFunc(short, func(w string) bool { return w == "" })
	if len(short) == 0 {
		short = words
	}
	return strings.Join(short, " ")
}
