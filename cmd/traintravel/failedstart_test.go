package main

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/traintravel/traintravel/internal/keys"
	"github.com/traintravel/traintravel/store/boltstore"
)

// A server that does not start leaves none of the files behind that it has made, whenever the
// start fails; and it keeps the files that were there.
func TestFailedStartLeavesNoFiles(t *testing.T) {
	t.Parallel()
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	for name, c := range map[string]struct {
		flags, environ, dirs []string
	}{
		"the issuer is not https":         {flags: []string{"--issuer", "http://issuer.example", "--audience", "x"}},
		"a port is in use":                {flags: []string{"--addr", busy.Addr().String()}},
		"the admin port is in use":        {flags: []string{"--admin-addr", busy.Addr().String()}},
		"a secret is invalid":             {flags: []string{"--webhook", "http://127.0.0.1:1/"}, environ: []string{webhookSecret + "=short"}},
		"no certificate":                  {flags: []string{"--tls-cert", "none.pem", "--tls-key", "none.pem"}},
		"no folder of keys":               {flags: []string{"--keys", filepath.Join(t.TempDir(), "none", "k.json")}},
		"a folder is in the socket's way": {dirs: []string{"t.db.sock"}},
	} {
		for _, existing := range []bool{false, true} {
			folder := t.TempDir()
			data := filepath.Join(folder, "t.db")
			for _, dir := range c.dirs {
				if err := os.Mkdir(filepath.Join(folder, dir), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			if existing { // data of another program's making, without keys yet
				store, err := boltstore.Open(data, nil)
				if err != nil {
					t.Fatal(err)
				}
				if err := store.Close(); err != nil {
					t.Fatal(err)
				}
			}
			before := filesIn(t, folder)
			args := append([]string{"serve", "--addr", "127.0.0.1:0", "--data", data}, c.flags...)
			code, stdout, stderr := once(t, c.environ, args...)
			if after := filesIn(t, folder); code == 0 || stdout != "" || !slices.Equal(before, after) {
				t.Errorf("%s: %d, %s%s: files %v, before %v", name, code, stdout, stderr, after, before)
			}
			if strings.Contains(stderr, "cannot remove") {
				t.Errorf("%s: %s", name, stderr)
			}
		}
	}
}

// A server that finds the data in use removes neither the data nor the keys, which are those
// of the server that has it.
func TestFailedStartKeepsFilesOfOthers(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	data := filepath.Join(folder, "t.db")
	start(t, "serve", "--data", data)
	before := filesIn(t, folder)
	code, _, stderr := once(t, nil, "serve", "--addr", "127.0.0.1:0", "--data", data)
	if after := filesIn(t, folder); code != 1 || !strings.Contains(stderr, "in use") || !slices.Equal(before, after) {
		t.Errorf("%d, %s: files %v, before %v", code, stderr, after, before)
	}
}

// Keys that were there before a failed start stay.
func TestFailedStartKeepsKeys(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	data := filepath.Join(folder, "t.db")
	if _, err := keys.Create(ownKeys(data)); err != nil {
		t.Fatal(err)
	}
	code, _, stderr := once(t, nil, "serve", "--addr", "127.0.0.1:0", "--data", data, "--issuer", "http://issuer.example", "--audience", "x")
	if after := filesIn(t, folder); code != 2 || !slices.Equal(after, []string{"t.keys.json"}) {
		t.Errorf("%d, %s: files %v", code, stderr, after)
	}
}

func filesIn(t *testing.T, folder string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// A server on data without a timetable logs a warning with the command that imports one, and the
// API reports it. With a timetable neither does.
func TestMissingTimetableIsReported(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "t.db")
	r := start(t, "serve", "--data", data, "--demo=false")
	if log := r.stderr.String(); !strings.Contains(log, "no timetable is loaded") || !strings.Contains(log, "import FEED.zip --data "+data) {
		t.Errorf("the log says %s", log)
	}
	token := issue(t, "anna", data)
	for path, bearer := range map[string]string{"/stations": token, "/trips?origin=" + berlin + "&destination=" + paris + "&date=" + soon(): token, "/readyz": ""} {
		problem := r.call(bearer, "GET", path, "", 503)
		if detail, _ := problem["detail"].(string); !strings.Contains(detail, "No timetable is loaded yet") || !strings.Contains(detail, "traintravel import") {
			t.Errorf("%s: %v", path, problem)
		}
	}
	if code, _, stderr := once(t, nil, "import", writeFeed(t, "1"), "--data", data); code != 0 {
		t.Fatalf("import: %d, %s", code, stderr)
	}
	r.call(token, "GET", "/stations", "", 200)
	r.stop()
	if log := start(t, "serve", "--data", data).stderr.String(); strings.Contains(log, "timetable") {
		t.Errorf("with a timetable the log says %s", log)
	}
}

// A server that sells the demo network, or whose timetable has expired or ends soon, logs a
// warning at its start.
func TestTimetableWarnsAtStart(t *testing.T) {
	t.Parallel()
	says := func(want string, args ...string) {
		t.Helper()
		r := start(t, append([]string{"serve"}, args...)...)
		if log := r.stderr.String(); !strings.Contains(log, want) || !strings.Contains(log, " import FEED.zip") {
			t.Errorf("%v: the log says %s, want %q", args, log, want)
		}
		r.stop()
	}
	demo := filepath.Join(t.TempDir(), "t.db")
	says("loaded the demo network", "--data", demo)
	says("the timetable is the demo network", "--data", demo)
	old := filepath.Join(t.TempDir(), "t.db")
	if code, _, stderr := once(t, nil, "import", writeTrains(t, 3, "20240101", "20240131"), "--data", old, "--clock", "2024-01-01T08:00:00Z"); code != 0 {
		t.Fatalf("import: %d, %s", code, stderr)
	}
	says("the timetable ends soon", "--data", old, "--clock", "2024-01-25T08:00:00Z")
	says("the timetable has expired", "--data", old)
}
