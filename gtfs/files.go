package gtfs

import (
	"archive/zip"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"strings"
)

// has says whether the feed holds a table that is not empty, or something else in its
// place, of which open will tell. In a zip, what is packed is no more than a few bytes.
func (f *feed) has(name string) bool {
	info, err := fs.Stat(f.dir, name)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist) // and open will tell
	}
	size, flaw := packed(info)
	return info.Size() > 0 || !info.Mode().IsRegular() || size > 8 || flaw != ""
}

// plain opens a file, and no pipe, device or folder in its place. The size is that in a
// zip, zero elsewhere. If it cannot be read, plain records that and returns errMistakes.
func (f *feed) plain(name string) (file fs.File, size int64, err error) {
	info, err := fs.Stat(f.dir, name)
	flaw := ""
	switch {
	case errors.Is(err, fs.ErrNotExist):
		flaw = "the file is missing"
		if other := f.otherCase(name); other != "" {
			flaw += ", but " + other + ": table names have to be in lower case"
		}
	case err == nil && info.IsDir():
		flaw = "it is a folder"
	case err == nil && !info.Mode().IsRegular():
		flaw = "it " + errNotPlain.Error() + ", but a link, a pipe or a device"
	case err == nil:
		size, flaw = packed(info)
	}
	if flaw != "" {
		f.fail(name, 0, "%s", flaw)
		return nil, 0, errMistakes
	}
	if err == nil {
		file, err = f.dir.Open(name)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("gtfs: %w", err)
	}
	return file, size, nil
}

// otherCase finds a table whose name is in other letter case, among the first files.
func (f *feed) otherCase(name string) string {
	dir, err := f.dir.Open(".")
	if err != nil {
		return ""
	}
	defer dir.Close()
	list, ok := dir.(fs.ReadDirFile)
	if !ok {
		return ""
	}
	entries, _ := list.ReadDir(1000)
	for _, e := range entries {
		if e.Name() != name && strings.EqualFold(e.Name(), name) {
			return e.Name()
		}
	}
	return ""
}

// packed returns how many bytes a file has in a zip, or zero if it is in none.
func packed(info fs.FileInfo) (size int64, flaw string) {
	h, ok := info.Sys().(*zip.FileHeader)
	if !ok {
		return 0, ""
	}
	return max(1, int64(min(h.CompressedSize64, math.MaxInt64))), flawOf(h)
}

// flawOf says what keeps a file of a zip from being read.
func flawOf(h *zip.FileHeader) string {
	switch {
	case h.Flags&(1|1<<6|1<<13) != 0: // encrypted, strongly, its header too
		return "the file is encrypted: unpack the zip with its password, and import the folder"
	case h.Method != zip.Store && h.Method != zip.Deflate:
		return fmt.Sprintf("the file is compressed with method %d, which is not supported: use deflate", h.Method)
	}
	return ""
}

// damaged says that an error is about what a zip holds.
func damaged(err error) bool {
	var corrupt flate.CorruptInputError
	return errors.Is(err, zip.ErrFormat) || errors.Is(err, zip.ErrChecksum) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &corrupt)
}

var errNotPlain = errors.New("is neither a file nor a folder")
