package bench_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/gtfs"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/internal/synthfeed"
	"github.com/traintravel/traintravel/store/memstore"
)

// BenchmarkPeers searches whole days for all that is best, and has other planners
// answer one departure between the same stations each. They must be installed in
// the folder that TRAINTRAVEL_BENCH_PEERS names, as docs/benchmarks.md says.
func BenchmarkPeers(b *testing.B) {
	peers := os.Getenv("TRAINTRAVEL_BENCH_PEERS")
	if peers == "" {
		b.Skip("TRAINTRAVEL_BENCH_PEERS names no folder")
	}
	folder := b.TempDir()
	options := synthfeed.Options{Seed: 1, Scale: benchScale(b)}
	if err := synthfeed.Write(filepath.Join(folder, "feed"), options); err != nil {
		b.Fatal(err)
	}
	zip, err := os.Create(filepath.Join(folder, "feed.zip"))
	if err != nil {
		b.Fatal(err)
	}
	if err := errors.Join(synthfeed.WriteZip(zip, options), zip.Close()); err != nil {
		b.Fatal(err)
	}
	tt, _, err := gtfs.ReadFile(b.Context(), filepath.Join(folder, "feed"), gtfs.Options{})
	if err != nil {
		b.Fatal(err)
	}
	service, err := traintravel.New(memstore.New(), traintravel.Options{
		Now: func() time.Time { return officetest.BenchDay.Start(time.UTC).AddDate(0, 0, -2) },
	})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := service.LoadTimetable(b.Context(), tt); err != nil {
		b.Fatal(err)
	}

	type query struct {
		From    string `json:"from"`
		To      string `json:"to"`
		Seconds int    `json:"seconds"`
	}
	asked := struct {
		Date    string  `json:"date"`
		Queries []query `json:"queries"`
	}{Date: officetest.BenchDay.String()}
	var ours time.Duration
	found := 0
	r := rand.New(rand.NewPCG(3, 4))
	stops := stopIDs(b, filepath.Join(folder, "feed", "stops.txt"))
	for len(asked.Queries) < 60 {
		q := query{stops[r.IntN(len(stops))], stops[r.IntN(len(stops))], r.IntN(18 * 3600)}
		if q.From == q.To {
			continue
		}
		asked.Queries = append(asked.Queries, q)
		origin := gtfs.StationID("", q.From)
		station, err := service.Station(b.Context(), origin)
		if err != nil {
			b.Fatal(err)
		}
		loc, err := time.LoadLocation(station.Zone)
		if err != nil {
			b.Fatal(err)
		}
		ours += leastOf(3, func() {
			trips, err := service.SearchTrips(b.Context(), traintravel.TripQuery{
				Origin: origin, Destination: gtfs.StationID("", q.To), Depart: officetest.BenchDay.Start(loc), Page: traintravel.Page{Limit: 100},
			})
			if err != nil {
				b.Fatal(err)
			}
			if len(trips.Items) > 0 {
				found++
			}
		})
	}
	mean := float64(ours) / float64(len(asked.Queries)) / 1e3
	b.ReportMetric(mean, "mean-µs")
	b.ReportMetric(float64(found)/3, "found")

	text, err := json.Marshal(asked)
	if err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "queries.json"), text, 0o600); err != nil {
		b.Fatal(err)
	}
	for _, name := range []string{"minotor", "raptor-journey-planner"} {
		node := exec.CommandContext(b.Context(), "node", filepath.Join(peers, "peers.js"), name, folder)
		out, err := node.Output()
		if err != nil {
			b.Fatalf("%s: %v", name, err)
		}
		out = out[bytes.LastIndexByte(bytes.TrimSpace(out), '\n')+1:] // what goes before is its log
		var answer struct {
			Microseconds float64
			Found        int
		}
		if err := json.Unmarshal(out, &answer); err != nil {
			b.Fatalf("%s: %v: %q", name, err, out)
		}
		b.ReportMetric(answer.Microseconds/mean, name+"-of-mean")
		b.ReportMetric(float64(answer.Found), name+"-found")
	}
	b.ReportMetric(0, "ns/op")
}

// stopIDs are those in a table of stops.
func stopIDs(b *testing.B, path string) (ids []string) {
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		b.Fatal(err)
	}
	for _, row := range rows[1:] {
		ids = append(ids, row[0])
	}
	return ids
}
