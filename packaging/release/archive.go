package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
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

// collectLicences writes what the licences of all that is in a program ask to be passed
// on with it: those of Go, of modules, and of packages that have one of their own.
func collectLicences(to string, env []string) error {
	const format = `{{if not .Standard}}{{.Module}}	{{.Module.Dir}}	{{.Dir}}{{end}}`
	list, err := output(env, "go", "list", "-deps", "-f", format, "./cmd/traintravel")
	if err != nil {
		return err
	}
	root, err := output(env, "go", "env", "GOROOT")
	if err != nil {
		return err
	}
	l := licences{seen: map[string]bool{}}
	if err := l.add("Go", root, root); err != nil {
		return err
	}
	for _, line := range slices.Sorted(strings.Lines(list + "\n")) {
		p := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(p) != 3 {
			return fmt.Errorf("go list: %q is no package of a module", line)
		}
		if err := l.add(p[0], p[1], p[2]); err != nil {
			return err
		}
	}
	return os.WriteFile(to, []byte(l.text.String()), 0o644)
}

// licences are the texts that are found.
type licences struct {
	seen map[string]bool // by path
	text strings.Builder
}

// add adds those in the folder of a package, and above it up to that of its module.
func (l *licences) add(module, top, dir string) error {
	for ; ; dir = filepath.Dir(dir) {
		files, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, f := range files {
			path := filepath.Join(dir, f.Name())
			if !isLicence(f) || l.seen[path] {
				continue
			}
			l.seen[path] = true
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			below, err := filepath.Rel(top, path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&l.text, "==== %s: %s\n\n%s\n\n", module, filepath.ToSlash(below), bytes.TrimSpace(text))
		}
		if dir == top {
			return nil
		}
	}
}

func isLicence(f os.DirEntry) bool {
	name := strings.ToUpper(f.Name())
	return f.Type().IsRegular() && filepath.Ext(name) != ".GO" && slices.ContainsFunc(
		[]string{"LICENSE", "LICENCE", "COPYING", "NOTICE", "PATENTS"},
		func(word string) bool { return strings.HasPrefix(name, word) })
}
