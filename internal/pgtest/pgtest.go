// Package pgtest gives tests PostgreSQL servers of their own, which they may
// kill, and a proxy that loses answers. Servers that the machine runs already
// are left alone.
//
// A server lives in a temporary folder, listens on loopback and on a socket in
// that folder, and asks for a random password. It goes, with its folder, at the
// end of its test or of the test binary, also if that is killed. For root it
// runs as the user postgres, or else as nobody: PostgreSQL refuses root.
package pgtest

import (
	"fmt"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
)

// A Server is a PostgreSQL server with all of its data: a cluster, as its
// manual has it. It is safe for concurrent use.
//
// Whatever goes wrong ends the test that Start, Shared or Standby was given
// first: only NewDatabase may be called by other tests, with their own t.
type Server struct {
	*cluster
	t testing.TB

	mu      sync.Mutex
	standby *Server
}

// Start starts a server for one test. Settings are those of postgresql.conf, as
// in "fsync=off", without which commits are durable, as they are by default.
func Start(t testing.TB, settings ...string) *Server {
	t.Helper()
	bin := programs(t)
	c, err := create(bin, settings)
	if err != nil {
		t.Fatal(err)
	}
	return own(t, c)
}

// own makes a cluster one of a test's.
func own(t testing.TB, c *cluster) *Server {
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the log of the server at %s ends with\n%s", c.addr(), c.logEnd())
		}
		if err := c.remove(); err != nil {
			t.Error(err)
		}
	})
	return &Server{cluster: c, t: t}
}

// shared is the server of all tests of a binary, which is gone with it.
var shared = sync.OnceValues(func() (*cluster, error) {
	bin, err := find()
	if err != nil {
		return nil, err
	}
	return create(bin, []string{"fsync=off", "full_page_writes=off"}) // nobody kills it, so nothing has to outlive that
})

// Shared returns the server that all tests of the binary share. Nobody stops
// it: what Kill, Stop, Standby and Promote do is for servers of one's own. So it does
// not wait for the disk (fsync=off), which nothing but a loss of power could tell.
func Shared(t testing.TB) *Server {
	t.Helper()
	programs(t)
	c, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	return &Server{cluster: c, t: t}
}

// NewDatabase makes an empty database and returns its URL. It is dropped at the
// end of the test, whoever is connected to it.
func (s *Server) NewDatabase(t testing.TB) string {
	t.Helper()
	return s.url(s.make(t, "DATABASE", "WITH (FORCE)"))
}

// NewSchema makes an empty schema in a database that others use too, and returns
// a URL with which it is all there is to be seen. It costs a fraction of a
// database. It is dropped at the end of the test.
func (s *Server) NewSchema(t testing.TB) string {
	t.Helper()
	return s.url(superuser) + "&search_path=" + s.make(t, "SCHEMA", "CASCADE")
}

// make makes something that has a name, and drops it at the end of the test.
func (s *Server) make(t testing.TB, kind, how string) (name string) {
	t.Helper()
	name = "test_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	if _, err := s.query("CREATE " + kind + " " + name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if !s.running() { // it may have been killed, and something else promoted
			return
		}
		if _, err := s.query("DROP " + kind + " IF EXISTS " + name + " " + how); err != nil {
			t.Error(err)
		}
	})
	return name
}

// Addr returns the server's address, which it keeps when it is restarted.
func (s *Server) Addr() string { return s.addr() }

// Query runs an SQL statement as the superuser and returns what psql prints of
// the result: a line for each row, columns separated by "|". It does not wait
// for a standby.
func (s *Server) Query(sql string) string {
	s.t.Helper()
	out, err := s.query(sql)
	if err != nil {
		s.t.Fatal(err)
	}
	return out
}

// Via returns the URL of a database with other hosts: of a [Proxy], or of
// several servers, of which a client is to take the one that can be written.
func Via(database string, addrs ...string) string {
	u, err := url.Parse(database)
	if err != nil {
		panic(fmt.Sprintf("pgtest: no URL of NewDatabase: %v", err))
	}
	u.Host = strings.Join(addrs, ",")
	if len(addrs) > 1 {
		q := u.Query()
		q.Set("target_session_attrs", "read-write")
		u.RawQuery = q.Encode()
	}
	return u.String()
}

// Kill ends all processes of the server at once, by SIGKILL, as a loss of power
// does. What it had promised to keep is there after a Restart.
func (s *Server) Kill() {
	s.t.Helper()
	if err := s.kill(); err != nil {
		s.t.Fatal(err)
	}
}

// Stop shuts the server down in order, which ends its connections.
func (s *Server) Stop() {
	s.t.Helper()
	if err := s.stop(); err != nil {
		s.t.Fatal(err)
	}
}

// Restart starts the server again at its address, and stops it first if it is
// running.
func (s *Server) Restart() {
	s.t.Helper()
	if err := s.stop(); err != nil {
		s.t.Fatal(err)
	}
	if err := s.start(); err != nil {
		s.t.Fatal(err)
	}
}

// url returns the URL of a database.
func (c *cluster) url(database string) string {
	u := url.URL{Scheme: "postgres", User: url.UserPassword(superuser, c.password), Host: c.addr(), Path: database, RawQuery: "sslmode=disable"}
	return u.String()
}

func (c *cluster) addr() string { return net.JoinHostPort("127.0.0.1", c.port) }
