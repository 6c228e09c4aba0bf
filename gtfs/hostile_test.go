package gtfs_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/traintravel/traintravel/gtfs"
	"github.com/traintravel/traintravel/internal/need"
)

// A hostile is a feed that is broken, or made to harm whoever reads it.
type hostile struct {
	name string
	make func(t *testing.T, dir string) (path string)
	// want is the first line of the error, without the path of the feed; or else the
	// trains that are read, the first note, and how many there are.
	want   string
	limits gtfs.Limits // lower ones, so that the feed can be small
}

// ceiling is what a process may take of memory that reads a hostile feed, in MiB: a
// test binary that does nothing takes 15.
const ceiling = 512

// hostiles are all of them, in the order of the table in docs/feeds.md. The race detector
// has nothing to find in one goroutine, and would be long at the large ones.
func hostiles() []hostile {
	all := slices.Concat(hostileZips(), hostileFolders(), hostileTexts(), hostileValues())
	if raced {
		return all
	}
	return slices.Concat(all, hostileSizes(), hostileGrowths())
}

const (
	hostileFeed   = "TRAINTRAVEL_HOSTILE_FEED" // its path, in the process that is to read it
	hostileLimits = "TRAINTRAVEL_HOSTILE_LIMITS"
	hostileTable  = "TRAINTRAVEL_HOSTILE_TABLE" // a file for the rows of the table
)

func TestMain(m *testing.M) {
	if path := os.Getenv(hostileFeed); path != "" {
		readHostile(path)
		return
	}
	os.Exit(m.Run())
}

// readHostile reads a feed and prints what comes of it, and the most memory it took.
func readHostile(path string) {
	var opts gtfs.Options
	if err := json.Unmarshal([]byte(os.Getenv(hostileLimits)), &opts.Limits); err != nil {
		panic(err)
	}
	tt, report, err := gtfs.ReadFile(context.Background(), path, opts)
	got := fmt.Sprint(err)
	if err == nil {
		got = fmt.Sprintf("%d trains", len(tt.Trains))
		if n := len(report.Notes); n > 0 {
			got += "; " + report.Notes[0].String()
			if n > 1 {
				got += fmt.Sprintf("; notes: %d", n)
			}
		}
	}
	got, _, _ = strings.Cut(strings.ReplaceAll(got, path+": ", ""), "\n")
	fmt.Printf("%d\n%s", peak(), got)
}

// peak is the most memory that this process had, in KiB, or zero where the system does
// not tell.
func peak() int {
	text, _ := os.ReadFile("/proc/self/status")
	if found := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(text); found != nil {
		n, _ := strconv.Atoi(string(found[1]))
		return n
	}
	return 0
}

// Each hostile feed gives its error, or what can be read of it, in a process that takes
// little memory; and all are in the table of the manual.
func TestHostile(t *testing.T) {
	need.Short(t, "other processes")
	t.Parallel()
	manual, err := os.ReadFile("../docs/feeds.md")
	if err != nil {
		t.Fatal(err)
	}
	all := hostiles()
	rows, seen := make([]string, len(all)), map[string]bool{}
	var mu sync.Mutex
	t.Run("feeds", func(t *testing.T) {
		for i, h := range all {
			if seen[h.name] {
				t.Errorf("%s occurs twice", h.name)
			}
			seen[h.name] = true
			t.Run(h.name, func(t *testing.T) {
				t.Parallel()
				got, kib := h.read(t)
				if got != h.want {
					t.Errorf("got  %s\nwant %s", got, h.want)
				}
				if !raced && kib > ceiling<<10 {
					t.Errorf("it takes %d MiB", kib>>10)
				}
				if said := row(h.name, h.want); !strings.Contains(string(manual), said) {
					t.Errorf("docs/feeds.md lacks %s", said)
				}
				mu.Lock()
				rows[i] = fmt.Sprintf("%s %d |", row(h.name, got), (kib+512)>>10)
				mu.Unlock()
			})
		}
	})
	if path := os.Getenv(hostileTable); path != "" {
		if err := os.WriteFile(path, []byte(strings.Join(rows, "\n")+"\n"), 0o600); err != nil {
			t.Error(err)
		}
	}
}

// row is a row of the table, without its last field.
func row(name, what string) string {
	return "| " + name + " | " + strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`).Replace(what) + " |"
}

// read has a process of its own read the feed.
func (h *hostile) read(t *testing.T) (got string, kib int) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	limits, err := json.Marshal(h.limits)
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), exe)
	c.Env = append(os.Environ(), hostileFeed+"="+h.make(t, t.TempDir()), hostileLimits+"="+string(limits))
	out, err := c.CombinedOutput()
	first, got, ok := strings.Cut(string(out), "\n")
	if kib, _ = strconv.Atoi(first); err != nil || !ok || kib == 0 && runtime.GOOS == "linux" {
		t.Fatalf("%v: %s", err, out)
	}
	return got, kib
}

// text is a feed in a zip, of base with some files replaced.
func text(name, want string, replaced ...string) hostile {
	return hostile{name: name, want: want, make: func(t *testing.T, _ string) string {
		return zipped(t, files(append([]string{base}, replaced...)...), "")
	}}
}

// folder is a feed in a folder, in which do makes what is hostile.
func folder(name, want string, do func(dir string) error) hostile {
	return hostile{name: name, want: want, make: func(t *testing.T, dir string) string {
		dir = filepath.Join(dir, "feed")
		if err := os.CopyFS(dir, files(base)); err != nil {
			t.Fatal(err)
		}
		if err := do(dir); err != nil {
			t.Fatal(err)
		}
		return dir
	}}
}
