//go:build unix

package gtfs_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func hostileDevices(replace func(dir, name string, do func(path string) error) error) []hostile {
	return []hostile{
		folder("a pipe in place of a table", "stops.txt: it is neither a file nor a folder, but a link, a pipe or a device", func(dir string) error {
			return replace(dir, "stops.txt", func(path string) error { return syscall.Mkfifo(path, 0o600) })
		}),
		folder("a pipe in place of a table that may be missing", "frequencies.txt: it is neither a file nor a folder, but a link, a pipe or a device", func(dir string) error {
			return syscall.Mkfifo(filepath.Join(dir, "frequencies.txt"), 0o600)
		}),
		folder("a link to a device that never ends", "stops.txt: it is neither a file nor a folder, but a link, a pipe or a device", func(dir string) error {
			return replace(dir, "stops.txt", func(path string) error { return os.Symlink("/dev/zero", path) })
		}),
		{name: "a pipe in place of a feed", want: "gtfs: is neither a file nor a folder", make: func(t *testing.T, dir string) string {
			path := filepath.Join(dir, "feed.zip")
			if err := syscall.Mkfifo(path, 0o600); err != nil {
				t.Fatal(err)
			}
			return path
		}},
		{name: "a device in place of a feed", want: "gtfs: is neither a file nor a folder", make: func(*testing.T, string) string { return "/dev/zero" }},
	}
}
