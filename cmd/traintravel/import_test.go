package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// writeFeed makes a feed of one train a day from Aberg to Bdorf.
func writeFeed(t *testing.T, bicycles string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"agency.txt":     "agency_id,agency_name,agency_url,agency_timezone\n1,Small Railway,https://rail.example,Europe/Berlin\n",
		"stops.txt":      "stop_id,stop_name,stop_lat,stop_lon,stop_country,stop_timezone\na,Aberg,50,8,DE,Europe/Berlin\nb,Bdorf,51,9,DE,Europe/Berlin\n",
		"routes.txt":     "route_id,agency_id,route_short_name,route_type\nr,1,R 1,2\n",
		"calendar.txt":   "service_id,monday,tuesday,wednesday,thursday,friday,saturday,sunday,start_date,end_date\nd,1,1,1,1,1,1,1,20200101,20991231\n",
		"trips.txt":      "route_id,service_id,trip_id,bikes_allowed\nr,d,t," + bicycles + "\n",
		"stop_times.txt": "trip_id,arrival_time,departure_time,stop_id,stop_sequence\nt,08:00:00,08:00:00,a,1\nt,09:00:00,09:00:00,b,2\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestImport(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "trains.db")
	feed := writeFeed(t, "1")

	code, out, stderr := once(t, nil, "import", "--dry-run", feed, "--data", data)
	if code != 0 || !strings.Contains(out, "2 stations, 1 train, 2 calls") || !strings.Contains(out, "nothing changed") {
		t.Errorf("dry run: %d, %s%s", code, out, stderr)
	}
	if _, err := os.Stat(data); !os.IsNotExist(err) {
		t.Errorf("a dry run made the data file: %v", err)
	}
	// Into a file that nobody has open, and then through the server that has it.
	if code, _, stderr := once(t, nil, "import", feed, "--data", data); code != 0 {
		t.Fatalf("import: %d, %s", code, stderr)
	}
	r := start(t, "serve", "--data", data)
	_, token, _ := once(t, nil, "token", "--user", "anna", "--data", data)
	token = strings.TrimSpace(token)
	trip := func() map[string]any {
		t.Helper()
		stations := r.call(token, "GET", "/stations", "", 200)["data"].([]any)
		if len(stations) != 2 {
			t.Fatalf("stations: %v", stations)
		}
		from, to := stations[0].(map[string]any)["id"].(string), stations[1].(map[string]any)["id"].(string)
		day := time.Now().AddDate(0, 0, 2).Format(time.DateOnly)
		return r.call(token, "GET", "/trips?origin="+from+"&destination="+to+"&date="+day, "", 200)["data"].([]any)[0].(map[string]any)
	}
	before := trip()
	if code, out, stderr := once(t, nil, "import", writeFeed(t, "2"), "--data", data); code != 0 || !strings.Contains(out, "1 train,") {
		t.Fatalf("import while serving: %d, %s%s", code, out, stderr)
	}
	if after := trip(); after["bicycles_allowed"] != false || before["bicycles_allowed"] != true || after["id"] != before["id"] {
		t.Errorf("before %v, after %v", before, after)
	}

	// A bad feed names the place and changes nothing.
	bad := writeFeed(t, "7")
	if code, _, stderr := once(t, nil, "import", bad, "--data", data); code != 1 || !strings.Contains(stderr, "trips.txt") {
		t.Errorf("a bad feed: %d, %s", code, stderr)
	}
	if got := trip(); got["bicycles_allowed"] != false {
		t.Errorf("after a bad feed: %v", got)
	}
}

// Invalid values of import's flags are reported before anything is read, also in a dry run.
func TestImportFlags(t *testing.T) {
	t.Parallel()
	feed, data := writeFeed(t, "1"), filepath.Join(t.TempDir(), "trains.db")
	for _, c := range []struct{ flag, value string }{
		{"--fare-per-km", "-1"}, {"--fare-per-km", "99999999999"}, {"--fare-per-km", "x"}, {"--fare-per-km", "0.001"},
		{"--fare-base", "-0.01"}, {"--fare-base", "99999999999"}, {"--fare-base", "1e99"},
		{"--currency", "zzzz"}, {"--currency", ""}, {"--currency", "EUR"},
		{"--coaches", "1:60 1:60"}, {"--coaches", "1:999999999"}, {"--coaches", "1:6000 2:6000"}, {"--coaches", "1:0"}, {"--coaches", "1:-1"},
		{"--coaches", strings.Repeat("x", 300) + ":1"}, {"--coaches", "\x01:1"},
	} {
		for _, dry := range []string{"--dry-run", "--dry-run=false"} {
			code, out, stderr := once(t, nil, "import", feed, "--data", data, dry, c.flag+"="+c.value)
			if code != 2 || out != "" || !strings.Contains(stderr, "import: invalid "+c.flag+" ") || len(stderr) > 400 {
				t.Errorf("%s %s=%s: %d, %s, %s", dry, c.flag, c.value, code, out, stderr)
			}
		}
	}
	if code, _, stderr := once(t, nil, "import", feed, "--data", data, "--dry-run", "--fare-base=0", "--fare-per-km=0", "--coaches=1:60 2:60", "--currency=jpy"); code != 0 {
		t.Errorf("good flags: %d, %s", code, stderr)
	}
}

// A feed that is refused makes no data file.
func TestRefusedFeedLeavesNoFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data := filepath.Join(dir, "trains.db")
	for _, args := range [][]string{{"/nope.zip"}, {writeFeed(t, "7")}, {dir}, {writeFeed(t, "1"), "/nope.zip"}, {"--coaches", "1", writeFeed(t, "1")}} {
		if code, _, _ := once(t, nil, append([]string{"import", "--data", data}, args...)...); code == 0 {
			t.Errorf("%v is imported", args)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("there are %v, %v", left, err)
	}
}

// Feeds are distinguished by their names.
func TestImportOfTwo(t *testing.T) {
	t.Parallel()
	named := func(name string) string {
		feed := filepath.Join(t.TempDir(), name)
		if err := os.Rename(writeFeed(t, "1"), feed); err != nil {
			t.Fatal(err)
		}
		return feed
	}
	one := named("one")
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(one, link); err != nil && runtime.GOOS == "windows" {
		t.Skip("Windows creates symbolic links only for administrators and in developer mode: ", err)
	} else if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		feeds []string
		code  int
		says  string
	}{
		{[]string{one, named("two")}, 0, ""},
		{[]string{one, one}, 2, "the same feed"},
		{[]string{one, one + "/../one"}, 2, "the same feed"},
		{[]string{one, named("two"), link}, 2, "the same feed"},
		{[]string{one, named("one")}, 2, "the same name"},
		{[]string{"a=" + one, named("one")}, 0, ""},
		{[]string{"a=" + one, "b=" + named("one")}, 0, ""},
		{[]string{"a=" + one, "b=" + one}, 2, "the same feed"},
		{[]string{"a=" + one, "a=" + named("two")}, 2, "the same name, a:"},
		{[]string{"one=" + named("two"), one}, 2, "the same name, one:"},
		{[]string{"=" + one}, 2, "NAME=FILE"},
		{[]string{"a="}, 2, "NAME=FILE"},
		{[]string{"a b=" + one}, 2, "NAME=FILE"},
		{[]string{"._=" + one}, 2, "NAME=FILE"},
		{[]string{"a=b=" + one}, 1, "not found"},
		{[]string{named("x=y")}, 0, ""},
		{[]string{named("x=y"), one}, 0, ""},
	} {
		code, _, stderr := once(t, nil, append([]string{"import", "--dry-run"}, c.feeds...)...)
		if code != c.code || !strings.Contains(stderr, c.says) {
			t.Errorf("%v: %d, %s", c.feeds, code, stderr)
		}
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "trains.db")
	for _, c := range []struct {
		name    string
		environ []string
		args    []string
		code    int
		says    string
	}{
		{"nothing", nil, nil, 0, ""},
		{"version", nil, []string{"version"}, 0, ""},
		{"help", nil, []string{"serve", "--help"}, 0, ""},
		{"unknown command", nil, []string{"sell"}, 2, "sell"},
		{"unknown flag", nil, []string{"serve", "--adr", "x"}, 2, "unknown flag --adr: did you mean --addr?"},
		{"argument", nil, []string{"serve", "now"}, 2, "now"},
		{"no feed", nil, []string{"import"}, 2, "missing argument FEED: usage is 'traintravel import [NAME=]FEED… [flags]'"},
		{"two files", nil, []string{"restore", "a", "b"}, 2, "unexpected argument \"b\": usage is 'traintravel restore "},
		{"bad hold", nil, []string{"serve", "--hold", "soon"}, 2, "hold"},
		{"a clock in the year 1", nil, []string{"serve", "--clock", "0001-01-01T00:00:00Z"}, 2, "invalid --clock 0001-01-01T00:00:00Z: want a time from 2000-01-01 to 2179-06-06"},
		{"a clock after the last timetable", nil, []string{"serve", "--clock", "2179-06-07T00:00:00Z"}, 2, "invalid --clock 2179-06-07T00:00:00Z"},
		{"all mistakes at once", nil, []string{"serve", "--hold", "-1h", "--clock", "noon", "--webhook", "x"}, 2, "--clock"},
		{"bad environment", []string{"TRAINTRAVEL_RATE_LIMIT=many"}, []string{"serve"}, 2, "TRAINTRAVEL_RATE_LIMIT"},
		{"environment counts", []string{"TRAINTRAVEL_CLOCK=noon"}, []string{"serve"}, 2, "noon"},
		{"public sign-in", nil, []string{"serve", "--addr", "0.0.0.0:0", "--data", data}, 2, "--public-signin"},
		{"public mock", nil, []string{"mock", "--addr", "0.0.0.0:0"}, 2, "loopback"},
		{"token without user", nil, []string{"token"}, 2, "--user"},
		{"token before serve", nil, []string{"token", "--user", "a", "--data", filepath.Join(t.TempDir(), "x.db")}, 1, "serve"},
		{"no such feed", nil, []string{"import", "nowhere.zip", "--data", data}, 1, "nowhere.zip"},
		{"bad coaches", nil, []string{"import", "x.zip", "--coaches", "21"}, 2, "21:80"},
		{"base URL with a query", nil, []string{"serve", "--base-url", "http://x/?q"}, 2, "--base-url"},
		{"base URL with a fragment", nil, []string{"serve", "--base-url", "http://x/#"}, 2, "--base-url"},
		{"base URL with a user", nil, []string{"serve", "--base-url", "http://u:p@x"}, 2, "--base-url"},
		{"base URL with a slash", nil, []string{"serve", "--base-url", "http://x/"}, 2, "--base-url"},
		{"base URL with two", nil, []string{"serve", "--base-url", "http://x//y"}, 2, "--base-url"},
		{"base URL with a blank", nil, []string{"serve", "--base-url", "http://x/a b"}, 2, "--base-url"},
		{"port too high", nil, []string{"serve", "--addr", "127.0.0.1:99999"}, 2, "--addr"},
		{"no port", nil, []string{"serve", "--addr", "127.0.0.1"}, 2, "--addr"},
		{"mock's port", nil, []string{"mock", "--addr", "127.0.0.1:99999"}, 2, "--addr"},
		{"address of another machine", nil, []string{"serve", "--data", data, "--addr", "192.0.2.1:80"}, 2, "the server listens on 192.0.2.1:80"},
		{"insecure issuer", nil, []string{"serve", "--data", data, "--addr", "127.0.0.1:0", "--issuer", "http://issuer.example", "--audience", "x"}, 2, "--issuer"},
		{"no folder", nil, []string{"serve", "--data", "/nope/x.db"}, 1, "--data"},
		{"no folder to import to", nil, []string{"import", writeFeed(t, "1"), "--data", "/nope/x.db"}, 1, "--data"},
		{"flags after arguments", nil, []string{"import", writeFeed(t, "1"), "--dry-run"}, 0, ""},
	} {
		code, _, stderr := once(t, c.environ, c.args...)
		if code != c.code || !strings.Contains(stderr, c.says) {
			t.Errorf("%s: exit code %d, want %d; it says %q, want %q in it", c.name, code, c.code, stderr, c.says)
		}
	}
}
