// Command release makes what users download: static binaries in archives, Debian
// packages, container images, and their checksums.
//
//	go -C packaging/release run . -out dist
//	go -C packaging/release run . -out dist -version 1.2.3 -targets linux/amd64 -formats deb
//
// Paths are relative to the root of the repository. The same source, version and time,
// built by the same Go, give the same bytes, wherever the source is. The time is that of
// SOURCE_DATE_EPOCH, or else of the last commit.
package main

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("release: ")
	o := options{}
	flag.StringVar(&o.out, "out", "dist", "new or empty `folder` that everything is written to")
	flag.StringVar(&o.version, "version", "", "`version` without a v (default: of the tag, or 0.0.0-dev.COMMIT)")
	targets := flag.String("targets", everywhere, "`list` of platforms to build for: OS/ARCH,...; \"here\" is this machine's Linux")
	formats := flag.String("formats", allFormats, "`list` of what to make for each; deb and image are only for linux")
	flag.BoolVar(&o.fresh, "fresh", false, "compile everything again, without the build cache")
	flag.Parse()
	if flag.NArg() > 0 {
		log.Fatalf("unexpected argument %q", flag.Arg(0))
	}
	o.targets, o.formats = strings.Split(*targets, ","), strings.Split(*formats, ",")
	if err := release(o); err != nil {
		log.Fatal(err)
	}
}

func release(o options) error {
	if err := o.check(); err != nil {
		return err
	}
	if err := toRoot(); err != nil {
		return err
	}
	r, err := newBuild(o)
	if err != nil {
		return err
	}
	defer os.RemoveAll(r.tmp)
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	// SHA256SUMS is about all files that are there.
	if old, err := os.ReadDir(r.out); err != nil || len(old) > 0 {
		return cmp.Or(err, fmt.Errorf("-out: %s is not empty", r.out))
	}
	if err := r.shared(); err != nil {
		return err
	}
	for _, t := range o.targets {
		goos, goarch, _ := strings.Cut(t, "/")
		if err := r.target(goos, goarch); err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
	}
	r.say("%s: done", r.out)
	return r.sums()
}

// toRoot makes the root of the repository the working folder: "go -C" begins in this one.
func toRoot() error {
	for {
		if _, err := os.Stat("packaging/deb/nfpm.yaml"); err == nil {
			return nil
		}
		if dir, err := os.Getwd(); err != nil || dir == filepath.Dir(dir) {
			return cmp.Or(err, errors.New("run it in a folder of the repository"))
		}
		if err := os.Chdir(".."); err != nil {
			return err
		}
	}
}

// sums writes SHA256SUMS, as sha256sum -c reads it, and prints it.
func (r *build) sums() error {
	files, err := os.ReadDir(r.out) // in order
	if err != nil {
		return err
	}
	var sums strings.Builder
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(r.out, f.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(text), f.Name())
	}
	fmt.Print(sums.String())
	return os.WriteFile(filepath.Join(r.out, "SHA256SUMS"), []byte(sums.String()), 0o644)
}

// target makes all formats for one platform.
func (r *build) target(goos, goarch string) error {
	b, err := r.program(goos, goarch)
	if err != nil {
		return err
	}
	if r.makes("archive") {
		if err := r.packArchive(b); err != nil {
			return err
		}
	}
	if goos != "linux" {
		return nil
	}
	if r.makes("deb") {
		if err := r.debian(b); err != nil {
			return err
		}
	}
	if r.makes("image") {
		return r.image(b)
	}
	return nil
}

// shared makes what is the same for all targets, and what the program itself tells:
// the manual and completions for shells.
func (r *build) shared() error {
	if !r.makes("archive") && !r.makes("deb") {
		return nil
	}
	b, err := r.program(runtime.GOOS, runtime.GOARCH)
	if err != nil {
		return err
	}
	r.say("manual page and completions")
	page, err := manPage(r.version, r.time, helpOf(b.program))
	if err != nil {
		return err
	}
	files := map[string]string{"traintravel.1": page}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		script, err := output(nil, b.program, "completion", shell)
		if err != nil {
			return err
		}
		files[shell] = script + "\n"
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(r.tmp, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return packed(filepath.Join(r.tmp, "traintravel.1.gz"), page)
}
