package feeds_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/feeds"
)

// Three feeds of 20,000 stations each, of which the later two share half of
// theirs with the first.
func BenchmarkJoin(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	const n = 20_000
	parts := make([]feeds.Part, 3)
	for i := range parts {
		feed := fmt.Sprint("f", i)
		t := &traintravel.Timetable{}
		for k := range n {
			s := station(feed, fmt.Sprint(k), fmt.Sprintf("Town %d Hbf", k), 36+30*r.Float64(), -9+40*r.Float64())
			if i > 0 && k%2 == 0 {
				first := parts[0].Timetable.Stations[k]
				s.Latitude, s.Longitude = first.Latitude+0.001, first.Longitude
			}
			t.Stations = append(t.Stations, s)
		}
		for k := 0; k+40 <= n; k += 20 {
			t.Trains = append(t.Trains, train(feed, fmt.Sprint(k), t.Stations[k:k+40]...))
		}
		parts[i] = feeds.Part{Feed: feed, Timetable: t}
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, report := feeds.Join(parts...); len(report.Joined) < n {
			b.Fatal(len(report.Joined))
		}
	}
}
