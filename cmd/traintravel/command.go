package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A program is one call of the command: what its subcommands share.
type program struct {
	stdout, stderr io.Writer
	environ        []string
	logTo          *outlet // stderr
	log            *slog.Logger
	waits          waits
	notify         func(state string)

	config  string            // the file of settings, "" if there is none
	source  string            // of the value that is being set; "" is the command line
	sources map[string]string // of the values that the command line does not set, by flag
	wrong   []error           // values that could not be read
}

// usageError is a mistake in the command line or the environment.
type usageError struct {
	err error
	of  string // the command whose help tells more; "" is the one that was called
}

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return usageError{err: fmt.Errorf(format, args...)} }

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
	root := &cobra.Command{
		Use:           "traintravel",
		Short:         "Sell train trips: search, booking, payment",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          takes(),
		Version:       versionLine(),
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
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
	root.Flags().Bool("version", false, "print the version")
	root.SetVersionTemplate("{{.Version}}\n")
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

// brokenPipe is the exit code of a command whose output nobody reads any more: the one that
// shells have for programs that SIGPIPE has ended.
const brokenPipe = 128 + 13

// A results writer is the standard output of a command. It remembers a failed write: a command
// whose output is lost has failed, whatever it did. A reader that closes its pipe, as head(1)
// does, is not a failure.
type results struct {
	to   io.Writer
	mu   sync.Mutex
	err  error // of the first write that failed
	gone bool  // the reader has closed the pipe
}

func (m *results) Write(b []byte) (int, error) {
	n, err := m.to.Write(b)
	if err != nil {
		m.mu.Lock()
		defer m.mu.Unlock()
		if errors.Is(err, syscall.EPIPE) {
			m.gone = true
		} else {
			m.err = cmp.Or(m.err, err)
		}
	}
	return n, err
}

// closed says whether the reader has closed the pipe.
func (m *results) closed() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.gone
}

func (m *results) failed() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.err
}

// env is the environment by names.
func (p *program) env() map[string]string {
	env := map[string]string{}
	for _, kv := range p.environ {
		if k, v, ok := strings.Cut(kv, "="); ok {
			env[k] = v
		}
	}
	return env
}
