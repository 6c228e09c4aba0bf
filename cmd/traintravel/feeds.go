package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/gtfs"
)

// feedName tells feeds that are imported together apart.
func feedName(path string) string {
	return strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
}

// readFeed reads a feed in a zip file or a folder. Whatever else has a name, such
// as a pipe or a device, could keep its reader waiting for ever, and is refused.
func readFeed(ctx context.Context, path string, opts gtfs.Options) (*traintravel.Timetable, gtfs.Report, error) {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return gtfs.Read(ctx, plainFiles{os.DirFS(path)}, opts)
	case err == nil && !info.Mode().IsRegular():
		return nil, gtfs.Report{}, errNotPlain
	}
	return gtfs.ReadFile(ctx, path, opts)
}

var errNotPlain = errors.New("is neither a file nor a folder")

// plainFiles opens what is a file or a folder, and nothing else.
type plainFiles struct{ fs.FS }

// Open opens a file or a folder.
func (f plainFiles) Open(name string) (fs.File, error) {
	if _, err := f.Stat(name); err != nil {
		return nil, err
	}
	return f.FS.Open(name)
}

// Stat looks at a file or a folder without opening it.
func (f plainFiles) Stat(name string) (fs.FileInfo, error) {
	info, err := fs.Stat(f.FS, name)
	if err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: name, Err: errNotPlain}
	}
	return info, err
}
