package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/traintravel/traintravel/internal/keys"
	"github.com/traintravel/traintravel/internal/need"
)

// asCommandEnv makes the test binary the command. If it is tied, it ends when
// its standard input does, and so at the latest with the test.
const (
	asCommandEnv = "TEST_AS_TRAINTRAVEL_COMMAND"
	tied         = "tied"
)

func TestMain(m *testing.M) {
	switch os.Getenv(asCommandEnv) {
	case "":
		os.Exit(need.Main(m))
	case attacking:
		if err := attackToldTo(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	case tied:
		if os.Getenv("LISTEN_FDS") != "" { // nobody knew it before
			_ = os.Setenv("LISTEN_PID", strconv.Itoa(os.Getpid()))
		}
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			os.Exit(1)
		}()
	}
	main()
}

// itself is the test binary, which asCommandEnv makes the command, in a process of its own.
func itself(tb testing.TB) string {
	tb.Helper()
	need.Short(tb, "other processes")
	exe, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	return exe
}

// A process is a server command in a process of its own.
type process struct {
	tb     testing.TB
	cmd    *exec.Cmd
	began  time.Time
	base   string // where it listens; see listen
	admin  string // where its operator's listener is, if it has one
	stderr output

	listens, ended chan struct{}
}

// spawn starts a server command in a folder and does not wait for it.
func spawn(tb testing.TB, dir string, args ...string) *process {
	tb.Helper()
	return spawnOn(tb, nil, nil, dir, args...)
}

// spawnOn does so with a socket, if that is not nil, as systemd hands it over, and
// with more in its environment.
func spawnOn(tb testing.TB, socket *os.File, environ []string, dir string, args ...string) *process {
	tb.Helper()
	cmd := exec.Command(itself(tb), append(args, "--addr", "127.0.0.1:0")...)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), environ...), asCommandEnv+"="+tied)
	if socket != nil {
		cmd.ExtraFiles, cmd.Env = []*os.File{socket}, append(cmd.Env, "LISTEN_FDS=1")
	}
	return spawned(tb, cmd)
}

// spawned starts a process that is a server command.
func spawned(tb testing.TB, cmd *exec.Cmd) *process {
	tb.Helper()
	p := &process{tb: tb, cmd: cmd, listens: make(chan struct{}), ended: make(chan struct{})}
	cmd.Stderr = &p.stderr
	if _, err := cmd.StdinPipe(); err != nil { // open as long as this process lives
		tb.Fatal(err)
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	p.began = time.Now()
	if err := p.cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	go func() {
		defer close(p.ended)
		for lines := bufio.NewScanner(stdout); lines.Scan(); {
			if _, at, ok := strings.Cut(lines.Text(), "metrics are at "); ok {
				p.admin = strings.TrimSuffix(at, "/metrics")
			}
			if _, at, ok := strings.Cut(lines.Text(), "listens on "); ok {
				p.base = at
				close(p.listens)
			}
		}
		_ = p.cmd.Wait()
	}()
	tb.Cleanup(p.kill)
	return p
}

// listen waits until the process says where it listens.
func (p *process) listen() *process {
	p.tb.Helper()
	select {
	case <-p.listens:
	case <-p.ended:
		p.tb.Fatalf("the server ended: %v\n%s", p.cmd.ProcessState, &p.stderr)
	}
	return p
}

// kill ends the process as it stands.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}

// A starter starts servers that one token is good for.
type starter struct {
	dir, token string
}

func newStarter(tb testing.TB) *starter {
	tb.Helper()
	s := &starter{dir: tb.TempDir()}
	ring, err := keys.Create(s.path("t.keys.json"))
	if err != nil {
		tb.Fatal(err)
	}
	if err := ring.RecordIssuer(shownBase); err != nil {
		tb.Fatal(err)
	}
	s.token = issue(tb, "anna", s.path("t.db"))
	return s
}

// shownBase is the base URL of servers that listen elsewhere: tokens are good
// for all of them, and what they answer does not depend on their port.
const shownBase = "http://127.0.0.1:8080"

// issue has the token command make a token.
func issue(tb testing.TB, user, data string) string {
	tb.Helper()
	var stdout, stderr output
	if code := run(tb.Context(), []string{"token", "--user", user, "--data", data}, &stdout, &stderr, nil); code != 0 {
		tb.Fatalf("token: %d, %s", code, &stderr)
	}
	return strings.TrimSpace(stdout.String())
}

func (s *starter) path(file string) string { return filepath.Join(s.dir, file) }

// start starts a server on a file, searches, and returns how long it was from
// the start of the process until the answer was there.
func (s *starter) start(tb testing.TB, data string) time.Duration {
	tb.Helper()
	if own := ownKeys(s.path(data)); !exists(own) {
		text, err := os.ReadFile(s.path("t.keys.json"))
		if err := errors.Join(err, os.WriteFile(own, text, 0o600)); err != nil {
			tb.Fatal(err)
		}
	}
	p := spawn(tb, s.dir, "serve", "--data", s.path(data), "--base-url", shownBase).listen()
	defer p.kill()
	day := time.Now().AddDate(0, 0, 2).Format(time.DateOnly)
	req, err := http.NewRequest(http.MethodGet, p.base+"/trips?origin="+berlin+"&destination="+paris+"&date="+day, nil)
	if err != nil {
		tb.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}
	resp, err := client.Do(req)
	if err != nil {
		tb.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	took := time.Since(p.began)
	if err != nil || resp.StatusCode != http.StatusOK || !strings.Contains(string(text), `"train":"LA 21"`) {
		tb.Fatalf("the first answer is %d, %v: %s", resp.StatusCode, err, text)
	}
	return took
}

// A server that prints its address has trains to sell, on a new file and on an existing one.
func TestStartup(t *testing.T) {
	t.Parallel()
	s := newStarter(t)
	s.start(t, "t.db")
	s.start(t, "t.db")
}

func BenchmarkStartup(b *testing.B) {
	for _, file := range []string{"new", "existing"} {
		b.Run(file+" file", func(b *testing.B) {
			s := newStarter(b)
			s.start(b, "existing.db")
			var took time.Duration
			for i := range b.N {
				data := "existing.db"
				if file == "new" {
					data = fmt.Sprintf("%d.db", i)
				}
				took += s.start(b, data)
			}
			b.ReportMetric(float64(took.Microseconds())/1000/float64(b.N), "ms-to-first-answer")
			b.ReportMetric(0, "ns/op") // with the end of the process, which nobody waits for
		})
	}
}
