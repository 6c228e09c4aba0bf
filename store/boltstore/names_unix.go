//go:build unix

package boltstore

import (
	"os"
	"syscall"
)

// names returns how many names, hard links, a file has, and zero if that is not known.
func names(info os.FileInfo) uint64 {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0
	}
	return uint64(s.Nlink) // its type differs from system to system
}
