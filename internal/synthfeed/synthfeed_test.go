package synthfeed

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/traintravel/traintravel"
)

const small = 0.02

// feed returns the files of a feed.
func feed(t testing.TB, opts Options) fs.FS {
	t.Helper()
	files := fstest.MapFS{}
	err := write(opts, func(name string) (io.WriteCloser, error) {
		files[name] = &fstest.MapFile{}
		return memory{files[name]}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// memory is a file in memory.
type memory struct{ *fstest.MapFile }

func (m memory) Write(b []byte) (int, error) {
	m.Data = append(m.Data, b...)
	return len(b), nil
}

func (m memory) Close() error { return nil }

// sum is one hash of all files and their names.
func sum(t testing.TB, feed fs.FS) string {
	t.Helper()
	h := sha256.New()
	for _, table := range tables {
		text, err := fs.ReadFile(feed, table.name)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(h, "%s %d\n%s", table.name, len(text), text)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// A change of the generated feed makes benchmark results from before and after it
// incomparable.
func TestGolden(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		opts Options
		want string
	}{
		{Options{Seed: 1, Scale: small}, "329c9f22715d464b52efe0479b5b6f873c6e53b0519b61253b1e2d0aa9d0dfe8"},
		{Options{Seed: 2, Scale: 0.1, From: traintravel.NewDate(2024, 2, 25), Days: 30}, "39ab2f13584144ff60ff3dd3c7a890ee5ea07dea5dc9a5050ed30178e16ef3a0"},
	} {
		if got := sum(t, feed(t, c.opts)); got != c.want {
			t.Errorf("%+v makes\n%s, not\n%s", c.opts, got, c.want)
		}
	}
}

func TestSeedAndScaleChangeTheFeed(t *testing.T) {
	t.Parallel()
	seen := map[string]Options{}
	for _, opts := range []Options{{Scale: small}, {Seed: 1, Scale: small}, {Seed: 2, Scale: small}, {Seed: 1, Scale: 0.03}} {
		s := sum(t, feed(t, opts))
		if other, ok := seen[s]; ok {
			t.Errorf("%+v and %+v make the same", opts, other)
		}
		seen[s] = opts
	}
}

// Folders and zip files get the same, and what was in the folder is gone.
func TestWrite(t *testing.T) {
	t.Parallel()
	opts := Options{Seed: 3, Scale: small}
	want := sum(t, feed(t, opts))

	dir := filepath.Join(t.TempDir(), "new", "feed")
	for _, opts := range []Options{{Scale: 0.05}, opts} {
		if err := Write(dir, opts); err != nil {
			t.Fatal(err)
		}
	}
	if got := sum(t, os.DirFS(dir)); got != want {
		t.Errorf("the folder has %s, not %s", got, want)
	}
	if err := Write(filepath.Join(dir, "stops.txt"), opts); err == nil {
		t.Error("a file is taken for a folder")
	}

	var b bytes.Buffer
	if err := WriteZip(&b, opts); err != nil {
		t.Fatal(err)
	}
	z, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if got := sum(t, z); got != want {
		t.Errorf("the zip file has %s, not %s", got, want)
	}
}

func TestOptionsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		opts Options
		want string
	}{
		{Options{Scale: -1}, "Options.Scale: -1"},
		{Options{Scale: 0.0009}, "Options.Scale"},
		{Options{Scale: 101}, "Options.Scale"},
		{Options{Scale: math.NaN()}, "Options.Scale: NaN"},
		{Options{From: traintravel.FirstDate - 1}, "Options.From: 1999-12-31"},
		{Options{From: traintravel.LastDate + 1}, "Options.From"},
		{Options{Days: -1}, "Options.Days: -1"},
		{Options{From: traintravel.LastDate, Days: 2}, "Options.Days: 2"},
	} {
		err := WriteZip(io.Discard, c.opts)
		if err == nil || !strings.HasPrefix(err.Error(), "synthfeed: "+c.want) {
			t.Errorf("%+v: %v", c.opts, err)
		}
	}
	if err := WriteZip(io.Discard, Options{Scale: small, From: traintravel.LastDate, Days: 1}); err != nil {
		t.Error(err)
	}
}

// full takes so many bytes.
type full int

var errFull = errors.New("full")

func (f *full) Write(b []byte) (int, error) {
	if *f -= full(len(b)); *f < 0 {
		return 0, errFull
	}
	return len(b), nil
}

func TestWriterFails(t *testing.T) {
	t.Parallel()
	for _, room := range []full{0, 20_000, 80_000} {
		if err := WriteZip(&room, Options{Scale: small}); !errors.Is(err, errFull) {
			t.Error(err)
		}
	}
}

func BenchmarkWriteZip(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if err := WriteZip(io.Discard, Options{Seed: 1}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkWrite(b *testing.B) {
	dir := b.TempDir()
	b.ReportAllocs()
	for b.Loop() {
		if err := Write(dir, Options{Seed: 1}); err != nil {
			b.Fatal(err)
		}
	}
}
