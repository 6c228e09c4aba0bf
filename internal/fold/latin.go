package fold

import (
	"slices"
	"strings"
	"unicode"

	"github.com/gosimple/unidecode"
	"golang.org/x/text/unicode/norm"
)

// A scheme spells letters of another script with Latin ones where it differs from
// unidecode, which spells all others. Longer sequences come first.
type scheme struct {
	script *unicode.RangeTable
	spell  *strings.Replacer
	// ends are spelled in another way at the end of a word.
	ends []string
}

// schemes are the ways in which names of towns are romanized: by standards, as
// passports and road signs do, and as people write who know only the sound.
var schemes = []scheme{
	// English: BGN/PCGN, with ъ as u.
	{unicode.Cyrillic, strings.NewReplacer(
		"х", "kh", "ц", "ts", "щ", "shch", "ю", "yu", "я", "ya", "й", "y", "ъ", "u", "ь", "", "ё", "yo", "є", "ye", "ї", "yi", "џ", "dz", "ђ", "dj"), nil},
	// The Bulgarian law of 2009.
	{unicode.Cyrillic, strings.NewReplacer(
		"х", "h", "ц", "ts", "щ", "sht", "ю", "yu", "я", "ya", "й", "y", "ъ", "a", "ь", "y"), []string{"ия", "ia"}},
	// The Ukrainian resolution of 2010, with the i of passports.
	{unicode.Cyrillic, strings.NewReplacer(
		"зг", "zgh", "г", "h", "ґ", "g", "и", "y", "х", "kh", "ц", "ts", "щ", "shch", "ю", "iu", "я", "ia", "й", "i", "ь", "", "є", "ie", "ї", "i", "'", "", "’", ""), nil},
	// English for Ukrainian: BGN/PCGN.
	{unicode.Cyrillic, strings.NewReplacer(
		"г", "h", "ґ", "g", "и", "y", "х", "kh", "ц", "ts", "щ", "shch", "ю", "yu", "я", "ya", "й", "y", "ь", "", "є", "ye", "ї", "yi"), nil},
	// Serbian and Macedonian Latin letters, and scientific romanization, without
	// their accents.
	{unicode.Cyrillic, strings.NewReplacer(
		"ж", "z", "х", "h", "ц", "c", "ч", "c", "ш", "s", "щ", "sc", "ю", "ju", "я", "ja", "й", "j", "ъ", "", "ь", "", "ё", "e", "є", "je", "ї", "ji",
		"ђ", "dj", "ћ", "c", "џ", "dz", "љ", "lj", "њ", "nj", "ѓ", "g", "ќ", "k"), nil},
	// ISO 9, without its accents.
	{unicode.Cyrillic, strings.NewReplacer(
		"ж", "z", "х", "h", "ц", "c", "ч", "c", "ш", "s", "щ", "s", "ю", "u", "я", "a", "й", "j", "ъ", "", "ь", "", "ё", "e", "є", "e", "ї", "i",
		"ђ", "d", "ћ", "c", "џ", "d", "љ", "l", "њ", "n", "ѓ", "g", "ќ", "k"), nil},
	// German, as in Duden.
	{unicode.Cyrillic, strings.NewReplacer(
		"в", "w", "ж", "sch", "з", "s", "х", "ch", "ц", "z", "ч", "tsch", "ш", "sch", "щ", "schtsch", "ю", "ju", "я", "ja", "й", "i", "ъ", "", "ь", "", "ё", "jo", "є", "je", "ї", "ji"), nil},
	// ELOT 743 of 1982, which is the UN's and ISO 843's transcription.
	{unicode.Greek, strings.NewReplacer(elot...), nil},
	// By the sound, as on many signs.
	{unicode.Greek, strings.NewReplacer(slices.Concat([]string{
		"αι", "e", "ει", "i", "οι", "i", "υι", "i", "γκ", "g", "μπ", "b", "ντ", "d", "τζ", "tz", "χ", "h"}, elot)...), nil},
	// English: BGN/PCGN of 1962.
	{unicode.Greek, strings.NewReplacer(slices.Concat([]string{"χ", "kh", "ει", "i", "οι", "i", "υ", "i", "δ", "dh"}, elot)...), nil},
	// Letter by letter, as for the old language.
	{unicode.Greek, strings.NewReplacer(
		"ου", "ou", "γγ", "ng", "γκ", "nk", "β", "b", "η", "e", "υ", "y", "φ", "ph", "χ", "ch", "ξ", "x", "ψ", "ps", "ω", "o", "θ", "th"), nil},
}

// elot are the letters of ELOT 743 that unidecode spells otherwise.
var elot = elotPairs()

func elotPairs() []string {
	pairs := []string{"ου", "ou", "γγ", "ng", "γξ", "nx", "γχ", "nch", "β", "v", "η", "i", "φ", "f", "χ", "ch", "ξ", "x", "ψ", "ps", "ω", "o", "θ", "th", "υ", "y", "σ", "s", "τ", "t", "κ", "k", "π", "p"}
	single := pairs[8:]
	var vowels []string
	for _, v := range [][2]string{{"αυ", "a"}, {"ευ", "e"}, {"ηυ", "i"}} {
		for i := 0; i < len(single); i += 2 {
			if strings.Contains("θκξπστφχψ", single[i]) { // voiceless
				vowels = append(vowels, v[0]+single[i], v[1]+"f"+single[i+1])
			}
		}
		vowels = append(vowels, v[0], v[1]+"v")
	}
	return append(vowels, pairs...)
}

// Latin spells the words of a text that are written in another script with Latin
// letters, in all the ways that are common for it: Київ is kyiv, kyyiv and kiiv.
// Its answer has an element for each of Words(String(text)), which is empty if the
// word is in Latin letters already; it is nil if all are.
func Latin(text string) [][]string {
	if !hasOther(text) {
		return nil
	}
	words := strings.FieldsFunc(strings.ToLower(norm.NFC.String(text)), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.Mn, r)
	})
	if len(words) != len(Words(String(text))) {
		return nil // signs of compatibility that are words
	}
	all := make([][]string, len(words))
	for i, w := range words {
		if hasOther(w) {
			all[i] = romanized(w)
		}
	}
	return all
}

// hasOther says whether a text has letters that are not Latin.
func hasOther(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		return r >= 0x370 && unicode.IsLetter(r) && !unicode.Is(unicode.Latin, r)
	})
}

// romanized lists the spellings of a word in lower case.
func romanized(word string) []string {
	if strings.ContainsFunc(word, func(r rune) bool { return unicode.Is(unicode.Greek, r) }) {
		word = withoutTonos(word)
	}
	var forms []string
	add := func(form string) {
		form = strings.Join(Words(String(unidecode.Unidecode(form))), "")
		if form != "" && !slices.Contains(forms, form) {
			forms = append(forms, form)
		}
	}
	for _, s := range schemes {
		if !strings.ContainsFunc(word, func(r rune) bool { return unicode.Is(s.script, r) }) {
			continue
		}
		w := word
		if len(s.ends) > 0 {
			if stem, ok := strings.CutSuffix(word, s.ends[0]); ok {
				w = stem + s.ends[1]
			}
		}
		add(s.spell.Replace(w))
	}
	add(word)
	return forms
}

// withoutTonos takes the accents of stress from Greek letters, but not the
// dialytika, which says that two vowels are apart.
func withoutTonos(word string) string {
	return norm.NFC.String(strings.Map(func(r rune) rune {
		if r == '\u0301' || r == '\u0342' || r == '\u0300' {
			return -1
		}
		if r == 'ς' {
			return 'σ'
		}
		return r
	}, norm.NFD.String(word)))
}
