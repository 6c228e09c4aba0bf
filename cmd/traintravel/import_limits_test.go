package main

import (
	"strings"
	"testing"
)

// Flags set limits, an error names the flag of its limit, and an invalid limit is a usage error.
func TestImportLimits(t *testing.T) {
	t.Parallel()
	feed := writeFeed(t, "1")
	for _, c := range []struct {
		flag string
		code int
		want string
	}{
		{"--max-memory=500MiB", 0, "1 train"},
		{"--max-memory=1kB", 1, "up to here the feed takes more than 1000 bytes of memory (Limits.Memory): set the limit with --max-memory"},
		{"--max-calls=2", 0, "1 train"},
		{"--max-calls=1", 1, "stop_times.txt:3: up to here the trips that are read have more than 1 calls (Limits.Calls): set the limit with --max-calls"},
		{"--max-unpacked=0.5KiB", 1, "up to here the feed has more than 512 bytes, unpacked (Limits.Bytes): set the limit with --max-unpacked"},
		{"--max-rows=1", 1, "the table has more than 1 rows (Limits.Rows): set the limit with --max-rows"},
		{"--max-ratio=1", 0, "1 train"},
		{"--max-ratio=-1", 2, "invalid --max-ratio: it is -1: want 0 or more"},
		{"--max-calls=-1", 2, "invalid --max-calls: it is -1: want 0 or more"},
		{"--max-memory=-1", 2, `invalid --max-memory "-1": want a number of bytes such as 500MiB or 2GiB`},
		{"--max-memory=much", 2, `invalid --max-memory "much": want a number of bytes such as 500MiB or 2GiB`},
		{"--max-unpacked=1e99GB", 2, "want a number of bytes"},
		{"--max-unpacked=NaN", 2, "want a number of bytes"},
	} {
		code, out, stderr := once(t, nil, "import", "--dry-run", feed, c.flag)
		if code != c.code || !strings.Contains(out+stderr, c.want) {
			t.Errorf("%s: %d, %s%s", c.flag, code, out, stderr)
		}
	}
}
