//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/traintravel/traintravel/internal/pgtest"
)

// An upgrade under load drops no request: the next server gets the socket of the previous one,
// and connections wait in it meanwhile.
func TestUpgradeFile(t *testing.T) {
	t.Parallel()
	s := newStarter(t)
	u := s.newUpgrade(t, "--data", s.path("t.db"))
	old := u.spawn()
	old.listen()
	defer u.load(t, s.token)()
	for range 2 {
		next := u.spawn() // waits for the file
		u.some(t)
		old.signal(syscall.SIGTERM)
		old.ends(time.Minute, 0)
		next.listen()
		u.some(t)
		old = next
	}
}

// With a database, both serve for a while.
func TestUpgradePostgres(t *testing.T) {
	t.Parallel()
	url := pgtest.Shared(t).NewDatabase(t)
	s := newStarter(t)
	u := s.newUpgrade(t, "--postgres", url, "--keys", s.path("t.keys.json"))
	old := u.spawn()
	old.listen()
	defer u.load(t, s.token)()
	for range 2 {
		next := u.spawn()
		next.listen()
		u.some(t)
		old.signal(syscall.SIGTERM)
		old.ends(time.Minute, 0)
		u.some(t)
		old = next
	}
}

// An upgrade is one server after the other at a socket.
type upgrade struct {
	spawn  func() *process
	addr   string
	done   atomic.Int64 // requests
	failed atomic.Pointer[error]
}

// newUpgrade opens the socket.
func (s *starter) newUpgrade(t *testing.T, where ...string) *upgrade {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	socket, err := l.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { socket.Close() })
	args := append([]string{"serve", "--base-url", shownBase, "--rate-limit", "0"}, where...)
	return &upgrade{addr: l.Addr().String(), spawn: func() *process { return spawnOn(t, socket, nil, s.dir, args...) }}
}

// some waits for some more requests.
func (u *upgrade) some(t *testing.T) {
	t.Helper()
	for until := u.done.Load() + 200; u.done.Load() < until; time.Sleep(time.Millisecond) {
		if err := u.failed.Load(); err != nil {
			t.Fatal(*err)
		}
	}
}

// load has clients book, look and cancel, some on connections that they keep, and
// some on a new one for each request. None tries anything again.
func (u *upgrade) load(t *testing.T, token string) (end func()) {
	t.Helper()
	var stop atomic.Bool
	var clients sync.WaitGroup
	for n := range 6 {
		c := client{addr: u.addr, token: token, keep: n%3 != 0}
		day := time.Now().AddDate(0, 0, 2+n).Format(time.DateOnly)
		clients.Go(func() {
			defer c.close()
			for !stop.Load() {
				if err := c.journey(day, &u.done); err != nil {
					u.failed.CompareAndSwap(nil, &err)
					return
				}
			}
		})
	}
	return func() {
		stop.Store(true)
		clients.Wait()
		if err := u.failed.Load(); err != nil {
			t.Error(*err)
		}
		t.Logf("%d requests", u.done.Load())
	}
}

// A client does what HTTP asks of it, and no more.
type client struct {
	addr, token string
	keep        bool
	conn        net.Conn
	r           *bufio.Reader
}

func (c *client) close() {
	if c.conn != nil {
		c.conn.Close()
		c.conn = nil
	}
}

// journey books a trip of a day, looks at the booking, and cancels it.
func (c *client) journey(day string, done *atomic.Int64) error {
	ask := func(status int, method, target, body string) (id string, err error) {
		got, text, err := c.ask(method, target, body)
		if err != nil || got != status {
			return "", fmt.Errorf("%s %s, connection kept %t: %d %.300s %w", method, target, c.keep, got, text, err)
		}
		done.Add(1)
		var one struct {
			ID   string
			Data []struct{ ID string }
		}
		if len(text) > 0 {
			if err := json.Unmarshal(text, &one); err != nil {
				return "", err
			}
		}
		if len(one.Data) > 0 {
			one.ID = one.Data[0].ID
		}
		return one.ID, nil
	}
	trip, err := ask(200, "GET", "/trips?limit=1&origin="+berlin+"&destination="+paris+"&date="+day, "")
	if err != nil {
		return err
	}
	id, err := ask(201, "POST", "/bookings", `{"trip_id":"`+trip+`","passenger_name":"Anna Example"}`)
	if err != nil {
		return err
	}
	_, err = ask(200, "GET", "/bookings/"+id, "")
	_, err2 := ask(204, "DELETE", "/bookings/"+id, "")
	return errors.Join(err, err2)
}

func (c *client) ask(method, target, body string) (status int, text []byte, err error) {
	if c.conn == nil {
		if c.conn, err = net.Dial("tcp", c.addr); err != nil {
			return 0, nil, err
		}
		c.r = bufio.NewReader(c.conn)
	}
	req, err := http.NewRequest(method, "http://"+c.addr+target, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Close = !c.keep
	req.Header.Set("Authorization", "Bearer "+c.token)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if err := req.Write(c.conn); err != nil {
		return 0, nil, err
	}
	resp, err := http.ReadResponse(c.r, req)
	if err != nil {
		return 0, nil, err
	}
	text, err = io.ReadAll(resp.Body)
	if resp.Close {
		c.close()
	}
	return resp.StatusCode, text, err
}

// The notifications to systemd, and the sockets from it that are refused.
func TestSystemd(t *testing.T) {
	t.Parallel()
	s := newStarter(t)
	path := filepath.Join(os.TempDir(), "traintravel-test-"+strconv.Itoa(os.Getpid())+".sock") // short enough
	told, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		told.Close()
		os.Remove(path)
	})
	p := spawnOn(t, nil, []string{"NOTIFY_SOCKET=" + path}, s.dir, "serve", "--data", s.path("t.db"), "--base-url", shownBase)
	hears := func(want string) {
		t.Helper()
		b := make([]byte, 1000)
		if n, err := told.Read(b); err != nil || string(b[:n]) != want {
			t.Fatalf("it says %q, want %q: %v\n%s", b[:n], want, err, &p.stderr)
		}
	}
	hears("READY=1")
	p.listen()
	p.signal(syscall.SIGTERM)
	hears("STOPPING=1")
	p.ends(time.Minute, 0)

	none, err := os.Open(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer none.Close()
	p = spawnOn(t, none, nil, s.dir, "serve", "--data", s.path("t.db"), "--base-url", shownBase)
	if p.ends(time.Minute, 1); !strings.Contains(p.stderr.String(), "systemd passed") {
		t.Errorf("it says %s", &p.stderr)
	}
}
