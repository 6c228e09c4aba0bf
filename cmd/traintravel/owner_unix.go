//go:build unix

package main

import (
	"os"
	"syscall"
)

// ownerOf returns the user who owns a file.
func ownerOf(info os.FileInfo) (user int, known bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(s.Uid), true
}
