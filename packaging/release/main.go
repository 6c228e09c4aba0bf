// Command release makes what users download: static binaries in archives, Debian
// packages, and their checksums.
//
//	go run ./packaging/release -out dist
//	go run ./packaging/release -out dist -version 1.2.3 -targets linux/amd64
//
// The same source, version and time, built by the same Go, are the same bytes, wherever
// the source is. The time is that of SOURCE_DATE_EPOCH, or else of the last commit.
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
	"slices"
	"strconv"
	"strings"
	"time"
)

// nfpm runs from a module graph of its own: as a "tool" in go.mod its dependencies
// would be requirements of everybody who embeds us.
const nfpm = "github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.45.2"

const everywhere = "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64,windows/arm64"

func main() {
	log.SetFlags(0)
	log.SetPrefix("release: ")
	out := flag.String("out", "dist", "new or empty `folder` that everything is written to")
	version := flag.String("version", "", "`version` without a v (default: of the tag, or 0.0.0-dev.COMMIT)")
	targets := flag.String("targets", everywhere, "`list` of what is built for: OS/ARCH,...")
	fresh := flag.Bool("fresh", false, "compile everything anew, as on a machine that has compiled nothing yet")
	flag.Parse()
	if flag.NArg() > 0 {
		log.Fatalf("%q is no flag", flag.Arg(0))
	}
	if err := release(*out, *version, strings.Split(*targets, ","), *fresh); err != nil {
		log.Fatal(err)
	}
}

func release(out, version string, targets []string, fresh bool) error {
	r, err := newBuild(version)
	if err != nil {
		return err
	}
	defer os.RemoveAll(r.tmp)
	r.fresh = fresh
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	if r.out, err = filepath.Abs(out); err != nil {
		return err
	}
	// SHA256SUMS is about all that is there.
	if old, err := os.ReadDir(out); err != nil || len(old) > 0 {
		return cmp.Or(err, fmt.Errorf("-out: %s is not empty", out))
	}
	if err := r.shared(); err != nil {
		return err
	}
	for _, t := range targets {
		goos, goarch, ok := strings.Cut(t, "/")
		if !ok {
			return fmt.Errorf("-targets: %q is not OS/ARCH", t)
		}
		if err := r.target(goos, goarch); err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
	}
	return r.sums()
}

// A build is one release that is being made.
type build struct {
	version string
	time    time.Time
	out     string
	tmp     string
	fresh   bool
}

var versionForm = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$`)

// newBuild finds out what is built, in the folder of the repository.
func newBuild(version string) (*build, error) {
	if _, err := os.Stat("packaging/deb/nfpm.yaml"); err != nil {
		return nil, errors.New("run it in the folder of the repository")
	}
	if version == "" {
		tag, err := output(nil, "git", "describe", "--tags", "--exact-match", "--match", "v[0-9]*")
		if err != nil {
			if tag, err = output(nil, "git", "rev-parse", "--short=12", "HEAD"); err != nil {
				return nil, fmt.Errorf("-version: %w", err)
			}
			tag = "v0.0.0-dev." + tag
		}
		version = strings.TrimPrefix(tag, "v")
	}
	if !versionForm.MatchString(version) {
		return nil, fmt.Errorf("-version: %q is no version such as 1.2.3 or 1.2.3-rc.1", version)
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
		return nil, fmt.Errorf("SOURCE_DATE_EPOCH: %q is no number of seconds", epoch)
	}
	tmp, err := os.MkdirTemp("", "traintravel-release-")
	return &build{version: version, time: time.Unix(seconds, 0).UTC(), tmp: tmp}, err
}

// compile is the environment and the arguments of go for a target. What would change
// the bytes is not taken from the user's settings; the platform "" is the user's.
func (r *build) compile(verb, goos, goarch string, more ...string) (env, args []string) {
	env = []string{"CGO_ENABLED=0", "GOFLAGS=", "GOEXPERIMENT=", "GOAMD64=v1", "GOARM64=v8.0", "GOWORK=off", "GOOS=" + goos, "GOARCH=" + goarch}
	if r.fresh {
		env = append(env, "GOCACHE="+filepath.Join(r.tmp, "cache"))
	}
	return env, append([]string{"go", verb, "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid= -X main.release=v" + r.version}, more...)
}

// target builds for one, and packs it.
func (r *build) target(goos, goarch string) error {
	dir := filepath.Join(r.tmp, goos+"-"+goarch)
	program := filepath.Join(dir, "traintravel")
	if goos == "windows" {
		program += ".exe"
	}
	env, args := r.compile("build", goos, goarch, "-o", program, "./cmd/traintravel")
	if _, err := output(env, args...); err != nil {
		return err
	}
	licences := filepath.Join(dir, "LICENSES.txt")
	if err := collectLicences(licences, env); err != nil {
		return err
	}
	files := []string{program, "LICENSE", "README.md", licences, filepath.Join(r.tmp, "traintravel.1")}
	name := strings.Join([]string{"traintravel", r.version, goos, goarch}, "_")
	pack := r.tarball
	if goos == "windows" {
		pack = r.zip
	}
	if err := pack(name, files); err != nil {
		return err
	}
	if goos != "linux" {
		return nil
	}
	return r.debian(dir, goarch)
}

// debian makes a Debian package of what target has built.
func (r *build) debian(dir, goarch string) error {
	_, err := output([]string{
		"VERSION=" + r.version, "ARCH=" + goarch, "BUILT=" + dir, "SHARED=" + r.tmp,
		"SOURCE_DATE_EPOCH=" + strconv.FormatInt(r.time.Unix(), 10),
	}, "go", "run", nfpm, "package", "--config", "packaging/deb/nfpm.yaml", "--packager", "deb", "--target", r.out+string(filepath.Separator))
	return err
}

// shared makes what is the same for all targets, and what the program itself tells:
// the manual and completions for shells.
func (r *build) shared() error {
	program := filepath.Join(r.tmp, "here", "traintravel")
	env, args := r.compile("build", "", "", "-o", program, "./cmd/traintravel")
	if _, err := output(env, args...); err != nil {
		return err
	}
	page, err := manPage(r.version, r.time, helpOf(program))
	if err != nil {
		return err
	}
	files := map[string]string{"traintravel.1": page}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		script, err := output(nil, program, "completion", shell)
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
