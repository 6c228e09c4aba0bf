package pgstore_test

import (
	"bytes"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/traintravel/traintravel/internal/pgtest"
)

// A postponer is a network that keeps what a client has sent last, after the
// client has given the connection up, and delivers it later.
type postponer struct {
	mu      sync.Mutex
	text    []byte // what it waits for
	kept    []byte
	server  *net.TCPConn
	drained chan struct{} // closed when that server has said all
}

// forward passes on what a client and the server say.
func (p *postponer) forward(client, server *net.TCPConn) {
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		_, _ = io.Copy(client, server)
		client.Close()
		_, _ = io.Copy(io.Discard, server)
	}()
	defer client.Close()
	buffer := make([]byte, 1<<16)
	for {
		n, err := client.Read(buffer)
		if err != nil {
			server.Close()
			return
		}
		p.mu.Lock()
		keep := p.text != nil && bytes.Contains(buffer[:n], p.text)
		if keep {
			p.text, p.kept, p.server, p.drained = nil, bytes.Clone(buffer[:n]), server, drained
		}
		p.mu.Unlock()
		if keep {
			return
		}
		if _, err := server.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// postpone waits for a text.
func (p *postponer) postpone(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text = []byte(text)
}

// deliver delivers what was kept, and waits until the server has done it.
func (p *postponer) deliver(t *testing.T) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.server == nil {
		t.Fatal("nothing was kept")
	}
	if _, err := p.server.Write(p.kept); err != nil {
		t.Fatal(err)
	}
	if err := p.server.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	<-p.drained
	p.server.Close()
}

// An update that reads nothing is sent in one piece. If that arrives after the
// store has given it up and done it again, it is not done a second time.
func TestUpdateArrivesLate(t *testing.T) {
	t.Parallel()
	shared := pgtest.Shared(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	p := &postponer{}
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", shared.Addr())
			if err != nil {
				client.Close()
				return
			}
			go p.forward(client.(*net.TCPConn), server.(*net.TCPConn))
		}
	}()
	s := openFor(t, pgtest.Via(shared.NewDatabase(t), l.Addr().String()), never)
	for _, warm := range []bool{false, true} {
		p.postpone("second")
		if err := put(t.Context(), s, "a", "second"); err != nil {
			t.Fatal(err)
		}
		if err := put(t.Context(), s, "a", "third"); err != nil {
			t.Fatal(err)
		}
		p.deliver(t)
		has(t, s, "a", "third")
		for range 4 {
			if err := put(t.Context(), s, "a", "last"); err != nil {
				t.Fatal(warm, err)
			}
		}
	}
}
