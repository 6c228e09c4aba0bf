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
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"syscall"
	"time"

	_ "time/tzdata" // for machines without time zone files

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
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

// run runs the command and returns its exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer, environ []string) int {
	said := &results{to: stdout}
	p := &program{stdout: said, stderr: stderr, environ: environ, sources: map[string]string{}}
	p.logTo = &outlet{to: stderr}
	p.log = p.logTo.logger(func(to io.Writer) slog.Handler {
		return slog.NewTextHandler(to, &slog.HandlerOptions{ReplaceAttr: cleanAttr})
	})
	defer p.logTo.flush()
	p.waits, p.notify = usualWaits, p.tellSystemd
	asked := false // for the version
	root := &cobra.Command{
		Use:           "traintravel",
		Short:         "Sell train trips: search, booking, payment",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          takes(),
		RunE: func(c *cobra.Command, _ []string) error {
			if asked {
				_, err := fmt.Fprintln(said, versionLine())
				return err
			}
			return c.Help()
		},
		PersistentPreRunE: func(c *cobra.Command, _ []string) error {
			err := p.settle(c)
			if err != nil || c.Name() != "serve" { // which logs it, in the form of its log
				for _, v := range p.unknownVariables(c.Root()) {
					fmt.Fprintf(stderr, "warning: %v\n", v)
				}
			}
			return err
		},
	}
	root.AddCommand(
		p.serve(),
		p.mock(),
		p.importFeeds(),
		p.token(),
		p.verifyTicket(),
		p.ticketKeys(),
		p.tokenKeys(),
		p.webhooks(),
		p.manifest(),
		p.block(),
		p.cancelRun(),
		p.booking(),
		p.payment(),
		p.subject(),
		p.migrate(),
		p.check(),
		p.backup(),
		p.restore(),
		p.compact(),
		p.health(),
		p.showConfig(),
		p.version(),
	)
	root.PersistentFlags().StringVar(&p.config, "config", "", "YAML `file` of settings: the flags of serve, without dashes, and their values")
	root.Flags().BoolVar(&asked, "version", false, "print the version")
	root.SetHelpCommand(helpCommand())
	root.SetArgs(append([]string{}, args...)) // if nil, cobra would take those of the process
	root.SetOut(said)
	root.SetErr(stderr)
	completionCommand(root)
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		completeValues(root)
	}
	p.tolerate(root)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		if unknown := (*pflag.NotExistError)(nil); errors.As(err, &unknown) {
			return unknownFlag(c, unknown)
		}
		if valueless := (*pflag.ValueRequiredError)(nil); errors.As(err, &valueless) {
			return valueMissing(valueless)
		}
		return usageError{err: err}
	})
	c, err := root.ExecuteContextC(ctx)
	if err == nil {
		err = said.failed()
	}
	switch {
	case err == nil:
		return 0
	case said.closed() && errors.Is(err, syscall.EPIPE):
		return brokenPipe
	}
	p.logTo.flush()
	fmt.Fprintf(stderr, "%s: %s\n", c.CommandPath(), shownError(err))
	if usage := (usageError{}); errors.As(err, &usage) {
		fmt.Fprintf(stderr, "Try '%s --help'.\n", cmp.Or(usage.of, c.CommandPath()))
		return 2
	}
	return 1
}
