// Command traintravel is the Train Travel API as a server: one binary, and one file
// of data, or a PostgreSQL database that any number of servers share.
//
//	traintravel serve         sell trains over HTTP
//	traintravel mock          answer like the specification's mock server, in memory
//	traintravel import        load a timetable
//	traintravel token         print an access token for a user
//	traintravel verify-ticket verify tickets
//	traintravel ticket-keys   rotate the keys that sign tickets
//	traintravel token-keys    rotate the keys that sign access tokens
//	traintravel webhooks      list undelivered events of the operator's webhooks, and retry them
//	traintravel manifest      list the passengers of a train
//	traintravel block         block places of a train
//	traintravel cancel-run    cancel a train on a date, and refund its bookings
//	traintravel booking       show bookings, by ID or name, with their history
//	traintravel payment       list stuck payments and refunds, and settle them
//	traintravel subject       export or erase the data of a person
//	traintravel migrate       move all data from a file into PostgreSQL
//	traintravel check         check all data for inconsistencies
//	traintravel backup        write all data to a file, also while servers run
//	traintravel restore       restore a backup
//	traintravel compact       make a data file smaller
//	traintravel health        ask a running server whether it is ready
//	traintravel config        print the settings that serve would use
//	traintravel version       print the version
//
// Every flag can be set in the environment: --rate-limit is
// TRAINTRAVEL_RATE_LIMIT; those of serve also in a YAML file that --config names.
// Exit codes: 0 success, 1 failure, 2 invalid command line or settings.
//
// A server that gets SIGINT, SIGTERM or SIGHUP finishes the requests in progress, for eight
// seconds at most, and exits with 0. A second signal ends it at once.
package main

import (
	"context"
	"os"
	"syscall"
	"time"

	_ "time/tzdata" // for machines without time zone files
)

func main() {
	ctx, stop := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 1)
	claimSignals(signals)
	go obey(signals, stop, os.Exit)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr, os.Environ()))
}

// oneSignal is the time after a signal in which another one counts as the same: some programs
// signal a process, and then its process group.
const oneSignal = 200 * time.Millisecond

// obey stops the command at the first signal and ends the process at the second,
// with the exit code that shells have for that.
func obey(signals <-chan os.Signal, stop func(), exit func(code int)) {
	<-signals
	first := time.Now()
	stop()
	for s := range signals {
		if time.Since(first) < oneSignal {
			continue
		}
		code := 1
		if n, ok := s.(syscall.Signal); ok {
			code = 128 + int(n)
		}
		exit(code)
		return
	}
}
