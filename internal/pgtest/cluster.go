package pgtest

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/need"
)

const (
	superuser = "postgres"
	patience  = time.Minute // for whatever takes milliseconds on an idle machine
)

// needed are the programs of PostgreSQL that are called.
var needed = [...]string{"initdb", "postgres", "pg_ctl", "pg_basebackup", "psql"}

// find returns the folder of the first PostgreSQL that will do: that in PATH,
// or the newest of those that Debian keeps out of it.
func find() (string, error) {
	var folders []string
	if initdb, err := exec.LookPath(needed[0]); err == nil {
		if initdb, err = filepath.EvalSymlinks(initdb); err == nil {
			folders = append(folders, filepath.Dir(initdb))
		}
	}
	installed, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	slices.Sort(installed)
	slices.Reverse(installed)
	for _, folder := range append(folders, installed...) {
		if slices.ContainsFunc(needed[:], func(name string) bool {
			_, err := exec.LookPath(filepath.Join(folder, name))
			return err != nil
		}) {
			continue
		}
		version, err := exec.Command(filepath.Join(folder, "postgres"), "--version").Output()
		if major := 0; err == nil {
			if _, err = fmt.Sscanf(string(version), "postgres (PostgreSQL) %d", &major); err == nil && major >= oldest {
				return folder, nil
			}
		}
	}
	return "", errors.New("pgtest: PostgreSQL " + strconv.Itoa(oldest) + " or newer is not installed")
}

const oldest = 15 // the version that is promised to work

// programs returns the folder of PostgreSQL's programs, or skips the test, as it
// does with -short.
func programs(t testing.TB) string {
	t.Helper()
	need.Short(t, "PostgreSQL servers")
	bin, err := find()
	if err != nil {
		need.Missing(t, "PostgreSQL "+strconv.Itoa(oldest)+" or newer", "postgresql")
	}
	return bin
}

// A cluster is a folder of data, and the process that serves it if it is
// running.
type cluster struct {
	bin      string // folder of the programs
	dir      string // all that there is of it lies in here
	port     string
	password string
	settings []string
	reaper   *exec.Cmd
	alive    io.Closer // what the reaper waits for the end of

	mu      sync.Mutex
	process *exec.Cmd
	ended   chan struct{} // closed when the process has
}

// create makes an empty cluster and starts it.
func create(bin string, settings []string) (*cluster, error) {
	password := uuid.NewString()
	c, err := prepare(bin, password, settings)
	if err != nil {
		return nil, err
	}
	secret := filepath.Join(c.dir, "password")
	if err = os.WriteFile(secret, []byte(password), 0o600); err == nil {
		err = giveAway(secret)
	}
	if err == nil {
		err = c.run("initdb", "--pgdata="+c.data(), "--username="+superuser, "--pwfile="+secret,
			"--auth=scram-sha-256", "--encoding=UTF8", "--no-locale", "--no-sync", "--no-instructions")
	}
	if err == nil {
		err = c.start()
	}
	if err != nil {
		return nil, errors.Join(err, c.remove())
	}
	return c, nil
}

// prepare makes the folder of a cluster, which has no data yet.
func prepare(bin, password string, settings []string) (c *cluster, err error) {
	c = &cluster{bin: bin, password: password, settings: settings}
	if c.dir, err = os.MkdirTemp("", "pgtest-"); err != nil {
		return nil, err
	}
	if len(c.dir) > 80 {
		return nil, errors.Join(fmt.Errorf("pgtest: no socket can be in %s: the name is too long, set TMPDIR to another folder", c.dir), os.Remove(c.dir))
	}
	if err = giveAway(c.dir); err == nil {
		err = c.startReaper()
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(c.dir))
	}
	return c, nil
}

// startReaper starts the process that stops the server and removes the folder
// when its input ends. That is when remove closes it or when this process ends,
// however it does.
func (c *cluster) startReaper() (err error) {
	c.reaper = c.command("/bin/sh", "-c", `read -r _; "$1" stop --pgdata=data --mode=immediate --silent; cd /; rm -rf "$2"`, "reaper", filepath.Join(c.bin, "pg_ctl"), c.dir)
	if c.alive, err = c.reaper.StdinPipe(); err != nil {
		return err
	}
	return c.reaper.Start()
}

// remove stops the server and removes all of it.
func (c *cluster) remove() error {
	err := errors.Join(c.alive.Close(), c.reaper.Wait())
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.process != nil {
		err = errors.Join(err, c.wait())
	}
	return err
}

func (c *cluster) data() string { return filepath.Join(c.dir, "data") }

// command prepares a program of PostgreSQL, or another by its path. It sees
// nothing of the environment: there could be settings for other servers.
func (c *cluster) command(name string, args ...string) *exec.Cmd {
	if !filepath.IsAbs(name) {
		name = filepath.Join(c.bin, name)
	}
	cmd := exec.Command(name, args...)
	cmd.Dir = c.dir
	cmd.Env = []string{"PATH=/usr/bin:/bin", "LC_ALL=C", "PGPASSWORD=" + c.password, "PGCONNECT_TIMEOUT=60",
		"PGOPTIONS=-c synchronous_commit=local"} // a standby may be dead
	cmd.SysProcAttr = unprivileged()
	return cmd
}

// run runs a program to its end.
func (c *cluster) run(name string, args ...string) error {
	if out, err := c.command(name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("pgtest: %s: %w\n%s", name, err, out)
	}
	return nil
}

// query runs a statement as the superuser.
func (c *cluster) query(sql string) (string, error) {
	out, err := c.command("psql", "--no-psqlrc", "--quiet", "--no-align", "--tuples-only", "--command="+sql,
		"--host=127.0.0.1", "--port="+c.port, "--username="+superuser, "--dbname=postgres").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("pgtest: %s: %w\n%s", sql, err, out)
	}
	return strings.TrimSuffix(string(out), "\n"), nil
}

// start starts the server, at its address if it has one.
func (c *cluster) start() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.port != "" {
		return c.serve(c.port)
	}
	var err error
	for range 10 { // another process may take a port in the moment after it was seen free
		var port string
		if port, err = freePort(); err != nil {
			return err
		}
		if err = c.serve(port); err == nil {
			c.port = port
			return nil
		}
		if !strings.Contains(err.Error(), "Address already in use") {
			return err
		}
	}
	return err
}

// freePort returns a port that nobody has. It is none that the system gives to
// outgoing connections: one of those could take the port of a server that is
// down, and even connect to itself there.
func freePort() (port string, err error) {
	for range 100 {
		port = strconv.Itoa(15000 + rand.N(15000))
		var l net.Listener
		if l, err = net.Listen("tcp", "127.0.0.1:"+port); err == nil {
			return port, l.Close()
		}
	}
	return "", err
}

// serve starts the process and waits until it can be used.
func (c *cluster) serve(port string) error {
	log, err := os.OpenFile(c.logFile(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	args := []string{"-D", c.data(), "-c", "port=" + port, "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=" + c.dir}
	for _, s := range append([]string{"max_connections=200"}, c.settings...) {
		args = append(args, "-c", s)
	}
	cmd := c.command("postgres", args...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // how it ended is in the log
		close(ended)
	}()
	c.process, c.ended = cmd, ended
	for begun := time.Now(); time.Since(begun) < patience; time.Sleep(5 * time.Millisecond) {
		select {
		case <-ended:
			c.process = nil
			return fmt.Errorf("pgtest: the server ends as soon as it is started:\n%s", c.logEnd())
		default:
		}
		pid, status := c.pidFile(0), c.pidFile(7)
		if pid == strconv.Itoa(cmd.Process.Pid) && status == "ready" {
			return nil
		}
	}
	return errors.Join(fmt.Errorf("pgtest: the server does not become ready:\n%s", c.logEnd()), c.killProcess())
}

// pidFile returns a line of the file that a server says in how it is: the first
// is its process, the seventh its shared memory, the eighth its status.
func (c *cluster) pidFile(line int) string {
	text, _ := os.ReadFile(filepath.Join(c.data(), "postmaster.pid"))
	if lines := strings.Split(string(text), "\n"); line < len(lines) {
		return strings.TrimSpace(lines[line])
	}
	return ""
}

func (c *cluster) running() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.process != nil
}

// stop shuts the server down, if it is running.
func (c *cluster) stop() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.process == nil {
		return nil
	}
	if err := c.process.Process.Signal(os.Interrupt); err != nil {
		return err
	}
	return c.wait()
}

// wait waits for the end of the process.
func (c *cluster) wait() error {
	select {
	case <-c.ended:
		c.process = nil
		return nil
	case <-time.After(patience):
		return errors.Join(fmt.Errorf("pgtest: the server does not end:\n%s", c.logEnd()), c.killProcess())
	}
}

// kill ends the process and its children, if it is running.
func (c *cluster) kill() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.process == nil {
		return nil
	}
	return c.killProcess()
}

func (c *cluster) killProcess() error {
	if err := killTree(c.process.Process); err != nil {
		return err
	}
	<-c.ended
	c.process = nil
	// What else a killed server leaves: a segment of shared memory that only
	// marks it as running, and a file with the ID of its process, which may
	// soon be another's.
	if segment := strings.Fields(c.pidFile(6)); len(segment) == 2 {
		_ = c.command("/usr/bin/ipcrm", "-m", segment[1]).Run()
	}
	return os.Remove(filepath.Join(c.data(), "postmaster.pid"))
}

func (c *cluster) logFile() string { return filepath.Join(c.dir, "log") }

// logEnd returns the last lines of the server's log.
func (c *cluster) logEnd() string {
	text, err := os.ReadFile(c.logFile())
	if err != nil {
		return err.Error()
	}
	if over := len(text) - 4000; over > 0 {
		text = text[over:]
	}
	return string(text)
}
