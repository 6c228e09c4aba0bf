package pgtest

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"slices"
	"sync"
	"testing"
	"time"
)

// A Proxy stands between clients and a server and does to their connections
// what networks do. It is safe for concurrent use.
//
// It follows the protocol (version 3, without TLS), so that it can lose the
// answer to one request and no other: a request is what a client sends up to
// and with a Query or a Sync, and all that belongs together in a pipeline.
type Proxy struct {
	target   string
	listener net.Listener
	wg       sync.WaitGroup

	mu     sync.Mutex
	refuse bool
	delay  time.Duration
	traps  []*trap
	conns  map[*conn]bool
}

// A Moment is when a proxy cuts a connection, seen from a request.
type Moment int

// The moments.
const (
	// BeforeRequest: the server does not get the statement, and what came
	// before it in the same request is not completed.
	BeforeRequest Moment = iota
	// BeforeAnswer: the server has done the request and says so, and the
	// client hears nothing of that.
	BeforeAnswer
)

// A trap waits for a statement.
type trap struct {
	moment Moment
	text   []byte
	sprung chan struct{}
}

// NewProxy starts a proxy to a server, which need not run. It ends with the
// test. Clients connect to [Proxy.Addr]; see [Via].
func NewProxy(t testing.TB, addr string) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{target: addr, listener: l, conns: map[*conn]bool{}}
	p.wg.Go(p.accept)
	t.Cleanup(func() {
		p.Refuse(true)
		_ = l.Close()
		p.Cut()
		p.wg.Wait()
	})
	return p
}

// Addr returns the address at which the proxy listens.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Cut ends all connections of the moment.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		c.cut()
	}
}

// Refuse makes the proxy end new connections at once, or not any more.
func (p *Proxy) Refuse(refuse bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refuse = refuse
}

// Delay makes each request arrive later.
func (p *Proxy) Delay(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay = d
}

// CutAt cuts one connection: the next on which the client runs a statement that
// contains a text, in letters of any case, in itself or in a parameter. It does
// not matter when the statement was prepared. The channel that is returned is
// closed when it has been done.
func (p *Proxy) CutAt(m Moment, text string) <-chan struct{} {
	trap := &trap{m, bytes.ToLower([]byte(text)), make(chan struct{})}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.traps = append(p.traps, trap)
	return trap.sprung
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return // it was closed
		}
		p.wg.Go(func() { p.serve(client) })
	}
}

// serve forwards what one client and the server say, until either ends.
func (p *Proxy) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", p.target)
	if err != nil {
		return
	}
	defer server.Close()
	c := &conn{proxy: p, client: client, server: server, prepared: map[string][]byte{}}
	p.mu.Lock()
	if p.refuse {
		p.mu.Unlock()
		return
	}
	p.conns[c] = true
	p.mu.Unlock()
	p.wg.Go(func() {
		c.answers()
		c.cut()
	})
	c.requests()
	c.cut()
	p.mu.Lock()
	delete(p.conns, c)
	p.mu.Unlock()
}

// A conn is a connection of a client, and the one to the server made for it.
type conn struct {
	proxy          *Proxy
	client, server net.Conn
	prepared       map[string][]byte // statements of the client by name; the last that had none is ""

	mu   sync.Mutex
	sent int // requests that the client has completed; connecting is the first
	done int // those that the server has answered
	trap *trap
	at   int // the request whose answer falls into the trap
}

func (c *conn) cut() {
	_ = c.client.Close()
	_ = c.server.Close()
}

// requests forwards what the client sends.
func (c *conn) requests() {
	r, w := bufio.NewReader(c.client), bufio.NewWriter(c.server)
	for started := false; ; {
		var kind byte
		if started {
			var err error
			if kind, err = r.ReadByte(); err != nil {
				return
			}
		}
		body, err := readBody(r)
		if err != nil {
			return
		}
		if !started && asksForEncryption(body) {
			if _, err := c.client.Write([]byte{'N'}); err != nil {
				return
			}
			continue
		}
		started = true // or it asked to cancel a request, and nothing comes after that
		if !c.pass(kind, body, w) {
			return
		}
		if r.Buffered() == 0 && w.Flush() != nil {
			return
		}
	}
}

// asksForEncryption says whether that is what a client begins with. By TLS or by
// GSSAPI, the proxy has none.
func asksForEncryption(body []byte) bool {
	if len(body) != 8 {
		return false
	}
	code := binary.BigEndian.Uint32(body[4:])
	return code == 80877103 || code == 80877104
}

// pass forwards one message of the client, and says whether to go on.
func (c *conn) pass(kind byte, body []byte, w *bufio.Writer) bool {
	ends := kind == 0 || kind == 'Q' || kind == 'S' || kind == 'F'
	trap, delay := c.proxy.look(c.runs(kind, body), ends)
	if trap != nil && trap.moment == BeforeRequest {
		c.cut()
		close(trap.sprung)
		return false
	}
	time.Sleep(delay)
	c.mu.Lock()
	if trap != nil {
		c.trap, c.at = trap, c.sent+1
	}
	if ends {
		c.sent++
	}
	c.mu.Unlock()
	if kind != 0 {
		_ = w.WriteByte(kind)
	}
	_, err := w.Write(body)
	return err == nil
}

// runs returns what a message runs: the text of its statement, and parameters.
func (c *conn) runs(kind byte, body []byte) []byte {
	switch kind {
	case 'Q':
		return body
	case 'P': // a name and a statement
		name, statement, _ := bytes.Cut(body[4:], []byte{0})
		c.prepared[string(name)] = statement
	case 'B': // what is to be run, the name of its statement, parameters
		_, rest, _ := bytes.Cut(body[4:], []byte{0})
		name, parameters, _ := bytes.Cut(rest, []byte{0})
		return slices.Concat(c.prepared[string(name)], parameters)
	}
	return nil
}

// look takes the first trap that what is run falls into, and says how late a
// message is to be.
func (p *Proxy) look(runs []byte, ends bool) (*trap, time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delay := time.Duration(0)
	if ends {
		delay = p.delay
	}
	if len(runs) == 0 || len(p.traps) == 0 {
		return nil, delay
	}
	runs = bytes.ToLower(runs)
	for i, t := range p.traps {
		if bytes.Contains(runs, t.text) {
			p.traps = slices.Delete(p.traps, i, i+1)
			return t, delay
		}
	}
	return nil, delay
}

// answers forwards what the server sends.
func (c *conn) answers() {
	r, w := bufio.NewReader(c.server), bufio.NewWriter(c.client)
	for {
		kind, err := r.ReadByte()
		if err != nil {
			return
		}
		body, err := readBody(r)
		if err != nil {
			return
		}
		if c.lost(kind) {
			continue
		}
		_ = w.WriteByte(kind)
		if _, err := w.Write(body); err != nil {
			return
		}
		if r.Buffered() == 0 && w.Flush() != nil {
			return
		}
	}
}

// lost says whether a message of the server is lost because it belongs to an
// answer that is, and cuts the connection at that answer's end.
func (c *conn) lost(kind byte) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	lost := c.trap != nil && c.done == c.at-1
	if kind != 'Z' { // ready for the next request
		return lost
	}
	c.done++
	if lost {
		c.cut()
		close(c.trap.sprung)
		c.trap = nil
	}
	return lost
}

// readBody reads the length of a message, and the message.
func readBody(r io.Reader) ([]byte, error) {
	var length [4]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(length[:])
	if n < 4 || n > 1<<30 {
		return nil, errors.New("that is not a length of a message")
	}
	body := make([]byte, n)
	copy(body, length[:])
	_, err := io.ReadFull(r, body[4:])
	return body, err
}
