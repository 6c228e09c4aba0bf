//go:build !unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// claimSignals has the signals that stop a command sent to a channel.
func claimSignals(stop chan<- os.Signal) { signal.Notify(stop, os.Interrupt, syscall.SIGTERM) }
