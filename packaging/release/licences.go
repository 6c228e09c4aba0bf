package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

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
			return fmt.Errorf("go list: unexpected line %q: want a package, its module and a folder", line)
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
