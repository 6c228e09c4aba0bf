//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package keys

import (
	"os"
	"syscall"
	"time"
)

// lock keeps other processes from changing keys files in a folder until unlock
// is called. Where that cannot be had, such as on some network file systems, it
// is done without: then two changes at the same instant may lose one.
func lock(dir string) (unlock func()) {
	d, err := os.Open(dir)
	if err != nil {
		return func() {}
	}
	for range 500 { // a change takes milliseconds: whoever holds it for 5 s hangs
		err = syscall.Flock(int(d.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err != syscall.EWOULDBLOCK && err != syscall.EINTR {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return func() { _ = d.Close() }
}
