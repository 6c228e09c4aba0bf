// Command traintravel is the Train Travel API as a server: one binary, and one file
// of data, or a PostgreSQL database that any number of servers share.
//
//	traintravel serve     sell trains
//	traintravel mock      answer like the specification's mock server, in memory
//	traintravel import    load a railway's timetable
//	traintravel token     print an access token for a user
//	traintravel webhooks  list what did not arrive at the operator's webhooks, send it again
//	traintravel manifest  say who sits where in a train
//	traintravel block     take places of a train out of sale
//	traintravel cancel-run  cancel a train on a date, and refund its bookings
//	traintravel booking   show bookings, by ID or name, with their history
//	traintravel payment     list payments and refunds that do not end, and settle them
//	traintravel subject   print what is known of a person, or erase it
//	traintravel migrate   move all data from a file into PostgreSQL
//	traintravel check     say whether everything in the data agrees
//	traintravel backup    write all data to a file, also while servers sell
//	traintravel restore   put such a file in force
//	traintravel compact   make a data file smaller
//	traintravel health    ask a running server whether it is ready
//	traintravel config    print the settings in force
//	traintravel version
//
// Every flag can be set in the environment: --rate-limit is
// TRAINTRAVEL_RATE_LIMIT; those of serve also in a YAML file that --config names.
// Exit codes: 0 done, 1 failed, 2 wrong usage.
//
// A server that is told to stop (SIGINT, SIGTERM, SIGHUP) finishes what is under way, for
// eight seconds at most, and exits with 0. Told again, it ends at once.
package main

import (
	"context"
	"os"
	"syscall"
	"time"

	_ "time/tzdata" // a machine without time zones sells trains too
)

func main() {
	ctx, stop := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 1)
	claimSignals(signals)
	go obey(signals, stop, os.Exit)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr, os.Environ()))
}

// oneSignal is how soon after a signal another one is the same: some who stop a
// program tell it, and then the group of processes that it is in.
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
