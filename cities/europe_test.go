package cities_test

import (
	"context"
	"os"
	"testing"

	"github.com/traintravel/traintravel/gtfs"
	"github.com/traintravel/traintravel/internal/need"
	"github.com/traintravel/traintravel/internal/synthfeed"
)

// On a network of all Europe, with stations between the cities that are called after
// both, names in many languages find the cities. One without a station finds nothing.
func TestNamesOfEurope(t *testing.T) {
	t.Parallel()
	need.Short(t, "a feed of all Europe")
	dir := t.TempDir()
	if err := synthfeed.Write(dir, synthfeed.Options{Days: 3}); err != nil {
		t.Fatal(err)
	}
	tt, _, err := gtfs.Read(context.Background(), os.DirFS(dir), gtfs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	service := serving(t, tt)
	for typed, want := range map[string]string{
		"Gent": "Gent", "Ghent": "Gent", "Gand": "Gent", "gare du nord": "Paris Nord", "Brn": "Brno", "Londen": "London",
		"Vienna": "Wien", "Wein": "Wien", "paris nord": "Paris Nord", "Lwów": "Lviv", "Kiew": "Kyiv", "Київ": "Kyiv", "Nizza": "Nice",
		"Helsingfors": "Helsinki", "Bergen": "Bergen", "Split": "Split", "Krakau": "Kraków", "Stambul": "İstanbul", "Genua": "Genova",
		"Turin": "Torino", "Reval": "Tallinn", "Wilna": "Vilnius", "Ryga": "Riga", "Lüttich": "Liège", "Lüttch": "Liège",
		"Aix-la-Chapelle": "", "Bienne": "", "Αθήνα": "Athina", "Saloniki": "Thessaloniki", "Temeswar": "Timișoara",
		"Jassy": "Iași", "Kischinau": "Chișinău", "Kaschau": "Košice", "Göteborg": "Göteborg", "Gothenburg Sweden": "Göteborg",
		"Baile Atha Cliath": "Dublin", "Edinbourgh": "Edinburgh", "Neapel": "Napoli", "Saragossa": "Zaragoza", "Lissabon": "Lisboa",
	} {
		if got := firstHit(t, service, typed); got != want {
			t.Errorf("%q finds %q, want %q", typed, got, want)
		}
	}
}
