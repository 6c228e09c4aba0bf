package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The demo network never changes by itself, and the clock stands still, so
// every word of the output is known. docs/embedding.md shows it.
const want = `72 stations, 336 trains
Berlin Hauptbahnhof to Paris Gare du Nord on 2024-02-01
  07:00 CET - 14:46 CET  LA 21        113.58 eur  460 seats left
  11:00 CET - 18:46 CET  ME 11        113.58 eur  486 seats left
  13:00 CET - 20:46 CET  LA 31         94.19 eur  344 seats left
  15:00 CET - 22:46 CET  ME 15        122.98 eur  360 seats left
  20:18 CET - 08:36 CET  NF 471        95.39 eur  274 seats left
held until 00:00 CET: LA 21, coach 1 seat 1
  event newBooking: Anna Example is held
113.58 eur from card ************4242: succeeded
  event bookingConfirmed: Anna Example is confirmed
  event bookingCancelled: Anna Example is cancelled
-113.58 eur: refunded to the card
`

func TestRun(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := run(t.Context(), nil, &out); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Errorf("output (-want +got):\n%s", d)
	}
	readme, err := os.ReadFile("../../docs/embedding.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(readme), want) {
		t.Error("docs/embedding.md does not show this output")
	}
}

// The program on a GTFS feed: with one train more than a page lists, unreserved coaches
// replaced, and its stations chosen without arguments.
func TestRunFeed(t *testing.T) {
	t.Parallel()
	trips, times := "trip_id,route_id,service_id\n", "trip_id,stop_id,stop_sequence,arrival_time,departure_time\n"
	for _, hour := range []string{"06", "07", "08", "09", "10", "11", "12", "13", "14", "15", "16"} {
		trips += hour + ",rb,daily\n"
		times += hour + ",a,1," + hour + ":00:00," + hour + ":00:00\n" + hour + ",b,2," + hour + ":40:00," + hour + ":40:00\n"
	}
	dir := feed(t, map[string]string{"trips.txt": trips, "stop_times.txt": times})
	for _, args := range [][]string{{dir}, {dir, "Aberg", "Bdorf"}, {dir, "Aberg", "Bdorf", "2027-03-01"}} {
		var out bytes.Buffer
		if err := run(t.Context(), args, &out); err != nil {
			t.Fatal(args, err)
		}
		for _, part := range []string{
			"2 stations, 11 trains\nAberg to Bdorf on 2027-03-01\n",
			"  15:00 CET - 15:40 CET  RB             4.33 eur  140 seats left\n  later trips are on the next page\n",
			"held until 00:00 CET: RB, coach 1 seat 1\n",
			"-4.33 eur: refunded to the card\n",
		} {
			if !strings.Contains(out.String(), part) {
				t.Errorf("run %q printed\n%swithout\n%s", args, out.String(), part)
			}
		}
	}
}

func TestRunRefuses(t *testing.T) {
	t.Parallel()
	dir := feed(t, map[string]string{
		"trips.txt":      "trip_id,route_id,service_id\n1,rb,daily\n",
		"stop_times.txt": "trip_id,stop_id,stop_sequence,arrival_time,departure_time\n1,a,1,06:00:00,06:00:00\n1,b,2,06:40:00,06:40:00\n",
	})
	empty := feed(t, map[string]string{
		"trips.txt":      "trip_id,route_id,service_id\n",
		"stop_times.txt": "trip_id,stop_id,stop_sequence,arrival_time,departure_time\n",
	})
	missing := filepath.Join(t.TempDir(), "missing.zip")
	tests := []struct {
		name string
		args []string
		want string // part of the error
	}{
		{"no feed", []string{missing}, missing + " cannot be read as a GTFS feed"},
		{"mistakes in the feed", []string{feed(t, nil)}, "trips.txt: the file is missing"},
		{"no train in the feed", []string{empty}, empty + ": gtfs: the feed has no train to import: trips.txt has no trips"},
		{"an origin without a destination", []string{dir, "Aberg"}, "usage: embed"},
		{"too much", []string{dir, "Aberg", "Bdorf", "2027-03-01", "first class"}, "usage: embed"},
		{"unknown origin", []string{dir, "Atlantis", "Bdorf"}, `no station named "Atlantis"`},
		{"nearly a destination", []string{dir, "Aberg", "bdo"}, `no station named "bdo", but Bdorf`},
		{"there and back in one", []string{dir, "Aberg", "Aberg"}, "destination: is the same station"},
		{"bad date", []string{dir, "Aberg", "Bdorf", "1.3.2027"}, `invalid date "1.3.2027"`},
		{"no train that day", []string{dir, "Aberg", "Bdorf", "2028-01-01"}, "no trips found: choose another date"},
		{"no train that way", []string{dir, "Bdorf", "Aberg"}, "no trips found: choose another date"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if err := run(t.Context(), tt.args, io.Discard); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("run %q: error %v, want %q in it", tt.args, err, tt.want)
			}
		})
	}
}

func TestRunStops(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := run(ctx, nil, io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("run, told to stop: error %v", err)
	}
}

// feed writes a GTFS feed of two stations, with the tables given, into a folder.
func feed(t *testing.T, tables map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"agency.txt":   "agency_name,agency_timezone\nKreisbahn,Europe/Berlin\n",
		"routes.txt":   "route_id,route_short_name,route_type\nrb,RB,2\n",
		"calendar.txt": "service_id,monday,tuesday,wednesday,thursday,friday,saturday,sunday,start_date,end_date\ndaily,1,1,1,1,1,1,1,20270201,20270329\n",
		"stops.txt":    "stop_id,stop_name,stop_lat,stop_lon\na,Aberg,52.0,13.0\nb,Bdorf,52.1,13.0\n",
	} {
		write(t, filepath.Join(dir, name), text)
	}
	for name, text := range tables {
		write(t, filepath.Join(dir, name), text)
	}
	return dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
