package stations

import (
	"encoding/binary"
	"math/rand/v2"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/rail"
)

// continent is a directory of as many stations as a continent has, with names like those
// of towns.
func continent(n int) *Directory {
	rnd := rand.New(rand.NewPCG(1, 2))
	of := func(parts string) string {
		all := strings.Split(parts, " ")
		return all[rnd.IntN(len(all))]
	}
	town := func() string {
		name := of("Al Be Bern Bra Cha Dor Eg Fran Frei Gie Ham Hal Kö La Lin Mar Mün Neu Os Pa Ros Sal Schö Sto Stutt Tal Ü Vil Wal Wei Zü")
		for range rnd.IntN(3) {
			name += of("ber chen de go lan le li men na no ra ri sel ten va")
		}
		return name + of("ach au bach berg brück burg dorf furt gart haim hausen heim lin mont rich stadt tal ville wald")
	}
	towns := make([]string, n/6)
	for i := range towns {
		towns[i] = town()
	}
	var stations []rail.Station
	for i := range n {
		name := towns[i%len(towns)]
		switch rnd.IntN(8) {
		case 0:
			name += " Hbf"
		case 1:
			name += " (" + town() + ")"
		case 2:
			name += of("-Nord -Süd -Ost -West") + of(" bahnhof")
		case 3:
			name = "Saint-" + name + " Gare " + of("Centrale Routière du de") + " " + town()
		case 4, 5:
			name += ", " + of("Am Alter Neuer Großer") + " " + town() + of("platz straße weg gasse")
		case 6:
			name += " " + town() + " " + strconv.Itoa(rnd.IntN(100))
		}
		st := rail.Station{Name: name, Country: of("AT BE CH DE FR IT"), Latitude: 36 + 24*rnd.Float64(), Longitude: 30 * rnd.Float64()}
		binary.BigEndian.PutUint32(st.ID[:], uint32(i+1))
		stations = append(stations, st)
	}
	trains := map[uuid.UUID]int{}
	for range 40_000 {
		at := rnd.ExpFloat64() * float64(n) / 8
		trains[stations[min(int(at), n-1)].ID]++
	}
	return directoryOf(stations, trains)
}

func BenchmarkStations(b *testing.B) {
	d := continent(60_000)
	for _, c := range []struct{ name, search string }{
		{"city", "stuttgart"}, {"abbreviated", "zuerich hbf"}, {"reversed", "hbf frei"}, {"prefix", "mun"}, {"letter", "s"}, {"letters", "s b"},
		{"common", "gare"}, {"misspelt", "stutgart"}, {"misspelt2", "stutgart strase"}, {"misspelt8", "aberg alberg bernau bradorf hamburg stutgart franfurt linach"}, {"nothing", "qqqqqqqq"},
	} {
		q := lookingFor(c.search)
		q.Enough = rail.DefaultLimit + 1
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				d.Search(q)
			}
		})
	}
	near := lookingFor("stutgart")
	near.Near = &rail.Position{Latitude: 48, Longitude: 9}
	near.Enough = rail.DefaultLimit + 1
	b.Run("near", func(b *testing.B) {
		for b.Loop() {
			d.Search(near)
		}
	})
}

// BenchmarkStationsDirectory makes the directory of 60,000 stations, and says
// what memory it takes.
func BenchmarkStationsDirectory(b *testing.B) {
	d := continent(60_000)
	stations, traffic := d.stations, d.traffic
	memory := func() float64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc) / 1e6
	}
	d = nil
	before := memory()
	for b.Loop() {
		d = nil
		d = NewDirectory(stations, nil, traffic)
	}
	b.ReportMetric(memory()-before, "MB")
	b.ReportMetric(float64(len(d.words)), "words")
}
