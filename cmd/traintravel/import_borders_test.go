package main

import (
	"strings"
	"testing"

	"github.com/traintravel/traintravel/gtfs"
	"github.com/traintravel/traintravel/internal/need"
)

// The borders of the world are loaded only if a station has no time zone, or one of no country.
// Otherwise its zone determines the country.
func TestBordersAreLoadedOnlyForMissingZones(t *testing.T) {
	need.Short(t, "the borders of all countries")
	t.Parallel()
	for _, c := range []struct {
		zones  [2]string
		loaded bool
		want   string
	}{
		{[2]string{"Europe/Berlin", "Europe/Zurich"}, false, "DE Europe/Berlin, CH Europe/Zurich"},
		{[2]string{"Europe/Berlin", ""}, true, "DE Europe/Berlin, CH Europe/Zurich"},
		{[2]string{"Europe/Berlin", "UTC"}, true, "DE Europe/Berlin, CH UTC"},
	} {
		feed := writeFeed(t, "1")
		rewrite(t, feed, "stops.txt", "stop_id,stop_name,stop_lat,stop_lon,stop_timezone\na,Freiburg,47.998,7.842,"+c.zones[0]+"\nb,Bern,46.949,7.439,"+c.zones[1]+"\n")
		r := feedReader{opts: gtfs.Options{}, flags: feedOptions{Locate: true}, progress: func(int64, int64) {}}
		tt, rep, err := r.read(t.Context(), "", feed)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range tt.Stations {
			got = append(got, s.Country+" "+s.Zone)
		}
		if strings.Join(got, ", ") != c.want || r.finder != nil != c.loaded || rep.ByZone+rep.Countries != 2 {
			t.Errorf("%v: %v, the borders are loaded: %t, %d and %d countries", c.zones, got, r.finder != nil, rep.ByZone, rep.Countries)
		}
	}
	if code, out, stderr := once(t, nil, "import", "--dry-run", writeSwissZones(t)); code != 0 || !strings.Contains(out, "countries of 2 stations found by time zones\n") || strings.Contains(out, "coordinates") {
		t.Errorf("%d, %s%s", code, out, stderr)
	}
	if code, out, _ := once(t, nil, "import", "--dry-run", "--locate=false", writeSwissZones(t)); code != 0 || strings.Contains(out, "found by") {
		t.Errorf("without: %d, %s", code, out)
	}
}

// writeSwissZones makes a feed whose stations have zones and no countries.
func writeSwissZones(t *testing.T) string {
	t.Helper()
	feed := writeFeed(t, "1")
	rewrite(t, feed, "stops.txt", "stop_id,stop_name,stop_lat,stop_lon,stop_timezone\na,Basel SBB,47.547,7.589,Europe/Zurich\nb,Bern,46.949,7.439,Europe/Zurich\n")
	return feed
}
