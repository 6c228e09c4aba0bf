package places_test

import (
	"reflect"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/gtfs"
	"github.com/traintravel/traintravel/places"
)

var finder = sync.OnceValues(places.Open)

func open(t *testing.T) *places.Finder {
	t.Helper()
	f, err := finder()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestLocate(t *testing.T) {
	t.Parallel()
	f := open(t)
	var locate = gtfs.Options{Locate: f.Locate}.Locate
	for _, c := range []struct {
		name          string
		lat, lon      float64
		country, zone string
	}{
		{"Berlin Hbf", 52.5251, 13.3694, "DE", "Europe/Berlin"},
		{"Paris Nord", 48.8809, 2.3553, "FR", "Europe/Paris"},
		{"London St Pancras", 51.5322, -0.1265, "GB", "Europe/London"},
		{"Belfast Grand Central", 54.5936, -5.9358, "GB", "Europe/London"},
		{"Dublin Connolly", 53.3531, -6.2459, "IE", "Europe/Dublin"},
		{"Bruxelles-Midi", 50.8357, 4.3357, "BE", "Europe/Brussels"},
		{"Amsterdam Centraal", 52.3789, 4.9006, "NL", "Europe/Amsterdam"},
		{"Luxembourg", 49.6000, 6.1340, "LU", "Europe/Luxembourg"},
		{"Zürich HB", 47.3782, 8.5402, "CH", "Europe/Zurich"},
		{"Schaan-Vaduz", 47.1680, 9.5087, "LI", "Europe/Vaduz"},
		{"Wien Hbf", 48.1851, 16.3760, "AT", "Europe/Vienna"},
		{"Roma Termini", 41.9010, 12.5010, "IT", "Europe/Rome"},
		{"Messina Marittima", 38.1850, 15.5610, "IT", "Europe/Rome"},
		{"Venezia Santa Lucia", 45.4410, 12.3210, "IT", "Europe/Rome"},
		{"Monaco Monte-Carlo", 43.7386, 7.4194, "MC", "Europe/Monaco"},
		{"Madrid Atocha", 40.4066, -3.6904, "ES", "Europe/Madrid"},
		{"Palma", 39.5768, 2.6546, "ES", "Europe/Madrid"},
		{"Lisboa Oriente", 38.7678, -9.0990, "PT", "Europe/Lisbon"},
		{"København H", 55.6727, 12.5646, "DK", "Europe/Copenhagen"},
		{"Malmö C", 55.6093, 13.0007, "SE", "Europe/Stockholm"},
		{"Oslo S", 59.9109, 10.7530, "NO", "Europe/Oslo"},
		{"Narvik", 68.4410, 17.4400, "NO", "Europe/Oslo"},
		{"Helsinki", 60.1719, 24.9414, "FI", "Europe/Helsinki"},
		{"Tornio", 65.8480, 24.1790, "FI", "Europe/Helsinki"},
		{"Haparanda", 65.8300, 24.1300, "SE", "Europe/Stockholm"},
		{"Tallinn", 59.4402, 24.7372, "EE", "Europe/Tallinn"},
		{"Rīga", 56.9466, 24.1205, "LV", "Europe/Riga"},
		{"Vilnius", 54.6702, 25.2846, "LT", "Europe/Vilnius"},
		{"Warszawa Centralna", 52.2288, 21.0033, "PL", "Europe/Warsaw"},
		{"Praha hl.n.", 50.0830, 14.4359, "CZ", "Europe/Prague"},
		{"Bratislava hl.st.", 48.1587, 17.1067, "SK", "Europe/Bratislava"},
		{"Budapest Keleti", 47.5003, 19.0839, "HU", "Europe/Budapest"},
		{"Ljubljana", 46.0579, 14.5110, "SI", "Europe/Ljubljana"},
		{"Zagreb Glavni kolodvor", 45.8046, 15.9785, "HR", "Europe/Zagreb"},
		{"Beograd Centar", 44.7946, 20.4560, "RS", "Europe/Belgrade"},
		{"Sarajevo", 43.8604, 18.3990, "BA", "Europe/Sarajevo"},
		{"Podgorica", 42.4326, 19.2690, "ME", "Europe/Podgorica"},
		{"Skopje", 41.9908, 21.4460, "MK", "Europe/Skopje"},
		{"Durrës", 41.3170, 19.4540, "AL", "Europe/Tirane"},
		{"Athína", 37.9923, 23.7208, "GR", "Europe/Athens"},
		{"Sofia", 42.7122, 23.3210, "BG", "Europe/Sofia"},
		{"București Nord", 44.4467, 26.0741, "RO", "Europe/Bucharest"},
		{"Chișinău", 47.0126, 28.8600, "MD", "Europe/Chisinau"},
		{"Kyiv", 50.4405, 30.4880, "UA", "Europe/Kyiv"},
		{"Minsk", 53.8907, 27.5510, "BY", "Europe/Minsk"},
		{"İstanbul Halkalı", 41.0190, 28.7660, "TR", "Europe/Istanbul"},
		{"Tbilisi", 41.7218, 44.8000, "GE", "Asia/Tbilisi"},
		{"Almaty", 43.3405, 76.9480, "KZ", "Asia/Almaty"},
		{"Mumbai CSMT", 18.9400, 72.8355, "IN", "Asia/Kolkata"},
		{"Beijing West", 39.8947, 116.3220, "CN", "Asia/Shanghai"},
		{"Hong Kong West Kowloon", 22.3040, 114.1655, "HK", "Asia/Hong_Kong"},
		{"Tokyo", 35.6812, 139.7671, "JP", "Asia/Tokyo"},
		{"Seoul", 37.5547, 126.9707, "KR", "Asia/Seoul"},
		{"Sydney Central", -33.8832, 151.2067, "AU", "Australia/Sydney"},
		{"Adelaide Parklands", -34.9420, 138.5780, "AU", "Australia/Adelaide"},
		{"Wellington", -41.2790, 174.7803, "NZ", "Pacific/Auckland"},
		{"Casa Voyageurs", 33.5900, -7.5910, "MA", "Africa/Casablanca"},
		{"Cairo Ramses", 30.0626, 31.2470, "EG", "Africa/Cairo"},
		{"Johannesburg Park", -26.1970, 28.0420, "ZA", "Africa/Johannesburg"},
		{"New York Penn", 40.7506, -73.9935, "US", "America/New_York"},
		{"Chicago Union", 41.8787, -87.6403, "US", "America/Chicago"},
		{"Toronto Union", 43.6453, -79.3806, "CA", "America/Toronto"},
		{"São Paulo Luz", -23.5345, -46.6353, "BR", "America/Sao_Paulo"},
		{"Buenos Aires Retiro", -34.5915, -58.3747, "AR", "America/Argentina/Buenos_Aires"},

		// Beside borders.
		{"Basel SBB", 47.5474, 7.5896, "CH", "Europe/Zurich"},
		{"Basel Bad Bf", 47.5677, 7.6073, "CH", "Europe/Zurich"},
		{"Weil am Rhein", 47.5940, 7.6080, "DE", "Europe/Berlin"},
		{"Saint-Louis (Haut-Rhin)", 47.5905, 7.5560, "FR", "Europe/Paris"},
		{"Kehl", 48.5760, 7.8088, "DE", "Europe/Berlin"},
		{"Konstanz", 47.6586, 9.1771, "DE", "Europe/Berlin"},
		{"Schaffhausen", 47.6984, 8.6327, "CH", "Europe/Zurich"},
		{"Brennero", 47.0026, 11.5053, "IT", "Europe/Rome"},
		{"Hendaye", 43.3530, -1.7817, "FR", "Europe/Paris"},
		{"Irun", 43.3400, -1.8010, "ES", "Europe/Madrid"},
		{"Cerbère", 42.4395, 3.1630, "FR", "Europe/Paris"},
		{"Tui", 42.0500, -8.6400, "ES", "Europe/Madrid"},
		{"Valença", 42.0260, -8.6420, "PT", "Europe/Lisbon"},
		{"Vilar Formoso", 40.6137, -6.8330, "PT", "Europe/Lisbon"},
		{"Frankfurt (Oder)", 52.3363, 14.5470, "DE", "Europe/Berlin"},
		{"Görlitz", 51.1472, 14.9790, "DE", "Europe/Berlin"},
		{"Brest-Tsentralny", 52.1000, 23.6810, "BY", "Europe/Minsk"},
		{"Newry", 54.1880, -6.3650, "GB", "Europe/London"},

		{"in the Atlantic", 40, -40, "", ""},
	} {
		s := traintravel.Station{Name: c.name, Latitude: c.lat, Longitude: c.lon}
		locate(&s)
		if s.Country != c.country || s.Zone != c.zone {
			t.Errorf("%s: %s %s, want %s %s", c.name, s.Country, s.Zone, c.country, c.zone)
		}
	}
}

// Within a few steps of a border what else is known of a station decides, and
// elsewhere nothing does.
func TestLocateAtBorder(t *testing.T) {
	t.Parallel()
	f := open(t)
	between := func(lat, lon float64) traintravel.Station {
		return traintravel.Station{Latitude: lat, Longitude: lon}
	}
	// Where the border is, as far as the finder knows, on the way from Konstanz to
	// Kreuzlingen, and in the middle of the Guadiana between Ayamonte and Vila Real.
	at := func(from, to traintravel.Station) traintravel.Station {
		side := func(s traintravel.Station) string {
			f.Locate(&s)
			return s.Zone
		}
		for range 40 {
			middle := between((from.Latitude+to.Latitude)/2, (from.Longitude+to.Longitude)/2)
			if side(middle) == side(from) {
				from = middle
			} else {
				to = middle
			}
		}
		return from
	}
	german := at(between(47.6586, 9.1771), between(47.6450, 9.1760))
	spanish := at(between(37.2150, -7.4050), between(37.1950, -7.4180))
	for _, c := range []struct {
		s             traintravel.Station
		home          string
		given         traintravel.Station
		country, zone string
	}{
		{german, "", traintravel.Station{}, "DE", "Europe/Berlin"},
		{german, "Europe/Berlin", traintravel.Station{}, "DE", "Europe/Berlin"},
		{german, "Europe/Zurich", traintravel.Station{}, "CH", "Europe/Zurich"},
		{german, "Europe/Paris", traintravel.Station{}, "DE", "Europe/Berlin"},
		{german, "Europe/Berlin", traintravel.Station{Country: "CH"}, "CH", "Europe/Zurich"},
		{german, "Europe/Berlin", traintravel.Station{Zone: "Europe/Zurich"}, "CH", "Europe/Zurich"},
		{german, "Europe/Zurich", traintravel.Station{Zone: "Europe/Berlin"}, "DE", "Europe/Berlin"},
		{german, "Europe/Zurich", traintravel.Station{Zone: "Europe/Paris"}, "DE", "Europe/Paris"},
		{german, "Europe/Zurich", traintravel.Station{Country: "FR"}, "FR", "Europe/Berlin"},
		{spanish, "Europe/Madrid", traintravel.Station{}, "ES", "Europe/Madrid"},
		{spanish, "Europe/Lisbon", traintravel.Station{}, "PT", "Europe/Lisbon"},
		{between(47.3782, 8.5402), "Europe/Berlin", traintravel.Station{}, "CH", "Europe/Zurich"}, // Zürich HB
		{between(47.3782, 8.5402), "", traintravel.Station{Zone: "Europe/Berlin"}, "CH", "Europe/Berlin"},
		{between(40, -40), "Europe/Lisbon", traintravel.Station{}, "", ""},
	} {
		s := c.s
		s.Zone, s.Country = c.given.Zone, c.given.Country
		f.LocateFrom(c.home)(&s)
		if s.Country != c.country || s.Zone != c.zone {
			t.Errorf("%+v from %q: %s %s, want %s %s", c.given, c.home, s.Country, s.Zone, c.country, c.zone)
		}
	}
}

// Whatever the place: what is given stays, what is found is good, and nothing
// else changes.
func TestLocateAnywhere(t *testing.T) {
	t.Parallel()
	f := open(t)
	rapid.Check(t, func(t *rapid.T) {
		was := traintravel.Station{
			Name:     "X",
			Latitude: rapid.Float64Range(-90, 90).Draw(t, "latitude"), Longitude: rapid.Float64Range(-180, 180).Draw(t, "longitude"),
			Zone:    rapid.SampledFrom([]string{"", "Europe/Berlin"}).Draw(t, "zone"),
			Country: rapid.SampledFrom([]string{"", "DE"}).Draw(t, "country"),
		}
		s := was
		f.LocateFrom(rapid.SampledFrom([]string{"", "Europe/Paris", "nonsense"}).Draw(t, "home"))(&s)
		if was.Zone != "" && s.Zone != was.Zone || was.Country != "" && s.Country != was.Country {
			t.Fatalf("%+v has become %+v", was, s)
		}
		if _, err := time.LoadLocation(s.Zone); err != nil || s.Country != "" && len(s.Country) != 2 {
			t.Fatalf("%+v: %v", s, err)
		}
		s.Zone, s.Country = was.Zone, was.Country
		if !reflect.DeepEqual(s, was) {
			t.Fatalf("%+v has become %+v", was, s)
		}
	})
}

func BenchmarkLocate(b *testing.B) {
	f, err := finder()
	if err != nil {
		b.Fatal(err)
	}
	locate := f.LocateFrom("Europe/Berlin")
	i := 0
	for b.Loop() {
		i++
		s := traintravel.Station{Latitude: 45 + float64(i%1000)*0.01, Longitude: 5 + float64(i/1000%1000)*0.01}
		locate(&s)
	}
}

func BenchmarkOpen(b *testing.B) {
	for b.Loop() {
		if _, err := places.Open(); err != nil {
			b.Fatal(err)
		}
	}
}

// A station that says that its country is unknown is located as one that says nothing.
func TestLocateUnknownCountry(t *testing.T) {
	t.Parallel()
	f := open(t)
	for _, zone := range []string{"", "Europe/Berlin"} {
		s := traintravel.Station{Latitude: 52.5251, Longitude: 13.3694, Country: traintravel.UnknownCountry, Zone: zone}
		if f.Locate(&s); s.Country != "DE" || s.Zone != "Europe/Berlin" {
			t.Errorf("it is in %q, %q", s.Country, s.Zone)
		}
		s = traintravel.Station{Latitude: 40, Longitude: -40, Country: traintravel.UnknownCountry, Zone: zone}
		if f.Locate(&s); s.Country != "" {
			t.Errorf("at sea it is in %q", s.Country)
		}
	}
}

// A zone is of the country for which tzdata lists it, and UTC of none.
func TestCountries(t *testing.T) {
	t.Parallel()
	countries := places.Countries()
	for zone, want := range map[string]string{"Europe/Berlin": "DE", "Europe/Zurich": "CH", "America/New_York": "US", "UTC": "", "": ""} {
		if got := countries[zone]; got != want {
			t.Errorf("%q is in %q, want %q", zone, got, want)
		}
	}
}
