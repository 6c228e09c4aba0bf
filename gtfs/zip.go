package gtfs

import (
	"archive/zip"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"slices"
	"strings"
)

const (
	// maxZipEntries limits the files in a feed's zip; GTFS defines about 30.
	maxZipEntries = 10_000
	// maxDirectory limits the list of them, in bytes. Each has up to 192 KiB there.
	maxDirectory = 16 << 20
)

// OpenFile opens a feed in a zip file or a folder, for [Read] and other readers of feeds.
// It uses little memory, whatever the file is. Call Close when you are done.
//
// It refuses a file that is neither a zip nor a folder, because a pipe or a device could
// block its reader.
func OpenFile(name string) (files fs.FS, close func() error, err error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("gtfs: %w", err)
	case info.IsDir():
		return os.DirFS(name), func() error { return nil }, nil
	case !info.Mode().IsRegular():
		return nil, nil, fmt.Errorf("gtfs: %s: %w", name, errNotPlain)
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, nil, fmt.Errorf("gtfs: %w", err)
	}
	z, err := openZip(file, info.Size())
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("gtfs: %s: %w", name, err), file.Close())
	}
	return z, file.Close, nil
}

// openZip opens a zip of the given size in bytes.
func openZip(r io.ReaderAt, size int64) (*zip.Reader, error) {
	list := &bounded{r: r, left: maxDirectory}
	z, err := zip.NewReader(list, size)
	switch {
	case list.left < 0:
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("it is not a zip file, or an incomplete one: %w", err)
	}
	list.left = math.MaxInt64
	for _, f := range z.File {
		if tableOf(f) == "" {
			continue
		}
		if at, err := f.DataOffset(); err == nil && (at > size || f.CompressedSize64 > uint64(size-at)) {
			return nil, fmt.Errorf("%s is longer than the rest of the zip: the zip is truncated or damaged", f.Name)
		}
	}
	return z, nil
}

// bounded reads the list of files in a zip, which comes first.
type bounded struct {
	r    io.ReaderAt
	left int64
}

func (b *bounded) ReadAt(p []byte, at int64) (int, error) {
	if b.left -= int64(len(p)); b.left < 0 {
		return 0, fmt.Errorf("the list of files in the zip has more than %d bytes", maxDirectory)
	}
	return b.r.ReadAt(p, at)
}

// tablesOf returns a zip with only the files that may be tables of a feed: the
// others could have names that take long to sort. It refuses a zip that two
// programs could read as different feeds.
func tablesOf(z *zip.Reader) (*zip.Reader, error) {
	if len(z.File) > maxZipEntries {
		return nil, fmt.Errorf("%d files in one zip are more than %d", len(z.File), maxZipEntries)
	}
	type place struct {
		name     string
		from, to int64
	}
	var places []place
	only := &zip.Reader{}
	known := map[string]string{}
	for _, f := range z.File {
		name := tableOf(f)
		if name == "" {
			continue
		}
		key := strings.ToLower(name)
		if other, twice := known[key]; twice {
			if other == name {
				return nil, fmt.Errorf("the zip contains %s twice", name)
			}
			return nil, fmt.Errorf("the zip contains both %s and %s", other, name)
		}
		if flaw := flawOf(&f.FileHeader); flaw != "" {
			return nil, fmt.Errorf("%s: %s", name, flaw)
		}
		known[key] = name
		only.File = append(only.File, f)
		if at, err := f.DataOffset(); err == nil {
			places = append(places, place{name, at, at + int64(min(f.CompressedSize64, math.MaxInt64/2))})
		}
	}
	slices.SortFunc(places, func(a, b place) int { return cmp.Compare(a.from, b.from) })
	for i := 1; i < len(places); i++ {
		if places[i].from < places[i-1].to {
			return nil, fmt.Errorf("%s and %s share the same bytes of the zip", places[i-1].name, places[i].name)
		}
	}
	return only, nil
}

// tableOf returns the name of a file in a zip that may be a table, at the top or in a
// folder there, in any letter case; of another file nothing.
func tableOf(f *zip.File) string {
	if len(f.Name) > 1000 {
		return ""
	}
	name := strings.TrimPrefix(strings.ReplaceAll(f.Name, `\`, "/"), "./")
	if !fs.ValidPath(name) || strings.Count(name, "/") > 1 {
		return "" // read as a file system, ../stops.txt would be another stops.txt
	}
	for _, t := range tables {
		if strings.EqualFold(path.Base(name), t.name) {
			return name
		}
	}
	return ""
}
