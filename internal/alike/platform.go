package alike

import (
	"regexp"
	"strings"

	"github.com/traintravel/traintravel/internal/fold"
)

// platform is where a name ends with a platform: "Hbf, Gleis 5", "St Pancras
// (Platform 11a)", "Gleis 20+21".
var platform = regexp.MustCompile(`(?i)(?:^|[\s,;:/(\[\-]+)(?:` +
	`gleis|gl|bahnsteig|steig|bussteig|platform|plat|track|voie|quai|binario|bin|vía|via|andén|anden|plataforma|` +
	`spoor|perron|spor|spår|raide|laituri|peron|tor|kolej|nástupiště|nástupište|nastupiste|vágány|vagany|kolosijek|línia|` +
	`gleise|bahnsteige|platforms|tracks|voies|quai|quais|binari|sporen|perrons` +
	`)\.?\s*[0-9]{1,3}\s?[a-z]?(?:\s?[+/\-]\s?[0-9]{1,3}[a-z]?)*[)\]]?\s*$`)

// lettered is where a name ends with a platform that has a letter: "Perrache, voie A",
// or with a direction as American railways name their platforms.
var lettered = regexp.MustCompile(`(?i)[\s,;:/(\[\-]+(?:(?:gleis|bahnsteig|platform|track|voie|quai|binario|spoor|perron)\s+[a-z]|(?:north|south|east|west)bound)[)\]]?\s*$`)

// WithoutPlatform is a name without the platform with which it ends, if it does. It
// is empty if nothing else is in the name.
func WithoutPlatform(name string) string {
	at := lettered.FindStringIndex(name)
	if at == nil && strings.ContainsAny(name, "0123456789") {
		at = platform.FindStringIndex(name)
	}
	if at == nil {
		return name
	}
	return strings.TrimSpace(name[:at[0]])
}

// nouns are words that are the names of many stations, and of none in particular,
// in folded text: "station", "main", "of".
var nouns = setOf(`
	hauptbahnhof hbf hb bahnhof bahnhst bf bhf haltepunkt hp
	station stn railway rail train trains central centre main halt
	gare gares centrale sncf centraal
	stazione stazioni ferroviaria fs
	estacion estacio estacao tren trens comboios ferroviario ferroviaria
	centralstation centralstationen station stationen banegard hovedbanegard stasjon sentralstasjon jarnvagsstation
	rautatieasema asema paarautatieasema
	dworzec stacja glowny glowna gl centralny centralna pkp
	nadrazi stanice stanica zeleznicni zeleznicna hlavni hlavna hl zst
	kolodvor glavni zeljeznicki zeljeznicka zeleznicka zelezniska postaja glavna
	palyaudvar vasutallomas allomas
	gara centrala cfr
	jaam raudteejaam stotis gelezinkelio stacija centrala
	вокзал станция жд гара централна железнична железничка станица главна центральныи станціа
	σταθμοσ σιδηροδρομικοσ κεντρικοσ
`)

// links are words that join others.
var links = setOf(`de du des d la le les l di del della dello do da the of`)

func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		set[w] = true
	}
	return set
}

// IsNoun says whether a name is a common noun alone, such as Hauptbahnhof or Gare
// centrale, which says nothing of where the station is.
func IsNoun(name string) bool {
	words := fold.Words(fold.String(name))
	for _, w := range words {
		if !nouns[w] && !links[w] {
			return false
		}
	}
	return HasNoun(name)
}

// HasNoun says whether one of a name's words is such a noun.
func HasNoun(name string) bool {
	for _, w := range fold.Words(fold.String(name)) {
		if nouns[w] {
			return true
		}
	}
	return false
}
