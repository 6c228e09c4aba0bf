package gtfs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/fold"
)

// readTranslations gives stations the names of stops in other languages. It knows the
// table as the reference has it, and as it was before: trans_id, lang, translation. No
// train depends on it, so that nothing here is a mistake of its own.
func (f *feed) readTranslations() error {
	const name = "translations.txt"
	if !f.has(name) {
		return nil
	}
	t, err := f.open(name)
	if err != nil {
		return err
	}
	x := translations{table: t, translation: t.column("translation"), language: t.column("language"), languages: map[string]bool{}}
	old := t.column("trans_id")
	var (
		tableName  = t.column("table_name")
		fieldName  = t.column("field_name")
		recordID   = t.column("record_id")
		recordSub  = t.column("record_sub_id")
		fieldValue = t.column("field_value")
	)
	switch {
	case x.translation != missing && tableName != missing && fieldName != missing && x.language != missing:
		old = missing
	case x.translation != missing && old != missing:
		x.language = t.column("lang")
	default:
		f.doubt(name, 1, "the columns are neither table_name, field_name, language and translation nor trans_id, lang and translation: nothing is translated")
		t.close()
		return nil
	}
	for t.next() {
		if old != missing {
			x.byName(t.text(old), false)
			continue
		}
		if string(t.get(tableName)) != "stops" || string(t.get(fieldName)) != "stop_name" {
			continue
		}
		id, value := string(t.get(recordID)), t.text(fieldValue)
		switch {
		case id != "" && value != "":
			f.doubt(name, t.line(), "the row has both record_id and field_value: record_id is used")
			x.byID(id)
		case id != "":
			x.byID(id)
		case value != "":
			x.byName(value, true)
		default:
			f.doubt(name, t.line(), "the row has neither record_id nor field_value")
		}
		if len(t.get(recordSub)) > 0 {
			f.doubt(name, t.line(), "record_sub_id is only for stop_times")
		}
	}
	f.report.Languages = x.list()
	return t.err
}

// translations are the names of stops in other languages.
type translations struct {
	*table
	translation, language column
	languages             map[string]bool    // of which a name counts
	named                 map[string][]int32 // stops, by stop_name
}

// byID translates the name of a stop.
func (x *translations) byID(id string) {
	at, ok := x.feed.stopByID[id]
	if !ok {
		x.feed.doubt(x.name, x.line(), "record_id is not in stops.txt")
		return
	}
	x.add(at)
}

// byName translates the name of all stops that have it. Unless it must be a stop's, it
// may be that of anything.
func (x *translations) byName(name string, must bool) {
	if x.named == nil {
		x.named = map[string][]int32{}
		for i := range x.feed.stops {
			name := x.feed.stops[i].Name
			if raw, ok := x.feed.rawNames[int32(i)]; ok {
				name = raw
			}
			if name != "" {
				x.named[name] = append(x.named[name], int32(i))
			}
		}
	}
	if must && len(x.named[name]) == 0 {
		x.feed.note(x.name, x.line(), "field_value is not the name of a station")
	}
	for _, at := range x.named[name] {
		x.add(at)
	}
}

// add gives the station of a stop the name in the row, if trains call there.
func (x *translations) add(stop int32) {
	if k := x.feed.stops[stop].kind; k == entrance || k == node {
		return
	}
	s := &x.feed.stops[x.feed.stops[stop].station]
	if !s.served {
		return
	}
	name := x.text(x.translation)
	switch {
	case name == "":
		x.feed.doubt(x.name, x.line(), "translation is missing")
		return
	case long(name):
		x.feed.doubt(x.name, x.line(), fmt.Sprintf("translation has more than %d characters", traintravel.MaxText))
		return
	case same(name, s.Name) || slices.ContainsFunc(s.OtherNames, func(other string) bool { return same(name, other) }):
		return
	case len(s.OtherNames) == traintravel.MaxOtherNames:
		x.feed.note(x.name, x.line(), fmt.Sprintf("the station has %d other names already", traintravel.MaxOtherNames))
		return
	}
	s.OtherNames = append(s.OtherNames, strings.Clone(name))
	x.feed.report.Translated++
	language := string(x.get(x.language))
	if language == "" {
		x.feed.doubt(x.name, x.line(), "the language is missing: the name is used all the same")
	} else if len(x.languages) < maxLanguages {
		x.languages[fmt.Sprintf("%.40s", language)] = true
	}
}

// maxLanguages is how many languages the report names.
const maxLanguages = 100

// list is the languages, sorted.
func (x *translations) list() []string {
	var all []string
	for l := range x.languages {
		all = append(all, l)
	}
	slices.Sort(all)
	return all
}

// same says whether two names differ for nobody who searches.
func same(a, b string) bool { return a == b || fold.String(a) == fold.String(b) }
