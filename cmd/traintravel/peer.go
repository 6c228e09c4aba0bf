package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"
)

// A peer is a process at the other end of a control socket.
type peer struct {
	user    int
	process int // zero if it is not known
}

func (p peer) String() string {
	if p.process == 0 {
		return fmt.Sprintf("a process of user %d", p.user)
	}
	return fmt.Sprintf("process %d of user %d", p.process, p.user)
}

// mayAsk says whether a server accepts requests of a peer: it must be a process of the same
// user or of root.
func (p peer) mayAsk() bool { return p.user == os.Geteuid() || p.user == 0 }

// mayServe says whether a peer may be the server of a data file: it must be a process of the
// current user, of root, or of the owner of the file, or of its folder if the file is missing.
func (p peer) mayServe(data string) bool {
	if p.user == os.Geteuid() || p.user == 0 {
		return true
	}
	file := target(data)
	info, err := os.Stat(file)
	if err != nil {
		info, err = os.Stat(filepath.Dir(file))
	}
	if err != nil {
		return false
	}
	owner, known := ownerOf(info)
	return known && p.user == owner
}

// onSocket calls fn with the descriptor of a connection.
func onSocket(conn net.Conn, fn func(fd int) error) error {
	raw, ok := conn.(syscall.Conn)
	if !ok {
		return errors.New("not a socket")
	}
	c, err := raw.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	if err := c.Control(func(fd uintptr) { inner = fn(int(fd)) }); err != nil {
		return err
	}
	return inner
}
