package gtfs_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/gtfs"
)

// otherNames are those of each station that has any, by its name.
func otherNames(tt *traintravel.Timetable) map[string]string {
	names := map[string]string{}
	for _, s := range tt.Stations {
		if len(s.OtherNames) > 0 {
			names[s.Name] = strings.Join(s.OtherNames, "|")
		}
	}
	return names
}

// translationNotes are the notes on translations.txt.
func translationNotes(r gtfs.Report) []string {
	var found []string
	for _, n := range notes(r) {
		if strings.HasPrefix(n, "translations.txt") {
			found = append(found, n)
		}
	}
	return found
}

// translated has platforms, an entrance and a stop without trains.
const translated = `
-- stops.txt --
stop_id,stop_name,stop_lat,stop_lon,location_type,parent_station
A,A,52.525,13.369,1,
a1,A 1,52.525,13.369,0,A
gate,Gate,52.525,13.369,2,A
B,B,52.377,9.741,,
lonely,Lonely,50,8,,
-- stop_times.txt --
trip_id,stop_id,stop_sequence,arrival_time,departure_time
t1,a1,1,08:00:00,08:00:00
t1,B,2,09:30:00,09:33:00
`

func TestTranslations(t *testing.T) {
	t.Parallel()
	const (
		columns = "table_name,field_name,language,translation,record_id,record_sub_id,field_value\n"
		old     = "trans_id,lang,translation\n"
	)
	for _, test := range []struct {
		name, text string
		want       map[string]string
		languages  string
		notes      []string
	}{
		{"by ID", columns + "stops,stop_name,en,Alpha,A,,\nstops,stop_name,fr,Alphe,A,,\nstops,stop_name,en,Beta,B,,\n",
			map[string]string{"A": "Alpha|Alphe", "B": "Beta"}, "en fr", nil},
		{"by value", columns + "stops,stop_name,en,Alpha,,,A\n", map[string]string{"A": "Alpha"}, "en", nil},
		{"as it was", old + "A,en,Alpha\nB,de,Beta\nICE,en,Train\n", map[string]string{"A": "Alpha", "B": "Beta"}, "de en", nil},
		{"other order and blanks", "translation,lang,trans_id\n Alpha ,en, A \n", map[string]string{"A": "Alpha"}, "en", nil},
		{"other tables and fields", columns + "routes,route_long_name,en,Line,r,,\nstops,stop_desc,en,By the sea,A,,\nstops,tts_stop_name,en,Ay,A,,\n", map[string]string{}, "", nil},
		{"the same name", columns + "stops,stop_name,de,A,A,,\nstops,stop_name,en,Ä,A,,\nstops,stop_name,en,Alpha,A,,\nstops,stop_name,fr,ALPHA,A,,\n", map[string]string{"A": "Alpha"}, "en", nil},
		{"of a platform", columns + "stops,stop_name,en,Alpha 1,a1,,\n", map[string]string{"A": "Alpha 1"}, "en", nil},
		{"of what is not a station", columns + "stops,stop_name,en,Gateway,gate,,\nstops,stop_name,en,Solitary,lonely,,\nstops,stop_name,en,Solitary,,,Lonely\n", map[string]string{}, "", nil},
		{"no such stop", columns + "stops,stop_name,en,Alpha,X,,\nstops,stop_name,en,Alpha,,,X\n", map[string]string{}, "", []string{
			"translations.txt:2: record_id is not in stops.txt", "translations.txt:3: field_value is not the name of a station"}},
		{"both", columns + "stops,stop_name,en,Alpha,A,,B\n", map[string]string{"A": "Alpha"}, "en", []string{
			"translations.txt:2: the row has both record_id and field_value: record_id is used"}},
		{"neither", columns + "stops,stop_name,en,Alpha,,,\n", map[string]string{}, "", []string{
			"translations.txt:2: the row has neither record_id nor field_value"}},
		{"a part of a record", columns + "stops,stop_name,en,Alpha,A,1,\n", map[string]string{"A": "Alpha"}, "en", []string{
			"translations.txt:2: record_sub_id is only for stop_times"}},
		{"nothing and too much", columns + "stops,stop_name,en,,A,,\nstops,stop_name,en," + strings.Repeat("x", traintravel.MaxText+1) + ",A,,\n", map[string]string{}, "", []string{
			"translations.txt:2: translation is missing", "translations.txt:3: translation has more than 200 characters"}},
		{"no language", columns + "stops,stop_name,,Alpha,A,,\nstops,stop_name,en,Beta,B,,\n", map[string]string{"A": "Alpha", "B": "Beta"}, "en", []string{
			"translations.txt:2: the language is missing: the name is used all the same"}},
		{"other columns", "a,b\n1,2\n", map[string]string{}, "", []string{
			"translations.txt:1: the columns are neither table_name, field_name, language and translation nor trans_id, lang and translation: nothing is translated"}},
		{"no row", columns, map[string]string{}, "", nil},
		{"empty", "", map[string]string{}, "", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			tt, r := read(t, gtfs.Options{}, translated, "-- translations.txt --\n"+test.text)
			diff(t, "names", otherNames(tt), test.want)
			diff(t, "languages", strings.Join(r.Languages, " "), test.languages)
			diff(t, "notes", translationNotes(r), test.notes)
			count := 0
			for _, names := range test.want {
				count += 1 + strings.Count(names, "|")
			}
			diff(t, "translated", r.Translated, count)
		})
	}
}

// A feed cannot give a station more names than a station may have.
func TestTranslationsAreBounded(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString("-- translations.txt --\ntrans_id,lang,translation\n")
	for i := range traintravel.MaxOtherNames + 7 {
		fmt.Fprintf(&text, "A,l%d,name %d\n", i, i)
	}
	tt, r := read(t, gtfs.Options{}, translated, text.String())
	if err := tt.Check(); err != nil {
		t.Error(err)
	}
	if n := strings.Count(otherNames(tt)["A"], "|") + 1; n != traintravel.MaxOtherNames {
		t.Errorf("%d names", n)
	}
	diff(t, "notes", translationNotes(r), []string{"translations.txt:202: the station has 200 other names already (7 times)"})
	if len(r.Languages) != 100 {
		t.Errorf("%d languages", len(r.Languages))
	}
}
