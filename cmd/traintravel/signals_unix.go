//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// claimSignals has the signals that stop a command sent to a channel, and the ones that
// would end or halt it for no good reason ignored: then what they tell of is an error of
// the call that it is about.
//
//   - SIGPIPE: nobody reads the log, or what a command prints, any more.
//   - SIGXFSZ: a file may not grow. A full disk is an error too.
//   - SIGTTOU: it writes to a terminal that other programs have.
//
// Go's runtime ignores those that tell of nothing here, such as SIGUSR1. SIGQUIT ends the
// process with what each goroutine is at.
func claimSignals(stop chan<- os.Signal) {
	signal.Ignore(syscall.SIGPIPE, syscall.SIGXFSZ, syscall.SIGTTOU)
	signal.Notify(stop, syscall.SIGTERM)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGHUP} {
		if !signal.Ignored(s) { // as it is under nohup, or in the background of a script
			signal.Notify(stop, s)
		}
	}
}
