package main

import (
	"os"
	"runtime/debug"
)

// frugal has the heap grow by a quarter, not to twice of what lives, until restore is
// called, which gives what is left over back to the system. What a timetable consists of
// has few pointers, so it is collected quickly. Whoever has set GOGC is not overruled.
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
