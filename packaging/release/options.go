package main

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
)

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
			return fmt.Errorf("-targets: %s has only archives, and -formats does not include archive", t)
		}
	}
	return nil
}

const (
	everywhere = "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64,windows/arm64"
	allFormats = "archive,deb,image"
)
