package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"syscall"
	"time"
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

// waits are how long clients, and the end of the server, may take at most.
type waits struct {
	header, request, answer, idle time.Duration // of a connection
	leave                         time.Duration // for clients to close their connections, and then for requests to come on those that are new
	drain                         time.Duration // for requests in progress, after that
	deliver                       time.Duration // for posts of webhooks in progress, after that
	end                           time.Duration // for the rest of the background work
	file                          time.Duration // for another server to let go of the file
}

var usualWaits = waits{
	header: 10 * time.Second, request: 30 * time.Second, answer: 2 * time.Minute, idle: 2 * time.Minute,
	leave: time.Second, drain: 5 * time.Second, deliver: time.Second, end: time.Second,
	file: 30 * time.Second,
}

// invalidValue is the error of a value that has not the form that is wanted. source is the
// flag or variable that it is of, or FILE:LINE: and the setting.
func invalidValue(source, value, want string) error {
	place, name := "", source
	if i := strings.LastIndex(source, ": "); i >= 0 {
		place, name = source[:i+2], source[i+2:]
	}
	return usagef("%sinvalid %s %.100q: want %s", place, name, value, want)
}
