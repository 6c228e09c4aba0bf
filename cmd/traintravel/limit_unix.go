//go:build unix

package main

import (
	"os/signal"
	"syscall"
)

// ignoreFileLimit has a write that goes beyond the limit of the size of files fail, as
// one to a full disk does, where it would end the process.
func ignoreFileLimit() { signal.Ignore(syscall.SIGXFSZ) }
