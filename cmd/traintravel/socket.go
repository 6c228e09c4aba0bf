package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"sync"
)

// A data file belongs to the process that has it open. While that is a server, commands send
// it their requests over a Unix socket beside the file. Only its owner may open the socket, and
// both sides check the user of the other process.

const (
	// maxSocketPath is what every system allows for the path of a socket.
	maxSocketPath = 80
	// maxSocketName is for its name, so that there is room for the path of a folder.
	maxSocketName = 40
)

// socketPath is where the server of a data file listens: beside the file, wherever links
// lead to it, and in no folder that others write to as well unless the data is there.
func socketPath(data string) (string, error) {
	abs, err := filepath.Abs(data)
	if err != nil {
		return "", err
	}
	dir, name := filepath.Split(target(abs))
	if len(name)+len(".sock") > maxSocketName {
		sum := sha256.Sum256([]byte(name))
		name = ".traintravel-" + hex.EncodeToString(sum[:8])
	}
	return filepath.Join(dir, name+".sock"), nil
}

// target is where a path leads, also if there is nothing.
func target(path string) string {
	for range 40 {
		if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
			path = filepath.Join(dir, filepath.Base(path))
		}
		to, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	return path
}

// withShort calls fn with a path of a socket that is short enough for every system: through
// a link, in a folder that is this user's own, to the folder that the socket is in.
func withShort(path string, fn func(short string) error) error {
	if len(path) <= maxSocketPath {
		return fn(path)
	}
	dir, err := os.MkdirTemp("", "traintravel") // mode 0700
	if err == nil {
		defer os.RemoveAll(dir)
		link := filepath.Join(dir, "d")
		if err = os.Symlink(filepath.Dir(path), link); err == nil {
			return fn(filepath.Join(link, filepath.Base(path)))
		}
	}
	return fmt.Errorf("the path of the data file is too long for a socket beside it, and a shorter link to it cannot be made: %w", err)
}

// A control is the socket of a data file that a server has.
type control struct {
	path string
	log  *slog.Logger

	mu       sync.Mutex
	listener net.Listener
	file     os.FileInfo // of the socket, as it was made
	closed   bool
}

// listenControl opens the socket of a data file that this process has open.
func listenControl(data string, log *slog.Logger) (*control, error) {
	path, err := socketPath(data)
	if err != nil {
		return nil, err
	}
	c := &control{path: path, log: log}
	if err := c.listen(); err != nil {
		return nil, err
	}
	return c, nil
}

// listen makes the socket. It replaces the socket of a killed server, which is gone as the
// lock on the data file shows, but no other file. Other users may not connect at any moment,
// so the socket gets its name only when its mode is right.
func (c *control) listen() error {
	const socket = os.ModeSocket | os.ModeIrregular // which it is on Windows
	if info, err := os.Lstat(c.path); err == nil && info.Mode()&socket == 0 {
		return fmt.Errorf("cannot make the control socket %s: another file has this name: move it away", c.path)
	}
	dir, err := os.MkdirTemp(filepath.Dir(c.path), ".traintravel")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	hidden := filepath.Join(dir, "s")
	var l *net.UnixListener
	err = withShort(hidden, func(short string) (err error) {
		if l, err = net.ListenUnix("unix", &net.UnixAddr{Name: short, Net: "unix"}); err == nil {
			l.SetUnlinkOnClose(false)
		}
		return err
	})
	if err != nil {
		return err
	}
	info, err := os.Lstat(hidden)
	if err := errors.Join(err, os.Chmod(hidden, 0o600), os.Rename(hidden, c.path)); err != nil {
		return errors.Join(err, l.Close())
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.listener != nil {
		_ = c.listener.Close()
	}
	if c.closed {
		return errors.Join(l.Close(), os.Remove(c.path))
	}
	c.listener, c.file = l, info
	return nil
}

// mend makes the socket again if it is missing.
func (c *control) mend() {
	if c.there() {
		return
	}
	switch err := c.listen(); {
	case err == nil:
		c.log.Warn("control socket was missing and has been made again", "socket", c.path)
	default:
		c.log.Error("control socket is missing and cannot be made again: commands cannot reach this server", "socket", c.path, "error", err)
	}
}

// there says whether the socket is at its path.
func (c *control) there() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	info, err := os.Lstat(c.path)
	return c.closed || err == nil && (os.SameFile(info, c.file) || runtime.GOOS == "windows")
}

// now is the listener, and whether the socket is closed.
func (c *control) now() (net.Listener, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.listener, c.closed
}

// Accept implements [net.Listener]. It refuses other users than the server's own and root.
func (c *control) Accept() (net.Conn, error) {
	for {
		l, _ := c.now()
		conn, err := l.Accept()
		if err != nil {
			if next, closed := c.now(); next != l && !closed {
				continue // it was made again
			}
			return nil, err
		}
		who, known, err := peerOf(conn)
		if err == nil && (!known || who.mayAsk()) {
			return conn, nil
		}
		c.log.Warn("connection to the control socket refused: another user", "who", who.String(), "error", err)
		_ = conn.Close()
	}
}

// Addr implements [net.Listener].
func (c *control) Addr() net.Addr { return &net.UnixAddr{Name: c.path, Net: "unix"} }

// Close closes the socket and removes it, unless another server's is there by now.
func (c *control) Close() error {
	mine := c.there()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	c.closed = true
	err := c.listener.Close()
	if mine {
		err = errors.Join(err, os.Remove(c.path))
	}
	return err
}
