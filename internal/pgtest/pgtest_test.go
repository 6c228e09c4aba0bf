package pgtest_test

import (
	"bufio"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/traintravel/traintravel/internal/need"
	"github.com/traintravel/traintravel/internal/pgtest"
)

// psql runs a statement on a database, by its URL alone.
func psql(t *testing.T, database, sql string) (string, error) {
	t.Helper()
	program, err := exec.LookPath("psql")
	if err != nil {
		found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/psql")
		if len(found) == 0 {
			need.Missing(t, "psql", "postgresql-client")
		}
		program = found[len(found)-1]
	}
	cmd := exec.CommandContext(t.Context(), program, "-XAtqc", sql, database)
	cmd.Env = []string{"LC_ALL=C"}
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// want runs a statement that succeeds with a result.
func want(t *testing.T, database, sql, result string) {
	t.Helper()
	if out, err := psql(t, database, sql); err != nil || out != result {
		t.Fatalf("%s: %q, %v; want %q", sql, out, err, result)
	}
}

func fails(t *testing.T, database, sql string) {
	t.Helper()
	if out, err := psql(t, database, sql); err == nil {
		t.Fatalf("%s: %q, and no error", sql, out)
	}
}

// Databases of a shared server know nothing of each other, and go with their tests.
func TestShared(t *testing.T) {
	t.Parallel()
	var first string
	for _, name := range []string{"a", "b", "c"} {
		t.Run(name, func(t *testing.T) {
			db := pgtest.Shared(t).NewDatabase(t)
			want(t, db, "CREATE TABLE t (n int); INSERT INTO t VALUES (1); SELECT count(*) FROM t", "1")
			if first == "" {
				first = db
			}
		})
	}
	fails(t, first, "SELECT 1")
	s := pgtest.Shared(t)
	want(t, s.NewDatabase(t), "SHOW fsync", "off")
	if got := s.Query("SELECT 1, 'two'"); got != "1|two" {
		t.Errorf("Query returns %q", got)
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	s := pgtest.Start(t, "fsync=off", "max_connections=20")
	db := s.NewDatabase(t)
	want(t, db, "SHOW fsync", "off")
	want(t, db, "SHOW max_connections", "20")
	u, err := url.Parse(db)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword("postgres", "guess")
	fails(t, u.String(), "SELECT 1")
	socket := s.Query("SHOW unix_socket_directories")
	u, _ = url.Parse(db)
	u.Host, u.RawQuery = "", "host="+socket+"&port="+s.Addr()[strings.LastIndexByte(s.Addr(), ':')+1:]
	if os.Geteuid() == 0 { // others are not let into the folder of another user
		want(t, u.String(), "SELECT 1", "1")
	}
}

// Committed data survives a kill; the server does not respond in between.
func TestKillAndRestart(t *testing.T) {
	t.Parallel()
	s := pgtest.Start(t)
	db := s.NewDatabase(t)
	want(t, db, "CREATE TABLE t (n int); INSERT INTO t VALUES (1)", "")
	for n, end := range []func(){s.Kill, s.Stop, func() {}, s.Kill} {
		end()
		if n != 2 {
			fails(t, db, "SELECT 1")
		}
		addr := s.Addr()
		s.Restart()
		if s.Addr() != addr {
			t.Fatalf("the server was at %s and is at %s", addr, s.Addr())
		}
		want(t, db, "SELECT count(*) FROM t", "1")
	}
	s.Kill()
	s.Kill() // does nothing
}

// Kill ends those who are at work.
func TestKillBusy(t *testing.T) {
	t.Parallel()
	s := pgtest.Start(t)
	db := s.NewDatabase(t)
	done := make(chan error, 1)
	go func() {
		_, err := psql(t, db, "CREATE TABLE t (n int); SELECT pg_sleep(600)")
		done <- err
	}()
	for s.Query("SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(600)' AND state = 'active' AND pid <> pg_backend_pid()") != "1" {
		time.Sleep(10 * time.Millisecond)
	}
	s.Kill()
	if err := <-done; err == nil {
		t.Error("who was at work has not noticed")
	}
	s.Restart()
}

// A standby has what was committed, says so before the commit is answered, and
// takes writes when it is promoted.
func TestStandby(t *testing.T) {
	t.Parallel()
	primary := pgtest.Start(t)
	db := primary.NewDatabase(t)
	want(t, db, "CREATE TABLE t (n int); INSERT INTO t VALUES (1)", "")
	standby := primary.Standby(t)
	both := pgtest.Via(db, standby.Addr(), primary.Addr())
	want(t, both, "INSERT INTO t VALUES (2); SHOW synchronous_standby_names", "standby")
	fails(t, pgtest.Via(db, standby.Addr()), "INSERT INTO t VALUES (3)")

	primary.Kill()
	fails(t, both, "SELECT 1")
	standby.Promote()
	want(t, both, "INSERT INTO t VALUES (4); SELECT count(*) FROM t", "3")

	again := standby.Standby(t) // which leaves one more chance
	standby.Kill()
	again.Promote()
	want(t, pgtest.Via(db, again.Addr()), "INSERT INTO t VALUES (5); SELECT count(*) FROM t", "4")
}

// doomedEnv makes this binary a process that is killed.
const doomedEnv = "TRAINTRAVEL_PGTEST_DOOMED"

func TestDoomed(t *testing.T) {
	if os.Getenv(doomedEnv) == "" {
		return // what is to be seen is seen by TestBinaryKilled
	}
	s := pgtest.Shared(t)
	own := pgtest.Start(t)
	println(s.Addr(), own.Addr(), own.Query("SHOW unix_socket_directories"))
	time.Sleep(time.Minute)
}

// A test binary that is killed leaves no servers and no folders.
func TestBinaryKilled(t *testing.T) {
	t.Parallel()
	pgtest.Shared(t) // or there is nothing to be seen
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.run=^TestDoomed$")
	cmd.Env = append(os.Environ(), doomedEnv+"=1")
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if killed := cmd.Process.Kill(); err != nil || killed != nil {
		t.Fatal(line, err, killed)
	}
	_ = cmd.Wait()
	said := strings.Fields(line)
	if len(said) != 3 {
		t.Fatalf("it said %q", line)
	}
	gone := func() bool {
		for _, addr := range said[:2] {
			if c, err := net.Dial("tcp", addr); err == nil {
				c.Close()
				return false
			}
		}
		_, err := os.Stat(said[2])
		return os.IsNotExist(err)
	}
	for begun := time.Now(); !gone(); time.Sleep(20 * time.Millisecond) {
		if time.Since(begun) > time.Minute {
			t.Fatalf("of a killed process this is left: %q", said)
		}
	}
}

// Schemas of a shared server know nothing of each other, and go with their tests.
func TestSchema(t *testing.T) {
	t.Parallel()
	s := pgtest.Shared(t)
	for _, name := range []string{"a", "b"} {
		t.Run(name, func(t *testing.T) {
			url := s.NewSchema(t)
			name := url[strings.LastIndexByte(url, '=')+1:]
			want(t, strings.TrimSuffix(url, "&search_path="+name), "CREATE TABLE "+name+".t (n int)", "")
		})
	}
	if got := s.Query("SELECT count(*) FROM pg_tables WHERE tablename = 't' AND schemaname LIKE 'test_%'"); got != "0" {
		t.Errorf("%s tables are left", got)
	}
}
