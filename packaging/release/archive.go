package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// mode is what a file of an archive has: only the program can be run.
func mode(file string) os.FileMode {
	if base := filepath.Base(file); base == "traintravel" || base == "traintravel.exe" {
		return 0o755
	}
	return 0o644
}

// tarball packs files into a folder of their own in NAME.tar.gz. Nothing of this
// machine is in it.
func (r *build) tarball(name string, files []string) error {
	return r.archive(name+".tar.gz", func(w io.Writer) error {
		packed, err := gzip.NewWriterLevel(w, gzip.BestCompression)
		if err != nil {
			return err
		}
		t := tar.NewWriter(packed)
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			head := tar.Header{
				Name: name + "/" + filepath.Base(file), Mode: int64(mode(file)), Size: int64(len(text)),
				ModTime: r.time, Format: tar.FormatUSTAR,
			}
			if err := t.WriteHeader(&head); err != nil {
				return err
			}
			if _, err := t.Write(text); err != nil {
				return err
			}
		}
		return errors.Join(t.Close(), packed.Close())
	})
}

// zip does so in NAME.zip.
func (r *build) zip(name string, files []string) error {
	return r.archive(name+".zip", func(w io.Writer) error {
		z := zip.NewWriter(w)
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			head := zip.FileHeader{Name: name + "/" + filepath.Base(file), Method: zip.Deflate, Modified: r.time.In(time.UTC)}
			head.SetMode(mode(file))
			f, err := z.CreateHeader(&head)
			if err != nil {
				return err
			}
			if _, err := f.Write(text); err != nil {
				return err
			}
		}
		return z.Close()
	})
}

func (r *build) archive(name string, write func(io.Writer) error) error {
	f, err := os.Create(filepath.Join(r.out, name))
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

// packed writes a text as gzip, without the name or the time of a file.
func packed(to, text string) error {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(w, text); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(to, b.Bytes(), 0o644)
}

func (r *build) packArchive(b built) error {
	r.say("%s/%s: archive", b.goos, b.goarch)
	files := []string{b.program, "LICENSE", "README.md", b.licences, filepath.Join(r.tmp, "traintravel.1")}
	name := strings.Join([]string{"traintravel", r.version, b.goos, b.goarch}, "_")
	if b.goos == "windows" {
		return r.zip(name, files)
	}
	return r.tarball(name, files)
}
