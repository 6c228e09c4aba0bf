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
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	everywhere = "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64,windows/arm64"
	allFormats = "archive,deb,image"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("release: ")
	o := options{}
	flag.StringVar(&o.out, "out", "dist", "new or empty `folder` that everything is written to")
	flag.StringVar(&o.version, "version", "", "`version` without a v (default: of the tag, or 0.0.0-dev.COMMIT)")
	targets := flag.String("targets", everywhere, "`list` of platforms to build for: OS/ARCH,...; \"here\" is this machine's Linux")
	formats := flag.String("formats", allFormats, "`list` of what to make for each; deb and image are for linux alone")
	flag.BoolVar(&o.fresh, "fresh", false, "compile everything anew, as on a machine that has compiled nothing yet")
	flag.Parse()
	if flag.NArg() > 0 {
		log.Fatalf("unexpected argument %q", flag.Arg(0))
	}
	o.targets, o.formats = strings.Split(*targets, ","), strings.Split(*formats, ",")
	if err := release(o); err != nil {
		log.Fatal(err)
	}
}

// options are the flags.
type options struct {
	out, version     string
	targets, formats []string
	fresh            bool
}

// check finds mistakes, and puts this machine's platform for "here".
func (o *options) check() error {
	for _, f := range o.formats {
		if !slices.Contains(strings.Split(allFormats, ","), f) {
			return fmt.Errorf("-formats: %q is not one of %s", f, allFormats)
		}
	}
	for i, t := range o.targets {
		if t == "here" {
			t = "linux/" + runtime.GOARCH
			o.targets[i] = t
		}
		goos, goarch, ok := strings.Cut(t, "/")
		if !ok || goos == "" || goarch == "" {
			return fmt.Errorf("-targets: %q is not OS/ARCH", t)
		}
		if goos != "linux" && !slices.Contains(o.formats, "archive") {
			return fmt.Errorf("-targets: %s has archives alone, and -formats does not name archive", t)
		}
	}
	return nil
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

// A build is one release that is being made.
type build struct {
	options
	time  time.Time
	tmp   string
	began time.Time
}

var versionForm = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$`)

// newBuild finds out which version and time are built.
func newBuild(o options) (*build, error) {
	if o.version == "" {
		tag, err := output(nil, "git", "describe", "--tags", "--exact-match", "--match", "v[0-9]*")
		if err != nil {
			if tag, err = output(nil, "git", "rev-parse", "--short=12", "HEAD"); err != nil {
				return nil, fmt.Errorf("-version: %w", err)
			}
			tag = "v0.0.0-dev." + tag
		}
		o.version = strings.TrimPrefix(tag, "v")
	}
	if !versionForm.MatchString(o.version) {
		return nil, fmt.Errorf("-version: %q is not a version such as 1.2.3 or 1.2.3-rc.1", o.version)
	}
	epoch := os.Getenv("SOURCE_DATE_EPOCH")
	if epoch == "" {
		var err error
		if epoch, err = output(nil, "git", "log", "-1", "--format=%ct"); err != nil {
			return nil, fmt.Errorf("SOURCE_DATE_EPOCH is not set: %w", err)
		}
	}
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("SOURCE_DATE_EPOCH: %q is not a number of seconds", epoch)
	}
	if o.out, err = filepath.Abs(o.out); err != nil {
		return nil, err
	}
	tmp, err := os.MkdirTemp("", "traintravel-release-")
	return &build{options: o, time: time.Unix(seconds, 0).UTC(), tmp: tmp, began: time.Now()}, err
}

// makes says whether a format is to be made.
func (r *build) makes(format string) bool { return slices.Contains(r.formats, format) }

// say tells how far the build is.
func (r *build) say(format string, args ...any) {
	log.Printf("%3.0fs  %s", time.Since(r.began).Seconds(), fmt.Sprintf(format, args...))
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

// output runs a program and returns what it prints. Empty settings of env are those of
// the platform.
func output(env []string, args ...string) (string, error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), env...)
	var errs strings.Builder
	cmd.Stderr = &errs
	text, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, errs.String())
	}
	return strings.TrimSpace(string(text)), nil
}
