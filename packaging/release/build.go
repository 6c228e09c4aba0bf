package main

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

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

func (r *build) packArchive(b built) error {
	r.say("%s/%s: archive", b.goos, b.goarch)
	files := []string{b.program, "LICENSE", "README.md", b.licences, filepath.Join(r.tmp, "traintravel.1")}
	name := strings.Join([]string{"traintravel", r.version, b.goos, b.goarch}, "_")
	if b.goos == "windows" {
		return r.zip(name, files)
	}
	return r.tarball(name, files)
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

// helpOf asks a program for what --help prints.
func helpOf(program string) func(command ...string) (string, error) {
	return func(command ...string) (string, error) {
		return output(nil, slices.Concat([]string{program}, command, []string{"--help"})...)
	}
}
