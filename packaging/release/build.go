package main

import (
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A build is one release that is being made.
type build struct {
	options
	time  time.Time
	tmp   string
	began time.Time
}

// compile is the environment and the arguments of go for a target. What would change
// the bytes is not taken from the user's settings.
func (r *build) compile(verb, goos, goarch string, more ...string) (env, args []string) {
	env = []string{"CGO_ENABLED=0", "GOFLAGS=", "GOEXPERIMENT=", "GOAMD64=v1", "GOARM64=v8.0", "GOWORK=off", "GOOS=" + goos, "GOARCH=" + goarch}
	if r.fresh {
		env = append(env, "GOCACHE="+filepath.Join(r.tmp, "cache"))
	}
	return env, append([]string{"go", verb, "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid= -X main.release=v" + r.version}, more...)
}

// A built is the program of one target, and the licences of all that is in it.
type built struct {
	goos, goarch      string
	program, licences string // files, in a folder of their own
}

// program compiles for a target, unless that is done already.
func (r *build) program(goos, goarch string) (built, error) {
	dir := filepath.Join(r.tmp, goos+"-"+goarch)
	b := built{goos, goarch, filepath.Join(dir, "traintravel"), filepath.Join(dir, "LICENSES.txt")}
	if goos == "windows" {
		b.program += ".exe"
	}
	if _, err := os.Stat(b.licences); err == nil {
		return b, nil
	}
	r.say("%s/%s: compiling", goos, goarch)
	env, args := r.compile("build", goos, goarch, "-o", b.program, "./cmd/traintravel")
	if _, err := output(env, args...); err != nil {
		return b, err
	}
	return b, collectLicences(b.licences, env)
}

// helpOf asks a program for what --help prints.
func helpOf(program string) func(command ...string) (string, error) {
	return func(command ...string) (string, error) {
		return output(nil, slices.Concat([]string{program}, command, []string{"--help"})...)
	}
}

// say tells how far the build is.
func (r *build) say(format string, args ...any) {
	log.Printf("%3.0fs  %s", time.Since(r.began).Seconds(), fmt.Sprintf(format, args...))
}

// makes says whether a format is to be made.
func (r *build) makes(format string) bool { return slices.Contains(r.formats, format) }

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

var versionForm = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$`)
