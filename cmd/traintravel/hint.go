package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// ourName is what a user types to run this program again.
func ourName() string {
	exe, err := os.Executable()
	if err != nil {
		return "traintravel"
	}
	found, _ := exec.LookPath("traintravel")
	return nameOf(exe, os.Args[0], found)
}

// nameOf is what a user types to run an executable again that was called as arg, where found
// is what the shell runs as traintravel.
func nameOf(exe, arg, found string) string {
	switch {
	case madeByGoRun.MatchString(filepath.ToSlash(exe)):
		return "go run ./cmd/traintravel"
	case found != "" && sameFile(found, exe) || !strings.ContainsAny(arg, `/\`):
		return "traintravel"
	}
	return shellWord(arg)
}

// madeByGoRun matches the paths at which go run puts what it makes: below a folder in the
// temporary one, or in the build cache, under the hash of its contents.
var madeByGoRun = regexp.MustCompile(`/go-build\d*/|/[0-9a-f]{2}/[0-9a-f]{64}-d/[^/]+$`)

func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// shellWord is a text as a shell reads it back.
func shellWord(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:@%+=,") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
