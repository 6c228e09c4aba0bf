package stations

import (
	"iter"
	"slices"
	"strings"

	"github.com/traintravel/traintravel/internal/fold"
	"github.com/traintravel/traintravel/rail"
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
	bahnhof bf bhf hauptbahnhof hbf hb zentralbahnhof zentral zentrum busbf busbahnhof zob
	station railway rail central centre center
	gare gares centrale de du des d le la
	centraal cs centrum stazione di c estacion estacio estacao gara garii do da del
	centralstation centralstationen banegard stasjon hovedbanegard hovedbanegaard s st
	glowny glowna glowne gl centralna centralny dworzec
	nadrazi stanica hlavni hlavna hl n kolodvor glavni centar zeleznicka tsentralna
	palyaudvar pu allomas stathmos
	saint ste sainte sankt
	am an der im h u
`)

// vainWords are what people type beside a name. Unlike common words they count in
// the names of stations that have them.
var vainWords = setOf(`
	train trains trainstation railwaystation main city town the of and und et zug bahn
	principal principale ferroviaria treni hovedstation
	railroad stop terminal vlak vlakove gara
`)

func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		set[w] = true
	}
	return set
}

// isCommon says whether a word is common in the names of stations.
func isCommon(word string) bool { return commonWords[word] }

// isVain says whether a word may be left out of a search.
func isVain(word string) bool {
	_, country := countryWords[word]
	return commonWords[word] || vainWords[word] || country
}

// sameWords are words of one meaning.
var sameWords = [][]string{
	{"hauptbahnhof", "hbf", "hb"},
	{"bahnhof", "bf", "bhf"},
	{"saint", "sankt", "st"},
	{"sainte", "ste"},
	{"santa", "sta"},
	{"santo", "sto"},
	{"strasse", "str"},
}

// sameEndings are ends of words of one meaning: Ostbahnhof, Ostbf.
var sameEndings = [][2]string{{"bahnhof", "bf"}, {"strasse", "str"}}

// A notion is what words of several languages mean. The directory has it as a word
// that nobody can type, beside the words themselves.
type notion string

// notionMark is what no word begins with that is typed.
const notionMark = '\x01'

const (
	mainStation notion = "\x01main"
	airport     notion = "\x01airport"
	north       notion = "\x01north"
	south       notion = "\x01south"
	east        notion = "\x01east"
	west        notion = "\x01west"
)

// notions are what words mean, typed in full.
var notions = notionsOf(map[notion]string{
	mainStation: `hauptbahnhof hbf hb zentralbahnhof zentral zentrum central centrale centraal centrum centralstation
		centralstationen centralna centralny glowny glowna glowne gl hlavni hlavna hl glavni centar centre center
		hovedbanegard hovedbanegaard tsentralna cs`,
	airport: `flughafen airport aeroport aeroporto aeropuerto luchthaven lotnisko letiste lufthavn flygplats
		repuloter aerodrom aeroportul lennujaam lentoasema`,
	north: "nord north noord norte norr norra nordre polnoc sever severni eszaki",
	south: "sud sued south zuid sur midi sodra poludnie jih jizni deli",
	east:  "ost east est oost este leste ostra wschodni wschodnia vychod keleti oriente",
	west:  "west ouest ovest oeste vastra zachodni zachodnia zapad nyugati",
})

func notionsOf(words map[notion]string) map[string]notion {
	of := map[string]notion{}
	for n, list := range words {
		for w := range strings.FieldsSeq(list) {
			of[w] = n
		}
	}
	return of
}

// isDirection says whether a word means a point of the compass.
func isDirection(word string) bool {
	n, ok := notions[word]
	return ok && n != mainStation && n != airport
}

// lastLetters stand for the main station at the end of a name: Oslo S, Göteborg C.
var lastLetters = setOf("c s h")

// namesOf goes through a station's name and its other names.
func namesOf(s *rail.Station) iter.Seq[string] {
	return func(yield func(string) bool) {
		if !yield(s.Name) {
			return
		}
		for _, name := range s.OtherNames {
			if !yield(name) {
				return
			}
		}
	}
}

// wordsOf reads a name or an address.
func wordsOf(text string) []nameWord {
	rest := fold.String(text)
	folded := fold.Words(rest)
	doubled := fold.Words(fold.Doubled(text))
	latin := fold.Latin(text)
	words := make([]nameWord, len(folded))
	aside := false
	for i, w := range folded {
		var gap string
		gap, rest, _ = strings.Cut(rest, w)
		if at := strings.LastIndexAny(gap, "()"); at >= 0 {
			aside = gap[at] == '('
		}
		words[i] = nameWord{forms: formsOf(w, doubled[i]), common: commonWords[w], aside: aside}
		if latin != nil {
			words[i].spell(latin[i])
		}
		if last := i == len(folded)-1; last && i > 0 && lastLetters[w] && strings.TrimSpace(gap) == "" {
			words[i].forms = append(words[i].forms, string(mainStation))
		}
	}
	return words
}

// spell adds spellings with Latin letters.
func (w *nameWord) spell(latin []string) {
	for _, form := range latin {
		w.common = w.common || commonWords[form]
		for _, form := range formsOf(form, form) {
			if !slices.Contains(w.forms, form) {
				w.forms = append(w.forms, form)
			}
		}
	}
}

// formsOf lists how a word may be written that is folded in two ways, and the
// notion that it means.
func formsOf(word, doubled string) []string {
	forms := []string{word}
	add := func(form string) {
		if !slices.Contains(forms, form) {
			forms = append(forms, form)
		}
	}
	add(doubled)
	add(fold.Single(word))
	if n, ok := notions[word]; ok {
		add(string(n))
	}
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
				if ends[0] == "bahnhof" && isDirection(stem) { // Südbahnhof
					add(string(notions[stem]))
				}
			}
		}
	}
	return forms
}
