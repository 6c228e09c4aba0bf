package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/gtfs"
)

// places are where feeds are. Two that go by one name could not be told apart.
func places(feeds []string) ([]string, error) {
	at := make([]string, len(feeds))
	for i, feed := range feeds {
		abs, err := filepath.Abs(feed)
		if err != nil {
			return nil, err
		}
		for j, other := range at[:i] {
			switch {
			case sameFile(abs, other):
				return nil, usagef("%s and %s are one feed: name it once", feeds[j], feed)
			case feedName(abs) == feedName(other):
				return nil, usagef("the feeds %s and %s have one name, %s, by which their trains are told apart: rename one", feeds[j], feed, feedName(abs))
			}
		}
		at[i] = abs
	}
	return at, nil
}

// feedName tells feeds that are imported together apart.
func feedName(path string) string {
	return strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
}

// readFeeds reads feeds into one timetable. Of several, each is named by its
// file, so that their trains and stations are told apart.
func readFeeds(ctx context.Context, feeds []string, opts feedOptions, progress func(done, total int64)) (*traintravel.Timetable, *report, error) {
	readOpts, err := opts.gtfs()
	if err != nil {
		return nil, nil, err
	}
	readOpts.Progress = progress
	all, rep := &traintravel.Timetable{}, &report{}
	known := map[uuid.UUID]bool{}
	for _, feed := range feeds {
		if len(feeds) > 1 {
			readOpts.Feed = feedName(feed)
		}
		t, r, err := readFeed(ctx, feed, readOpts)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", feed, err)
		}
		for _, s := range t.Stations {
			if !known[s.ID] {
				known[s.ID] = true
				all.Stations = append(all.Stations, s)
			}
		}
		all.Trains = append(all.Trains, t.Trains...)
		rep.Calls += r.Calls
		if first := r.First.String(); rep.First == "" || first < rep.First {
			rep.First = first
		}
		rep.Last = max(rep.Last, r.Last.String())
		for _, n := range r.Notes {
			rep.Notes = append(rep.Notes, n.String())
		}
	}
	rep.Stations, rep.Trains = len(all.Stations), len(all.Trains)
	switch {
	case rep.Trains == 0:
		return nil, rep, errors.New("there is no train in it")
	case opts.Strict && len(rep.Notes) > 0:
		return nil, rep, errors.New("refused, for something would be left out; without --strict it would be loaded")
	}
	if err := all.Check(); err != nil {
		return nil, nil, err
	}
	return all, rep, nil
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
