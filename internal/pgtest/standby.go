package pgtest

import (
	"strings"
	"testing"
	"time"
)

// Standby starts a second server that has all that the first has, and makes
// the first wait for it: a commit is answered when it is durable on both. Its
// lifetime is that of the test; NewDatabase's URLs work there with its address
// (see [Via]). A server has one standby at most.
func (s *Server) Standby(t testing.TB) *Server {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.standby != nil {
		t.Fatal("pgtest: the server has a standby")
	}
	c, err := prepare(s.bin, s.password, s.settings)
	if err != nil {
		t.Fatal(err)
	}
	s.standby = own(t, c)
	if err := c.run("pg_basebackup", "--pgdata="+c.data(), "--checkpoint=fast", "--no-sync", "--write-recovery-conf",
		"--dbname=application_name=standby host=127.0.0.1 user="+superuser+" port="+s.port+" password="+s.password); err != nil {
		t.Fatal(err)
	}
	if err := c.start(); err != nil {
		t.Fatal(err)
	}
	s.Query("ALTER SYSTEM SET synchronous_standby_names = 'standby'")
	s.Query("SELECT pg_reload_conf()")
	s.until(t, "SELECT sync_state FROM pg_stat_replication WHERE application_name = 'standby'", "sync")
	return s.standby
}

// Promote makes a standby a server that can be written. Kill or Stop the
// former one before: two that take writes grow apart.
func (s *Server) Promote() {
	s.t.Helper()
	s.Query("SELECT pg_promote()") // and waits
	s.until(s.t, "SELECT pg_is_in_recovery()", "f")
}

// until waits until a query has a result.
func (s *Server) until(t testing.TB, sql, want string) {
	t.Helper()
	for begun := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		out, err := s.query(sql)
		if err == nil && strings.TrimSpace(out) == want {
			return
		}
		if time.Since(begun) > patience {
			t.Fatalf("pgtest: %s: %q, %v; not %q", sql, out, err, want)
		}
	}
}
