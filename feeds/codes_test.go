package feeds_test

import (
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/traintravel/traintravel/feeds"
	"github.com/traintravel/traintravel/gtfs"
)

func TestCodes(t *testing.T) {
	t.Parallel()
	const stops = "\ufeffstop_name, stop_id,stop_code,location_type,parent_station\n" +
		"Zürich,8503000:0:7,,0,Parent8503000\n" +
		"Zürich,Parent8503000,,1,\n" +
		"Paris Est,StopArea:OCE87113001,,1,\n" +
		"\"Paris, Est\",StopPoint:OCETrain-87113001,,0,StopArea:OCE87113001\n" +
		"Brussel,BE.NMBS.008814001,,1,\n" +
		"Wrong check digit,OCE87113005,,1,\n" +
		"No country,1234567,,,\n" +
		"Two numbers,8503000-8503001,,,\n" +
		"Another number,850300012,,,\n" +
		"By its code,x,8711300,,\n" +
		"Of its platforms,y,,1,\n" +
		"Of its platforms,y1,8014330,,y\n" +
		"Of its platforms,y2,8000330,,y\n" +
		"Of itself,z,8500010,1,\n" +
		"Of itself,z1,8500011,,z\n" +
		"Round,r1,8500012,,r2\n" +
		"Round,r2,8500013,,r1\n" +
		"Short row\n"
	want := map[uuid.UUID]string{
		gtfs.StationID("f", "Parent8503000"):        "8503000",
		gtfs.StationID("f", "StopArea:OCE87113001"): "8711300",
		gtfs.StationID("f", "BE.NMBS.008814001"):    "8814001",
		gtfs.StationID("f", "x"):                    "8711300",
		gtfs.StationID("f", "y"):                    "8000330",
		gtfs.StationID("f", "z"):                    "8500010",
	}
	for _, name := range []string{"stops.txt", "feed/stops.txt"} {
		got, err := feeds.Codes(fstest.MapFS{name: {Data: []byte(stops)}}, "f")
		if err != nil {
			t.Fatal(err)
		}
		delete(got, gtfs.StationID("f", "r1"))
		delete(got, gtfs.StationID("f", "r2"))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for name, fsys := range map[string]fstest.MapFS{
		"no table":   {},
		"two tables": {"a/stops.txt": {}, "b/stops.txt": {}},
		"nothing":    {"stops.txt": {}},
	} {
		if got, err := feeds.Codes(fsys, "f"); err == nil {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func FuzzCodes(f *testing.F) {
	f.Add("stop_id,stop_code,location_type,parent_station\n8503000:0:7,,0,p\np,8503000,1,\n")
	f.Add("\ufeff\"stop_id\" , parent_station\n\"a\"\"8711300,b\nb,a\n")
	f.Fuzz(func(t *testing.T, stops string) {
		codes, err := feeds.Codes(fstest.MapFS{"stops.txt": {Data: []byte(stops)}}, "f")
		if err != nil && codes != nil {
			t.Error("there are codes and an error", err)
		}
		for _, code := range codes {
			if len(code) != 7 {
				t.Errorf("%q is not a code", code)
			}
		}
	})
}
