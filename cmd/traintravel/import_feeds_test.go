package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/traintravel/traintravel/internal/need"
)

// writeSwiss makes a feed with trains from Basel to Bern.
func writeSwiss(t *testing.T, basel string) string {
	t.Helper()
	dir := writeFeed(t, "1")
	rewrite(t, dir, "stops.txt", "stop_id,stop_name,stop_lat,stop_lon,stop_country,stop_timezone\na,"+basel+",CH,Europe/Zurich\nb,Bern,46.949,7.439,CH,Europe/Zurich\n")
	rewrite(t, dir, "agency.txt", "agency_id,agency_name,agency_url,agency_timezone\n1,Small Railway,https://rail.example,Europe/Zurich\n")
	return dir
}

// writeGerman makes a feed with trains from Basel to Freiburg.
func writeGerman(t *testing.T, basel string) string {
	t.Helper()
	dir := writeFeed(t, "1")
	rewrite(t, dir, "stops.txt", "stop_id,stop_name,stop_lat,stop_lon,stop_country,stop_timezone\na,"+basel+",CH,Europe/Zurich\nb,Freiburg,47.998,7.842,DE,Europe/Berlin\n")
	return dir
}

func rewrite(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Stations of several feeds that are one are joined, by a server as without one.
func TestImportJoins(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "trains.db")
	ch, de := "ch="+writeSwiss(t, "Basel SBB,47.547,7.589"), "de="+writeGerman(t, "BASEL SBB,47.5475,7.589")
	want := []string{
		"ch: 2 stations, 1 train, 2 calls, from 2020-01-01 to 2099-12-31\n",
		"de: 2 stations, 1 train, 2 calls, from 2020-01-01 to 2099-12-31\n",
		"total: 3 stations, 2 trains, 4 calls",
		"joined: Basel SBB (ch) and BASEL SBB (de), 56 m apart: the same name\n",
	}
	check := func(when string, code int, out, stderr string) {
		t.Helper()
		if code != 0 {
			t.Errorf("%s: %d, %s", when, code, stderr)
		}
		for _, w := range want {
			if !strings.Contains(out, w) {
				t.Errorf("%s: %q is not in\n%s", when, w, out)
			}
		}
	}
	code, out, stderr := once(t, nil, "import", ch, de, "--data", data, "--strict")
	check("alone", code, out, stderr)
	r := start(t, "serve", "--data", data)
	code, out, stderr = once(t, nil, "import", ch, de, "--data", data, "--strict")
	check("by a server", code, out, stderr)
	_, token, _ := once(t, nil, "token", "--user", "anna", "--data", data)
	countries := map[string]string{}
	for _, s := range r.call(strings.TrimSpace(token), "GET", "/stations", "", 200)["data"].([]any) {
		s := s.(map[string]any)
		countries[s["name"].(string)] = s["country_code"].(string) + " " + s["timezone"].(string)
	}
	if len(countries) != 3 || countries["Basel SBB"] != "CH Europe/Zurich" || countries["Freiburg"] != "DE Europe/Berlin" {
		t.Errorf("stations: %v", countries)
	}
}

// Bookings that do not fit a new timetable are listed, with what was sold.
func TestImportStrands(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "trains.db")
	r := start(t, "serve", "--data", data)
	_, token, _ := once(t, nil, "token", "--user", "anna", "--data", data)
	day := time.Now().AddDate(0, 0, 3).Format(time.DateOnly)
	booking := r.book(strings.TrimSpace(token), day, "")
	code, out, stderr := once(t, nil, "import", writeFeed(t, "1"), "--data", data)
	if code != 0 || !strings.Contains(out, "  does not fit the new timetable: booking "+booking+" on ") || !strings.Contains(out, "Berlin Hauptbahnhof to ") {
		t.Errorf("%d, %s%s", code, out, stderr)
	}
}

// Stations that only look alike are reported, and refused by --strict.
func TestImportAlike(t *testing.T) {
	t.Parallel()
	ch, de := "ch="+writeSwiss(t, "Basel SBB,47.547,7.589"), "de="+writeGerman(t, "Basel Süd,47.5475,7.589")
	const told = "not joined: Basel SBB (ch) and Basel Süd (de), 56 m apart: near, but with different names\n"
	if code, out, stderr := once(t, nil, "import", "--dry-run", ch, de); code != 0 || !strings.Contains(out, told) {
		t.Errorf("%d, %s%s", code, out, stderr)
	}
	if code, out, stderr := once(t, nil, "import", "--dry-run", "--strict", ch, de); code != 1 || !strings.Contains(out, told) || !strings.Contains(stderr, "--strict") {
		t.Errorf("strict: %d, %s%s", code, out, stderr)
	}
}

// By their UIC codes, stations whose names differ are joined.
func TestImportJoinsByCode(t *testing.T) {
	t.Parallel()
	ch, de := writeSwiss(t, "Basel SBB,47.547,7.589"), writeGerman(t, "Bâle,47.5475,7.589")
	for _, dir := range []string{ch, de} {
		text, err := os.ReadFile(filepath.Join(dir, "stops.txt"))
		if err != nil {
			t.Fatal(err)
		}
		rewrite(t, dir, "stops.txt", strings.Replace(string(text), "\na,", "\n8500010:0:1,", 1))
		rewrite(t, dir, "stop_times.txt", "trip_id,arrival_time,departure_time,stop_id,stop_sequence\nt,08:00:00,08:00:00,8500010:0:1,1\nt,09:00:00,09:00:00,b,2\n")
	}
	if code, out, stderr := once(t, nil, "import", "--dry-run", "ch="+ch, "de="+de); code != 0 || !strings.Contains(out, "joined: Basel SBB (ch) and Bâle (de), 56 m apart: the same UIC code\n") {
		t.Errorf("%d, %s%s", code, out, stderr)
	}
}

// The countries and zones that a feed lacks are found, unless somebody does not
// want that.
func TestImportLocates(t *testing.T) {
	need.Short(t, "the borders of all countries")
	t.Parallel()
	feed := writeFeed(t, "1")
	rewrite(t, feed, "stops.txt", "stop_id,stop_name,stop_lat,stop_lon\na,Basel SBB,47.547,7.589\nb,Atlantis,40,-40\n")
	const found, nowhere = "countries of 1 station and time zones of 1 found by coordinates", "no country found at the coordinates of Atlantis, so its country code is ZZ"
	for _, c := range []struct {
		args []string
		says bool
	}{{[]string{feed}, true}, {[]string{feed, "--locate=false"}, false}, {[]string{writeFeed(t, "1")}, false}} {
		code, out, stderr := once(t, nil, append([]string{"import", "--dry-run"}, c.args...)...)
		if code != 0 || strings.Contains(out, found) != c.says || strings.Contains(out, nowhere) != c.says {
			t.Errorf("%v: %d, %s%s", c.args, code, out, stderr)
		}
	}
	// Of the two, what is not found is as without.
	named, err := nameFeeds([]string{feed})
	if err != nil {
		t.Fatal(err)
	}
	for locate, want := range map[bool]string{true: "CH Europe/Zurich, Europe/Berlin", false: "Europe/Berlin, Europe/Berlin"} {
		tt, _, err := readParts(t.Context(), named, feedOptions{Currency: "eur", FareBase: "3", FarePerKm: "0.1", Locate: locate}, func(int64, int64) {})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range tt.Stations {
			got = append(got, strings.TrimSpace(s.Country+" "+s.Zone))
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("--locate=%v: %q, want %s", locate, got, want)
		}
	}
}

// Names in other languages are read and reported.
func TestImportTranslations(t *testing.T) {
	t.Parallel()
	feed := writeFeed(t, "1")
	rewrite(t, feed, "translations.txt", "table_name,field_name,language,translation,record_id\nstops,stop_name,en,Alpha,a\nstops,stop_name,fr,Alphe,a\n")
	code, out, stderr := once(t, nil, "import", "--dry-run", "--locate=false", feed)
	if code != 0 || !strings.Contains(out, "  stations have 2 further names from translations.txt, in en, fr\n") {
		t.Errorf("%d, %s%s", code, out, stderr)
	}
}

// Faults of a feed that can be left out are reported, and refused by --strict.
func TestImportStrict(t *testing.T) {
	t.Parallel()
	feed := writeFeed(t, "1")
	rewrite(t, feed, "transfers.txt", "from_stop_id,to_stop_id,transfer_type\nnowhere,a,3\n")
	if code, out, stderr := once(t, nil, "import", "--dry-run", feed); code != 0 || !strings.Contains(out, "  wrong: transfers.txt:2: ") {
		t.Errorf("%d, %s%s", code, out, stderr)
	}
	if code, _, stderr := once(t, nil, "import", "--dry-run", "--strict", feed); code != 1 || !strings.Contains(stderr, "transfers.txt:2: ") || !strings.Contains(stderr, "nothing changed: without it the feed is imported") {
		t.Errorf("strict: %d, %s", code, stderr)
	}
	rewrite(t, feed, "stops.txt", "stop_id,stop_name,stop_lat,stop_lon\na,A,1000,1000\n")
	if code, _, stderr := once(t, nil, "import", "--dry-run", "--strict", feed); code != 1 || strings.Contains(stderr, "without it the feed is imported") {
		t.Errorf("what is refused without --strict too: %d, %s", code, stderr)
	}
	past := writeFeed(t, "1")
	rewrite(t, past, "calendar.txt", "service_id,monday,tuesday,wednesday,thursday,friday,saturday,sunday,start_date,end_date\nd,1,1,1,1,1,1,1,20200101,20200131\n")
	rewrite(t, past, "feed_info.txt", "feed_publisher_name,feed_publisher_url,feed_lang,feed_version\nThe Publisher,https://rail.example,de,v7\n")
	if code, out, _ := once(t, nil, "import", "--dry-run", past); code != 0 || !strings.Contains(out, "by The Publisher, version v7\n") || !strings.Contains(out, "expired: its last train ran on 2020-01-31") {
		t.Errorf("in the past: %d, %s", code, out)
	}
}

// Only the first of many pairs are listed, unless all are asked for.
func TestImportVerbose(t *testing.T) {
	t.Parallel()
	many := func() string {
		stops, times := "stop_id,stop_name,stop_lat,stop_lon,stop_country,stop_timezone\n", "trip_id,arrival_time,departure_time,stop_id,stop_sequence\n"
		for i := range 30 {
			id := string(rune('A' + i))
			stops += id + ",Town " + id + ",5" + string(rune('0'+i/10)) + "." + string(rune('0'+i%10)) + ",8,DE,Europe/Berlin\n"
			times += "t,08:00:00,08:00:00," + id + "," + string(rune('0'+i/10)) + string(rune('0'+i%10)) + "\n"
		}
		dir := writeFeed(t, "1")
		rewrite(t, dir, "stops.txt", stops)
		rewrite(t, dir, "stop_times.txt", times)
		return dir
	}
	args := []string{"import", "--dry-run", "a=" + many(), "b=" + many()}
	if code, out, stderr := once(t, nil, args...); code != 0 || strings.Count(out, "  joined: ") != 21 || !strings.Contains(out, "  joined: 10 more; --verbose lists all\n") {
		t.Errorf("%d, %s%s", code, out, stderr)
	}
	if code, out, stderr := once(t, nil, append(args, "--verbose")...); code != 0 || strings.Count(out, "  joined: ") != 30 {
		t.Errorf("verbose: %d, %s%s", code, out, stderr)
	}
}

// The progress of several feeds is one, which never falls.
func TestOverallProgress(t *testing.T) {
	t.Parallel()
	calls, last := 0, int64(0)
	flags := feedOptions{Currency: "eur", FareBase: "3", FarePerKm: "0.1"}
	named, err := nameFeeds([]string{writeFeed(t, "1"), "b=" + writeFeed(t, "1"), "c=" + writeFeed(t, "2")})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := readParts(t.Context(), named, flags, func(done, total int64) {
		if done < last || done >= total {
			t.Errorf("%d of %d after %d", done, total, last)
		}
		calls, last = calls+1, done
	}); err != nil {
		t.Fatal(err)
	}
	if calls == 0 {
		t.Error("there is no progress")
	}
}

// While a timetable is stored, the command reports how long that has taken.
func TestProgressOfStoring(t *testing.T) {
	t.Parallel()
	for terminal, want := range map[bool]string{
		false: "storing: 5 s\nstoring: 10 s\n",
		true:  "\r\x1b[Kstoring, 1 s\r\x1b[Kstoring, 2 s",
	} {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			p := newProgress(&out, "reading")
			p.terminal, p.then = terminal, "storing"
			p.show(999, 1000)
			for range 2 {
				p.show(1, 1)
				time.Sleep(7 * time.Second)
			}
			p.end()
			if got := out.String(); !strings.HasPrefix(got, want) || terminal != strings.HasSuffix(got, "\r\x1b[K") {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}

// A server reports its progress to the command.
func TestProgressOfServer(t *testing.T) {
	t.Parallel()
	data := listenTo(t, func(_ context.Context, _ checkRequest, progress func(int64, int64)) (*checked, error) {
		progress(1, 2)
		progress(1, 1)
		return &checked{}, nil
	})
	var told [][2]int64
	if _, err := askServer[checkRequest, checked](t.Context(), asker{data: data, warn: io.Discard, soon: time.Minute, longest: time.Minute}, "/check", checkRequest{}, teller{progress: func(done, total int64) { told = append(told, [2]int64{done, total}) }}); err != nil {
		t.Fatal(err)
	}
	if want := [][2]int64{{1, 2}, {1, 1}}; !slices.Equal(told, want) {
		t.Errorf("it told %v, want %v", told, want)
	}
}

// A terminal shows a bar, which disappears at the end. Other outputs get a line from time to
// time, and none if the work is quick.
func TestProgress(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		terminal bool
		step     time.Duration
		want     string
	}{
		{false, time.Second, "reading: 41 %\nreading: 91 %\n"},
		{false, 100 * time.Millisecond, ""},
		{true, time.Second, "\rreading [################                        ]  41 %"},
		{true, time.Millisecond, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			p := newProgress(&out, "reading")
			p.terminal = c.terminal
			for i := range int64(10) {
				time.Sleep(c.step)
				p.show(i*100+10, 1000)
			}
			p.show(5, 0)
			p.end()
			got := out.String()
			if c.terminal && c.want != "" {
				if !strings.Contains(got, c.want) || !strings.HasSuffix(got, "\r\x1b[K") || strings.Contains(got, "\n") {
					t.Errorf("on a terminal: %q", got)
				}
			} else if got != c.want {
				t.Errorf("%v: %q, want %q", c, got, c.want)
			}
		})
	}
}

// A train that a feed lists twice is reported and sold once, unless --keep-twins is given.
func TestImportTwins(t *testing.T) {
	t.Parallel()
	feed := writeFeed(t, "1")
	rewrite(t, feed, "trips.txt", "route_id,service_id,trip_id,trip_short_name\nr,d,t,7\nr,d,u,7\n")
	rewrite(t, feed, "stop_times.txt", "trip_id,arrival_time,departure_time,stop_id,stop_sequence\n"+
		"t,08:00:00,08:00:00,a,1\nt,09:00:00,09:00:00,b,2\nu,08:00:00,08:00:00,a,1\nu,09:00:00,09:00:00,b,2\n")
	const pair = `from Aberg at 08:00:00 to Bdorf is trip "t" and trip "u" on `
	for _, c := range []struct {
		args []string
		code int
		want []string
	}{
		{nil, 0, []string{" 1 train, ", "  sold once: ", pair, "  wrong: trips.txt:3: the trip is the same train"}},
		{[]string{"--strict"}, 1, []string{"trips.txt:3: the trip is the same train"}},
		{[]string{"--keep-twins", "--strict"}, 0, []string{" 2 trains, ", "  sold twice: ", pair}},
	} {
		code, out, stderr := once(t, nil, append([]string{"import", "--dry-run", feed}, c.args...)...)
		for _, want := range c.want {
			if code != c.code || !strings.Contains(out+stderr, want) {
				t.Errorf("%v: %d, %q is not in\n%s%s", c.args, code, want, out, stderr)
			}
		}
	}
}

// A train that two feeds have is reported and sold once, unless --keep-twins is given.
func TestImportTwinsOfTwoFeeds(t *testing.T) {
	t.Parallel()
	ch, de := "ch="+writeSwiss(t, "Basel SBB,47.547,7.589"), "de="+writeSwiss(t, "BASEL SBB,47.547,7.589")
	for _, c := range []struct {
		args []string
		code int
		want []string
	}{
		{nil, 0, []string{"total: 2 stations, 1 train, ", "  sold once: Small Railway R 1 from Basel SBB at 08:00:00 to Bern is trip \"t of ch\" and trip \"t of de\" on "}},
		{[]string{"--strict"}, 1, []string{"refused by --strict: 1 train is in two feeds"}},
		{[]string{"--keep-twins", "--strict"}, 0, []string{"total: 2 stations, 2 trains, ", "1 train is in two feeds and is sold twice"}},
	} {
		code, out, stderr := once(t, nil, append([]string{"import", "--dry-run", ch, de}, c.args...)...)
		for _, want := range c.want {
			if code != c.code || !strings.Contains(out+stderr, want) {
				t.Errorf("%v: %d, %q is not in\n%s%s", c.args, code, want, out, stderr)
			}
		}
	}
}
