package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// One bad row refuses a feed, and the message says what --lenient would leave out. With
// --lenient that is left out and listed, and the rest is sold.
func TestImportLenient(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "trains.db")
	feed := writeTrains(t, 30, "20200101", "20991231")
	text, err := os.ReadFile(filepath.Join(feed, "stop_times.txt"))
	if err != nil {
		t.Fatal(err)
	}
	rewrite(t, feed, "stop_times.txt", strings.Replace(string(text), "t7,09:00:00", "t7,9 o'clock", 1))
	const mistake = `stop_times.txt:17: arrival_time "9 o'clock" is not a time of the form 09:45:00`
	for _, dry := range []string{"--dry-run", "--dry-run=false"} {
		code, out, stderr := once(t, nil, "import", feed, "--data", data, dry)
		if code != 1 || out != "" || !strings.Contains(stderr, mistake) || !strings.Contains(stderr, "give --lenient to leave out 1 trip of 30 and import the rest") {
			t.Errorf("%s: %d, %s%s", dry, code, out, stderr)
		}
	}
	if _, err := os.Stat(data); err == nil {
		t.Error("a feed that was refused made a data file")
	}
	code, out, stderr := once(t, nil, "import", feed, "--data", data, "--lenient")
	if code != 0 || !strings.Contains(out, "2 stations, 29 trains, 58 calls") || !strings.Contains(out, `  left out: trip "t7": `+mistake+"\n") {
		t.Errorf("lenient: %d, %s%s", code, out, stderr)
	}
	if code, _, stderr := once(t, nil, "import", feed, "--data", data, "--lenient", "--strict"); code != 2 || !strings.Contains(stderr, "--lenient") {
		t.Errorf("strict and lenient: %d, %s", code, stderr)
	}
	// What no trip has is no trip's to leave out.
	rewrite(t, feed, "transfers.txt", "from_stop_id,to_stop_id,transfer_type\na,b,9\n")
	for _, args := range [][]string{{"--lenient"}, {}} {
		code, _, stderr := once(t, nil, append([]string{"import", feed, "--data", data}, args...)...)
		if code != 1 || !strings.Contains(stderr, "transfers.txt:2: ") || strings.Contains(stderr, "leaves out") {
			t.Errorf("%v: %d, %s", args, code, stderr)
		}
	}
}
