//go:build unix

package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/traintravel/traintravel/internal/need"
)

// If the path of the data file is long, the socket is beside it all the same, and only for its
// owner. No shared folder is involved.
func TestSocketOfALongPath(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), strings.Repeat("long", 30), strings.Repeat("longer", 20))
	done(t, os.MkdirAll(dir, 0o700))
	s := newShop(t, dir)
	socket, err := socketPath(s.data)
	done(t, err)
	info, err := os.Lstat(socket)
	done(t, err)
	if filepath.Dir(socket) != target(dir) || info.Mode() != os.ModeSocket|0o600 {
		t.Errorf("%s has the mode %v", socket, info.Mode())
	}
	says(t, 0, "has all data", "backup", filepath.Join(t.TempDir(), "backup.db"), "--data", s.data)
	s.signal(syscall.SIGTERM)
	s.ends(time.Minute, 0)
	if _, err := os.Lstat(socket); !os.IsNotExist(err) {
		t.Errorf("the socket is still there: %v", err)
	}
}

// A name that is too long for a socket has another one.
func TestSocketOfALongName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data := filepath.Join(dir, strings.Repeat("n", 200))
	socket, err := socketPath(data)
	done(t, err)
	again, err := socketPath(filepath.Join(dir, strings.Repeat("n", 199)))
	done(t, err)
	if filepath.Dir(socket) != target(dir) || len(filepath.Base(socket)) > maxSocketName || socket == again {
		t.Errorf("%s and %s", socket, again)
	}
	if code := start(t, "serve", "--data", data, "--keys", filepath.Join(dir, "keys.json")).stop(); code != 0 {
		t.Errorf("it ends with %d", code)
	}
}

// A data file that is a link has one socket, whatever it is called, and also when the file
// is gone to which the link leads.
func TestSocketOfALink(t *testing.T) {
	t.Parallel()
	dir := target(t.TempDir())
	done(t, os.Symlink("there/real.db", filepath.Join(dir, "link.db")))
	for _, make := range []func() error{
		func() error { return os.Mkdir(filepath.Join(dir, "there"), 0o700) },
		func() error { return os.WriteFile(filepath.Join(dir, "there", "real.db"), nil, 0o600) },
	} {
		done(t, make())
		if got, err := socketPath(filepath.Join(dir, "link.db")); err != nil || got != filepath.Join(dir, "there", "real.db.sock") {
			t.Errorf("%s, %v", got, err)
		}
	}
}

// A file that is not a socket is left in the socket's place, and the server logs it.
func TestFileInPlaceOfSocket(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data := filepath.Join(dir, "trains.db")
	done(t, os.WriteFile(data+".sock", []byte("mine"), 0o600))
	p := spawn(t, dir, "serve", "--data", data)
	p.ends(time.Minute, 1)
	if text, err := os.ReadFile(data + ".sock"); !strings.Contains(p.stderr.String(), "trains.db.sock: another file has this name") || string(text) != "mine" {
		t.Errorf("it says %s, and the file has %q, %v", &p.stderr, text, err)
	}
}

// A socket that somebody removes is made again; commands reach the server.
func TestSocketRemoved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := newShop(t, dir)
	done(t, os.Remove(s.data+".sock"))
	s.logs(t, "control socket was missing and has been made again")
	says(t, 0, "has all data", "backup", filepath.Join(dir, "backup.db"), "--data", s.data)
	s.signal(syscall.SIGTERM)
	s.ends(time.Minute, 0)
	only(t, dir, "backup.db", "trains.db", "trains.keys.json")
}

// A command reports that a server does not respond, and waits no longer than its limit.
func TestSilentServer(t *testing.T) {
	t.Parallel()
	s := newShop(t, t.TempDir())
	ask := func(longest time.Duration) (string, error) {
		var told output
		a := asker{data: s.data, warn: &told, soon: time.Millisecond, again: time.Minute, longest: longest}
		err := a.do(t.Context(), http.MethodGet, "/backup", nil, func(r *http.Response) error {
			_, err := io.Copy(io.Discard, r.Body)
			return err
		})
		return told.String(), err
	}
	s.signal(syscall.SIGSTOP)
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(s.cmd.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Fatalf("the server is not stopped: %v, %v", status, err)
	}
	told, err := ask(100 * time.Millisecond)
	if err == nil || !strings.Contains(err.Error(), "has not answered for 100ms") || !strings.Contains(told, "still waiting: no answer from the server") {
		t.Errorf("it says %q, and %v", told, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a := asker{data: s.data, warn: io.Discard, soon: time.Minute, longest: time.Minute}
	if err := a.do(ctx, http.MethodGet, "/backup", nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted, it says %v", err)
	}
	s.signal(syscall.SIGCONT)
	if _, err := ask(time.Minute); err != nil {
		t.Error(err)
	}
}

// nobody is another user than the one that runs the tests.
const nobody = 65534

// A stranger is another user, who has a folder and a copy of the program.
type stranger struct {
	t        *testing.T
	dir, exe string
}

func newStranger(t *testing.T) *stranger {
	t.Helper()
	if os.Geteuid() != 0 {
		need.Skip(t, "only root can start processes of another user: run this test as root")
	}
	n := &stranger{t: t, dir: t.TempDir()}
	exe := itself(t)
	n.exe = filepath.Join(n.dir, "traintravel")
	if os.Link(exe, n.exe) != nil {
		text, err := os.ReadFile(exe)
		done(t, err)
		done(t, os.WriteFile(n.exe, text, 0o755))
	}
	done(t, os.Chmod(filepath.Dir(n.dir), 0o755)) // of this test
	done(t, os.Chown(n.dir, nobody, nobody))
	return n
}

// command is a command of the stranger's.
func (n *stranger) command(args ...string) *exec.Cmd {
	c := exec.Command(n.exe, args...)
	c.Dir = n.dir
	c.Env = append(os.Environ(), asCommandEnv+"="+tied)
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	return c
}

// serve starts a server of the stranger's, and returns its data file.
func (n *stranger) serve() (data string, p *process) {
	n.t.Helper()
	data = filepath.Join(n.dir, "strange.db")
	return data, spawned(n.t, n.command("serve", "--data", data, "--addr", "127.0.0.1:0")).listen()
}

// If a server of another user listens at the socket of a data file, commands refuse it, and get
// none of its data for a backup.
func TestStrangersSocket(t *testing.T) {
	t.Parallel()
	n := newStranger(t)
	_, _ = n.serve()
	dir := t.TempDir()
	s := newShop(t, dir)
	s.signal(syscall.SIGTERM)
	s.ends(time.Minute, 0)
	done(t, os.Symlink(filepath.Join(n.dir, "strange.db.sock"), s.data+".sock"))
	backup := filepath.Join(dir, "backup.db")
	for _, args := range [][]string{{"backup", backup}, {"check"}, {"booking", "J"}, {"import", writeFeed(t, "1")}} {
		if code, stdout, stderr := once(t, nil, append(args, "--data", s.data)...); code != 1 || stdout != "" || !strings.Contains(stderr, "of user 65534 listens there, which does not own the data file") {
			t.Errorf("%v: %d, %s, %s", args, code, stdout, stderr)
		}
	}
	if _, err := os.Stat(backup); !os.IsNotExist(err) {
		t.Errorf("there is a backup: %v", err)
	}
}

// The socket is only for its owner, and a server refuses another user who connects all the same.
func TestStrangerAsks(t *testing.T) {
	t.Parallel()
	n := newStranger(t)
	dir := t.TempDir()
	done(t, os.Chmod(dir, 0o755))
	done(t, os.Chmod(filepath.Dir(dir), 0o755))
	s := newShop(t, dir)
	ask := func() string {
		c := n.command("backup", filepath.Join(n.dir, "stolen.db"), "--data", s.data)
		_, err := c.StdinPipe() // open as long as this process lives
		done(t, err)
		var said output
		c.Stdout, c.Stderr = &said, &said
		if err := c.Run(); err == nil {
			t.Errorf("it gets %s", &said)
		}
		return said.String()
	}
	if said := ask(); !strings.Contains(said, "run this command as the user of the server") {
		t.Errorf("it is told %s", said)
	}
	done(t, os.Chmod(s.data+".sock", 0o666))
	ask()
	s.logs(t, "connection to the control socket refused")
	says(t, 0, "has all data", "backup", filepath.Join(dir, "backup.db"), "--data", s.data)
}

// Root asks the server of another user, also when its data file is gone.
func TestRootAsks(t *testing.T) {
	t.Parallel()
	n := newStranger(t)
	data, _ := n.serve()
	dir := t.TempDir()
	says(t, 0, "has all data", "backup", filepath.Join(dir, "one.db"), "--data", data)
	done(t, os.Remove(data))
	says(t, 0, "has all data", "backup", filepath.Join(dir, "two.db"), "--data", data)
}
