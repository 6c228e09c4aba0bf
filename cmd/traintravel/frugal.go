package main

import (
	"os"
	"runtime/debug"
)

// frugal lets the heap grow by a quarter between collections instead of doubling, until restore
// is called, which returns unused memory to the system. A timetable has few pointers, so
// collections are quick. GOGC, if set, is respected.
func frugal() (restore func()) {
	if os.Getenv("GOGC") != "" {
		return debug.FreeOSMemory
	}
	was := debug.SetGCPercent(25)
	return func() {
		debug.SetGCPercent(was)
		debug.FreeOSMemory()
	}
}
