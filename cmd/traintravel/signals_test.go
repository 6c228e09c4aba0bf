//go:build unix

package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// command prepares a process that is the command, and ends with this one.
func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	c := exec.Command(itself(t), args...)
	c.Env = append(os.Environ(), asCommandEnv+"="+tied)
	_, err := c.StdinPipe()
	done(t, err)
	return c
}

// piped starts a server whose output, of both kinds, goes into one pipe, and returns the
// other end, from which is read until it listens.
func piped(t *testing.T, args ...string) (s *shop, end *os.File) {
	t.Helper()
	end, out, err := os.Pipe()
	done(t, err)
	t.Cleanup(func() { end.Close() })
	c := command(t, append(args, "--addr", "127.0.0.1:0")...)
	c.Stdout, c.Stderr = out, out
	done(t, c.Start())
	out.Close()
	s = &shop{process: &process{tb: t, cmd: c, ended: make(chan struct{})}}
	go func() {
		defer close(s.ended)
		_ = c.Wait()
	}()
	t.Cleanup(s.kill)
	var said []byte
	for !bytes.Contains(said, []byte("/stations\n")) { // the last of what it says
		b := make([]byte, 4096)
		n, err := end.Read(b)
		if err != nil {
			t.Fatalf("%v: %s", err, said)
		}
		said = append(said, b[:n]...)
	}
	_, s.base, _ = strings.Cut(string(said), "listens on ")
	s.base, _, _ = strings.Cut(s.base, "\n")
	return s, end
}

// A server continues after the reader of its log has exited.
func TestLogReaderIsGone(t *testing.T) {
	t.Parallel()
	s, end := piped(t, "serve", "--data", filepath.Join(t.TempDir(), "trains.db"))
	s.token = "not.a.token"
	end.Close()
	for range 3 {
		s.get(t, http.StatusUnauthorized, "/bookings")
	}
	s.get(t, 200, "/readyz")
	s.signal(syscall.SIGTERM)
	s.ends(time.Minute, 0)
}

// Its reader hangs: likewise.
func TestLogReaderHangs(t *testing.T) {
	t.Parallel()
	s, end := piped(t, "serve", "--data", filepath.Join(t.TempDir(), "trains.db"), "--access-log", "--rate-limit", "0")
	s.token = "not.a.token"
	const requests = 500 // of which each logs more than 200 bytes: a pipe holds 65536
	for range requests {
		s.get(t, http.StatusUnauthorized, "/bookings")
	}
	s.get(t, 200, "/readyz")
	said := make(chan []byte)
	go func() {
		b, _ := io.ReadAll(end)
		said <- b
	}()
	s.signal(syscall.SIGTERM)
	s.ends(time.Minute, 0)
	if n := bytes.Count(<-said, []byte(`msg="request refused"`)); n != requests {
		t.Errorf("the log has %d requests of %d", n, requests)
	}
}

// Signals that have no meaning for a server are ignored; those that stop it let it finish its
// work.
func TestSignals(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"serve": {"serve", "--data", filepath.Join(t.TempDir(), "trains.db")},
		"mock":  {"mock"},
	} {
		for _, end := range []syscall.Signal{syscall.SIGHUP, syscall.SIGTERM} {
			t.Run(fmt.Sprint(name, end), func(t *testing.T) {
				if name == "serve" {
					args = append(args, "--base-url", shownBase)
				}
				s := &shop{process: spawn(t, t.TempDir(), args...).listen()}
				for _, sig := range []syscall.Signal{
					syscall.SIGPIPE, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM, syscall.SIGVTALRM, syscall.SIGPROF, syscall.SIGIO,
					syscall.SIGWINCH, syscall.SIGURG, syscall.SIGCHLD, syscall.SIGCONT, syscall.SIGXCPU, syscall.SIGXFSZ, syscall.SIGTTOU,
				} {
					s.signal(sig)
					s.get(t, 200, "/readyz")
				}
				s.signal(end)
				s.ends(time.Minute, 0)
			})
		}
	}
}

// Under nohup a server continues when its terminal is closed.
func TestNohup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := exec.Command("/bin/sh", "-c", `trap "" HUP; exec "$@"`, "sh", itself(t), "serve", "--data", filepath.Join(dir, "trains.db"), "--addr", "127.0.0.1:0")
	c.Env = append(os.Environ(), asCommandEnv+"="+tied)
	s := &shop{process: spawned(t, c).listen()}
	s.signal(syscall.SIGHUP)
	s.get(t, 200, "/readyz")
	if status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.Process.Pid)); err == nil { // else it may be about to end
		_, ignored, _ := strings.Cut(string(status), "SigIgn:\t")
		ignored, _, _ = strings.Cut(ignored, "\n")
		if set, err := strconv.ParseUint(ignored, 16, 64); err != nil || set>>(syscall.SIGHUP-1)&1 == 0 {
			t.Errorf("it does not ignore SIGHUP: %q", ignored)
		}
	}
	s.signal(syscall.SIGTERM)
	s.ends(time.Minute, 0)
}

// SIGQUIT ends a server at once, with the stacks of its goroutines. Acknowledged work is kept.
func TestQuit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := newShop(t, dir)
	id := s.sells(t)
	s.signal(syscall.SIGQUIT)
	s.ends(time.Minute, 2)
	if said := s.stderr.String(); !strings.Contains(said, "goroutine ") || strings.Contains(said, s.token) {
		t.Errorf("it says %s", said)
	}
	newShop(t, dir).get(t, 200, "/bookings/"+id)
}

// A command whose output is not read to its end exits without a message, and the data is intact.
func TestOutputWithoutReader(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := newShop(t, dir)
	for range 3 {
		s.book(t)
	}
	for name, test := range map[string]struct {
		args []string
		code int
	}{
		"lists":    {[]string{"booking", "--data", s.data, "J"}, brokenPipe}, // and is broken off
		"helps":    {[]string{"--help"}, 0},
		"checks":   {[]string{"check", "--data", s.data}, 0},
		"backs up": {[]string{"backup", filepath.Join(dir, "backup.db"), "--data", s.data}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			end, out, err := os.Pipe()
			done(t, err)
			end.Close()
			c := command(t, test.args...)
			var said output
			c.Stdout, c.Stderr = out, &said
			_ = c.Run()
			out.Close()
			if code := c.ProcessState.ExitCode(); code != test.code || said.String() != "" {
				t.Errorf("it ends with %d, want %d, and says %q", code, test.code, said.String())
			}
		})
	}
	says(t, 0, "no faults found", "check", "--data", filepath.Join(dir, "backup.db"))
	s.get(t, 200, "/readyz")
}
