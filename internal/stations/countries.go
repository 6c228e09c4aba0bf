package stations

import "strings"

// countryWords are names of Europe's countries, in English, German, French,
// Spanish, Italian and their own languages, word by word: people type them after a
// city's. Names that cities have as well are not among them.
var countryWords = countriesOf(map[string]string{
	"AL": "albania albanien albanie shqiperia",
	"AT": "austria osterreich oesterreich autriche rakousko ausztria",
	"BA": "bosnia bosnien bosnie herzegovina",
	"BE": "belgium belgien belgique belgie belgica belgio",
	"BG": "bulgaria bulgarien bulgarie българия",
	"CH": "switzerland schweiz suisse svizzera suiza zwitserland",
	"CZ": "czech czechia tschechien tcheque tchequie cesko ceska republika republic chequia",
	"DE": "germany deutschland allemagne alemania germania duitsland niemcy nemecko",
	"DK": "denmark danmark danemark dinamarca danimarca denemarken",
	"EE": "estonia estland estonie eesti",
	"ES": "spain spanien espagne espana spagna spanje",
	"FI": "finland finnland finlande finlandia suomi",
	"FR": "france frankreich francia frankrijk",
	"GB": "uk england scotland wales britain britannien kingdom united great grossbritannien angleterre",
	"GR": "greece griechenland grece grecia ellada ελλαδα",
	"HR": "croatia kroatien croatie hrvatska croazia",
	"HU": "hungary ungarn hongrie magyarorszag hungria ungheria",
	"IE": "ireland irland irlande irlanda",
	"IT": "italy italien italie italia",
	"LT": "lithuania litauen lituanie lietuva",
	"LV": "latvia lettland lettonie latvija",
	"MK": "macedonia mazedonien macedoine",
	"NL": "netherlands niederlande nederland holland paysbas olanda holanda",
	"NO": "norway norwegen norvege norge noruega norvegia",
	"PL": "poland polen pologne polska polonia",
	"PT": "portugal portogallo",
	"RO": "romania rumanien roumanie rumania",
	"RS": "serbia serbien serbie srbija србија",
	"SE": "sweden schweden suede sverige suecia svezia",
	"SI": "slovenia slowenien slovenie slovenija",
	"SK": "slovakia slowakei slovaquie slovensko",
	"TR": "turkey turkei tuerkei turquie turkiye turchia",
	"UA": "ukraine ukraina ucraina україна",
})

func countriesOf(words map[string]string) map[string]string {
	of := map[string]string{}
	for country, names := range words {
		for w := range strings.FieldsSeq(names) {
			of[w] = country
		}
	}
	return of
}
