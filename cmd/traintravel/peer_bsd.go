//go:build darwin || freebsd

package main

import (
	"net"

	"golang.org/x/sys/unix"
)

// peerOf returns who is at the other end of a unix socket.
func peerOf(conn net.Conn) (who peer, known bool, err error) {
	err = onSocket(conn, func(fd int) error {
		c, err := unix.GetsockoptXucred(fd, 0 /* SOL_LOCAL */, unix.LOCAL_PEERCRED)
		if err == nil {
			who.user = int(c.Uid)
		}
		return err
	})
	return who, true, err
}
