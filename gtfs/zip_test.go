package gtfs_test

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/traintravel/traintravel/gtfs"
)

// zipped writes a feed into a zip file, under a prefix.
func zipped(t *testing.T, feed fstest.MapFS, prefix string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "feed.zip")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	z := zip.NewWriter(file)
	for name, f := range feed {
		w, err := z.CreateHeader(&zip.FileHeader{Name: prefix + name})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(f.Data); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestReadFile(t *testing.T) {
	t.Parallel()
	feed := files(base)
	want, _ := read(t, gtfs.Options{})
	folder := t.TempDir()
	if err := os.CopyFS(folder, feed); err != nil {
		t.Fatal(err)
	}
	evil := files(base)
	evil["../../stops.txt"] = &fstest.MapFile{Data: []byte("stop_id\n")}
	evil["/etc/passwd"] = &fstest.MapFile{}
	evil["__MACOSX/._stop_times.txt"] = &fstest.MapFile{}
	for what, path := range map[string]string{
		"folder":             folder,
		"zip":                zipped(t, feed, ""),
		"zip with subfolder": zipped(t, feed, "gtfs 2026/"),
		"zip by Windows":     zipped(t, feed, `gtfs\`),
		"evil zip":           zipped(t, evil, ""),
	} {
		got, _, err := gtfs.ReadFile(t.Context(), path, gtfs.Options{})
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		diff(t, what, got, want)
	}
}

func TestReadFileFails(t *testing.T) {
	t.Parallel()
	if _, _, err := gtfs.ReadFile(t.Context(), filepath.Join(t.TempDir(), "none.zip"), gtfs.Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	text := filepath.Join(t.TempDir(), "feed.zip")
	if err := os.WriteFile(text, []byte("trip_id,stop_id"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := gtfs.ReadFile(t.Context(), text, gtfs.Options{}); !errors.Is(err, zip.ErrFormat) {
		t.Errorf("no zip: %v", err)
	}
	many := fstest.MapFS{}
	for i := range 10_001 {
		many[fmt.Sprint(i)] = &fstest.MapFile{}
	}
	if _, _, err := gtfs.ReadFile(t.Context(), zipped(t, many, ""), gtfs.Options{}); err == nil {
		t.Error("a zip of 10,001 files was read")
	}
	two := fstest.MapFS{"a/stop_times.txt": {}, "b/stop_times.txt": {}}
	if _, _, err := gtfs.Read(t.Context(), two, gtfs.Options{}); err == nil {
		t.Error("two feeds at once were read")
	}
}

func TestReadEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := gtfs.Read(ctx, files(base), gtfs.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Read: %v, want context.Canceled", err)
	}
}
