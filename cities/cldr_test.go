package cities_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/traintravel/traintravel/cities"
	"github.com/traintravel/traintravel/internal/fold"
	"github.com/traintravel/traintravel/internal/need"
)

// languages are those in which the table ought to have names.
var languages = []string{
	"bg", "bs", "ca", "cs", "da", "de", "el", "en", "es", "et", "fi", "fr", "hr", "hu", "it", "lt", "lv", "mk", "nb", "nl",
	"pl", "pt", "pt-PT", "ro", "ru", "sk", "sl", "sr", "sv", "tr", "uk",
}

// What CLDR calls the cities after which time zones are named, the table knows too. The
// names are those of the npm package cldr-dates-full (Unicode-3.0).
func TestNamesOfCLDR(t *testing.T) {
	t.Parallel()
	_, folder := need.Node(t, "cldr")
	main := filepath.Join(folder, "node_modules", "cldr-dates-full", "main")
	type zones struct {
		Main map[string]struct {
			Dates struct {
				TimeZoneNames struct {
					Zone map[string]map[string]struct {
						ExemplarCity string `json:"exemplarCity"`
					}
				}
			}
		}
	}
	// By the name that the zone has in the database, which is English.
	rows := map[string][]string{}
	for _, c := range cities.Europe() {
		for _, name := range c.Names {
			rows[name] = append(rows[name], c.Names...)
		}
	}
	compared := 0
	for _, language := range languages {
		text, err := os.ReadFile(filepath.Join(main, language, "timeZoneNames.json"))
		if err != nil {
			t.Fatal(err)
		}
		var z zones
		if err := json.Unmarshal(text, &z); err != nil {
			t.Fatal(err)
		}
		for zone, in := range z.Main[language].Dates.TimeZoneNames.Zone["Europe"] {
			names, ok := rows[zone]
			if !ok || in.ExemplarCity == "" {
				continue
			}
			compared++
			want := fold.String(in.ExemplarCity)
			if !slices.ContainsFunc(names, func(name string) bool { return fold.String(name) == want || fold.Doubled(name) == want }) {
				t.Errorf("%s: %s is %s", language, zone, in.ExemplarCity)
			}
		}
	}
	if compared < 500 {
		t.Errorf("only %d names were compared", compared)
	}
}
