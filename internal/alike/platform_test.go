package alike

import (
	"testing"

	"github.com/traintravel/traintravel/internal/fold"
)

func TestWithoutPlatform(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Stuttgart Hbf":                "Stuttgart Hbf",
		"Stuttgart Hbf Gleis 5":        "Stuttgart Hbf",
		"Stuttgart Hbf, Gl. 5a":        "Stuttgart Hbf",
		"Ffm Hauptbahnhof Gleis 20+21": "Ffm Hauptbahnhof",
		"St Pancras (Platform 11)":     "St Pancras",
		"Gare du Nord - Voie 3":        "Gare du Nord",
		"Praha hl.n. nástupiště 2":     "Praha hl.n.",
		"Roma Termini binario 12":      "Roma Termini",
		"Wien Hbf (Bahnsteige 3-12)":   "Wien Hbf",
		"Lyon Perrache quai 2":         "Lyon Perrache",
		"Lyon Perrache, voie A":        "Lyon Perrache",
		"Lyon Part-Dieu (Voie C)":      "Lyon Part-Dieu",
		"Diridon Station Northbound":   "Diridon Station",
		"Northbound":                   "Northbound",
		"Quai d'Orsay":                 "Quai d'Orsay",
		"Gare du Quai":                 "Gare du Quai",
		"Track A":                      "Track A",
		"Gleis 7":                      "",
		"Platform 7":                   "",
		"7":                            "7",
		"Via 25 Aprile":                "Via 25 Aprile",
		"Paris Gare de Lyon Hall 1":    "Paris Gare de Lyon Hall 1",
		"Berlin Ostkreuz 2":            "Berlin Ostkreuz 2",
		"Sportplatz":                   "Sportplatz",
		"Platz der Republik 1":         "Platz der Republik 1",
		"":                             "",
	} {
		if got := WithoutPlatform(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func TestIsNoun(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"Hauptbahnhof", "Bahnhof", "HBF", "Gare", "Gare centrale", "Gare SNCF", "Stazione", "Stazione centrale", "Centraal", "Central Station",
		"Hlavní nádraží", "Hl. nádraží", "Dworzec Główny", "Główny", "Estación", "Estació", "Train Station", "Железнична гара", "Вокзал", "Σιδηροδρομικός Σταθμός",
		"Railway Station", "Pályaudvar", "Hovedbanegård", "Rautatieasema", "Gara Centrală",
	} {
		if !IsNoun(name) {
			t.Errorf("%s: it is taken for a name (%q)", name, fold.Words(fold.String(name)))
		}
	}
	for _, name := range []string{"Stuttgart Hbf", "Bern", "Gare de Lyon", "Nordbahnhof", "Central Park", "La", "", "7", "!"} {
		if IsNoun(name) {
			t.Errorf("%s is not a noun", name)
		}
	}
}

func TestHasNoun(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{"Stuttgart Hbf": true, "Le Mans": false, "Stuttgart": false, "Gare de Lyon": true} {
		if HasNoun(name) != want {
			t.Errorf("%s: %t, want %t", name, !want, want)
		}
	}
}

// The words are as texts are folded, or nobody would ever meet them.
func TestNounsAreFolded(t *testing.T) {
	t.Parallel()
	for _, set := range []map[string]bool{nouns, links} {
		for w := range set {
			if fold.String(w) != w || len(fold.Words(w)) != 1 {
				t.Errorf("%s is folded to %s", w, fold.String(w))
			}
		}
	}
}
