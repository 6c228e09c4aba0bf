package httpserver_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A pipe is a listener of one connection, which is all within the process.
type pipe struct {
	conn  chan net.Conn
	ended chan struct{}
	once  sync.Once
}

func (p *pipe) Accept() (net.Conn, error) {
	select {
	case c := <-p.conn:
		return c, nil
	case <-p.ended:
		return nil, net.ErrClosed
	}
}

func (p *pipe) Close() error {
	p.once.Do(func() { close(p.ended) })
	return nil
}

func (p *pipe) Addr() net.Addr { return &net.TCPAddr{} }

// An incomplete request body gets an error when its time is over, also if net/http knows its
// length, and the connection is closed.
func TestIncompleteBodyTimesOut(t *testing.T) {
	t.Parallel()
	for name, request := range map[string]string{
		"with a length": "POST /tickets/verify HTTP/1.1\r\nHost: x\r\nContent-Type: application/octet-stream\r\nContent-Length: 50\r\n\r\nx",
		"in chunks":     "POST /tickets/verify HTTP/1.1\r\nHost: x\r\nContent-Type: application/octet-stream\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n",
		"beside":        "POST /oauth/token HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\nx",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				beside := w.server.Beside("/oauth/*", http.HandlerFunc(w.server.Refuse))
				host := &http.Server{Handler: http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
					if strings.HasPrefix(r.URL.Path, "/oauth/") {
						beside.ServeHTTP(rw, r)
						return
					}
					w.server.ServeHTTP(rw, r)
				})}
				l := &pipe{conn: make(chan net.Conn, 1), ended: make(chan struct{})}
				ours, theirs := net.Pipe()
				l.conn <- theirs
				done := make(chan error, 1)
				go func() { done <- host.Serve(l) }()
				begun := time.Now()
				fmt.Fprint(ours, request)
				_ = ours.SetReadDeadline(begun.Add(time.Hour))
				resp, err := http.ReadResponse(bufio.NewReader(ours), nil)
				if err != nil {
					t.Errorf("there is no answer in an hour: %v", err)
				} else if resp.StatusCode != 408 || !resp.Close || time.Since(begun) > time.Minute {
					t.Errorf("after %v it is answered %d, and the connection is closed: %t; want 408 within a minute, and closed", time.Since(begun), resp.StatusCode, resp.Close)
				}
				ours.Close()
				host.Close()
				<-done
			})
		})
	}
}
