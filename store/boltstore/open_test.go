package boltstore_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/store/boltstore"
)

// refused fails the test unless Open returns an error that says want, names the
// file, and leaves the file as it is.
func refused(t *testing.T, path, want string) error {
	t.Helper()
	before, _ := os.ReadFile(path)
	s, err := boltstore.Open(path, &boltstore.Options{LockTimeout: 100 * time.Millisecond})
	if err == nil {
		t.Fatal("it was opened: ", s.Close())
	}
	if !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
		t.Errorf("the error is %q, want %q and the path in it", err, want)
	}
	if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
		t.Error("the file was changed")
	}
	return err
}

func write(t *testing.T, path string, content []byte) string {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// change changes a file with bbolt alone.
func change(t *testing.T, path string, fn func(tx *bolt.Tx) error) string {
	t.Helper()
	db, err := bolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.Update(fn), db.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// filled makes a file with some pages of records and returns its path.
func filled(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	s := open(t, dir)
	err := s.Update(t.Context(), func(tx traintravel.Tx) error {
		for i := range 20 {
			tx.Put(traintravel.Key{Table: traintravel.TableRuns, ID: string(rune('a' + i))}, make([]byte, 2000))
		}
		return nil
	})
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "traintravel.db")
}

func TestOpenForeign(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }

	refused(t, path("missing/traintravel.db"), "the directory of")
	refused(t, write(t, path("empty"), nil), "is empty")
	refused(t, write(t, path("text"), []byte("hello")), "not a data file of traintravel")
	refused(t, write(t, path("long text"), bytes.Repeat([]byte("hello"), 10_000)), "not a data file of traintravel")
	refused(t, write(t, path("zeros"), make([]byte, 1<<20)), "not a data file of traintravel")
	refused(t, dir, "not a regular file")
	refused(t, change(t, path("bolt"), func(tx *bolt.Tx) error {
		_, err := tx.CreateBucket([]byte("widgets"))
		return err
	}), "not a data file of traintravel")
}

func TestOpenNewer(t *testing.T) {
	t.Parallel()
	version := func(v string) string {
		return change(t, filled(t), func(tx *bolt.Tx) error {
			return tx.Bucket([]byte("boltstore")).Put([]byte("version"), []byte(v))
		})
	}
	if err := refused(t, version("2"), "version 2"); !errors.Is(err, traintravel.ErrNewerData) {
		t.Errorf("%v is not ErrNewerData", err)
	}
	refused(t, version("two"), "damaged")
}

// TestOpenOlder: a file lacks a table that came later, or all of them when its
// making was interrupted.
func TestOpenOlder(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]string{
		"one":  change(t, filled(t), func(tx *bolt.Tx) error { return tx.DeleteBucket([]byte("sandbox")) }),
		"none": change(t, filepath.Join(t.TempDir(), "traintravel.db"), func(*bolt.Tx) error { return nil }),
	} {
		s := open(t, filepath.Dir(path))
		k := traintravel.Key{Table: traintravel.TableAgenda, ID: "a"}
		err := s.Update(t.Context(), func(tx traintravel.Tx) error { tx.Put(k, []byte("a")); return nil })
		if err != nil {
			t.Fatal(name, err)
		}
		if v, err := s.Get(t.Context(), k); err != nil || string(v[0]) != "a" {
			t.Error(name, v, err)
		}
		if err := s.Close(); err != nil {
			t.Error(name, err)
		}
	}
}

func TestOpenTruncated(t *testing.T) {
	t.Parallel()
	whole, err := os.ReadFile(filled(t))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "traintravel.db")
	for _, size := range []int{1, 79, 80, 4095, 4096, 8192, 16384, 50_000} {
		refused(t, write(t, path, whole[:size]), "")
	}
}

// TestOpenDamaged: whichever page is not a page any more, Open does not crash.
func TestOpenDamaged(t *testing.T) {
	t.Parallel()
	whole, err := os.ReadFile(filled(t))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "traintravel.db")
	page := os.Getpagesize()
	pages := 30 * page // all there are; what follows is empty
	errs := 0
	for at := 0; at < pages; at += page {
		for _, filler := range []byte{0, 0xff} {
			b := bytes.Clone(whole[:pages])
			copy(b[at:], bytes.Repeat([]byte{filler}, page))
			if err := os.Truncate(write(t, path, b), int64(len(whole))); err != nil {
				t.Fatal(err)
			}
			s, err := boltstore.Open(path, nil)
			if err != nil {
				errs++
				continue
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	if errs == 0 {
		t.Error("no damage was noticed")
	}
}

func TestOpenTwice(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	start := time.Now()
	refused(t, filepath.Join(dir, "traintravel.db"), "in use by another process")
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("the refusal took %v", d)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := open(t, dir).Close(); err != nil {
		t.Fatal(err)
	}
}

func TestOpenMode(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no modes here")
	}
	info, err := os.Stat(filled(t))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info.Mode(), err)
	}
}
