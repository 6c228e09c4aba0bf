package gtfs_test

import (
	"errors"
	"os"
	"path/filepath"
)

func hostileFolders() []hostile {
	replace := func(dir, name string, do func(path string) error) error {
		path := filepath.Join(dir, name)
		if err := os.Remove(path); err != nil {
			return err
		}
		return do(path)
	}
	link := func(name, to string) func(string) error {
		return func(dir string) error {
			return replace(dir, name, func(path string) error { return os.Symlink(to, path) })
		}
	}
	return append([]hostile{
		folder("a folder in a folder in place of a table", "trips.txt: it is a folder", func(dir string) error {
			return replace(dir, "trips.txt", func(path string) error { return os.Mkdir(path, 0o700) })
		}),
		folder("a link to itself", "gtfs: stat stops.txt: too many levels of symbolic links", link("stops.txt", "stops.txt")),
		folder("a link to nowhere", "stops.txt: the file is missing", link("stops.txt", "/nowhere/stops.txt")),
		folder("a link to a folder", "stops.txt: it is a folder", link("stops.txt", ".")),
		folder("an empty folder", "agency.txt: the file is missing", func(dir string) error {
			return errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o700))
		}),
	}, hostileDevices(replace)...)
}
