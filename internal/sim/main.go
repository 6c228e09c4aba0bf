// Command sim runs simulated histories of a railway and reports the first invariant that one
// of them breaks, as a story as short as it can make it. See docs/simulator.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == childArgument {
		child(os.Stdin, os.Stdout)
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := command(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// command does what the arguments say and returns what to exit with.
func command(ctx context.Context, args []string, out, errs io.Writer) int {
	s, err := parse(args, errs)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return passed
	case err != nil:
		fmt.Fprintln(errs, "sim:", err)
		return misused
	}
	scratch, err := os.MkdirTemp("", "sim-")
	if err != nil {
		fmt.Fprintln(errs, "sim:", err)
		return failed
	}
	defer os.RemoveAll(scratch)
	b := batch{settings: s, runner: runner{scratch: scratch, limit: s.limit}, out: out, total: newTotals()}
	if err := b.run(ctx); err != nil {
		fmt.Fprintln(errs, "sim:", err)
		return failed
	}
	return passed
}
