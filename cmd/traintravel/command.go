package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
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
	source  string            // where the value is from that is being set, "" for the command line
	sources map[string]string // where flags that the command line does not set are from
	wrong   []error           // values that could not be read
}

// usageError is a mistake in the command line or the environment.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// run runs the command and returns its exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer, environ []string) int {
	said := &mouth{to: stdout}
	p := &program{stdout: said, stderr: stderr, environ: environ, sources: map[string]string{}}
	p.logTo = &outlet{to: stderr}
	p.log = p.logTo.logger(func(to io.Writer) slog.Handler {
		return slog.NewTextHandler(to, &slog.HandlerOptions{ReplaceAttr: cleanAttr})
	})
	defer p.logTo.flush()
	p.waits, p.notify = usualWaits, p.tellSystemd
	root := &cobra.Command{
		Use:           "traintravel",
		Short:         "Sell trains: search, booking, payment",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
		PersistentPreRunE: func(c *cobra.Command, _ []string) error {
			return p.settle(c)
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
	root.PersistentFlags().StringVar(&p.config, "config", "", "YAML `file` of settings: names of flags of serve, without dashes, and values")
	p.tolerate(root)
	root.SetArgs(args)
	root.SetOut(said)
	root.SetErr(stderr)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		if unknown := (*pflag.NotExistError)(nil); errors.As(err, &unknown) {
			err = fmt.Errorf("%w: if it is no flag, write -- before it", err)
		}
		return usageError{err}
	})
	c, err := root.ExecuteContextC(ctx)
	if err == nil {
		err = said.failed()
	}
	switch {
	case err == nil:
		return 0
	case said.deserted() && errors.Is(err, syscall.EPIPE):
		return brokenPipe
	}
	p.logTo.flush()
	fmt.Fprintf(stderr, "%s: %s\n", c.CommandPath(), shownError(err))
	if usage := (usageError{}); errors.As(err, &usage) || strings.HasPrefix(err.Error(), "unknown command") {
		fmt.Fprintf(stderr, "Try '%s --help'.\n", c.CommandPath())
		return 2
	}
	return 1
}

// brokenPipe is the exit code of a command that was broken off because nobody reads what it
// prints any more: shells have it for programs that SIGPIPE has ended.
const brokenPipe = 128 + 13

// A mouth is where a command says what came of it, and knows if that was lost: then it
// has failed, whatever it did. Who has closed a pipe has heard enough.
type mouth struct {
	to   io.Writer
	mu   sync.Mutex
	err  error // the first
	gone bool  // whoever read it is
}

func (m *mouth) Write(b []byte) (int, error) {
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

// deserted says whether nobody reads it any more.
func (m *mouth) deserted() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.gone
}

func (m *mouth) failed() error {
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

// args checks the number of arguments, and that none is empty, as it is when it was to
// be a variable of a shell's that is not set: that is a wrong usage.
func args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, a []string) error {
		if err := check(c, a); err != nil {
			if c.HasSubCommands() {
				return usageError{err}
			}
			given := "no argument is given"
			if len(a) > 0 {
				given = fmt.Sprintf("%s given (%.100q)", howMany(len(a), "argument is", "arguments are"), strings.Join(a, " "))
			}
			return usagef("%s: expected is '%s'", given, c.UseLine())
		}
		if i := slices.Index(a, ""); i >= 0 {
			return usagef("argument %d is empty: expected is '%s'", i+1, c.UseLine())
		}
		return nil
	}
}
