//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// claimSignals sends the signals that stop a command to a channel, and ignores those that would
// end or suspend it although the call that failed returns an error too:
//
//   - SIGPIPE: the reader of the log or of the output is gone.
//   - SIGXFSZ: a file has reached its size limit. A full disk is an error too.
//   - SIGTTOU: the command writes to a terminal that other programs use.
//
// Go's runtime ignores signals without a meaning here, such as SIGUSR1. SIGQUIT ends the
// process and prints the stacks of all goroutines.
func claimSignals(stop chan<- os.Signal) {
	signal.Ignore(syscall.SIGPIPE, syscall.SIGXFSZ, syscall.SIGTTOU)
	signal.Notify(stop, syscall.SIGTERM)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGHUP} {
		if !signal.Ignored(s) { // as it is under nohup, or in the background of a script
			signal.Notify(stop, s)
		}
	}
}
