package main

import (
	"fmt"
	"net"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// The first signal stops the command, and the second ends the process.
func TestObey(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		signals := make(chan os.Signal, 1)
		var stopped atomic.Bool
		var code atomic.Int64
		go obey(signals, func() { stopped.Store(true) }, func(c int) { code.Store(int64(c)) })
		synctest.Wait()
		signals <- os.Interrupt
		time.Sleep(oneSignal / 2)
		if signals <- os.Interrupt; !stopped.Load() { // the same, to the group
			t.Error("a signal does not stop it")
		}
		time.Sleep(oneSignal)
		if c := code.Load(); c != 0 {
			t.Errorf("it ended with %d", c)
		}
		signals <- syscall.SIGTERM
		if synctest.Wait(); code.Load() != 143 {
			t.Errorf("it ended with %d", code.Load())
		}
	})
}

// halfSent is a server that waits for the rest of a request's body.
func halfSent(t *testing.T) *process {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the test stops servers with SIGTERM, which Windows does not have")
	}
	s := newStarter(t)
	p := spawn(t, s.dir, "serve", "--data", s.path("t.db"), "--base-url", shownBase).listen()
	conn, err := net.Dial("tcp", strings.TrimPrefix(p.base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	fmt.Fprintf(conn, "POST /bookings HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{", s.token)
	time.Sleep(300 * time.Millisecond) // until it is read
	return p
}

func (p *process) signal(s os.Signal) {
	p.tb.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.tb.Fatal(err)
	}
}

// ends waits for the end of a process, which must have this code.
func (p *process) ends(within time.Duration, code int) {
	p.tb.Helper()
	select {
	case <-p.ended:
	case <-time.After(within):
		p.tb.Fatalf("it has not ended after %v: %s", within, &p.stderr)
	}
	if got := p.cmd.ProcessState.ExitCode(); got != code {
		p.tb.Errorf("it ends with %d, want %d: %s", got, code, &p.stderr)
	}
}

// A client that does not finish its request does not hold up the operator for
// long, and he learns of it.
func TestStopDespiteSlowClient(t *testing.T) {
	t.Parallel()
	p := halfSent(t)
	p.signal(syscall.SIGTERM)
	p.ends(10*time.Second, 0)
	if !strings.Contains(p.stderr.String(), "requests still in progress after the shutdown timeout") {
		t.Errorf("it does not say so: %s", &p.stderr)
	}
}

// A second signal ends the server at once.
func TestStopAtOnce(t *testing.T) {
	t.Parallel()
	p := halfSent(t)
	p.signal(os.Interrupt)
	time.Sleep(2 * oneSignal)
	p.signal(os.Interrupt)
	p.ends(3*time.Second, 130)
}
