package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"syscall"

	"github.com/coreos/go-systemd/v22/activation"
	"github.com/coreos/go-systemd/v22/daemon"
)

// httpServer serves HTTP/1.1 and HTTP/2, with or without TLS, to clients as slow as
// they may be.
func (p *program) httpServer(h http.Handler) *http.Server {
	var both http.Protocols
	both.SetHTTP1(true)
	both.SetHTTP2(true)
	both.SetUnencryptedHTTP2(true)
	return &http.Server{
		Handler: h, MaxHeaderBytes: 32 << 10, ErrorLog: log.New(&complaints{log: p.log}, "", 0), Protocols: &both,
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: 100, MaxReceiveBufferPerConnection: 256 << 10, MaxReceiveBufferPerStream: 64 << 10, WriteByteTimeout: p.waits.request},
		ReadHeaderTimeout: p.waits.header, ReadTimeout: p.waits.request, WriteTimeout: p.waits.answer, IdleTimeout: p.waits.idle,
	}
}

// listenOrTake returns the socket that systemd has passed, as sd_listen_fds(3) has it, or
// else opens what --addr says. systemd keeps the socket and the connections that wait at it:
// none is refused while one server ends and the next begins.
func listenOrTake(addr string) (l net.Listener, given bool, err error) {
	sockets, err := activation.Listeners()
	switch {
	case err != nil:
		return nil, false, fmt.Errorf("cannot use the sockets from systemd (LISTEN_FDS): %w", err)
	case len(sockets) == 0:
		l, err = listen(addr)
		return l, false, err
	case len(sockets) > 1 || sockets[0] == nil:
		for _, s := range sockets {
			if s != nil {
				s.Close()
			}
		}
		return nil, false, fmt.Errorf("systemd passed %s: want one listening stream socket (LISTEN_FDS)", howMany(len(sockets), "socket", "sockets"))
	}
	return sockets[0], true, nil
}

// tellSystemd tells systemd the state of the server, if it wants to know: sd_notify(3).
func (p *program) tellSystemd(state string) {
	if _, err := daemon.SdNotify(false, state); err != nil {
		p.log.Warn("systemd notification failed", "state", state, "error", err)
	}
}

// certificate reads what --tls-cert and --tls-key say. Without them it is nil.
func (p *program) certificate(set settings) (*tls.Config, error) {
	if set.tlsCert == "" {
		return nil, nil
	}
	c := &certificate{cert: set.tlsCert, key: set.tlsKey, log: p.log}
	if err := c.read(); err != nil {
		return nil, fmt.Errorf("--tls-cert, --tls-key: %w", err)
	}
	return &tls.Config{GetCertificate: c.get}, nil
}

// A certificate is in two files, which are read again when they have changed.
type certificate struct {
	cert, key string
	log       *slog.Logger

	mu   sync.Mutex
	seen [2]os.FileInfo // of the files as they were tried last; nil if missing
	good *tls.Certificate
}

// get returns the certificate for a connection. Files that cannot be used, as they may be
// while they are written, leave the previous certificate in use.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.look(); !same(now[0], c.seen[0]) || !same(now[1], c.seen[1]) {
		if err := c.read(); err != nil {
			c.log.Error("TLS certificate reload failed; the previous certificate stays in use", "cert", c.cert, "key", c.key, "error", err)
		} else {
			c.log.Info("TLS certificate reloaded", "cert", c.cert, "until", c.good.Leaf.NotAfter)
		}
	}
	return c.good, nil
}

// read reads the files. They are looked at before: what changes meanwhile is read again.
func (c *certificate) read() error {
	c.seen = c.look()
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err != nil {
		return err
	}
	c.good = &pair
	return nil
}

func (c *certificate) look() (now [2]os.FileInfo) {
	for i, path := range []string{c.cert, c.key} {
		if info, err := os.Stat(path); err == nil {
			now[i] = info
		}
	}
	return now
}

// same says whether a file has not changed.
func same(a, b os.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}

// publicAddr is an address that a client on this machine can use.
func publicAddr(a net.Addr) string {
	if tcp, ok := a.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		return fmt.Sprintf("localhost:%d", tcp.Port)
	}
	return a.String()
}

// listen opens what --addr says.
func listen(addr string) (net.Listener, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, cannotListen("--addr", addr, err)
	}
	return l, nil
}

// checkAddr returns an error unless addr is an address to listen on.
func checkAddr(flag, addr string) error {
	_, port, err := net.SplitHostPort(addr)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil {
		return usagef("invalid %s %.200q: %v: want an address such as 127.0.0.1:8080", flag, withoutSecrets(addr), reason(err))
	}
	return nil
}

// reason is what an error of net says beside the address.
func reason(err error) string {
	if e, ok := errors.AsType[*net.AddrError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[*net.DNSError](err); ok {
		return e.Err
	}
	return err.Error()
}

// cannotListen is the error of an address that could not be opened.
func cannotListen(flag, addr string, err error) error {
	if e, ok := errors.AsType[*net.OpError](err); ok {
		err = e.Err
	}
	hint := ""
	if errors.Is(err, syscall.EADDRINUSE) {
		hint = ": another program uses this port: stop it, or give another port"
	}
	return fmt.Errorf("cannot listen on %s %s: %w%s", flag, addr, err, hint)
}
