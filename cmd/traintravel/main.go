// Command traintravel is the Train Travel API as a server: one binary, one file
// of data.
//
//	traintravel serve     sell trains
//	traintravel mock      answer like the specification's mock server, in memory
//	traintravel import    load a railway's timetable
//	traintravel token     print an access token for a user
//	traintravel version
//
// Every flag can be set in the environment: --rate-limit is
// TRAINTRAVEL_RATE_LIMIT. Exit codes: 0 done, 1 failed, 2 wrong usage.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	_ "time/tzdata" // a machine without time zones sells trains too
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr, os.Environ())
	stop()
	os.Exit(code)
}
