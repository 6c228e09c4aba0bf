package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// attacking, in asCommandEnv, makes the test binary an attacker.
const attacking = "attacking"

// An attacker is somebody who attacks a server, in a process of its own: it stands for
// another machine, so what it does to its own processor must not count. The test has told
// it what is exported here.
type attacker struct {
	Attack string // its name
	Shop   place
	Tokens []string
	Path   string // what it attacks, if not all do the same

	sent    atomic.Int64 // requests, connections and streams
	holding sync.Map     // connections, by themselves
}

// attackToldTo is the main function of the attacker: it attacks as the test says, until the test
// stops it.
func attackToldTo(orders io.Reader, tell io.Writer) error {
	in, a := json.NewDecoder(orders), &attacker{}
	if err := in.Decode(a); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		defer stop()
		_, _ = io.Copy(io.Discard, orders)
	}()
	for _, known := range attacks() {
		if known.name == a.Attack {
			fmt.Fprintln(tell, "begins")
			known.do(ctx, a)
			<-ctx.Done()
		}
	}
	fmt.Fprintln(tell, a.sent.Load())
	return nil
}

// A siege is an attacker at work.
type siege struct {
	t    *testing.T
	cmd  *exec.Cmd
	stop io.Closer
	says *bufio.Scanner
}

// besiege starts an attacker. It has the lowest priority, because a real attacker on another
// machine would not take processors from the customers.
func besiege(t *testing.T, a *attacker) *siege {
	t.Helper()
	cmd := exec.Command("nice", "-n", "19", itself(t))
	cmd.Env, cmd.Stderr = append(os.Environ(), asCommandEnv+"="+attacking), os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	s := &siege{t: t, cmd: cmd, stop: in, says: bufio.NewScanner(out)}
	if err := json.NewEncoder(in).Encode(a); err != nil {
		t.Fatal(err)
	}
	if !s.says.Scan() || s.says.Text() != "begins" {
		t.Fatalf("the attacker does not begin, it says %q", s.says.Text())
	}
	return s
}

// end stops the attacker. It returns how much the attacker did.
func (s *siege) end() string {
	s.t.Helper()
	_ = s.stop.Close()
	if !s.says.Scan() {
		s.t.Error("the attacker does not say what it did")
	}
	sent := s.says.Text()
	if err := s.cmd.Wait(); err != nil {
		s.t.Errorf("the attacker: %v", err)
	}
	return fmt.Sprintf("%s sent in %v of processor time", sent, s.cmd.ProcessState.UserTime()+s.cmd.ProcessState.SystemTime())
}

// dial connects to the server from an address, until the attack is over.
func (a *attacker) dial(ctx context.Context, address string) (net.Conn, error) {
	conn, err := from(address).DialContext(ctx, "tcp", strings.TrimPrefix(string(a.Shop), "http://"))
	if err == nil {
		a.sent.Add(1)
		a.holding.Store(conn, true)
	}
	return conn, err
}

// send makes a request, and does not mind the answer.
func (a *attacker) send(ctx context.Context, client *http.Client, method, path, token, form, body string) error {
	req, err := http.NewRequestWithContext(ctx, method, string(a.Shop)+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	if form != "" {
		req.Header.Set("Content-Type", form)
	}
	a.sent.Add(1)
	resp, err := client.Do(req)
	if err != nil {
		return nil // it goes on
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.Body.Close()
}

// crowdOf has a request made again and again, by so many at once, at most so often in all.
func crowdOf(ctx context.Context, most, atOnce int, request func() error) {
	var all sync.WaitGroup
	turns := make(chan struct{}, most)
	for range most {
		turns <- struct{}{}
	}
	close(turns)
	for range atOnce {
		all.Go(func() {
			for range turns {
				if ctx.Err() != nil || request() != nil {
					return
				}
			}
		})
	}
	all.Wait()
}

// processorTime is how much of a processor the server has used.
func (p *process) processorTime() time.Duration {
	p.tb.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		p.tb.Fatal(err)
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	var user, system int64
	if _, err := fmt.Sscan(fields[11]+" "+fields[12], &user, &system); err != nil {
		p.tb.Fatal(err)
	}
	return time.Duration(user+system) * (time.Second / 100) // of clock ticks
}
