package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// writeTrains makes a feed of n trains a day from Aberg to Bdorf, which run between two
// days of the form 20060102.
func writeTrains(t *testing.T, n int, from, to string) string {
	t.Helper()
	dir := writeFeed(t, "1")
	var trips, times strings.Builder
	trips.WriteString("route_id,service_id,trip_id,trip_short_name\n")
	times.WriteString("trip_id,arrival_time,departure_time,stop_id,stop_sequence\n")
	for i := range n {
		fmt.Fprintf(&trips, "r,d,t%d,%d\n", i, i)
		fmt.Fprintf(&times, "t%d,08:00:00,08:00:00,a,1\nt%[1]d,09:00:00,09:00:00,b,2\n", i)
	}
	rewrite(t, dir, "trips.txt", trips.String())
	rewrite(t, dir, "stop_times.txt", times.String())
	rewrite(t, dir, "calendar.txt", "service_id,monday,tuesday,wednesday,thursday,friday,saturday,sunday,start_date,end_date\nd,1,1,1,1,1,1,1,"+from+","+to+"\n")
	return dir
}

// inDays is a day from now on, as feeds write it.
func inDays(n int) string { return time.Now().UTC().AddDate(0, 0, n).Format("20060102") }

// A timetable that looks like a mistake replaces another only with --force, through a server, in
// the command itself, and in a dry run.
func TestImportEdition(t *testing.T) {
	t.Parallel()
	for _, served := range []bool{true, false} {
		t.Run(map[bool]string{true: "by a server", false: "alone"}[served], func(t *testing.T) {
			t.Parallel()
			data := filepath.Join(t.TempDir(), "trains.db")
			if served {
				start(t, "serve", "--data", data) // sells the demo network, of which a real feed is no edition
			}
			good := writeTrains(t, 40, "20200101", "20991231")
			code, out, stderr := once(t, nil, "import", good, "--data", data)
			want := "changes: this is the first timetable\n  period: 2020-01-01 to 2099-12-31\n"
			if served {
				want = "changes to the current timetable:\n  period: 2020-01-01 to 2099-12-31; currently 2020-01-01 to 2099-12-31\n  trains: 40 added, "
			}
			if code != 0 || !strings.HasPrefix(out, want) || strings.Contains(stderr, "warning") {
				t.Fatalf("the first: %d, %s%s", code, out, stderr)
			}
			code, out, stderr = once(t, nil, "import", writeTrains(t, 39, "20200101", inDays(2)), "--data", data)
			if code != 0 || !strings.Contains(out, "\n  trains: 0 added, 1 removed, 39 kept\n") || !strings.Contains(out, "\n  stations: 0 added, 0 removed, 2 kept\n") ||
				!strings.Contains(out, "\n  bookings that no longer fit: 0\n") || !strings.Contains(out, "; currently 2020-01-01 to 2099-12-31\n") {
				t.Errorf("the second: %d, %s%s", code, out, stderr)
			}
			if code, _, stderr := once(t, nil, "import", good, "--data", data); code != 0 {
				t.Fatalf("the first again: %d, %s", code, stderr)
			}
			for why, feed := range map[string]string{
				"mistake, because it has expired (its last train ran on 2020-01-31). Nothing changed; give --force": writeTrains(t, 40, "20200101", "20200131"),
				"mistake, because it ends t":                           writeTrains(t, 40, "20200101", inDays(1)),
				"mistake, because it has 2 trains that still run, but": writeTrains(t, 2, "20200101", "20991231"),
			} {
				for _, dry := range []string{"--dry-run", "--dry-run=false"} {
					code, out, stderr := once(t, nil, "import", feed, "--data", data, dry)
					if code != 1 || !strings.HasPrefix(out, "changes to the current timetable:\n") || !strings.Contains(stderr, why) || !strings.Contains(stderr, "--force") {
						t.Errorf("%s, %s: %d, %s%s", why, dry, code, out, stderr)
					}
				}
				if code, out, stderr := once(t, nil, "import", feed, "--data", data, "--dry-run", "--force"); code != 0 || !strings.Contains(out, "imported because of --force: ") || !strings.Contains(out, "nothing changed") {
					t.Errorf("%s, by force: %d, %s%s", why, code, out, stderr)
				}
			}
			code, out, stderr = once(t, nil, "import", writeTrains(t, 40, "20200101", "20991231"), "--data", data, "--dry-run")
			if code != 0 || !strings.Contains(out, "\n  trains: 0 added, 0 removed, 40 kept\n") {
				t.Errorf("after all that was refused: %d, %s%s", code, out, stderr)
			}
			past := writeTrains(t, 1, "20200101", "20200131")
			if code, out, stderr := once(t, nil, "import", past, "--data", data, "--force"); code != 0 || !strings.Contains(out, "expired: its last train ran on 2020-01-31") || !strings.Contains(out, "removed, 0 kept\n  stations") || !strings.Contains(stderr, "warning: few trips or none") {
				t.Errorf("by force: %d, %s%s", code, out, stderr)
			}
		})
	}
}

// A feed of another time is held against the clock of the service, or of --clock.
func TestImportByTheClock(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "trains.db")
	old := func(n int) string { return writeTrains(t, n, "20140101", "20140331") }
	at := []string{"--clock", "2014-02-01T08:00:00Z"}
	start(t, append([]string{"serve", "--data", data}, at...)...)
	if code, out, stderr := once(t, nil, "import", old(30), "--data", data); code != 0 || strings.Contains(out, "expired") || !strings.Contains(out, "runs from 2014-02-01 on") {
		t.Errorf("by the server's clock: %d, %s%s", code, out, stderr)
	}
	alone := filepath.Join(t.TempDir(), "trains.db")
	if code, out, stderr := once(t, nil, "import", old(30), "--data", alone); code != 0 || !strings.Contains(out, "expired: its last train ran on 2014-03-31") ||
		!strings.HasSuffix(stderr, "warning: few trips or none can be sold from this timetable, because it has expired (its last train ran on 2014-03-31); import a newer one\n") {
		t.Errorf("the first may be past: %d, %s%s", code, out, stderr)
	}
	if code, _, stderr := once(t, nil, "import", old(29), "--data", alone); code != 1 || !strings.Contains(stderr, "expired") {
		t.Errorf("by the real clock: %d, %s", code, stderr)
	}
	if code, out, stderr := once(t, nil, append([]string{"import", old(29), "--data", alone}, at...)...); code != 0 || !strings.Contains(out, "1 removed, 29 kept") || strings.Contains(out, "expired") {
		t.Errorf("by --clock: %d, %s%s", code, out, stderr)
	}
	if code, _, stderr := once(t, nil, "import", old(1), "--dry-run", "--clock", "soon"); code != 2 || !strings.Contains(stderr, "--clock") {
		t.Errorf("no clock: %d, %s", code, stderr)
	}
}

// The bookings that a timetable does not fit are counted before anything has changed.
func TestImportCountsBookings(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "trains.db")
	r := start(t, "serve", "--data", data)
	_, token, _ := once(t, nil, "token", "--user", "anna", "--data", data)
	r.book(strings.TrimSpace(token), time.Now().AddDate(0, 0, 3).Format(time.DateOnly), "")
	feed := writeFeed(t, "1")
	for _, args := range [][]string{{"--dry-run"}, {}} {
		code, out, stderr := once(t, nil, append([]string{"import", feed, "--data", data}, args...)...)
		if code != 0 || !strings.Contains(out, "\n  bookings that no longer fit: 1\n") || !strings.Contains(out, "\n  operators added: Small Railway\n") {
			t.Errorf("%v: %d, %s%s", args, code, out, stderr)
		}
	}
}

// A dry run makes no file, and reports a file that it cannot read.
func TestDryRunOfUnreadableTimetable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data := filepath.Join(dir, "trains.db")
	feed := writeFeed(t, "1")
	if code, out, stderr := once(t, nil, "import", "--dry-run", feed, "--data", data); code != 0 || !strings.HasPrefix(out, "changes: this is the first timetable\n") {
		t.Errorf("%d, %s%s", code, out, stderr)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("there are %v, %v", left, err)
	}
	if err := os.WriteFile(data, []byte("no data file"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out, stderr := once(t, nil, "import", "--dry-run", feed, "--data", data); code != 0 || !strings.HasPrefix(out, "not compared with the current timetable: ") {
		t.Errorf("%d, %s%s", code, out, stderr)
	}
}
